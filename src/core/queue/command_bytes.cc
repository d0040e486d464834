#include "core/queue/command_bytes.h"

#include <array>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "core/queue/command_fields.h"

namespace pawl::queue {
namespace {

// What they are told of the fields' names and ranges is nothing to them.
class Writing {
 public:
  explicit Writing(ByteWriter& out) : out_(out) {}

  void id(std::string_view, const TaskId& id) { write_id(out_, id); }
  void fence(std::string_view, std::uint64_t fence) { out_.varint(fence); }
  void needed_name(std::string_view, const std::string& name) { out_.bytes(name); }
  void name(std::string_view, const std::string& name) { out_.bytes(name); }
  void names(std::string_view, const std::vector<std::string>& names, std::size_t) {
    out_.varint(names.size());
    for (const std::string& name : names) out_.bytes(name);
  }
  void text(std::string_view, const std::string& text) { out_.bytes(text); }
  void json(std::string_view, const std::string& json, std::size_t) { out_.bytes(json); }
  void optional_json(std::string_view, const std::string& json, std::size_t) { out_.bytes(json); }
  void amount(std::string_view, std::int64_t amount, std::int64_t, std::int64_t) {
    out_.zigzag(amount);
  }
  void count(std::string_view, std::uint32_t count, std::uint32_t, std::uint32_t) {
    out_.varint(count);
  }
  void optional_count(std::string_view, const std::optional<std::uint32_t>& count) {
    write_bool(out_, count.has_value());
    if (count) out_.varint(*count);
  }
  void length(std::string_view, Duration length, Duration) { write_duration(out_, length); }
  void lengths(std::string_view, const std::vector<Duration>& lengths, std::size_t) {
    out_.varint(lengths.size());
    for (const Duration length : lengths) write_duration(out_, length);
  }
  void moment(std::string_view, Instant moment) { write_instant(out_, moment); }
  void optional_moment(std::string_view, const std::optional<Instant>& moment) {
    write_optional_instant(out_, moment);
  }
  void truth(std::string_view, bool truth) { write_bool(out_, truth); }
  template <class Enum>
  void one_of(std::string_view, Enum value, Enum) {
    out_.u8(static_cast<std::uint8_t>(value));
  }

 private:
  ByteWriter& out_;
};

class Reading {
 public:
  explicit Reading(ByteReader& in) : in_(in) {}

  void id(std::string_view, TaskId& id) { id = read_id(in_); }
  void fence(std::string_view, std::uint64_t& fence) { fence = in_.varint(); }
  void needed_name(std::string_view, std::string& name) { name = read_name(in_); }
  void name(std::string_view, std::string& name) { name = read_name(in_); }
  void names(std::string_view, std::vector<std::string>& names, std::size_t most) {
    list(names, most, read_name);
  }
  void text(std::string_view, std::string& text) { text = in_.bytes(bounds::task_error_bytes_max); }
  void json(std::string_view, std::string& json, std::size_t most) { json = in_.bytes(most); }
  void optional_json(std::string_view, std::string& json, std::size_t most) {
    json = in_.bytes(most);
  }
  template <std::signed_integral Amount>
  void amount(std::string_view, Amount& amount, std::int64_t, std::int64_t) {
    const std::size_t begin = in_.at();
    const std::int64_t found = in_.zigzag();
    if (!std::in_range<Amount>(found)) return in_.fail("a number is too large", begin);
    amount = static_cast<Amount>(found);
  }
  void count(std::string_view, std::uint32_t& count, std::uint32_t, std::uint32_t) {
    count = read_u32(in_);
  }
  void optional_count(std::string_view, std::optional<std::uint32_t>& count) {
    if (read_bool(in_)) count = read_u32(in_);
  }
  void length(std::string_view, Duration& length, Duration) { length = read_duration(in_); }
  void lengths(std::string_view, std::vector<Duration>& lengths, std::size_t most) {
    list(lengths, most, read_duration);
  }
  void moment(std::string_view, Instant& moment) { moment = read_instant(in_); }
  void optional_moment(std::string_view, std::optional<Instant>& moment) {
    moment = read_optional_instant(in_);
  }
  void truth(std::string_view, bool& truth) { truth = read_bool(in_); }
  template <class Enum>
  void one_of(std::string_view, Enum& value, Enum last) {
    const std::size_t begin = in_.at();
    const std::uint8_t found = in_.u8();
    if (found < 1 || found > static_cast<std::uint8_t>(last)) {
      return in_.fail("a scope is unknown", begin);
    }
    value = static_cast<Enum>(found);
  }

