#include "core/queue/reply_bytes.h"

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/queue/command_bytes.h"
#include "core/queue/command_fields.h"

namespace pawl::queue {
namespace {

constexpr Code codes[] = {Code::invalid,   Code::usage,       Code::refused, Code::unresolved,
                          Code::not_found, Code::unavailable, Code::internal};

constexpr Status last(Status) {
  return Status::expired;
}
constexpr Reason last(Reason) {
  return Reason::cancel_asked;
}
constexpr Hold last(Hold) {
  return Hold::waits;
}
constexpr Scope last(Scope) {
  return Scope::queue;
}

// One list of fields for each thing below, gone through by either of these two.
class Writing {
 public:
  explicit Writing(ByteWriter& out) : out_(out) {}

  void operator()(const TaskId& id) { write_id(out_, id); }
  void operator()(const TaskTerms& terms) { write_terms(out_, terms); }
  void operator()(const std::string& text) { out_.bytes(text); }
  void operator()(bool truth) { write_bool(out_, truth); }
  void operator()(std::uint32_t number) { out_.varint(number); }
  void operator()(std::uint64_t number) { out_.varint(number); }
  void operator()(Instant instant) { write_instant(out_, instant); }
  void operator()(const std::optional<Instant>& instant) { write_optional_instant(out_, instant); }
  void operator()(Duration duration) { write_duration(out_, duration); }
  void operator()(Code code) { out_.u8(static_cast<std::uint8_t>(code)); }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void operator()(Enum value) {
    out_.u8(static_cast<std::uint8_t>(value));
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    out_.varint(items.size());
    for (const T& item : items) fields(*this, item);
  }

 private:
  ByteWriter& out_;
};

class Reading {
 public:
  explicit Reading(ByteReader& in) : in_(in) {}

  void operator()(TaskId& id) { id = read_id(in_); }
  void operator()(TaskTerms& terms) { terms = read_terms(in_); }
  void operator()(std::string& text) { text = in_.bytes(in_.left()); }
  void operator()(bool& truth) { truth = read_bool(in_); }
  void operator()(std::uint32_t& number) { number = read_u32(in_); }
  void operator()(std::uint64_t& number) { number = in_.varint(); }
  void operator()(Instant& instant) { instant = read_instant(in_); }
  void operator()(std::optional<Instant>& instant) { instant = read_optional_instant(in_); }
  void operator()(Duration& duration) { duration = read_duration(in_); }
  void operator()(Code& code) { code = read_code(in_); }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void operator()(Enum& value) {
    const std::size_t begin = in_.at();
    const std::uint8_t found = in_.u8();
    if (found < 1 || found > static_cast<std::uint8_t>(last(value))) {
      return in_.fail("a kind is unknown", begin);
    }
    value = static_cast<Enum>(found);
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    const std::size_t begin = in_.at();
    const std::uint64_t count = in_.varint();
    if (count > in_.left()) return in_.fail("a list goes past the end", begin);
    for (std::uint64_t i = 0; i < count && in_.good(); ++i) fields(*this, items.emplace_back());
  }

