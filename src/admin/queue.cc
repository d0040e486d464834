#include "admin/queue.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/parameters.h"
#include "base/bounds_queue.h"
#include "core/queue/view_json.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::int64_t seconds_max = 9'000'000'000;  // some 285 years: as far as instants go

Schema depth_schema() {
  return schema::object({{"task_type", schema::text()},
                         {"pending", schema::count()},
                         {"due", schema::count()},
                         {"running", schema::count()},
                         {"completed", schema::count()},
                         {"failed", schema::count()},
                         {"cancelled", schema::count()},
                         {"expired", schema::count()},
                         {"oldest_due", schema::or_null(schema::instant())}});
}

Schema stats_schema() {
  const Schema numbers = schema::map_of(schema::count());
  return schema::object({{"types", schema::list_of(depth_schema())},
                         {"totals", numbers},
                         {"store", schema::text()},
                         {"shards", schema::count()},
                         {"commits", schema::count()},
                         {"commands", schema::count()},
                         {"requests", numbers}});
}

void tell_stats(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  queue->stats(back_from_queue<queue::Stats>(
      context, std::move(call), [queue](Call asked, const queue::Stats& stats) {
        const QueueView view = queue->view();
        const RequestCounts& requests = view.requests;
        const Value told = to_json(stats);
        Object out = *told.if_object();
        out.emplace("store", view.store);
        out.emplace("shards", view.settings.shards);
        out.emplace("commits", view.commits);
        out.emplace("commands", view.commands);
        out.emplace("requests", Object{{"put", requests.puts},
                                       {"get", requests.gets},
                                       {"list", requests.lists},
                                       {"delete", requests.deletes}});
        std::move(asked).answer(std::move(out));
      }));
}

// A list of things that know how they look.
template <class T>
auto back_with_list(Context& context, Call call, std::string name) {
  return back_from_queue<std::vector<T>>(
      context, std::move(call), [name = std::move(name)](Call asked, const std::vector<T>& all) {
        Array out;
        for (const T& each : all) out.push_back(to_json(each));
        std::move(asked).answer(Object{{name, std::move(out)}});
      });
}

void list_closings(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  queue->closings(back_with_list<queue::Closing>(context, std::move(call), "closings"));
}

void list_limits(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  queue->limits(back_with_list<queue::SetLimit>(context, std::move(call), "limits"));
}

void list_schedules(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  queue->schedules(back_with_list<queue::Schedule>(context, std::move(call), "schedules"));
}

Result<Instant> end_of(const Call& call, Instant now) {
  const Value* seconds = call.body().find("for_seconds");
  const std::string until = call.member("until");
  if ((seconds == nullptr) == until.empty()) {
    return failure(Code::invalid, "give one of until and for_seconds");
  }
  if (seconds == nullptr) return parse_instant(until);
  return now + Duration::seconds(std::stoll(seconds->if_number()->text));
}

Result<queue::Close> close_of(const Call& call, Instant now) {
  queue::Close close{.scope = queue::scope_of(call.member("scope")).value(),
                     .name = call.member("name"),
                     .until = PAWL_TRY(end_of(call, now))};
  const bool named = close.scope != queue::Scope::queue;
  if (named == close.name.empty()) {
    return failure(Code::invalid, named ? "name is missing: which key or type is to be closed?"
                                        : "the queue as a whole has no name; leave name out");
  }
  if (const Value* spread = call.body().find("spread_seconds")) {
    close.spread = Duration::seconds(std::stoll(spread->if_number()->text));
  }
  return close;
}

void close(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  const Result<queue::Close> close = close_of(call, queue->view().now);
  if (!close) return std::move(call).fail(close.error());
  const queue::Closing closing{.scope = close->scope, .name = close->name, .until = close->until};
  const auto recorded = record_deed(context, call, *close);
  if (!recorded) return std::move(call).fail(recorded.error());
  queue->give({*close},
              back_with_reply(context, std::move(call), [closing](Call asked, const queue::Reply&) {
                std::move(asked).answer(to_json(closing));
              }));
}

Schema closing_schema() {
  return schema::object({{"scope", schema::word({"key", "type", "queue"})},
                         {"name", schema::or_null(schema::text())},
                         {"until", schema::instant()}});
}

Schema limit_schema() {
  return schema::object({{"scope", schema::word({"queue", "type", "key", "each_key"})},
                         {"name", schema::or_null(schema::text())},
                         {"rate", schema::or_null(schema::text())},
                         {"running", schema::or_null(schema::count())}});
}

Schema schedule_schema() {
  return schema::object({{"name", schema::text()},
                         {"cron", schema::text()},
                         {"zone", schema::text()},
                         {"enabled", schema::truth()},
                         {"next", schema::or_null(schema::instant())},
                         {"last", schema::or_null(schema::instant())},
                         {"task_type", schema::text()},
                         {"input", schema::anything()},
                         {"key", schema::or_null(schema::text())},
                         {"unique", schema::or_null(schema::text())},
                         {"priority", schema::anything()},
                         {"max_retries", schema::count()},
                         {"retry_policy", schema::map_of(schema::anything())},
                         {"max_reschedules", schema::or_null(schema::count())},
                         {"timeout_seconds", schema::anything()}});
}

