// The fields of every command, in the order of the log: one list for all who go through them
// (command_bytes.cc writes and reads, command_check.cc checks), so that they cannot drift apart.
//
// Contract: fields(visitor, command) calls the visitor with each: name, value, and what is allowed.
//           `Value` is const for whoever only looks. The order is the format: docs/formats.md.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "base/bounds.h"
#include "base/bounds_queue.h"
#include "core/queue/command.h"

namespace pawl::queue {

template <class Value, class T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

inline constexpr Duration any_length = Duration::max();
inline constexpr auto any_count = std::numeric_limits<std::uint32_t>::max();

template <class Visitor, Of<RetryRule> Value>
void fields(Visitor& visit, Value& rule) {
  visit.length("base_delay", rule.base_delay, bounds::retry_delay_max);
  visit.length("max_delay", rule.max_delay, bounds::retry_delay_max);
  visit.amount("multiplier in thousandths", rule.multiplier_milli, 1000,
               bounds::retry_multiplier_milli_max);
  visit.amount("jitter in thousandths", rule.jitter_milli, 0, 1000);
  visit.lengths("delays", rule.delays, bounds::task_delays_max);
}

template <class Visitor, Of<TaskTerms> Value>
void fields(Visitor& visit, Value& terms) {
  visit.needed_name("task_type", terms.type);
  visit.json("input", terms.input, bounds::task_input_bytes_max);
  visit.name("key", terms.key);
  visit.name("unique", terms.unique);
  visit.amount("priority", terms.priority, -bounds::task_priority_max, bounds::task_priority_max);
  visit.count("max_retries", terms.max_retries, 0, bounds::task_retries_max);
  visit.optional_count("max_reschedules", terms.max_reschedules);
  visit.length("timeout", terms.timeout, bounds::task_timeout_max);
  fields(visit, terms.retry);
}

template <class Visitor, Of<Submit> Value>
void fields(Visitor& visit, Value& submit) {
  visit.id("id", submit.id);
  fields(visit, submit.terms);
  visit.length("delay", submit.delay, any_length);
  visit.optional_moment("at", submit.at);
  visit.length("ttl", submit.time_to_live, any_length);
  visit.optional_moment("expires", submit.expires);
  visit.count("attempt", submit.counts.attempts, 0, any_count);
  visit.count("retry_count", submit.counts.retries, 0, any_count);
  visit.count("reschedule_count", submit.counts.reschedules, 0, any_count);
}

template <class Visitor, Of<Claim> Value>
void fields(Visitor& visit, Value& claim) {
  visit.needed_name("worker", claim.worker);
  visit.names("types", claim.types, bounds::claim_types_max);
  visit.count("count", claim.count, 1, bounds::claim_tasks_max);
  visit.length("lease", claim.lease, bounds::task_lease_max);
}

template <class Visitor, Of<Renew> Value>
void fields(Visitor& visit, Value& renew) {
  visit.id("id", renew.id);
  visit.fence("fence", renew.fence);
  visit.length("lease", renew.lease, bounds::task_lease_max);
}

template <class Visitor, Of<Complete> Value>
void fields(Visitor& visit, Value& complete) {
  visit.id("id", complete.id);
  visit.fence("fence", complete.fence);
  visit.json("output", complete.output, bounds::task_output_bytes_max);
}

template <class Visitor, Of<Fail> Value>
void fields(Visitor& visit, Value& fail) {
  visit.id("id", fail.id);
  visit.fence("fence", fail.fence);
  visit.text("error", fail.error);
  visit.truth("permanent", fail.permanent);
  visit.length("not_before", fail.not_before, any_length);
}

template <class Visitor, Of<Reschedule> Value>
void fields(Visitor& visit, Value& reschedule) {
  visit.id("id", reschedule.id);
  visit.fence("fence", reschedule.fence);
  visit.length("delay", reschedule.delay, any_length);
  visit.one_of("scope", reschedule.scope, Scope::queue);
  visit.truth("counted", reschedule.counted);
  visit.optional_json("input", reschedule.input, bounds::task_input_bytes_max);
}

template <class Visitor, Of<Cancel> Value>
void fields(Visitor& visit, Value& cancel) {
  visit.id("id", cancel.id);
  visit.name("by", cancel.by);
  visit.text("why", cancel.why);
}

template <class Visitor, Of<Replay> Value>
void fields(Visitor& visit, Value& replay) {
  visit.id("id", replay.id);
}

template <class Visitor, Of<Close> Value>
void fields(Visitor& visit, Value& close) {
  visit.one_of("scope", close.scope, Scope::queue);
  visit.name("name", close.name);
  visit.moment("until", close.until);
  visit.length("spread", close.spread, any_length);
}

template <class Visitor, Of<SetLimit> Value>
void fields(Visitor& visit, Value& limit) {
  visit.one_of("limited", limit.limited, Limited::each_key);
  visit.name("name", limit.name);
  visit.count("rate", limit.rate, 0, any_count);
  visit.length("period", limit.period, any_length);
  visit.count("running", limit.running, 0, any_count);
}

template <class Visitor, Of<SetSchedule> Value>
void fields(Visitor& visit, Value& schedule) {
  visit.needed_name("name", schedule.name);
  visit.name("cron", schedule.cron);
  visit.name("zone", schedule.zone);
  fields(visit, schedule.terms);
  visit.truth("enabled", schedule.enabled);
  visit.moment("next", schedule.next);
}

template <class Visitor, Of<Fire> Value>
void fields(Visitor& visit, Value& fire) {
  visit.needed_name("name", fire.name);
  visit.moment("due", fire.due);
  visit.moment("next", fire.next);
  visit.id("id", fire.id);
}

}  // namespace pawl::queue
