// The whole state as bytes, and back: docs/formats.md, "State".
//
// Everything that can be reckoned from this (orders, lanes, counts) is not written.
#include <algorithm>
#include <limits>

#include "base/bounds_queue.h"
#include "core/queue/command_bytes.h"
#include "core/queue/frame.h"
#include "core/queue/machine_state.h"
#include "core/queue/slot_bytes.h"

namespace pawl::queue {
namespace {

constexpr std::uint64_t format = 1;

std::array<std::uint64_t*, 10> all_of(Totals& totals) {
  return {&totals.submitted, &totals.claimed,     &totals.completed, &totals.failed,
          &totals.retried,   &totals.rescheduled, &totals.timed_out, &totals.cancelled,
          &totals.expired,   &totals.refused};
}

std::uint64_t read_count(ByteReader& in, std::uint64_t most, std::string_view what) {
  const std::uint64_t count = in.varint();
  if (count > most) in.fail(std::string("too many ").append(what));
  return in.good() ? count : 0;
}

void write_schedule(ByteWriter& out, const Schedule& schedule) {
  write_command(out, schedule.set);
  write_instant(out, schedule.next);
  write_optional_instant(out, schedule.last);
}

void write_limits(ByteWriter& out, const Machine::State& state) {
  out.varint(state.limits.size());
  for (const auto& [place, limit] : state.limits) write_command(out, limit);
  out.varint(state.kept_schedules.size());
  for (const auto& [name, schedule] : state.kept_schedules) write_schedule(out, schedule);
}

void read_limits(ByteReader& in, Machine::State& state) {
  const std::uint64_t limits = read_count(in, bounds::queue_limits_max, "limits");
  for (std::uint64_t i = 0; i < limits && in.good(); ++i) {
    const Command command = read_command(in);
    const auto* limit = std::get_if<SetLimit>(&command);
    if (!in.good()) return;
    // Without a number it would be removed.
    const bool sets = limit != nullptr && (limit->rate > 0 || limit->running > 0);
    if (!sets || std::holds_alternative<Refusal>(state.run(*limit))) {
      return in.fail("a limit that cannot be set");
    }
  }
  const std::uint64_t count = read_count(in, bounds::queue_schedules_max, "schedules");
  for (std::uint64_t i = 0; i < count && in.good(); ++i) {
    const Command command = read_command(in);
    const auto* set = std::get_if<SetSchedule>(&command);
    if (!in.good()) return;
    // Without a time it would be removed.
    const bool sets = set != nullptr && !set->cron.empty();
    if (!sets || std::holds_alternative<Refusal>(state.run(*set))) {
      return in.fail("a schedule that cannot be set");
    }
    const auto kept = state.kept_schedules.find(set->name);
    state.set_next(kept, read_instant(in));
    kept->second.last = read_optional_instant(in);
  }
}

void write_gate(ByteWriter& out, const Gate* gate, Instant now) {
  const bool used = gate != nullptr && gate->rests_at() > now;
  write_bool(out, used);
  if (used) gate->save(out, now);
}

void read_gate(ByteReader& in, Machine::State& state, Scope scope, std::uint32_t number) {
  if (!read_bool(in)) return;
  Gate& gate = state.make_gate(scope, number);
  gate.load(in, state.now);
  if (gate.closed_until() <= state.now) return;
  state.closed.insert({.at = gate.closed_until(), .scope = scope, .number = number});
}

template <class Thing>
std::vector<std::uint32_t> by_name(const Named<Thing>& things, auto wanted) {
  std::vector<std::uint32_t> numbers;
  things.each([&](std::uint32_t number, const Thing& thing) {
    if (wanted(thing)) numbers.push_back(number);
  });
  std::ranges::sort(
      numbers, {}, [&](std::uint32_t number) -> const std::string& { return things[number].name; });
  return numbers;
}

void write_scopes(ByteWriter& out, const Machine::State& state) {
  const auto is_used = [&](const std::unique_ptr<Gate>& gate) {
    return gate && gate->rests_at() > state.now;
  };
  write_gate(out, &state.gate, state.now);
  const auto types = by_name(
      state.types, [&](const TypeState& type) { return type.worker != 0 || is_used(type.gate); });
  out.varint(types.size());
  for (const std::uint32_t number : types) {
    const TypeState& type = state.types[number];
    out.bytes(type.name);
    out.bytes(type.worker != 0 ? std::string_view(state.workers[type.worker].name)
                               : std::string_view());
    write_gate(out, type.gate.get(), state.now);
  }
  const auto keys = by_name(state.keys, [&](const KeyState& key) { return is_used(key.gate); });
  out.varint(keys.size());
  for (const std::uint32_t number : keys) {
    out.bytes(state.keys[number].name);
    write_gate(out, state.keys[number].gate.get(), state.now);
  }
}

void read_scopes(ByteReader& in, Machine::State& state) {
  read_gate(in, state, Scope::queue, 0);
  for (const Scope scope : {Scope::type, Scope::key}) {
    const std::uint64_t count = read_count(in, std::numeric_limits<std::uint32_t>::max(), "names");
    std::string last;
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
      const std::string name = read_name(in);
      if (name <= last) return in.fail("a type or key out of its order");
      last = name;
      const std::uint32_t number = state.find_or_make(scope, name);
      if (scope == Scope::type) {
        const std::string worker = read_name(in);
        if (!worker.empty()) state.types[number].worker = state.use_worker(worker);
      }
      read_gate(in, state, scope, number);
    }
  }
}

}  // namespace

void Machine::State::save(ByteWriter& out) const {
  out.varint(format);
  out.varint(sequence);
  write_instant(out, now);
  out.varint(next_arrival);
  Totals copy = totals;
  for (const std::uint64_t* number : all_of(copy)) out.varint(*number);
  write_limits(out, *this);
  write_scopes(out, *this);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  order.reserve(ids.size());
  for (std::uint32_t number = 1; number < slots.end(); ++number) {
    if (slots[number].status != Status{}) order.emplace_back(slots[number].arrival, number);
  }
  std::ranges::sort(order);
  out.varint(order.size());
  TaskWriter writer(*this, out);
  for (const auto& [arrival, number] : order) writer.write(slots[number]);
}

Result<void> Machine::State::load(ByteReader& in) {
  const std::uint64_t found = in.varint();
  if (in.good() && found > format) return written_by_newer(found, format);
  if (found != format) in.fail("there is no format " + std::to_string(found) + " of a state");
  sequence = in.varint();
  now = read_instant(in);
  next_arrival = in.varint();
  if (now < Instant() || next_arrival == 0) in.fail("a state before the first one");
  for (std::uint64_t* number : all_of(totals)) *number = in.varint();
  read_limits(in, *this);
  read_scopes(in, *this);
  const std::uint64_t count = read_count(in, bounds::queue_tasks_max, "tasks");
  TaskReader reader(*this, in);
  for (std::uint64_t i = 0; i < count && in.good(); ++i) reader.read();
  if (!in.good()) return failure(Code::invalid, "is damaged: " + in.error());
  std::ranges::sort(ends, {}, &Over::at);
  // What has no task is forgotten in its time.
  std::vector<std::pair<Scope, std::uint32_t>> all;
  types.each(
      [&](std::uint32_t number, const TypeState&) { all.emplace_back(Scope::type, number); });
  keys.each([&](std::uint32_t number, const KeyState&) { all.emplace_back(Scope::key, number); });
  for (const auto& [scope, number] : all) rest(scope, number);
  return {};
}

}  // namespace pawl::queue
