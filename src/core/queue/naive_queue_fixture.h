// NaiveQueue: the queue as a list that is searched from end to end, to hold the machine against.
//
// Why:      written apart from the machine, from what machine.h, task.h and gate.h promise: no
//           heaps, no lanes, no numbers for names, nothing remembered that can be counted.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bounds_queue.h"
#include "core/queue/command.h"
#include "core/queue/cut.h"
#include "core/queue/machine.h"
#include "core/retry/backoff.h"

namespace pawl::queue {

class NaiveQueue {
 public:
  explicit NaiveQueue(const Settings& settings) : settings_(settings) {}

  struct Row {
    Task task = {};
    std::uint64_t arrival = 0;
    Instant claimed = {};
    char ended = ' ';  // what ended the last claim
    std::vector<Version> versions = {};
    std::string first_input = {};
  };

  std::vector<Reply> apply(Instant at, std::span<const Command> commands) {
    ++sequence_;
    now_ = std::max(now_, at);
    std::map<std::size_t, Reply> early;  // whoever holds what would end now, and ends it itself
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const auto end = [&](const auto& wish) {
        if (is_late_ending(wish)) early[i] = run(wish);
      };
      std::visit(end, commands[i]);
    }
    settle();
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const auto done = early.find(i);
      replies.push_back(done != early.end()
                            ? done->second
                            : std::visit([&](const auto& wish) { return run(wish); }, commands[i]));
    }
    return replies;
  }

  Instant now() const { return now_; }
  std::vector<Row> rows() const {  // by id
    std::vector<Row> all = rows_;
    std::ranges::sort(all, {}, [](const Row& row) { return row.task.id; });
    return all;
  }
  std::vector<Closing> closings() const {
    std::vector<Closing> all;
    for (const auto& [place, gate] : gates_) {
      if (gate.closed > now_) {
        all.push_back({.scope = place.first, .name = place.second, .until = gate.closed});
      }
    }
    return all;
  }
  const std::map<std::string, Schedule>& schedules() const { return schedules_; }
  std::optional<Instant> next_firing() const {
    std::optional<Instant> next;
    for (const auto& [name, schedule] : schedules_) {
      if (schedule.set.enabled && (!next || schedule.next < *next)) next = schedule.next;
    }
    return next;
  }

 private:
  struct NaiveGate {
    Instant closed = {};
    Duration spread = {};
    bool spread_said = false;
    Instant next_goes = {};
    Instant ramp_ends = {};
    std::int64_t full_at = 0;
  };
  using Scoped = std::pair<Scope, std::string>;

  Row* find(const TaskId& id) {
    const auto found = std::ranges::find(rows_, id, [](const Row& row) { return row.task.id; });
    return found == rows_.end() ? nullptr : &*found;
  }
  static Refusal no(Code code) { return {.code = code, .message = "no"}; }
  void note(Row& row, Version version) {
    if (version.at == Instant()) version.at = now_;
    version.status = row.task.status;
    version.detail = cut(version.detail, bounds::task_version_detail_bytes_max);
    row.versions.push_back(version);
    row.task.updated_at = now_;
  }

  // Time.
  void settle() {
    for (;;) {
      Row* next = nullptr;
      for (Row& row : rows_) {
        if (row.task.status != Status::running || *row.task.lease_expires_at > now_) continue;
        const auto order = [](const Row& r) {
          return std::pair(*r.task.lease_expires_at, r.arrival);
        };
        if (next == nullptr || order(row) < order(*next)) next = &row;
      }
      if (next == nullptr) break;
      const bool whole =
          *next->task.lease_expires_at == next->claimed + held_most(next->task.terms.timeout);
      const std::string error = whole ? "lease expired: its timeout of " +
                                            to_string(next->task.terms.timeout) + " is over"
                                      : "lease expired";
      stop(*next, 'l');
      go_wrong(*next, {.reason = Reason::timed_out, .detail = error}, {});
    }
    for (Row& row : rows_) {
      if (row.task.status == Status::pending && row.task.expires_at &&
          *row.task.expires_at <= now_) {
        end(row, Status::expired, {.at = *row.task.expires_at, .reason = Reason::expired});
      }
    }
    for (auto& [place, gate] : gates_) {
      if (gate.closed == Instant() || gate.closed > now_) continue;
      const std::int64_t waiting = due_in(place);
      Duration spread = gate.spread;
      if (!gate.spread_said) spread = std::min(spread, Duration::seconds(waiting));
      gate.next_goes = gate.closed;
      gate.ramp_ends = gate.closed + spread;
      if (waiting == 0) gate.next_goes = gate.ramp_ends = {};
      gate.closed = {};
    }
    std::erase_if(rows_, [&](const Row& row) {
      return row.task.completed_at && *row.task.completed_at + settings_.kept <= now_;
    });
  }

  // States.
  void end(Row& row, Status status, const Version& version) {
    row.task.status = status;
    row.task.completed_at = version.at == Instant() ? now_ : version.at;
    note(row, version);
  }
  void wait(Row& row, Instant available) {
    row.task.status = Status::pending;
    row.task.available_at = available;
    row.task.updated_at = now_;
    row.arrival = next_arrival_++;
    if (row.task.expires_at && *row.task.expires_at <= now_) {
      end(row, Status::expired, {.reason = Reason::expired});
    }
  }
  void stop(Row& row, char by) {
    row.ended = by;
    row.task.lease_expires_at = {};
  }
  void go_wrong(Row& row, Version version, Duration not_before) {
    Task& task = row.task;
    task.last_error = cut(version.detail, bounds::task_error_bytes_max);
    if (task.cancel_requested) {
      return end(row, Status::cancelled,
                 {.reason = Reason::cancelled, .detail = task.cancelled_by});
    }
    if (version.reason == Reason::failed || task.retry_count >= task.terms.max_retries) {
      version.reason = Reason::failed;
      return end(row, Status::failed, version);
    }
    ++task.retry_count;
    const RetryRule& rule = task.terms.retry;
    const retry::Policy policy = {.base_delay = rule.base_delay,
                                  .max_delay = rule.max_delay,
                                  .multiplier_milli = rule.multiplier_milli,
                                  .jitter_milli = rule.jitter_milli,
                                  .delays = rule.delays};
    version.delay =
        std::max(not_before, retry::backoff(policy, retry::jitter_key(to_string(task.id)),
                                            static_cast<int>(task.retry_count), {}));
    version.count = task.retry_count;
    task.status = Status::pending;
    note(row, version);
    wait(row, now_ + version.delay);
  }

  // Gates.
  std::int64_t due_in(const Scoped& place) const {
    return std::ranges::count_if(rows_, [&](const Row& row) {
      return row.task.status == Status::pending && row.task.available_at <= now_ &&
             is_in(row.task, place);
    });
  }
  static bool is_in(const Task& task, const Scoped& place) {
    if (place.first == Scope::queue) return true;
    return (place.first == Scope::type ? task.terms.type : task.terms.key) == place.second;
  }
  SetLimit limit_of(const Scoped& place) const {
    static constexpr Limited kinds[] = {Limited::queue, Limited::key, Limited::type,
                                        Limited::queue};
    const Limited kind = kinds[static_cast<int>(place.first) - 1];
    auto found = limits_.find({kind, place.second});
    if (found == limits_.end() && kind == Limited::key) {
      found = limits_.find({Limited::each_key, ""});
    }
    return found == limits_.end() ? SetLimit() : found->second;
  }
  struct Pace {
    std::int64_t interval;
    std::int64_t capacity;
  };
  static Pace pace_of(const SetLimit& limit) {
    const std::int64_t capacity = 1 + (std::int64_t{limit.rate} - 1) / 10;
    const std::int64_t count = limit.rate + 1 - capacity;
    return {.interval = (limit.period.ns() + count - 1) / count, .capacity = capacity};
  }
  std::int64_t missing(const NaiveGate& gate, const Pace& pace) const {
    return std::clamp<std::int64_t>(gate.full_at - now_.ns(), 0, pace.interval * pace.capacity);
  }
  bool is_open(const Scoped& place) {
    const NaiveGate& gate = gates_[place];
    if (gate.closed > now_) return false;
    const SetLimit limit = limit_of(place);
    const auto running = std::ranges::count_if(rows_, [&](const Row& row) {
      return row.task.status == Status::running && is_in(row.task, place);
    });
    if (limit.running > 0 && running >= limit.running) return false;
    if (now_ < gate.next_goes) return false;
    if (limit.rate == 0) return true;
    const Pace pace = pace_of(limit);
    return missing(gate, pace) + pace.interval <= pace.interval * pace.capacity;
  }
  std::vector<Scoped> places_of(const Task& task) const {
    std::vector<Scoped> places = {{Scope::queue, ""}, {Scope::type, task.terms.type}};
    if (!task.terms.key.empty()) places.emplace_back(Scope::key, task.terms.key);
    return places;
  }
  void charge(const Scoped& place) {
    NaiveGate& gate = gates_[place];
    // Those that wait, this one among them, share what is left of the time.
    const std::int64_t due = due_in(place);
    const Duration rest = gate.ramp_ends - gate.next_goes;
    if (now_ < gate.ramp_ends && due > 1) {
      gate.next_goes = gate.next_goes + rest / due;
    } else {
      gate.next_goes = gate.ramp_ends = {};
    }
    const SetLimit limit = limit_of(place);
    if (limit.rate == 0) return;
    const Pace pace = pace_of(limit);
    gate.full_at = now_.ns() + missing(gate, pace) + pace.interval;
  }
  void close(const Scoped& place, Instant until, Duration spread) {
    NaiveGate& gate = gates_[place];
    gate.next_goes = gate.ramp_ends = {};
    gate.spread_said = spread > Duration();
    gate.closed = until > now_ ? until : Instant();
    if (spread <= Duration()) {
      spread = std::min((until - now_) / 10, bounds::queue_spread_max);
    }
    gate.spread = spread;
  }

  // Commands.
  Reply run(const Submit& submit) {
    if (find(submit.id) != nullptr) return Submitted{.id = submit.id, .fresh = false};
    for (const Row& row : rows_) {
      const TaskTerms& terms = row.task.terms;
      if (submit.terms.unique.empty() || terms.unique != submit.terms.unique ||
          terms.key != submit.terms.key) {
        continue;
      }
      if (terms.type != submit.terms.type || row.first_input != submit.terms.input) {
        return no(Code::refused);
      }
      return Submitted{.id = row.task.id, .fresh = false};
    }
    Row row;
    row.task = {.id = submit.id, .terms = submit.terms, .created_at = now_};
    row.task.attempt = submit.counts.attempts;
    row.task.retry_count = submit.counts.retries;
    row.task.reschedule_count = submit.counts.reschedules;
    row.first_input = submit.terms.input;
    row.versions = {{.at = now_}};
    if (submit.time_to_live > Duration()) row.task.expires_at = now_ + submit.time_to_live;
    if (submit.expires) row.task.expires_at = submit.expires;
    rows_.push_back(row);
    const Instant available = submit.at ? *submit.at : now_ + submit.delay;
    wait(rows_.back(), std::max(now_, available));
    return Submitted{.id = submit.id};
  }
  Reply run(const Claim& claim) {
    Claimed claimed;
    while (claimed.tasks.size() < claim.count) {
      Row* first = nullptr;
      for (Row& row : rows_) {
        const Task& task = row.task;
        if (task.status != Status::pending || task.available_at > now_) continue;
        if (!claim.types.empty() && std::ranges::count(claim.types, task.terms.type) == 0) continue;
        const auto order = [](const Row& r) {
          return std::tuple(-r.task.terms.priority, r.task.available_at, r.arrival);
        };
        if (first != nullptr && order(*first) < order(row)) continue;
        if (std::ranges::all_of(places_of(task), [&](const auto& p) { return is_open(p); })) {
          first = &row;
        }
      }
      if (first == nullptr) break;
      start(*first, claim);
      claimed.tasks.push_back(first->task);
    }
    return claimed;
  }
  void start(Row& row, const Claim& claim) {
    Task& task = row.task;
    for (const Scoped& place : places_of(task)) charge(place);
    task.status = Status::running;
    ++task.attempt;
    task.fence = sequence_;
    task.worker = claim.worker;
    task.lease_expires_at = now_ + std::min(claim.lease, held_most(task.terms.timeout));
    row.claimed = now_;
    note(row, {.reason = Reason::claimed, .worker = claim.worker});
  }
  static Changed changed(const Row& row) {
    Changed changed = {.status = row.task.status, .cancel_requested = row.task.cancel_requested};
    if (row.task.status == Status::pending) changed.available_at = row.task.available_at;
    if (row.task.status == Status::running) changed.lease_expires_at = *row.task.lease_expires_at;
    return changed;
  }
  std::optional<Reply> not_held(const TaskId& id, std::uint64_t fence, char by) {
    const Row* row = find(id);
    if (row == nullptr) return no(Code::not_found);
    const bool runs = row->task.status == Status::running;
    if (row->task.fence == fence && runs && fence != sequence_) return {};
    if (row->task.fence == fence && !runs && row->ended == by) return changed(*row);
    return no(Code::refused);
  }
  template <class Wish>
  bool is_late_ending(const Wish& wish) {
    if constexpr (std::is_same_v<Wish, Complete> || std::is_same_v<Wish, Fail> ||
                  std::is_same_v<Wish, Reschedule>) {
      const Row* row = find(wish.id);
      return row != nullptr && row->task.status == Status::running &&
             row->task.fence == wish.fence && *row->task.lease_expires_at <= now_;
    } else {
      return false;
    }
  }
  Reply run(const Renew& renew) {
    if (const auto reply = not_held(renew.id, renew.fence, '-')) return *reply;
    Row& row = *find(renew.id);
    const Instant end =
        std::min(now_ + renew.lease, row.claimed + held_most(row.task.terms.timeout));
    row.task.lease_expires_at = std::max(*row.task.lease_expires_at, end);
    return changed(row);
  }
  Reply run(const Complete& complete) {
    if (const auto reply = not_held(complete.id, complete.fence, 'c')) return *reply;
    Row& row = *find(complete.id);
    stop(row, 'c');
    row.task.output = complete.output;
    end(row, Status::completed, {.reason = Reason::completed});
    return changed(row);
  }
  Reply run(const Fail& fail) {
    if (const auto reply = not_held(fail.id, fail.fence, 'f')) return *reply;
    Row& row = *find(fail.id);
    stop(row, 'f');
    go_wrong(row,
             {.reason = fail.permanent ? Reason::failed : Reason::retried, .detail = fail.error},
             fail.not_before);
    return changed(row);
  }
  Reply run(const Reschedule& reschedule) {
    if (const auto reply = not_held(reschedule.id, reschedule.fence, 'r')) return *reply;
    Row& row = *find(reschedule.id);
    Task& task = row.task;
    stop(row, 'r');
    if (!reschedule.input.empty()) task.terms.input = reschedule.input;
    const Instant until = now_ + reschedule.delay;
    for (const Scoped& place : places_of(task)) {
      if (place.first != reschedule.scope) continue;
      if (until > now_ && until > gates_[place].closed) close(place, until, {});
    }
    if (task.cancel_requested) {
      end(row, Status::cancelled, {.reason = Reason::cancelled, .detail = task.cancelled_by});
    } else if (reschedule.counted && task.terms.max_reschedules &&
               *task.terms.max_reschedules <= task.reschedule_count) {
      task.last_error =
          "Max reschedules (" + std::to_string(*task.terms.max_reschedules) + ") exceeded";
      end(row, Status::failed, {.reason = Reason::failed, .detail = task.last_error});
    } else {
      if (reschedule.counted) ++task.reschedule_count;
      task.status = Status::pending;
      note(row, {.reason = Reason::rescheduled,
                 .delay = reschedule.delay,
                 .count = reschedule.counted ? task.reschedule_count : 0,
                 .detail = reschedule.scope == Scope::key && task.terms.key.empty()
                               ? "no key to close: only this task waits"
                               : ""});
      wait(row, until);
    }
    return changed(row);
  }
  Reply run(const Cancel& cancel) {
    Row* row = find(cancel.id);
    if (row == nullptr) return no(Code::not_found);
    Task& task = row->task;
    if (is_over(task.status) && task.status != Status::cancelled) return no(Code::refused);
    if (task.cancel_requested) return changed(*row);
    task.cancel_requested = true;
    task.cancelled_by = cancel.by + ": " + cancel.why;
    const Version version = {.reason = Reason::cancelled, .detail = task.cancelled_by};
    if (task.status == Status::pending) {
      end(*row, Status::cancelled, version);
    } else {
      note(*row, {.reason = Reason::cancel_asked, .detail = task.cancelled_by});
    }
    return changed(*row);
  }
  Reply run(const Replay& replay) {
    Row* row = find(replay.id);
    if (row == nullptr) return no(Code::not_found);
    Task& task = row->task;
    if (task.status == Status::pending && row->ended == 'p') return changed(*row);
    if (!is_over(task.status) || task.status == Status::completed) return no(Code::refused);
    row->ended = 'p';
    task.attempt = task.retry_count = task.reschedule_count = 0;
    task.cancel_requested = false;
    task.cancelled_by = task.last_error = "";
    task.completed_at = task.expires_at = {};
    task.status = Status::pending;
    ++task.replay_count;
    note(*row, {.reason = Reason::replayed});
    wait(*row, now_);
    return changed(*row);
  }
  Reply run(const Close& wish) {
    close({wish.scope, wish.name}, wish.until, wish.spread);
    return Changed();
  }
  Reply run(const SetLimit& limit) {
    limits_[{limit.limited, limit.name}] = limit;
    if (limit.rate == 0 && limit.running == 0) limits_.erase({limit.limited, limit.name});
    for (auto& [place, gate] : gates_) {
      if (limit_of(place).rate == 0) gate.full_at = 0;
    }
    return Changed();
  }
  Reply run(const SetSchedule& set) {
    if (set.cron.empty()) {
      if (schedules_.erase(set.name) == 0) return no(Code::not_found);
      return Changed();
    }
    Schedule& schedule = schedules_[set.name];
    SetSchedule before = schedule.set;
    before.next = set.next;
    if (before == set) return Changed();
    schedule.set = set;
    if (!schedule.last || set.next > *schedule.last) schedule.next = set.next;
    return Changed();
  }
  Reply run(const Fire& fire) {
    if (find(fire.id) != nullptr) return Submitted{.id = fire.id, .fresh = false};
    if (!schedules_.contains(fire.name)) return no(Code::not_found);
    Schedule& schedule = schedules_[fire.name];
    if (!schedule.set.enabled || schedule.next != fire.due) return no(Code::refused);
    schedule.last = fire.due;
    schedule.next = fire.next;
    return run(Submit{.id = fire.id, .terms = schedule.set.terms});
  }

  Settings settings_;
  Instant now_;
  std::uint64_t sequence_ = 0;
  std::uint64_t next_arrival_ = 1;
  std::vector<Row> rows_;
  std::map<Scoped, NaiveGate> gates_;
  std::map<std::pair<Limited, std::string>, SetLimit> limits_;
  std::map<std::string, Schedule> schedules_;
};

}  // namespace pawl::queue