 private:
  ByteReader& in_;
};

template <class Visitor, class... Each>
void all(Visitor& visit, Each&... each) {
  (visit(each), ...);
}

template <class Visitor, Of<Task> Value>
void fields(Visitor& visit, Value& task) {
  all(visit, task.id, task.terms, task.status, task.attempt, task.retry_count,
      task.reschedule_count, task.replay_count, task.created_at, task.available_at, task.updated_at,
      task.expires_at, task.lease_expires_at, task.completed_at, task.fence, task.worker,
      task.output, task.last_error, task.cancel_requested, task.cancelled_by);
}

template <class Visitor, Of<Version> Value>
void fields(Visitor& visit, Value& version) {
  all(visit, version.at, version.status, version.reason, version.worker, version.delay,
      version.count, version.detail);
}

template <class Visitor, Of<History> Value>
void fields(Visitor& visit, Value& history) {
  all(visit, history.versions, history.left_out);
}

template <class Visitor, Of<Why> Value>
void fields(Visitor& visit, Value& why) {
  all(visit, why.hold, why.scope, why.name, why.until, why.ahead, why.worker);
}

template <class Visitor, Of<Depth> Value>
void fields(Visitor& visit, Value& depth) {
  all(visit, depth.type, depth.pending, depth.due, depth.running, depth.completed, depth.failed,
      depth.cancelled, depth.expired, depth.oldest_due);
}

template <class Visitor, Of<Totals> Value>
void fields(Visitor& visit, Value& totals) {
  all(visit, totals.submitted, totals.claimed, totals.completed, totals.failed, totals.retried,
      totals.rescheduled, totals.timed_out, totals.cancelled, totals.expired, totals.refused);
}

template <class Visitor, Of<Stats> Value>
void fields(Visitor& visit, Value& stats) {
  visit(stats.types);
  fields(visit, stats.totals);
}

template <class Visitor, Of<Closing> Value>
void fields(Visitor& visit, Value& closing) {
  all(visit, closing.scope, closing.name, closing.until);
}

template <class Visitor, Of<Refusal> Value>
void fields(Visitor& visit, Value& refusal) {
  all(visit, refusal.code, refusal.message);
}

template <class Visitor, Of<Submitted> Value>
void fields(Visitor& visit, Value& submitted) {
  all(visit, submitted.id, submitted.fresh);
}

template <class Visitor, Of<Claimed> Value>
void fields(Visitor& visit, Value& claimed) {
  visit(claimed.tasks);
}

template <class Visitor, Of<Changed> Value>
void fields(Visitor& visit, Value& changed) {
  all(visit, changed.status, changed.available_at, changed.lease_expires_at,
      changed.cancel_requested);
}

template <class T>
void write(ByteWriter& out, const T& thing) {
  Writing writing(out);
  fields(writing, thing);
}

template <class T>
void read(ByteReader& in, T& thing) {
  Reading reading(in);
  fields(reading, thing);
}

// Those that are commands are written as such.
template <class T>
void read_as_command(ByteReader& in, T& thing) {
  const std::size_t begin = in.at();
  Command command = read_command(in);
  if (T* found = std::get_if<T>(&command)) {
    thing = std::move(*found);
  } else {
    in.fail("another command stands where one was expected", begin);
  }
}

}  // namespace

Code read_code(ByteReader& in) {
  const std::size_t begin = in.at();
  const std::uint8_t found = in.u8();
  for (const Code known : codes) {
    if (found == static_cast<std::uint8_t>(known)) return known;
  }
  in.fail("a code is unknown", begin);
  return Code::internal;
}

void write_answer(ByteWriter& out, const Task& task) {
  write(out, task);
}
void write_answer(ByteWriter& out, const History& history) {
  write(out, history);
}
void write_answer(ByteWriter& out, const Why& why) {
  write(out, why);
}
void write_answer(ByteWriter& out, const Stats& stats) {
  write(out, stats);
}
void write_answer(ByteWriter& out, const Schedule& schedule) {
  write_command(out, schedule.set);
  write_instant(out, schedule.next);
  write_optional_instant(out, schedule.last);
}
void write_answer(ByteWriter& out, const Closing& closing) {
  write(out, closing);
}
void write_answer(ByteWriter& out, const SetLimit& limit) {
  write_command(out, limit);
}
void write_answer(ByteWriter& out, const Reply& reply) {
  out.u8(static_cast<std::uint8_t>(reply.index() + 1));
  std::visit([&](const auto& one) { write(out, one); }, reply);
}

void read_answer(ByteReader& in, Task& task) {
  read(in, task);
}
void read_answer(ByteReader& in, History& history) {
  read(in, history);
}
void read_answer(ByteReader& in, Why& why) {
  read(in, why);
}
void read_answer(ByteReader& in, Stats& stats) {
  read(in, stats);
}
void read_answer(ByteReader& in, Schedule& schedule) {
  read_as_command(in, schedule.set);
  schedule.next = read_instant(in);
  schedule.last = read_optional_instant(in);
}
void read_answer(ByteReader& in, Closing& closing) {
  read(in, closing);
}
void read_answer(ByteReader& in, SetLimit& limit) {
  read_as_command(in, limit);
}
void read_answer(ByteReader& in, Reply& reply) {
  const std::size_t begin = in.at();
  switch (in.u8()) {
    case 1:
      return read(in, reply.emplace<Refusal>());
    case 2:
      return read(in, reply.emplace<Submitted>());
    case 3:
      return read(in, reply.emplace<Claimed>());
    case 4:
      return read(in, reply.emplace<Changed>());
    default:
      in.fail("a reply is of an unknown kind", begin);
  }
}

}  // namespace pawl::queue
