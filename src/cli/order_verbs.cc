#include "cli/order_verbs.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/json.h"
#include "cli/configuration.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/interruption.h"
#include "cli/order_ask.h"
#include "cli/order_session.h"
#include "cli/order_text.h"
#include "cli/output.h"
#include "config/values.h"
#include "port/answer_of.h"
#include "runtime/placed_json.h"

namespace pawl::cli {
namespace {

// What a verb does, with its answer printed; the exit code.
using Deed = Result<int> (*)(OrderSession& session, const Arguments& arguments);

bool colour_wanted() {
  return wants_colour(::isatty(STDOUT_FILENO) == 1, environment());
}

std::string lined(const json::Value& value) {
  return json::print(value) + "\n";
}

// What may change something is ended by a signal in good order; the rest, at once.
Result<int> perform(OrderSession& session, const Arguments& arguments, Purpose purpose, Deed deed) {
  std::optional<Interruption> interruption;
  if (purpose != Purpose::look) interruption.emplace([&session] { session.interrupt(); });
  return deed(session, arguments);
}

int run(const Arguments& arguments, Purpose purpose, Deed deed) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const auto session = OrderSession::open(*config, purpose);
  if (!session) return fail(session.error());
  const Result<int> code = perform(**session, arguments, purpose, deed);
  const Result<void> closed = (*session)->close();
  if (!code) {
    Error error = code.error();
    if (!config->orders.venues.any()) error.message += " Name one in orders.venues.";
    return fail(error);
  }
  return closed ? *code : fail(closed.error());
}

int tell(const Placed& placed, const Arguments& arguments) {
  print(arguments.has("--json") ? lined(json_of(placed)) : placed_text(placed, colour_wanted()));
  // On a terminal the text has just said why.
  const bool is_said = !arguments.has("--json") && ::isatty(STDOUT_FILENO) == 1;
  if (placed.as != PlacedAs::confirmed && !placed.message.empty() && !is_said) {
    complain("pawl: " + placed.message);
  }
  return exit_code_of(placed.as);
}

// The configuration was read: what is not valid now is what was typed.
Error as_typed(Error error, std::string_view verb) {
  return error.code == Code::invalid ? usage_error(verb, std::move(error.message)) : error;
}

template <class T, class Call>
Result<T> answer_as_typed(std::string_view verb, Call call) {
  Result<T> answer = answer_of<T>(std::move(call));
  if (!answer) return std::unexpected(as_typed(std::move(answer.error()), verb));
  return answer;
}

// The outcome could not be recorded: what is known of it is told all the same.
Placed not_recorded(OrderSession& session, const PlaceRequest& request, const Error& error) {
  Result<Placed> stored = answer_of<Placed>(
      [&](auto done) { session.desk().status(request.reference, false, std::move(done)); });
  Placed placed = stored ? *std::move(stored) : Placed();
  placed.as = PlacedAs::unresolved;
  placed.intent.reference = request.reference;
  placed.intent.order = request.order;
  placed.intent.progress.evidence.push_back(
      {.at = session.clock().wall_now(), .source = "pawl", .says = error.message});
  placed.message = error.message;
  return placed;
}

// A placement as it is kept in the end. One of which no byte left failed, as the desk says it does.
Result<Placed> placed_at_rest(OrderSession& session, Placed placed) {
  Placed rested = session.at_rest(std::move(placed));
  if (rested.as != PlacedAs::rejected || !rested.intent.progress.unsent) return rested;
  return failure(Code::unavailable, std::move(rested.message));
}

Result<int> place(OrderSession& session, const Arguments& arguments) {
  PlaceRequest request = PAWL_TRY(place_request_of(arguments, "order place"));
  if (arguments.has("--dry-run")) {
    const DryRun dry = PAWL_TRY(answer_as_typed<DryRun>("order place", [&](auto done) {
      session.desk().dry_run(std::move(request), std::move(done));
    }));
    print(arguments.has("--json") ? lined(json_of(dry)) : dry_run_text(dry));
    return dry.would_send ? 0 : static_cast<int>(Code::refused);
  }
  // Made here, so that there is a name for it whatever happens.
  if (request.reference.empty()) {
    request.reference = order::make_reference(session.clock().wall_now(), session.entropy().next());
  }
  const Result<Placed> placed = answer_as_typed<Placed>(
      "order place", [&](auto done) { session.desk().place(request, std::move(done)); });
  if (placed) return tell(PAWL_TRY(placed_at_rest(session, *placed)), arguments);
  if (placed.error().code != Code::unresolved) return std::unexpected(placed.error());
  return tell(not_recorded(session, request, placed.error()), arguments);
}

Result<int> precheck(OrderSession& session, const Arguments& arguments) {
  order::Order order = PAWL_TRY(order_of(arguments, "order precheck"));
  const Precheck found = PAWL_TRY(answer_as_typed<Precheck>("order precheck", [&](auto done) {
    session.desk().precheck(std::move(order), std::move(done));
  }));
  print(arguments.has("--json") ? lined(json_of(found)) : precheck_text(found, colour_wanted()));
  return found.ok ? 0 : static_cast<int>(Code::refused);
}

// The venue's no is an error.
int tell(const Changed& changed, std::string_view done, const Arguments& arguments) {
  print(arguments.has("--json") ? lined(json_of(changed)) : changed_text(done, changed));
  return 0;
}

Result<int> modify(OrderSession& session, const Arguments& arguments) {
  OrderChange change = PAWL_TRY(change_of(arguments));
  const Changed changed = PAWL_TRY(answer_as_typed<Changed>("order modify", [&](auto done) {
    session.desk().modify(arguments.value("REF"), std::move(change), std::move(done));
  }));
  return tell(changed, "modified", arguments);
}

Result<int> cancel(OrderSession& session, const Arguments& arguments) {
  const Changed changed = PAWL_TRY(answer_of<Changed>(
      [&](auto done) { session.desk().cancel(arguments.value("REF"), std::move(done)); }));
  return tell(changed, "canceled", arguments);
}

Result<int> status(OrderSession& session, const Arguments& arguments) {
  const bool look = !arguments.has("--stored");
  const Placed placed = PAWL_TRY(answer_of<Placed>(
      [&](auto done) { session.desk().status(arguments.value("REF"), look, std::move(done)); }));
  return tell(session.at_rest(placed), arguments);
}

Result<IntentFilter> filter_of(const Arguments& arguments) {
  const std::string& typed = arguments.value("--limit");
  const auto limit = config::parse_whole(typed, 1, std::int64_t{bounds::order_list_max});
  if (!limit) {
    return std::unexpected(usage_error("order list", "--limit is '" + typed +
                                                         "'; it is a number from 1 to " +
                                                         std::to_string(bounds::order_list_max)));
  }
  IntentFilter filter{.limit = static_cast<std::size_t>(*limit)};
  if (arguments.has("--venue")) filter.venue = arguments.value("--venue");
  if (arguments.has("--status")) {
    filter.statuses = {order::status_of(arguments.value("--status")).value()};
  }
  if (arguments.has("--unresolved")) {
    if (arguments.has("--status")) {
      return std::unexpected(usage_error("order list", "give --unresolved or --status, not both"));
    }
    filter.statuses = {order::Status::sending, order::Status::reconciling,
                       order::Status::unresolved};
  }
  return filter;
}

Result<int> list(OrderSession& session, const Arguments& arguments) {
  IntentFilter filter = PAWL_TRY(filter_of(arguments));
  const auto orders = PAWL_TRY(answer_of<std::vector<order::Intent>>(
      [&](auto done) { session.desk().list(std::move(filter), std::move(done)); }));
  if (arguments.has("--json")) {
    json::Array all;
    for (const order::Intent& each : orders) all.push_back(json_of(each));
    print(lined(json::Object{{"orders", std::move(all)}}));
  } else {
    print(orders_text(orders, colour_wanted()));
  }
  return arguments.has("--unresolved") && !orders.empty() ? static_cast<int>(Code::unresolved) : 0;
}

Result<int> reconcile(OrderSession& session, const Arguments& arguments) {
  const std::string reference = arguments.has("REF") ? arguments.value("REF") : "";
  auto found = PAWL_TRY(answer_of<std::vector<Placed>>(
      [&](auto done) { session.desk().reconcile(reference, std::move(done)); }));
  for (Placed& each : found) each = session.at_rest(std::move(each));
  if (arguments.has("--json")) {
    json::Array all;
    for (const Placed& each : found) all.push_back(json_of(each));
    print(lined(json::Object{{"orders", std::move(all)}}));
  } else if (found.empty()) {
    print("nothing is open\n");
  } else {
    print(placements_text(found, colour_wanted()));
  }
  const bool left = std::ranges::any_of(
      found, [](const Placed& each) { return each.as == PlacedAs::unresolved; });
  return left ? static_cast<int>(Code::unresolved) : 0;
}

Result<int> resolve(OrderSession& session, const Arguments& arguments) {
  order::Resolution resolution = PAWL_TRY(resolution_of(arguments, user_name()));
  const Placed placed = PAWL_TRY(answer_of<Placed>([&](auto done) {
    session.desk().resolve(arguments.value("REF"), std::move(resolution), std::move(done));
  }));
  print(arguments.has("--json") ? lined(json_of(placed)) : placed_text(placed, colour_wanted()));
  return 0;
}

Result<int> quota(OrderSession& session, const Arguments& arguments) {
  const order::Quota used =
      PAWL_TRY(answer_of<order::Quota>([&](auto done) { session.desk().quota(std::move(done)); }));
  print(arguments.has("--json") ? lined(whole_json_of(used)) : quota_text(used, colour_wanted()));
  return 0;
}

Result<int> batch(OrderSession& session, const Arguments& arguments) {
  auto requests = PAWL_TRY(batch_of(PAWL_TRY(contents_of(arguments.value("FILE")))));
  const auto results = PAWL_TRY(answer_of<std::vector<Result<Placed>>>(
      [&](auto done) { session.desk().place_batch(std::move(requests), std::move(done)); }));
  int code = 0;
  json::Array all;
  std::vector<Placed> placed;
  for (const Result<Placed>& result : results) {
    const Result<Placed> each = result ? placed_at_rest(session, *result) : result;
    if (each) {
      placed.push_back(*each);
      all.push_back(json_of(placed.back()));
      code = worst_of(code, exit_code_of(placed.back().as));
    } else {
      code = worst_of(code, static_cast<int>(each.error().code));
      all.push_back(json::Object{{"error", each.error().message}});
      complain("pawl: " + each.error().message);
    }
  }
  print(arguments.has("--json") ? lined(json::Object{{"orders", std::move(all)}})
                                : placements_text(placed, colour_wanted()));
  return code;
}

Result<int> reopen(OrderSession& session, const Arguments& arguments) {
  PAWL_TRY(answer_of<void>(
      [&](auto done) { session.desk().reopen(arguments.value("VENUE"), std::move(done)); }));
  print("reopened " + arguments.value("VENUE") + "\n");
  return 0;
}

// A bar for each venue on a terminal, which is drawn over itself; else nothing.
class ProgressBar {
 public:
  ~ProgressBar() { end(); }
  ProgressBar() = default;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const BackfillProgress& progress) {
    if (!drawn_) return;
    if (progress.venue != venue_) end();
    venue_ = progress.venue;
    std::cerr << "\r\033[K" << progress_text(progress) << std::flush;
    if (progress.done_milli == 1000) end();  // the log comes next
  }
  // What follows stands on a line of its own.
  void end() {
    if (!venue_.empty()) complain("");
    venue_.clear();
  }

