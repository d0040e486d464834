// `pawl close`, `pawl open`, `pawl limit …`, `pawl schedule …`
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "adapter/system/system_zones.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/queue_verbs.h"
#include "cli/words.h"
#include "core/queue/cron.h"
#include "core/queue/view_json.h"

namespace pawl::cli {
namespace {

Result<int> close_scope(QueueSession& session, const Arguments& arguments) {
  const ScopeAsked asked = PAWL_TRY(scope_of(arguments, "close"));
  const Instant until = PAWL_TRY(until_of(arguments, "close", session.now()));
  const auto spread = PAWL_TRY(duration_of(arguments, "--spread", "close"));
  PAWL_TRY(session.give_one(queue::Close{.scope = asked.scope,
                                         .name = asked.name,
                                         .until = until,
                                         .spread = spread.value_or(Duration())}));
  const queue::Closing closing{.scope = asked.scope, .name = asked.name, .until = until};
  print(arguments.has("--json") ? lined(to_json(closing))
                                : closings_text({&closing, 1}, shown_now(session)));
  return 0;
}

Result<int> open_scope(QueueSession& session, const Arguments& arguments) {
  const ScopeAsked asked = PAWL_TRY(scope_of(arguments, "open"));
  PAWL_TRY(session.give_one(queue::Close{.scope = asked.scope, .name = asked.name}));
  json::Object opened =
      *to_json(queue::Closing{.scope = asked.scope, .name = asked.name}).if_object();
  opened["until"] = {};
  print(arguments.has("--json") ? lined(std::move(opened))
                                : scope_text(asked.scope, asked.name) + " is open\n");
  return 0;
}

Result<int> set_limit(QueueSession& session, const Arguments& arguments) {
  queue::SetLimit limit = PAWL_TRY(limit_of(arguments, "limit set"));
  PAWL_TRY(read_amounts(arguments, "limit set", limit));
  PAWL_TRY(session.give_one(limit));
  print(arguments.has("--json") ? lined(to_json(limit)) : limits_text({&limit, 1}));
  return 0;
}

Result<std::vector<queue::SetLimit>> limits_of(QueueSession& session) {
  return session.ask<std::vector<queue::SetLimit>>(
      [](TaskQueue& queue, auto done) { queue.limits(std::move(done)); });
}

Result<int> list_limits(QueueSession& session, const Arguments& arguments) {
  const auto limits = PAWL_TRY(limits_of(session));
  if (arguments.has("--json")) {
    json::Array all;
    for (const queue::SetLimit& each : limits) all.push_back(to_json(each));
    print(lined(json::Object{{"limits", std::move(all)}}));
  } else {
    print(limits_text(limits));
  }
  return 0;
}

Result<int> remove_limit(QueueSession& session, const Arguments& arguments) {
  const queue::SetLimit limit = PAWL_TRY(limit_of(arguments, "limit remove"));
  const auto limits = PAWL_TRY(limits_of(session));
  const bool there = std::ranges::any_of(limits, [&](const queue::SetLimit& each) {
    return each.limited == limit.limited && each.name == limit.name;
  });
  if (!there) return failure(Code::not_found, limited_text(limit) + " is not limited");
  PAWL_TRY(session.give_one(limit));
  print(arguments.has("--json") ? lined(to_json(limit))
                                : limited_text(limit) + " is not limited any more\n");
  return 0;
}

// The first firing of a schedule from now on.
Result<Instant> first_firing(const queue::SetSchedule& set, Instant now) {
  const queue::Cron cron = PAWL_TRY(queue::parse_cron(set.cron));
  const Zone zone = PAWL_TRY(load_zone(set.zone.empty() ? "UTC" : set.zone));
  const auto next = queue::next_after(cron, zone, now);
  if (!next) return failure(Code::invalid, "'" + set.cron + "' never fires");
  return *next;
}

Result<std::vector<queue::Schedule>> schedules_of(QueueSession& session) {
  return session.ask<std::vector<queue::Schedule>>(
      [](TaskQueue& queue, auto done) { queue.schedules(std::move(done)); });
}

Result<queue::Schedule> schedule_named(QueueSession& session, const std::string& name) {
  for (queue::Schedule& each : PAWL_TRY(schedules_of(session))) {
    if (each.set.name == name) return std::move(each);
  }
  return failure(Code::not_found, "there is no schedule '" + name + "'; see 'pawl schedule list'");
}

int tell(QueueSession& session, const Arguments& arguments, const queue::Schedule& schedule) {
  print(arguments.has("--json") ? lined(to_json(schedule))
                                : schedules_text({&schedule, 1}, shown_now(session)));
  return 0;
}

Result<int> create_schedule(QueueSession& session, const Arguments& arguments) {
  constexpr std::string_view verb = "schedule create";
  const queue::Submit submit = PAWL_TRY(submit_of(arguments, verb));
  const std::vector<std::string> inputs = PAWL_TRY(inputs_of(arguments, verb));
  if (inputs.size() > 1) return std::unexpected(usage_error(verb, "give --input once"));
  if (!arguments.has("--cron")) return std::unexpected(usage_error(verb, "--cron is missing"));
  queue::SetSchedule set{.name = arguments.value("NAME"),
                         .cron = arguments.value("--cron"),
                         .zone = arguments.value("--zone"),
                         .terms = submit.terms,
                         .enabled = !arguments.has("--disabled")};
  set.terms.input = inputs.front();
  const Result<Instant> first = first_firing(set, session.now());
  if (!first) return std::unexpected(usage_error(verb, first.error().message));
  set.next = *first;
  PAWL_TRY(session.give_one(set));
  return tell(session, arguments, {.set = set, .next = set.next});
}

Result<int> list_schedules(QueueSession& session, const Arguments& arguments) {
  const auto schedules = PAWL_TRY(schedules_of(session));
  if (arguments.has("--json")) {
    json::Array all;
    for (const queue::Schedule& each : schedules) all.push_back(to_json(each));
    print(lined(json::Object{{"schedules", std::move(all)}}));
  } else if (arguments.has("--names")) {
    for (const queue::Schedule& each : schedules) print(name_line(each.set.name));
  } else {
    print(schedules_text(schedules, shown_now(session)));
  }
  return 0;
}

Result<int> show_schedule(QueueSession& session, const Arguments& arguments) {
  const queue::Schedule schedule = PAWL_TRY(schedule_named(session, arguments.value("NAME")));
  return tell(session, arguments, schedule);
}

// The times it missed while it was disabled are gone.
Result<int> set_enabled(QueueSession& session, const Arguments& arguments, bool enabled) {
  queue::Schedule schedule = PAWL_TRY(schedule_named(session, arguments.value("NAME")));
  schedule.set.enabled = enabled;
  schedule.set.next = PAWL_TRY(first_firing(schedule.set, session.now()));
  schedule.next = schedule.set.next;
  PAWL_TRY(session.give_one(schedule.set));
  return tell(session, arguments, schedule);
}

Result<int> enable_schedule(QueueSession& session, const Arguments& arguments) {
  return set_enabled(session, arguments, true);
}

Result<int> disable_schedule(QueueSession& session, const Arguments& arguments) {
  return set_enabled(session, arguments, false);
}

Result<int> delete_schedule(QueueSession& session, const Arguments& arguments) {
  const std::string& name = arguments.value("NAME");
  PAWL_TRY(session.give_one(queue::SetSchedule{.name = name}));
  print(arguments.has("--json") ? lined(json::Object{{"name", name}, {"deleted", true}})
                                : "schedule " + word(name) + " is gone; its tasks stay\n");
  return 0;
}

// One of its tasks now, besides those that it fires.
Result<int> trigger_schedule(QueueSession& session, const Arguments& arguments) {
  const queue::Schedule schedule = PAWL_TRY(schedule_named(session, arguments.value("NAME")));
  const queue::TaskTerms& terms = schedule.set.terms;
  const queue::TaskId id = session.new_id(terms);
  const auto reply = session.give_one(queue::Submit{.id = id, .terms = terms});
  if (!reply) {
    if (reply.error().code != Code::unresolved) return std::unexpected(reply.error());
    return std::unexpected(in_doubt(session.queue().view().store, {to_string(id)}));
  }
  const auto& submitted = std::get<queue::Submitted>(*reply);
  print(arguments.has("--json")
            ? lined(json::Object{{"id", to_string(submitted.id)}, {"fresh", submitted.fresh}})
            : to_string(submitted.id) + "\n");
  return 0;
}

}  // namespace

// What was typed wrongly is told before a queue is made for it.
int scope_close(const Arguments& arguments) {
  if (const auto scope = scope_of(arguments, "close"); !scope) return fail(scope.error());
  return run_queue_verb(arguments, Opens::give, close_scope);
}

int scope_open(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, open_scope);
}

int limit_set(const Arguments& arguments) {
  auto limit = limit_of(arguments, "limit set");
  if (!limit) return fail(limit.error());
  if (const auto amounts = read_amounts(arguments, "limit set", *limit); !amounts) {
    return fail(amounts.error());
  }
  return run_queue_verb(arguments, Opens::give, set_limit);
}

int limit_list(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, list_limits);
}

int limit_remove(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, remove_limit);
}

int schedule_create(const Arguments& arguments) {
  if (const auto terms = submit_of(arguments, "schedule create"); !terms) {
    return fail(terms.error());
  }
  return run_queue_verb(arguments, Opens::give, create_schedule);
}

int schedule_list(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, list_schedules);
}

int schedule_show(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, show_schedule);
}

int schedule_enable(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, enable_schedule);
}

int schedule_disable(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, disable_schedule);
}

int schedule_delete(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, delete_schedule);
}

int schedule_trigger(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, trigger_schedule);
}

}  // namespace pawl::cli
