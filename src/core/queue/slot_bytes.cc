#include "core/queue/slot_bytes.h"

#include "base/bounds_queue.h"
#include "core/queue/command_bytes.h"

namespace pawl::queue {
namespace {

// Which parts a task has.
enum Part : unsigned {
  cancel_asked = 1,
  reschedules = 2,
  mortal_part = 4,
  unique_part = 8,
  output_part = 16,
  error_part = 32,
  canceller_part = 64,
  past_part = 128,
};

void write_rule(ByteWriter& out, const RetryRule& rule) {
  write_duration(out, rule.base_delay);
  write_duration(out, rule.max_delay);
  out.zigzag(rule.multiplier_milli);
  out.zigzag(rule.jitter_milli);
  out.varint(rule.delays.size());
  for (const Duration delay : rule.delays) write_duration(out, delay);
}

RetryRule read_rule(ByteReader& in) {
  RetryRule rule;
  rule.base_delay = read_duration(in);
  rule.max_delay = read_duration(in);
  rule.multiplier_milli = in.zigzag();
  rule.jitter_milli = in.zigzag();
  const std::uint64_t count = in.varint();
  if (count > bounds::task_delays_max) in.fail("a retry rule with too many delays");
  for (std::uint64_t i = 0; i < count && in.good(); ++i) rule.delays.push_back(read_duration(in));
  if (const auto good = retry::check(policy_of(rule)); !good) in.fail(good.error().message);
  return rule;
}

void write_since(ByteWriter& out, Instant moment, Instant begin) {
  out.zigzag((moment - begin).ns());
}
Instant read_since(ByteReader& in, Instant begin) {
  return begin + Duration::nanoseconds(in.zigzag());
}

void write_unique(ByteWriter& out, const Cold& cold) {
  out.bytes(cold.unique.view());
  write_bool(out, cold.first_input.has_value());
  if (!cold.first_input) return;
  out.fixed64(cold.first_input->high);
  out.fixed64(cold.first_input->low);
}
std::optional<Hash128> read_first_input(ByteReader& in) {
  if (!read_bool(in)) return {};
  const std::uint64_t high = in.fixed64();
  return Hash128{.high = high, .low = in.fixed64()};
}

std::uint8_t parts_of(const Slot& slot) {
  unsigned parts = 0;
  const auto add = [&](bool has, unsigned part) { parts |= has ? part : 0U; };
  add(slot.cancel_requested, cancel_asked);
  add(slot.counts_reschedules, reschedules);
  add(slot.expires != Instant::max(), mortal_part);
  add(slot.past != nullptr, past_part);
  if (slot.cold) {
    add(!slot.cold->unique.view().empty(), unique_part);
    add(!slot.cold->output.view().empty(), output_part);
    add(!slot.cold->last_error.view().empty(), error_part);
    add(!slot.cold->cancelled_by.view().empty(), canceller_part);
  }
  return static_cast<std::uint8_t>(parts);
}

}  // namespace

void TaskWriter::write(const Slot& slot) {
  write_id(out_, slot.id);
  out_.u8(static_cast<std::uint8_t>(slot.status));
  out_.u8(static_cast<std::uint8_t>(slot.ended));
  out_.u8(parts_of(slot));
  out_.zigzag(slot.priority);
  if (types_.write(out_, slot.type)) out_.bytes(state_.types[slot.type].name);
  if (keys_.write(out_, slot.key)) out_.bytes(state_.keys[slot.key].name);
  if (workers_.write(out_, slot.worker)) out_.bytes(state_.workers[slot.worker].name);
  if (rules_.write(out_, slot.rule)) write_rule(out_, state_.rules[slot.rule].rule);
  out_.varint(slot.max_retries);
  out_.varint(slot.attempt);
  out_.varint(slot.retry_count);
  out_.varint(slot.reschedule_count);
  out_.varint(slot.fence);
  out_.varint(slot.arrival - arrival_);
  arrival_ = slot.arrival;
  write_since(out_, slot.created, created_);
  created_ = slot.created;
  write_since(out_, slot.available, slot.created);
  write_since(out_, slot.updated, slot.created);
  if (slot.status == Status::running) write_since(out_, slot.claimed, slot.created);
  if (slot.status != Status::pending) write_since(out_, slot.until, slot.created);
  write_duration(out_, slot.timeout);
  out_.bytes(slot.input.view());
  write_rare(slot);
}

void TaskWriter::write_rare(const Slot& slot) {
  if (slot.counts_reschedules) out_.varint(slot.max_reschedules);
  if (slot.expires != Instant::max()) write_instant(out_, slot.expires);
  if (slot.cold) {
    if (!slot.cold->unique.view().empty()) write_unique(out_, *slot.cold);
    for (const Blob* blob :
         {&slot.cold->output, &slot.cold->last_error, &slot.cold->cancelled_by}) {
      if (!blob->view().empty()) out_.bytes(blob->view());
    }
  }
  if (slot.past) slot.past->save(out_);
}

void TaskReader::read() {
  const TaskId id = read_id(in_);
  const auto status = static_cast<Status>(in_.u8());
  const auto ended = static_cast<Ended>(in_.u8());
  const unsigned parts = in_.u8();
  const std::int64_t priority = in_.zigzag();
  if (status < Status::pending || status > Status::expired || ended > Ended::replay ||
      priority < -bounds::task_priority_max || priority > bounds::task_priority_max ||
      id.shard() != state_.shard || (in_.good() && state_.find(id) != 0)) {
    in_.fail("a task with a state, a priority or an id that cannot be");
  }
  if (!in_.good()) return;
  const std::uint32_t number = state_.slots.make();
  Slot& slot = state_.slots[number];
  slot.id = id;
  slot.status = status;
  slot.ended = ended;
  slot.priority = static_cast<std::int8_t>(priority);
  read_names(slot);
  read_numbers(slot);
  read_rare(slot, parts);
  if (in_.good()) settle(number);
}

void TaskReader::read_names(Slot& slot) {
  const auto name = [&](auto& table) {
    return [&] {
      const std::string text = read_name(in_);
      if (text.empty()) in_.fail("a name without a letter");
      return table.find_or_make(text).number;
    };
  };
  slot.type = types_.read(in_, name(state_.types));
  slot.key = keys_.read(in_, [&] {
    const std::string text = read_name(in_);
    if (text.empty()) in_.fail("a key without a letter");
    return state_.find_or_make(Scope::key, text);
  });
  slot.worker = workers_.read(in_, name(state_.workers));
  slot.rule = rules_.read(in_, [&] {
    const std::uint32_t number = state_.use_rule(read_rule(in_));
    --state_.rules[number].uses;
    return number;
  });
  if (slot.type == 0 || slot.rule == 0) in_.fail("a task without a type or retry rule");
  if (slot.worker == 0 && slot.status == Status::running) in_.fail("a claim by nobody");
}

void TaskReader::read_numbers(Slot& slot) {
  slot.max_retries = read_u32(in_);
  slot.attempt = read_u32(in_);
  slot.retry_count = read_u32(in_);
  slot.reschedule_count = read_u32(in_);
  slot.fence = in_.varint();
  const std::uint64_t step = in_.varint();
  if (step == 0 || step >= state_.next_arrival - arrival_) in_.fail("a task out of its order");
  slot.arrival = arrival_ += step;
  slot.created = created_ = read_since(in_, created_);
  slot.available = read_since(in_, slot.created);
  slot.updated = read_since(in_, slot.created);
  if (slot.status == Status::running) slot.claimed = read_since(in_, slot.created);
  if (slot.status != Status::pending) slot.until = read_since(in_, slot.created);
  slot.timeout = read_duration(in_);
  if (slot.timeout <= Duration()) in_.fail("a task without a timeout");
  slot.input = Blob(in_.bytes(bounds::task_input_bytes_max));
}

void TaskReader::read_rare(Slot& slot, unsigned parts) {
  slot.cancel_requested = (parts & cancel_asked) != 0;
  slot.counts_reschedules = (parts & reschedules) != 0;
  if (slot.counts_reschedules) slot.max_reschedules = read_u32(in_);
  if ((parts & mortal_part) != 0) slot.expires = read_instant(in_);
  if ((parts & (unique_part | output_part | error_part | canceller_part)) != 0) {
    slot.cold = std::make_unique<Cold>();
    const auto blob = [&](unsigned part, Blob& into, std::size_t most) {
      if ((parts & part) != 0) into = Blob(in_.bytes(most));
    };
    blob(unique_part, slot.cold->unique, bounds::task_name_bytes_max);
    if ((parts & unique_part) != 0) slot.cold->first_input = read_first_input(in_);
    blob(output_part, slot.cold->output, bounds::task_output_bytes_max);
    blob(error_part, slot.cold->last_error, bounds::task_error_bytes_max);
    blob(canceller_part, slot.cold->cancelled_by, bounds::task_error_bytes_max);
  }
  if (slot.cancel_requested && !slot.cold) slot.cold = std::make_unique<Cold>();
  if ((parts & past_part) == 0) return;
  slot.past = std::make_unique<Past>();
  slot.past->load(in_);
}

void TaskReader::settle(std::uint32_t number) {
  Slot& slot = state_.slots[number];
  TypeState& type = state_.types[slot.type];
  ++type.uses;
  ++type.count(slot.status);
  ++state_.rules[slot.rule].uses;
  if (slot.key != 0) ++state_.keys[slot.key].uses;
  if (slot.worker != 0) ++state_.workers[slot.worker].uses;
  state_.index(number);
  if (slot.status == Status::pending) {
    if (slot.expires != Instant::max()) ++state_.mortal;
    state_.line_up(number);
  } else if (slot.status == Status::running) {
    ++state_.running;
    if (slot.key != 0) ++state_.keys[slot.key].running;
    state_.leases.push({.when = slot.until, .arrival = slot.arrival, .slot = number});
  } else {
    ++state_.over;
    state_.ends.push_back({.at = slot.until, .slot = number, .arrival = slot.arrival});
  }
}

}  // namespace pawl::queue