Routes list_routes(Context& context) {
  const auto all = [](std::string_view name, Schema each) -> std::vector<Told> {
    return {{200, "All there are.", schema::object({{name, schema::list_of(std::move(each))}})}};
  };
  return {
      {.path = "/v1/queue/closings",
       .id = "list_closings",
       .summary = "What is closed, and until when.",
       .answers = all("closings", closing_schema()),
       .problems = {404, 503},
       .handle = [&context](Call call) { list_closings(context, std::move(call)); }},
      {.path = "/v1/queue/limits",
       .id = "list_limits",
       .summary = "What may be claimed of what.",
       .answers = all("limits", limit_schema()),
       .problems = {404, 503},
       .handle = [&context](Call call) { list_limits(context, std::move(call)); }},
      {.path = "/v1/queue/schedules",
       .id = "list_schedules",
       .summary = "What is submitted by the clock.",
       .answers = all("schedules", schedule_schema()),
       .problems = {404, 503},
       .handle = [&context](Call call) { list_schedules(context, std::move(call)); }},
  };
}

Route close_route(Context& context) {
  const Schema seconds = schema::whole(0, seconds_max);
  return {.method = "POST",
          .path = "/v1/queue/close",
          .id = "close_scope",
          .summary =
              "Closes a key, a type or the whole queue until an instant; one that is past "
              "opens it.",
          .body = schema::object({{"scope", schema::word({"key", "type", "queue"})},
                                  {"name", schema::text(1, bounds::task_name_bytes_max), false},
                                  {"until", schema::instant(), false},
                                  {"for_seconds", seconds, false},
                                  {"spread_seconds", seconds, false}}),
          .answers = {{200, "It is closed until then.", closing_schema()}},
          .problems = {404, 409, 503},
          .handle = [&context](Call call) { close(context, std::move(call)); }};
}

struct Deed {
  std::string_view operation;
  Details details;
};

Deed deed_of(const queue::Cancel& cancel) {
  return {"task cancel", {{"task_id", to_string(cancel.id)}}};
}
Deed deed_of(const queue::Replay& replay) {
  return {"task replay", {{"task_id", to_string(replay.id)}}};
}
Deed deed_of(const queue::Close& close) {
  return {
      "queue close",
      {{"scope", to_string(close.scope)}, {"name", close.name}, {"until", to_string(close.until)}}};
}
Deed deed_of(const queue::SetLimit& limit) {
  const Value told = to_json(limit);
  return {"queue limit",
          {{"scope", to_string(limit.limited)},
           {"name", limit.name},
           {"rate", *told.find("rate")},
           {"running", *told.find("running")}}};
}
Deed deed_of(const queue::SetSchedule& schedule) {
  return {"queue schedule",
          {{"name", schedule.name},
           {"cron", schedule.cron},
           {"task_type", schedule.terms.type},
           {"enabled", schedule.enabled}}};
}
// Said by whoever works or submits.
template <class Command>
std::nullopt_t deed_of(const Command&) {
  return std::nullopt;
}

}  // namespace

Result<void> record_deed(Context& context, const Call& call, const queue::Command& command) {
  std::optional<Deed> deed =
      std::visit([](const auto& said) -> std::optional<Deed> { return deed_of(said); }, command);
  if (!deed) return {};
  return record_change(context, call,
                       {.type = audit::EventType::task,
                        .timestamp = context.clock.wall_now(),
                        .operation = std::string(deed->operation),
                        .correlation = {},
                        .details = std::move(deed->details)});
}

TaskQueue* queue_of(Context& context, Call& call) {
  if (context.tasks == nullptr) {
    std::move(call).refuse(
        http::ProblemCode::not_found,
        "This pawl has no queue of its own. Ask the broker that queue.url names.");
    return nullptr;
  }
  const Result<TaskQueue*> queue = context.tasks->queue();
  if (queue) return *queue;
  std::move(call).fail(queue.error());
  return nullptr;
}

std::move_only_function<void(Result<std::vector<queue::Reply>>)> back_with_reply(
    Context& context, Call call, std::move_only_function<void(Call, const queue::Reply&)> then) {
  using Replies = std::vector<queue::Reply>;
  return back_from_queue<Replies>(
      context, std::move(call),
      [then = std::move(then)](Call asked, const Replies& replies) mutable {
        const auto* refusal = std::get_if<queue::Refusal>(&replies.front());
        if (refusal == nullptr) return then(std::move(asked), replies.front());
        std::move(asked).fail(Error(refusal->code, Outcome::not_applied, refusal->message));
      });
}

Routes queue_routes(Context& context) {
  Routes routes = {
      {.path = "/v1/queue/stats",
       .id = "queue_stats",
       .summary = "How full the queue is, by type, and what this pawl did for it.",
       .answers = {{200, "The numbers.", stats_schema()}},
       .problems = {404, 503},
       .handle = [&context](Call call) { tell_stats(context, std::move(call)); }},
      close_route(context),
  };
  for (Route& route : list_routes(context)) routes.push_back(std::move(route));
  return routes;
}

}  // namespace pawl::admin
