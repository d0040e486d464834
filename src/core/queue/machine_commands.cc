// Commands of whoever holds a task, or speaks about one; and schedules.
#include <algorithm>
#include <concepts>

#include "base/bounds_queue.h"
#include "core/queue/cut.h"
#include "core/queue/machine_state.h"
#include "core/queue/max_reschedules.h"

namespace pawl::queue {
namespace {

Refusal unknown_task(const TaskId& id) {
  return refuse(Code::not_found, "there is no task " + to_string(id) +
                                     ": it was never submitted, or was over and is no longer kept");
}

std::string in_its_words(const Cancel& cancel) {
  std::string text = cancel.by.substr(0, bounds::task_name_bytes_max);
  if (!cancel.why.empty()) text += (text.empty() ? "" : ": ") + cancel.why;
  return cut(text, bounds::task_error_bytes_max);
}

// But for the first firing, which is another each time it is reckoned.
bool is_same(const SetSchedule& a, const SetSchedule& b) {
  return a.cron == b.cron && a.zone == b.zone && a.enabled == b.enabled && a.terms == b.terms;
}

template <class Wish>
concept Ending =
    std::same_as<Wish, Complete> || std::same_as<Wish, Fail> || std::same_as<Wish, Reschedule>;

}  // namespace

Changed Machine::State::changed(const Slot& slot) const {
  Changed changed = {.status = slot.status, .cancel_requested = slot.cancel_requested};
  if (slot.status == Status::pending) changed.available_at = slot.available;
  if (slot.status == Status::running) changed.lease_expires_at = slot.until;
  return changed;
}

// The task, if it runs by this claim. A command that ended the claim already is answered as then.
// A claim of this very segment cannot be known to anybody yet.
Machine::State::Held Machine::State::held(const TaskId& id, std::uint64_t fence, Ended by) const {
  const std::uint32_t number = find(id);
  if (number == 0) return {.answer = unknown_task(id)};
  const Slot& slot = slots[number];
  const bool runs = slot.status == Status::running;
  if (runs && slot.fence == fence && fence < sequence) return {.slot = number};
  const bool repeated = !runs && slot.fence == fence && slot.ended == by;
  if (repeated && by != Ended::no_claim) return {.answer = changed(slot)};
  std::string message = "fence " + std::to_string(fence) + " does not hold task " + to_string(id);
  if (runs) {
    message += ": " + workers[slot.worker].name + " does, with fence " + std::to_string(slot.fence);
  } else if (is_over(slot.status)) {
    message += ": it is over (" + std::string(to_string(slot.status)) + ")";
  } else {
    message += ": its last claim (fence " + std::to_string(slot.fence) +
               ") has ended, and it waits for another";
  }
  return {.answer = refuse(Code::refused, std::move(message))};
}

// The endings of claims that this segment would end by time: they come first. After an outage that
// was longer than a lease, what was done meanwhile is not done again. Empty: there are none.
std::vector<std::optional<Reply>> Machine::State::end_in_time(std::span<const Command> commands) {
  if (leases.empty() || leases.head().when > now) return {};
  std::vector<std::optional<Reply>> replies(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto end = [&](const auto& wish) {
      if constexpr (Ending<std::remove_cvref_t<decltype(wish)>>) {
        const std::uint32_t number = find(wish.id);
        const Slot& slot = slots[number];
        const bool runs = number != 0 && slot.status == Status::running;
        if (runs && slot.fence == wish.fence && slot.until <= now) replies[i] = run(wish);
      }
    };
    std::visit(end, commands[i]);
  }
  return replies;
}

Reply Machine::State::run(const Renew& renew) {
  const Held holder = held(renew.id, renew.fence, Ended::no_claim);
  if (holder.slot == 0) return holder.answer;
  if (renew.lease <= Duration()) {
    return refuse(Code::invalid, "a lease must last: it is " + to_string(renew.lease));
  }
  // Never beyond what the task's timeout gives, so that an attempt ends; never earlier than it was.
  Slot& slot = slots[holder.slot];
  const Instant end = now + std::min(renew.lease, bounds::task_lease_max);
  slot.until = std::max(slot.until, std::min(end, slot.claimed + held_most(slot.timeout)));
  return changed(slot);
}

Reply Machine::State::run(const Complete& complete) {
  const Held holder = held(complete.id, complete.fence, Ended::complete);
  if (holder.slot == 0) return holder.answer;
  if (complete.output.size() > bounds::task_output_bytes_max) {
    return refuse(Code::invalid, "the output of task " + to_string(complete.id) + " has " +
                                     std::to_string(complete.output.size()) + " bytes: at most " +
                                     std::to_string(bounds::task_output_bytes_max) +
                                     " are kept; store it elsewhere and return where");
  }
  Slot& slot = slots[holder.slot];
  stop(holder.slot, Ended::complete);
  finish(holder.slot, Status::completed, now);
  if (!complete.output.empty()) {
    if (!slot.cold) slot.cold = std::make_unique<Cold>();
    slot.cold->output = Blob(complete.output);
  }
  record(slot, {.reason = Reason::completed});
  ++totals.completed;
  return changed(slot);
}

Reply Machine::State::run(const Fail& fail) {
  const Held holder = held(fail.id, fail.fence, Ended::fail);
  if (holder.slot == 0) return holder.answer;
  stop(holder.slot, Ended::fail);
  retry(holder.slot,
        {.reason = fail.permanent ? Reason::failed : Reason::retried, .detail = fail.error},
        fail.not_before);
  return changed(slots[holder.slot]);
}

Reply Machine::State::run(const Reschedule& reschedule) {
  const Held holder = held(reschedule.id, reschedule.fence, Ended::reschedule);
  if (holder.slot == 0) return holder.answer;
  Slot& slot = slots[holder.slot];
  stop(holder.slot, Ended::reschedule);
  if (!reschedule.input.empty()) set_input(slot, reschedule.input);
  const Duration delay = std::max(reschedule.delay, Duration());
  const Instant available = now + delay;
  const bool named = reschedule.scope == Scope::type || slot.key != 0;
  if (reschedule.scope == Scope::queue || (reschedule.scope != Scope::task && named)) {
    const std::uint32_t number = reschedule.scope == Scope::queue  ? 0
                                 : reschedule.scope == Scope::type ? slot.type
                                                                   : slot.key;
    const Gate* kept = find_gate(reschedule.scope, number);
    if (available > (kept ? std::max(now, kept->closed_until()) : now)) {
      close_scope({.at = available, .scope = reschedule.scope, .number = number}, {});
    }
  }
  if (slot.cancel_requested) {
    cancel(holder.slot);
  } else if (reschedule.counted && slot.counts_reschedules &&
             slot.reschedule_count >= slot.max_reschedules) {
    const std::string error = max_reschedules_exceeded(slot.max_reschedules);
    set_error(slot, error);
    finish(holder.slot, Status::failed, now);
    record(slot, {.reason = Reason::failed, .detail = error});
    ++totals.failed;
  } else {
    if (reschedule.counted && slot.reschedule_count < ~std::uint32_t{0}) ++slot.reschedule_count;
    const bool alone = reschedule.scope == Scope::key && !named;
    record(slot, {.reason = Reason::rescheduled,
                  .delay = delay,
                  .count = reschedule.counted ? slot.reschedule_count : 0,
                  .detail = alone ? "no key to close: only this task waits" : ""});
    ++totals.rescheduled;
    enter_pending(holder.slot, available);
  }
  return changed(slot);
}

Reply Machine::State::run(const Cancel& wish) {
  const std::uint32_t number = find(wish.id);
  if (number == 0) return unknown_task(wish.id);
  Slot& slot = slots[number];
  if (slot.status == Status::cancelled) return changed(slot);
  if (is_over(slot.status)) {
    return refuse(Code::refused, "task " + to_string(wish.id) + " is over (" +
                                     std::string(to_string(slot.status)) +
                                     "): there is nothing to cancel");
  }
  if (slot.cancel_requested) return changed(slot);
  if (!slot.cold) slot.cold = std::make_unique<Cold>();
  slot.cold->cancelled_by = Blob(in_its_words(wish));
  slot.cancel_requested = true;
  if (slot.status == Status::pending) {
    leave_pending(number);
    note_gone(slot.type);
    cancel(number);
  } else {
    record(slot, {.reason = Reason::cancel_asked, .detail = slot.cold->cancelled_by.text()});
  }
  return changed(slot);
}

// From the start: counters, errors and the time to live go; the history stays.
Reply Machine::State::run(const Replay& replay) {
  const std::uint32_t number = find(replay.id);
  if (number == 0) return unknown_task(replay.id);
  Slot& slot = slots[number];
  if (slot.status == Status::pending && slot.ended == Ended::replay) return changed(slot);
  if (!is_over(slot.status) || slot.status == Status::completed) {
    return refuse(Code::refused, "task " + to_string(replay.id) + " is " +
                                     std::string(to_string(slot.status)) +
                                     ": only what failed, was cancelled or has expired can be "
                                     "replayed");
  }
  --types[slot.type].count(slot.status);
  --over;
  slot.ended = Ended::replay;
  slot.attempt = slot.retry_count = slot.reschedule_count = 0;
  slot.cancel_requested = false;
  slot.expires = Instant::max();
  if (slot.cold) {
    slot.cold->last_error = Blob();
    slot.cold->cancelled_by = Blob();
  }
  record(slot, {.reason = Reason::replayed});
  enter_pending(number, now);
  return changed(slot);
}

Reply Machine::State::run(const SetSchedule& set) {
  const auto found = kept_schedules.find(set.name);
  if (set.cron.empty()) {
    if (found == kept_schedules.end()) {
      return refuse(Code::not_found, "there is no schedule '" + set.name + "'");
    }
    firings.erase({found->second.next, found->first});
    kept_schedules.erase(found);
    return Changed();
  }
  const std::size_t most = bounds::task_name_bytes_max;
  if (set.name.empty() || set.name.size() > most || set.cron.size() > most ||
      set.zone.size() > most) {
    return refuse(Code::invalid, "the name of a schedule has " + std::to_string(set.name.size()) +
                                     " bytes, its cron " + std::to_string(set.cron.size()) +
                                     ", its zone " + std::to_string(set.zone.size()) +
                                     ": each may have " + std::to_string(most) +
                                     ", and a name at least one");
  }
  if (const auto good = check_terms(set.terms); !good) {
    return refuse(good.error().code, good.error().message);
  }
  if (found == kept_schedules.end() && kept_schedules.size() >= bounds::queue_schedules_max) {
    return refuse(Code::refused, "there are " + std::to_string(kept_schedules.size()) +
                                     " schedules, and no more may be set: remove one");
  }
  // What was given before, or reckoned before the last firing, must not fire for that once more.
  if (found != kept_schedules.end() && is_same(found->second.set, set)) return Changed();
  const auto kept = kept_schedules.try_emplace(set.name).first;
  Schedule& schedule = kept->second;
  const bool has_passed = schedule.last && set.next <= *schedule.last;
  schedule.set = set;
  set_next(kept, has_passed ? schedule.next : set.next);
  return Changed();
}

void Machine::State::set_next(KeptSchedule kept, Instant next) {
  Schedule& schedule = kept->second;
  firings.erase({schedule.next, kept->first});
  schedule.next = next;
  if (schedule.set.enabled) firings.emplace(next, kept->first);
}

// A schedule goes on by its firings alone, whatever the time.
std::optional<Refusal> Machine::State::refusal_of(const Fire& fire) const {
  const auto found = kept_schedules.find(fire.name);
  if (found == kept_schedules.end()) {
    return refuse(Code::not_found, "there is no schedule '" + fire.name + "'");
  }
  const Schedule& schedule = found->second;
  if (schedule.set.enabled && schedule.next == fire.due && fire.next > fire.due) return {};
  return refuse(Code::refused,
                "schedule '" + fire.name + "' does not fire for " + to_string(fire.due) +
                    (schedule.set.enabled ? ": its next time is " + to_string(schedule.next)
                                          : std::string(": it is disabled")));
}

std::optional<Reply> Machine::State::reply_in_vain(const Fire& fire, Instant at) {
  const std::uint32_t number = find(fire.id);
  if (number == 0) return refusal_of(fire);
  // What is over by then may be forgotten by then.
  const Slot& slot = slots[number];
  const bool stays =
      slot.status == Status::running ? slot.until > at : status_at(slot, at) == Status::pending;
  if (!stays) return {};
  return Submitted{.id = fire.id, .fresh = false};
}

// The schedule goes on even if its task is refused: else it would try for ever.
Reply Machine::State::run(const Fire& fire) {
  if (find(fire.id) != 0) return Submitted{.id = fire.id, .fresh = false};
  if (auto refusal = refusal_of(fire)) return *std::move(refusal);
  const auto found = kept_schedules.find(fire.name);
  Schedule& schedule = found->second;
  schedule.last = fire.due;
  set_next(found, fire.next);
  return run(Submit{.id = fire.id, .terms = schedule.set.terms});
}

}  // namespace pawl::queue