 private:
  template <class Item>
  void list(std::vector<Item>& items, std::size_t most, Item (*read)(ByteReader&)) {
    const std::size_t begin = in_.at();
    const std::uint64_t count = in_.varint();
    if (count > most) return in_.fail("a list is longer than it may be", begin);
    // Every item has a byte at least, so nobody makes us reserve what is not there.
    if (count > in_.left()) return in_.fail("a list goes past the end", begin);
    items.reserve(count);
    for (std::uint64_t i = 0; i < count && in_.good(); ++i) items.push_back(read(in_));
  }

  ByteReader& in_;
};

template <class Kind>
Command read_as(ByteReader& in) {
  Kind command;
  Reading reading(in);
  fields(reading, command);
  return command;
}

// The kind of a command is its place in the variant, from 1.
template <std::size_t... Places>
constexpr auto readers_of(std::index_sequence<Places...>) {
  return std::array{&read_as<std::variant_alternative_t<Places, Command>>...};
}
constexpr auto readers = readers_of(std::make_index_sequence<std::variant_size_v<Command>>());

}  // namespace

void write_command(ByteWriter& out, const Command& command) {
  out.u8(static_cast<std::uint8_t>(command.index() + 1));
  Writing writing(out);
  std::visit([&](const auto& one) { fields(writing, one); }, command);
}

Command read_command(ByteReader& in) {
  const std::size_t begin = in.at();
  const std::uint8_t kind = in.u8();
  if (kind < 1 || kind > readers.size()) {
    in.fail("a command is of an unknown kind", begin);
    return {};
  }
  return readers[kind - 1U](in);
}

void write_terms(ByteWriter& out, const TaskTerms& terms) {
  Writing writing(out);
  fields(writing, terms);
}

TaskTerms read_terms(ByteReader& in) {
  TaskTerms terms;
  Reading reading(in);
  fields(reading, terms);
  return terms;
}

void write_id(ByteWriter& out, const TaskId& id) {
  out.raw({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

TaskId read_id(ByteReader& in) {
  TaskId id;
  const std::string_view bytes = in.raw(id.bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return id;
}

void write_instant(ByteWriter& out, Instant instant) {
  out.fixed64(static_cast<std::uint64_t>(instant.ns()));
}

Instant read_instant(ByteReader& in) {
  return Instant::from_ns(static_cast<std::int64_t>(in.fixed64()));
}

void write_optional_instant(ByteWriter& out, const std::optional<Instant>& instant) {
  write_bool(out, instant.has_value());
  if (instant) write_instant(out, *instant);
}

std::optional<Instant> read_optional_instant(ByteReader& in) {
  if (!read_bool(in)) return {};
  return read_instant(in);
}

void write_duration(ByteWriter& out, Duration duration) {
  out.zigzag(duration.ns());
}

Duration read_duration(ByteReader& in) {
  return Duration::nanoseconds(in.zigzag());
}

void write_bool(ByteWriter& out, bool value) {
  out.u8(value ? 1 : 0);
}

bool read_bool(ByteReader& in) {
  const std::size_t begin = in.at();
  const std::uint8_t found = in.u8();
  if (found > 1) in.fail("neither yes nor no stands", begin);
  return found == 1;
}

std::string read_name(ByteReader& in) {
  const std::size_t begin = in.at();
  const std::string_view name = in.bytes(bounds::task_name_bytes_max);
  if (is_printable(name)) return std::string(name);
  in.fail("a name cannot be printed", begin);
  return {};
}

std::uint32_t read_u32(ByteReader& in) {
  const std::size_t begin = in.at();
  const std::uint64_t found = in.varint();
  if (found <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(found);
  in.fail("a number is too large", begin);
  return 0;
}

}  // namespace pawl::queue
