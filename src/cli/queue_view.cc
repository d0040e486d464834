#include "cli/queue_view.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/decimal.h"
#include "base/text.h"
#include "cli/queue_text.h"
#include "cli/table.h"
#include "cli/words.h"
#include "core/queue/collect.h"

namespace pawl::cli {
namespace {

constexpr std::uint64_t million = 1'000'000;
constexpr std::uint64_t tenths = 10;
constexpr std::uint64_t second_ns = 1'000'000'000;

std::uint64_t scaled(std::uint64_t amount, std::uint64_t by, std::uint64_t over) {
  __extension__ using Wide = unsigned __int128;
  return over == 0 ? 0 : static_cast<std::uint64_t>(Wide{amount} * by / over);
}

// 12.5 of 125 tenths.
std::string with_tenth(std::uint64_t amount) {
  return std::to_string(amount / tenths) + "." + std::to_string(amount % tenths);
}

// Without zeros at its end.
std::string trimmed(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// So many millionths, as a decimal number.
Result<Decimal> decimal_of(std::uint64_t millionths) {
  std::string fraction = std::to_string(million + millionths % million).substr(1);
  return parse_decimal(std::to_string(millionths / million) + "." + fraction);
}

std::string number_of(std::uint64_t millionths) {
  const auto number = decimal_of(millionths);
  return number ? trimmed(to_string(*number)) : "-";
}

Result<Decimal> price_of(std::uint64_t millionths, const Decimal& per_1000) {
  const Decimal thousandth = PAWL_TRY(parse_decimal("0.001"));
  return multiply(PAWL_TRY(multiply(PAWL_TRY(decimal_of(millionths)), per_1000)), thousandth);
}

Result<Decimal> price_of(const Requests& requests, const config::QueuePrices& prices) {
  const Decimal puts = PAWL_TRY(price_of(requests.puts, prices.put_per_1000));
  const Decimal gets = PAWL_TRY(price_of(requests.gets, prices.get_per_1000));
  const Decimal lists = PAWL_TRY(price_of(requests.lists, prices.list_per_1000));
  const Decimal deletes = PAWL_TRY(price_of(requests.deletes, prices.delete_per_1000));
  return add(PAWL_TRY(add(puts, gets)), PAWL_TRY(add(lists, deletes)));
}

std::string price_text(const Requests& requests, const config::QueuePrices& prices) {
  const auto price = price_of(requests, prices);
  return price ? trimmed(to_string(*price)) : "-";
}

Requests of(const RequestCounts& counts) {
  return {.puts = counts.puts * million,
          .gets = counts.gets * million,
          .lists = counts.lists * million,
          .deletes = counts.deletes * million};
}

std::vector<std::string> row_of(std::string name, const Requests& requests,
                                const config::QueuePrices& prices) {
  return {std::move(name),           number_of(requests.puts),    number_of(requests.gets),
          number_of(requests.lists), number_of(requests.deletes), price_text(requests, prices)};
}

Requests times(const Requests& requests, std::uint64_t count) {
  return {.puts = requests.puts * count,
          .gets = requests.gets * count,
          .lists = requests.lists * count,
          .deletes = requests.deletes * count};
}

json::Value number_or_null(std::string text) {
  return text == "-" ? json::Value() : json::Value(json::Number{std::move(text)});
}

json::Object object_of(const Requests& requests) {
  return json::Object{{"put", number_or_null(number_of(requests.puts))},
                      {"get", number_or_null(number_of(requests.gets))},
                      {"list", number_or_null(number_of(requests.lists))},
                      {"delete", number_or_null(number_of(requests.deletes))}};
}

}  // namespace

Rates rates_of(const queue::Totals& before, const queue::Totals& after, Duration between) {
  const auto rate = [&](std::uint64_t a, std::uint64_t b) {
    if (b <= a || between <= Duration()) return std::uint64_t{0};
    return scaled((b - a) * tenths, second_ns, static_cast<std::uint64_t>(between.ns()));
  };
  return {.submitted = rate(before.submitted, after.submitted),
          .claimed = rate(before.claimed, after.claimed),
          .completed = rate(before.completed, after.completed),
          .failed = rate(before.failed, after.failed),
          .retried = rate(before.retried, after.retried),
          .rescheduled = rate(before.rescheduled, after.rescheduled)};
}

std::string rates_text(const Rates& rates) {
  return "submitted " + with_tenth(rates.submitted) + "/s  claimed " + with_tenth(rates.claimed) +
         "/s  completed " + with_tenth(rates.completed) + "/s  failed " + with_tenth(rates.failed) +
         "/s  retried " + with_tenth(rates.retried) + "/s  rescheduled " +
         with_tenth(rates.rescheduled) + "/s\n";
}

std::string clipped(const std::string& text, Screen screen) {
  if (screen.lines == 0) return text;
  const std::size_t columns = std::max(screen.columns, std::size_t{1});
  const auto height_of = [&](std::string_view line) {
    return std::max((width_of(line) + columns - 1) / columns, std::size_t{1});
  };
  std::vector<std::string_view> lines;
  std::size_t height = 1;  // the cursor stands on one
  for (std::string_view rest = text; !rest.empty();) {
    height += height_of(lines.emplace_back(take_until(rest, '\n')));
  }
  if (height <= screen.lines) return text;
  std::size_t left_out = 0;
  for (++height; !lines.empty() && height > screen.lines; ++left_out) {  // one that says so
    height -= height_of(lines.back());
    lines.pop_back();
  }
  std::string out;
  for (const std::string_view line : lines) out.append(line).append("\n");
  return out + counted(left_out, "more line") + "\n";
}

json::Value to_json(const Rates& rates) {
  const auto number = [](std::uint64_t amount) { return json::Number{with_tenth(amount)}; };
  return json::Object{
      {"submitted", number(rates.submitted)}, {"claimed", number(rates.claimed)},
      {"completed", number(rates.completed)}, {"failed", number(rates.failed)},
      {"retried", number(rates.retried)},     {"rescheduled", number(rates.rescheduled)}};
}

std::string sparkline(const std::deque<std::uint64_t>& values) {
  constexpr std::array<std::string_view, 8> steps = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::uint64_t highest = 1;
  for (const std::uint64_t value : values) highest = std::max(highest, value);
  std::string out;
  for (const std::uint64_t value : values) {
    out += steps[static_cast<std::size_t>(scaled(value, steps.size() - 1, highest))];
  }
  return out;
}

// A segment is put once, and read once by whoever follows. Now and then there is a snapshot: two
// lists, and what it covers goes, many at once.
Requests requests_of_a_task(const CostAsk& ask) {
  const std::uint64_t commits = scaled(ask.segments, million, ask.submitted);
  const std::uint64_t snapshots = commits / queue::SnapshotRule().segments_min;
  return {
      .puts = commits + snapshots, .gets = commits, .lists = 2 * snapshots, .deletes = snapshots};
}

Requests requests_of_an_idle_hour(const CostAsk& ask) {
  if (ask.idle_poll <= Duration()) return {};
  const auto looks = static_cast<std::uint64_t>(Duration::hours(1).ns() / ask.idle_poll.ns());
  return {.gets = looks * ask.shards * million};
}

std::string cost_text(const CostAsk& ask, const RequestCounts& now,
                      const config::QueuePrices& prices) {
  std::vector<std::vector<std::string>> rows = {
      {"", "PUT", "GET", "LIST", "DELETE", prices.currency}};
  const Requests task = requests_of_a_task(ask);
  if (ask.submitted > 0) {
    rows.push_back(row_of("a task", task, prices));
    rows.push_back(row_of("a million tasks", times(task, million), prices));
  }
  rows.push_back(row_of("an idle hour", requests_of_an_idle_hour(ask), prices));
  rows.push_back(row_of(ask.by_broker ? "the broker so far" : "this command", of(now), prices));
  if (!ask.priced) {
    for (auto& row : rows) row.pop_back();
  }
  const std::string measured =
      ask.submitted > 0 ? "by its log so far: " + counted(ask.segments, "commit") + " for " +
                              counted(ask.submitted, "task")
                        : "no task was submitted yet, so there is nothing to measure one by";
  return measured + "; GET is for each " +
         (ask.by_broker ? "broker, and none for its workers\n" : "worker that follows\n") +
         table(rows);
}

json::Value cost_json(const CostAsk& ask, const RequestCounts& now,
                      const config::QueuePrices& prices) {
  const Requests task = requests_of_a_task(ask);
  const bool known = ask.submitted > 0;
  const auto json_of = [&](const Requests& requests) {
    json::Object object = object_of(requests);
    object.emplace("price",
                   ask.priced ? number_or_null(price_text(requests, prices)) : json::Value());
    return object;
  };
  return json::Object{
      {"commits", ask.segments},
      {"tasks", ask.submitted},
      {"currency", ask.priced ? json::Value(prices.currency) : json::Value()},
      {"task", known ? json::Value(json_of(task)) : json::Value()},
      {"million_tasks", known ? json::Value(json_of(times(task, million))) : json::Value()},
      {"idle_hour", json_of(requests_of_an_idle_hour(ask))},
      {ask.by_broker ? "broker" : "this_command", json_of(of(now))}};
}

}  // namespace pawl::cli
