// `pawl stats`, `pawl cost`
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <vector>

#include "base/queue_url.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/queue_verbs.h"
#include "cli/queue_view.h"
#include "cli/words.h"
#include "core/queue/view_json.h"

namespace pawl::cli {
namespace {

constexpr Duration every_min = Duration::milliseconds(100);
constexpr std::size_t samples_max = 60;  // of the line that shows the last while

Result<std::vector<queue::Closing>> closings_of(QueueSession& session) {
  return session.ask<std::vector<queue::Closing>>(
      [](TaskQueue& queue, auto done) { queue.closings(std::move(done)); });
}

json::Object object_of(const queue::Stats& stats, const std::vector<queue::Closing>& closings) {
  json::Object object = *to_json(stats).if_object();
  json::Array closed;
  for (const queue::Closing& each : closings) closed.push_back(to_json(each));
  object.emplace("closings", std::move(closed));
  return object;
}

Screen screen_now() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {.lines = size.ws_row, .columns = size.ws_col};
}

// The view that goes on: each look is drawn over the last on a terminal, else below it.
class Watch {
 public:
  Watch(QueueSession& session, const Arguments& arguments)
      : session_(session),
        json_(arguments.has("--json")),
        on_screen_(::isatty(STDOUT_FILENO) == 1) {}

  Result<void> look() {
    const queue::Stats stats = PAWL_TRY(stats_of(session_));
    const auto closings = PAWL_TRY(closings_of(session_));
    const SteadyInstant now = session_.clock().steady_now();
    const Rates rates = last_ ? rates_of(totals_, stats.totals, now - *last_) : Rates();
    if (last_) history_.push_back(rates.completed);
    if (history_.size() > samples_max) history_.pop_front();
    last_ = now;
    totals_ = stats.totals;
    if (json_) {
      json::Object object = object_of(stats, closings);
      object.emplace("rates", to_json(rates));
      object.emplace("at", to_string(session_.clock().wall_now()));
      print(lined(std::move(object)));
    } else {
      const Shown shown = shown_now(session_);
      const std::string text = "queue " + sentence(session_.queue().view().store) + "  " +
                               to_string(shown.now).substr(0, 19) + "Z\n" + rates_text(rates) +
                               (on_screen_ ? "completed " + sparkline(history_) + "\n" : "") +
                               "\n" + stats_text(stats, shown) + closings_text(closings, shown);
      print((on_screen_ ? "\033[H\033[J" : "") + clipped(text, screen_now()));
    }
    std::fflush(stdout);
    return {};
  }

 private:
  QueueSession& session_;
  const bool json_;
  const bool on_screen_;
  std::optional<SteadyInstant> last_;
  queue::Totals totals_;
  std::deque<std::uint64_t> history_;
};

Result<Duration> every_of(const Arguments& arguments) {
  const auto typed = PAWL_TRY(duration_of(arguments, "--every", "stats"));
  const Duration every = typed.value_or(Duration::seconds(1));
  if (every >= every_min) return every;
  return std::unexpected(usage_error(
      "stats", "--every is " + to_string(every) + "; it is at least " + to_string(every_min)));
}

Result<int> watch(QueueSession& session, const Arguments& arguments) {
  constexpr std::int64_t looks_max = 1'000'000'000;
  const Duration every = PAWL_TRY(every_of(arguments));
  const auto looks = PAWL_TRY(whole_of(arguments, "--count", "stats", looks_max));
  Watch watch(session, arguments);
  for (std::int64_t look = 1;; ++look) {
    PAWL_TRY(watch.look());
    if (looks && look >= *looks) return 0;
    std::this_thread::sleep_for(std::chrono::nanoseconds(every.ns()));
  }
}

Result<int> stats(QueueSession& session, const Arguments& arguments) {
  const queue::Stats stats = PAWL_TRY(stats_of(session));
  if (arguments.has("--types")) {
    for (const queue::Depth& each : stats.types) print(name_line(each.type));
    return 0;
  }
  const auto closings = PAWL_TRY(closings_of(session));
  const Shown shown = shown_now(session);
  print(arguments.has("--json") ? lined(object_of(stats, closings))
                                : stats_text(stats, shown) + closings_text(closings, shown));
  return 0;
}

Result<int> cost(QueueSession& session, const Arguments& arguments) {
  const queue::Stats stats = PAWL_TRY(stats_of(session));
  const QueueView view = session.queue().view();
  const QueueUrl place = PAWL_TRY(parse_queue_url(session.config().queue.url));
  const CostAsk ask{.segments = view.segments,
                    .submitted = stats.totals.submitted,
                    .shards = view.settings.shards,
                    .idle_poll = idle_poll(view.settings.shards),
                    .by_broker = place.kind == QueueUrl::Kind::broker,
                    .priced = !view.store.starts_with("dir:")};
  const config::QueuePrices& prices = session.config().queue.prices;
  print(arguments.has("--json") ? lined(cost_json(ask, view.requests, prices))
                                : cost_text(ask, view.requests, prices));
  return 0;
}

}  // namespace

int queue_stats(const Arguments& arguments) {
  const bool watches = arguments.has("--watch");
  if (!watches && (arguments.has("--every") || arguments.has("--count"))) {
    return fail(usage_error("stats", "--every and --count go with --watch"));
  }
  return run_queue_verb(arguments, watches ? Opens::follow : Opens::look, watches ? watch : stats);
}

int queue_cost(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, cost);
}

}  // namespace pawl::cli