 private:
  const bool drawn_ = ::isatty(STDERR_FILENO) == 1;
  std::string venue_;
};

Result<int> backfill(OrderSession& session, const Arguments& arguments) {
  const auto days = config::parse_whole(arguments.value("--days"), 1,
                                        std::int64_t{bounds::order_backfill_days_max});
  if (!days) {
    return std::unexpected(
        usage_error("backfill-orders", "--days is '" + arguments.value("--days") +
                                           "'; it is a number from 1 to " +
                                           std::to_string(bounds::order_backfill_days_max)));
  }
  const Instant now = session.clock().wall_now();
  BackfillAsk ask{.from = now - Duration::days(*days), .to = now};
  if (arguments.has("--venue")) ask.venue = arguments.value("--venue");
  ProgressBar bar;
  const BackfillSummary summary = PAWL_TRY(answer_of<BackfillSummary>([&](auto done) {
    session.desk().backfill(
        ask, [&bar](const BackfillProgress& progress) { bar.show(progress); }, std::move(done));
  }));
  bar.end();
  print(arguments.has("--json") ? lined(json_of(summary)) : backfill_text(summary));
  return 0;
}

}  // namespace

int order_place(const Arguments& arguments) {
  return run(arguments, Purpose::place, place);
}

int order_precheck(const Arguments& arguments) {
  return run(arguments, Purpose::look, precheck);
}

int order_modify(const Arguments& arguments) {
  return run(arguments, Purpose::change, modify);
}

int order_cancel(const Arguments& arguments) {
  return run(arguments, Purpose::change, cancel);
}

int order_status(const Arguments& arguments) {
  return run(arguments, Purpose::look, status);
}

int order_list(const Arguments& arguments) {
  return run(arguments, Purpose::look, list);
}

int order_reconcile(const Arguments& arguments) {
  return run(arguments, Purpose::change, reconcile);
}

int order_resolve(const Arguments& arguments) {
  return run(arguments, Purpose::change, resolve);
}

int order_quota(const Arguments& arguments) {
  return run(arguments, Purpose::look, quota);
}

int order_batch(const Arguments& arguments) {
  return run(arguments, Purpose::place, batch);
}

int order_reopen(const Arguments& arguments) {
  return run(arguments, Purpose::change, reopen);
}

int backfill_orders(const Arguments& arguments) {
  return run(arguments, Purpose::change, backfill);
}

}  // namespace pawl::cli
