// A task comes, changes its state, goes; and the counts and names with it.
#include <algorithm>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "base/hash.h"
#include "base/json.h"
#include "core/idempotency/key.h"
#include "core/queue/command_bytes.h"
#include "core/queue/cut.h"
#include "core/queue/machine_state.h"
#include "core/retry/backoff.h"

namespace pawl::queue {
namespace {

std::uint64_t hash_of_id(const TaskId& id) {
  return hash_of({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}, 0).low;
}

std::uint64_t hash_of_unique(std::uint32_t key, std::string_view unique) {
  return hash_of(unique, key).low;
}

std::string bytes_of(const RetryRule& rule) {
  ByteWriter out;
  write_duration(out, rule.base_delay);
  write_duration(out, rule.max_delay);
  out.zigzag(rule.multiplier_milli);
  out.zigzag(rule.jitter_milli);
  for (const Duration delay : rule.delays) write_duration(out, delay);
  return out.take();
}

Cold& cold_of(Slot& slot) {
  if (!slot.cold) slot.cold = std::make_unique<Cold>();
  return *slot.cold;
}

// The same for inputs whose canonical JSON is; what that would make alike though it is not (numbers
// of too many digits) is told apart by its text.
std::string meaning_of(std::string_view input) {
  if (Result<json::Value> value = json::parse(input)) {
    Result<std::string> key =
        idempotency::compute_key({.operation = {}, .params = *std::move(value)});
    if (key) return *std::move(key);
  }
  return std::string(input);
}

}  // namespace

retry::Policy policy_of(const RetryRule& rule) {
  return {.base_delay = rule.base_delay,
          .max_delay = rule.max_delay,
          .multiplier_milli = rule.multiplier_milli,
          .jitter_milli = rule.jitter_milli,
          .delays = rule.delays};
}

std::uint32_t Machine::State::find(const TaskId& id) const {
  return ids.find(hash_of_id(id), [&](std::uint32_t at) { return slots[at].id == id; });
}

std::uint32_t Machine::State::find_unique(std::uint32_t key, std::string_view unique) const {
  return uniques.find(hash_of_unique(key, unique), [&](std::uint32_t at) {
    return slots[at].key == key && slots[at].cold->unique.view() == unique;
  });
}

std::uint32_t Machine::State::use_key(std::string_view name) {
  if (name.empty()) return 0;
  const std::uint32_t number = find_or_make(Scope::key, name);
  ++keys[number].uses;
  return number;
}

std::uint32_t Machine::State::use_type(std::string_view name) {
  const std::uint32_t number = types.find_or_make(name).number;
  ++types[number].uses;
  return number;
}

std::uint32_t Machine::State::use_worker(std::string_view name) {
  const std::uint32_t number = workers.find_or_make(name).number;
  ++workers[number].uses;
  return number;
}

std::uint32_t Machine::State::use_rule(const RetryRule& rule) {
  const auto [number, fresh] = rules.find_or_make(bytes_of(rule));
  if (fresh) {
    rules[number].rule = rule;
    rules[number].policy = policy_of(rule);
  }
  ++rules[number].uses;
  return number;
}

void Machine::State::drop_worker(std::uint32_t number) {
  if (number != 0 && --workers[number].uses == 0) workers.erase(number);
}

std::uint32_t Machine::State::add(const TaskId& id, const TaskTerms& terms, Instant expires) {
  const std::uint32_t number = slots.make();
  Slot& slot = slots[number];
  slot.id = id;
  slot.priority = static_cast<std::int8_t>(terms.priority);
  slot.type = use_type(terms.type);
  slot.key = use_key(terms.key);
  slot.rule = use_rule(terms.retry);
  slot.max_retries = terms.max_retries;
  slot.counts_reschedules = terms.max_reschedules.has_value();
  slot.max_reschedules = terms.max_reschedules.value_or(0);
  slot.timeout = terms.timeout;
  slot.created = now;
  slot.expires = expires;
  slot.input = Blob(terms.input);
  if (!terms.unique.empty()) cold_of(slot).unique = Blob(terms.unique);
  index(number);
  ++totals.submitted;
  return number;
}

void Machine::State::index(std::uint32_t number) {
  const Slot& slot = slots[number];
  ids.insert(hash_of_id(slot.id), number);
  by_id.add({.id = slot.id, .slot = number});
  if (!slot.cold || slot.cold->unique.view().empty()) return;
  uniques.insert(hash_of_unique(slot.key, slot.cold->unique.view()), number);
}

// One that is over.
void Machine::State::remove(std::uint32_t number) {
  Slot& slot = slots[number];
  PAWL_ASSERT(is_over(slot.status));
  --types[slot.type].count(slot.status);
  --over;
  ids.erase(hash_of_id(slot.id), number);
  if (slot.cold && !slot.cold->unique.view().empty()) {
    uniques.erase(hash_of_unique(slot.key, slot.cold->unique.view()), number);
  }
  drop_worker(slot.worker);
  if (--rules[slot.rule].uses == 0) rules.erase(slot.rule);
  const std::uint32_t type = slot.type;
  const std::uint32_t key = slot.key;
  slots.drop(number);
  if (--types[type].uses == 0) {
    drop_worker(std::exchange(types[type].worker, 0));
    rest(Scope::type, type);
  }
  if (key != 0 && --keys[key].uses == 0) rest(Scope::key, key);
}

void Machine::State::record(Slot& slot, Version version) {
  if (version.at == Instant()) version.at = now;
  slot.updated = now;
  if (!slot.past) slot.past = std::make_unique<Past>();
  slot.past->add(version, slot.created);
}

void Machine::State::set_error(Slot& slot, std::string_view error) {
  cold_of(slot).last_error = Blob(cut(error, bounds::task_error_bytes_max));
}

void Machine::State::set_input(Slot& slot, std::string_view input) {
  const bool is_named = slot.cold && !slot.cold->unique.view().empty();
  if (is_named && !slot.cold->first_input) {
    slot.cold->first_input = hash_of(meaning_of(slot.input.view()), 0);
  }
  slot.input = Blob(input);
}

// As the one that it was submitted with. A hash of its text is what former states have.
bool Machine::State::has_same_input(const Slot& slot, std::string_view input) const {
  if (slot.cold && slot.cold->first_input) {
    const Hash128& first = *slot.cold->first_input;
    return first == hash_of(meaning_of(input), 0) || first == hash_of(input, 0);
  }
  return slot.input.view() == input || meaning_of(slot.input.view()) == meaning_of(input);
}

void Machine::State::set_due(Slot& slot, bool is_due) {
  if (slot.due == is_due) return;
  slot.due = is_due;
  const std::uint32_t step = is_due ? 1 : ~std::uint32_t{0};
  TypeState& type = types[slot.type];
  type.due += step;
  due += step;
  if (is_due) type.lowest = std::min(type.due == 1 ? slot.priority : type.lowest, slot.priority);
  if (slot.key != 0) keys[slot.key].due += step;
  if (is_due && type.due == 1) busy.insert(slot.type);
  if (type.due == 0) busy.erase(slot.type);
}

// New, stopped or over before. Its time to live may be over.
void Machine::State::enter_pending(std::uint32_t number, Instant available) {
  Slot& slot = slots[number];
  slot.status = Status::pending;
  slot.arrival = next_arrival++;
  slot.available = available;
  slot.updated = now;
  ++types[slot.type].count(Status::pending);
  if (slot.expires != Instant::max()) ++mortal;
  if (slot.expires <= now) return expire(number, now);
  line_up(number);
}

void Machine::State::line_up(std::uint32_t number) {
  Slot& slot = slots[number];
  TypeState& type = types[slot.type];
  const Place place = {
      .when = slot.available, .arrival = slot.arrival, .slot = number, .priority = slot.priority};
  if (slot.available <= now) {
    set_due(slot, true);
    type.ready.push(place);
  } else {
    type.waiting.push(place);
    set_alarm(slot.type);
  }
  if (slot.expires == Instant::max()) return;
  if (expiries.size() > 2 * std::size_t{mortal} + 64) {
    expiries.keep_if([&](const Place& kept) { return is_live(kept, Status::pending); });
  }
  expiries.push({.when = slot.expires, .arrival = slot.arrival, .slot = number});
}

void Machine::State::leave_pending(std::uint32_t number) {
  Slot& slot = slots[number];
  --types[slot.type].count(Status::pending);
  if (slot.expires != Instant::max()) --mortal;
  set_due(slot, false);
}

void Machine::State::start(std::uint32_t number, std::uint32_t worker, Duration lease) {
  leave_pending(number);
  Slot& slot = slots[number];
  slot.status = Status::running;
  ++slot.attempt;
  slot.fence = sequence;
  slot.claimed = now;
  slot.until = now + std::min(lease, held_most(slot.timeout));
  ++workers[worker].uses;
  drop_worker(std::exchange(slot.worker, worker));
  TypeState& type = types[slot.type];
  if (type.worker != worker) {
    ++workers[worker].uses;
    drop_worker(std::exchange(type.worker, worker));
  }
  ++type.count(Status::running);
  ++running;
  gate.take(now, due);
  if (type.gate) type.gate->take(now, type.due);
  if (slot.key != 0) {
    KeyState& key = keys[slot.key];
    ++key.running;
    if (key.gate && key.gate->take(now, key.due)) wake_key(slot.key);
  }
  if (leases.size() > 2 * std::size_t{running} + 64) {
    leases.keep_if([&](const Place& kept) { return is_live(kept, Status::running); });
  }
  leases.push({.when = slot.until, .arrival = slot.arrival, .slot = number});
  record(slot, {.reason = Reason::claimed, .worker = workers[worker].name});
  ++totals.claimed;
}

// It no longer runs; what it is instead comes next.
void Machine::State::stop(std::uint32_t number, Ended by) {
  Slot& slot = slots[number];
  --types[slot.type].count(Status::running);
  --running;
  slot.ended = by;
  slot.status = Status{};
  if (slot.key == 0) return;
  KeyState& key = keys[slot.key];
  --key.running;
  if (key.gate && key.gate->counts_running()) wake_key(slot.key);
}

void Machine::State::finish(std::uint32_t number, Status status, Instant at) {
  Slot& slot = slots[number];
  slot.status = status;
  slot.until = at;
  ++types[slot.type].count(status);
  ++over;
  if (ends.size() > 2 * std::size_t{over} + 64) {
    std::erase_if(ends, [&](const Over& end) { return slots[end.slot].arrival != end.arrival; });
  }
  const auto behind = std::ranges::upper_bound(ends, at, {}, &Over::at);
  ends.insert(behind, {.at = at, .slot = number, .arrival = slot.arrival});
}

// Neither pending nor running any more.
void Machine::State::cancel(std::uint32_t number) {
  finish(number, Status::cancelled, now);
  Slot& slot = slots[number];
  record(slot, {.reason = Reason::cancelled, .detail = slot.cold->cancelled_by.text()});
  ++totals.cancelled;
}

void Machine::State::expire(std::uint32_t number, Instant at) {
  leave_pending(number);
  note_gone(slots[number].type);
  finish(number, Status::expired, at);
  record(slots[number], {.at = at, .reason = Reason::expired});
  ++totals.expired;
}

// Something went wrong, and a retry is left; or else it has failed. Neither when it was cancelled.
void Machine::State::retry(std::uint32_t number, const Version& version, Duration not_before) {
  Slot& slot = slots[number];
  set_error(slot, version.detail);
  if (slot.cancel_requested) return cancel(number);
  if (version.reason == Reason::failed || slot.retry_count >= slot.max_retries) {
    finish(number, Status::failed, now);
    record(slot, {.reason = Reason::failed, .detail = version.detail});
    ++totals.failed;
    return;
  }
  ++slot.retry_count;
  const std::uint64_t dice = retry::jitter_key(to_string(slot.id));
  const auto attempt = std::min(slot.retry_count, bounds::task_backoff_steps_max);
  const Duration wait =
      retry::backoff(rules[slot.rule].policy, dice, static_cast<int>(attempt), Duration());
  const Duration delay = std::max(wait, not_before);
  record(slot, {.reason = version.reason,
                .delay = delay,
                .count = slot.retry_count,
                .detail = version.detail});
  if (version.reason == Reason::retried) ++totals.retried;
  enter_pending(number, now + delay);
}

Task Machine::State::task_of(const Slot& slot) const {
  Task task = {.id = slot.id,
               .terms = {.type = types[slot.type].name,
                         .input = slot.input.text(),
                         .key = slot.key != 0 ? keys[slot.key].name : std::string(),
                         .priority = slot.priority,
                         .max_retries = slot.max_retries,
                         .timeout = slot.timeout,
                         .retry = rules[slot.rule].rule},
               .status = slot.status,
               .attempt = slot.attempt,
               .retry_count = slot.retry_count,
               .reschedule_count = slot.reschedule_count,
               .created_at = slot.created,
               .available_at = slot.available,
               .updated_at = slot.updated,
               .fence = slot.fence,
               .cancel_requested = slot.cancel_requested};
  if (slot.past) task.replay_count = slot.past->replays();
  if (slot.counts_reschedules) task.terms.max_reschedules = slot.max_reschedules;
  if (slot.expires != Instant::max()) task.expires_at = slot.expires;
  if (slot.status == Status::running) task.lease_expires_at = slot.until;
  if (is_over(slot.status)) task.completed_at = slot.until;
  if (slot.worker != 0) task.worker = workers[slot.worker].name;
  if (!slot.cold) return task;
  task.terms.unique = slot.cold->unique.text();
  task.output = slot.cold->output.text();
  task.last_error = slot.cold->last_error.text();
  task.cancelled_by = slot.cold->cancelled_by.text();
  return task;
}

}  // namespace pawl::queue
