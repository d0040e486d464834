#include "core/queue/segment.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "core/queue/command_bytes.h"
#include "core/queue/frame.h"

namespace pawl::queue {
namespace {

constexpr Frame frame = {.letters = "PAWLQSEG", .bytes_max = bounds::segment_bytes_max};

std::string name_of(const std::optional<LogPlace>& place) {
  if (!place) return "a segment";
  return "segment " + std::to_string(place->sequence) + " of shard " + std::to_string(place->shard);
}

std::unexpected<Error> wrong(const std::optional<LogPlace>& place, const std::string& what) {
  return failure(Code::invalid, name_of(place) + " " + what);
}

// As much of it as fits, with a mark in place of what cannot be printed: it is for people.
std::string printable(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t bytes = std::max<std::size_t>(first_utf8_character(name).bytes, 1);
    const std::string_view character = name.substr(0, bytes);
    const std::string_view shown = is_printable(character) ? character : "?";
    if (out.size() + shown.size() > bounds::task_name_bytes_max) break;
    out.append(shown);
    name.remove_prefix(bytes);
  }
  return out;
}

void read_head(ByteReader& in, Segment& segment) {
  segment.shard = in.u8();
  const std::size_t begin = in.at();
  segment.sequence = in.varint();
  if (segment.sequence == 0) in.fail("a segment has no number", begin);
  segment.writer = read_name(in);
  segment.nonce = read_nonce(in);
  segment.before = read_nonce(in);
  segment.at = read_instant(in);
}

void read_commands(ByteReader& in, std::vector<Command>& commands) {
  while (in.left() > 0) {
    if (commands.size() == bounds::segment_commands_max) {
      return in.fail("there are more commands than a segment may have");
    }
    commands.push_back(read_command(in));
  }
}

std::string numbered(std::string_view folder, std::uint8_t shard, std::uint64_t sequence) {
  constexpr std::size_t digits = 20;
  const std::string number = std::to_string(sequence);
  std::string name(folder);
  append_hex(name, {&shard, 1});
  name.append("/").append(digits - number.size(), '0').append(number);
  return name;
}

constexpr std::string_view log_folder = "log/";
constexpr std::string_view snapshot_folder = "snapshot/";

}  // namespace

Nonce read_nonce(ByteReader& in) {
  const std::uint64_t high = in.fixed64();
  return {.high = high, .low = in.fixed64()};
}

void write_nonce(ByteWriter& out, const Nonce& nonce) {
  out.fixed64(nonce.high);
  out.fixed64(nonce.low);
}

std::string write_commands(std::span<const Command> commands) {
  ByteWriter out;
  for (const Command& command : commands) write_command(out, command);
  return out.take();
}

std::string write_segment(const Segment& head, std::string_view commands) {
  ByteWriter out;
  frame.begin(out);
  out.u8(head.shard);
  out.varint(head.sequence);
  out.bytes(printable(head.writer));
  write_nonce(out, head.nonce);
  write_nonce(out, head.before);
  write_instant(out, head.at);
  out.raw(commands);
  Result<std::string> bytes = frame.finish(std::move(out));
  PAWL_ASSERT(bytes.has_value());
  return *std::move(bytes);
}

Result<Segment> parse_segment(std::string_view bytes, const std::optional<LogPlace>& expected) {
  auto in = frame.open(bytes);
  if (!in) return wrong(expected, in.error().message);
  Segment segment;
  read_head(*in, segment);
  const LogPlace place = {.shard = segment.shard, .sequence = segment.sequence};
  if (in->good() && expected && *expected != place) {
    return wrong(expected, "is not what stands there: it is " + name_of(place));
  }
  read_commands(*in, segment.commands);
  if (!in->good()) return wrong(expected.value_or(place), "is damaged: " + in->error());
  return segment;
}

std::string segment_name(std::uint8_t shard, std::uint64_t sequence) {
  return numbered(log_folder, shard, sequence);
}

std::string snapshot_name(std::uint8_t shard, std::uint64_t sequence) {
  return numbered(snapshot_folder, shard, sequence);
}

std::optional<std::uint64_t> sequence_of(std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos) return {};
  std::uint64_t sequence = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + slash + 1, end, sequence);
  if (error != std::errc() || rest != end) return {};
  // Whatever else is wrong with it, it is not the name that we would have given.
  for (const std::string_view folder : {log_folder, snapshot_folder}) {
    if (!name.starts_with(folder)) continue;
    const std::string_view shard = name.substr(folder.size(), 2);
    std::uint8_t number = 0;
    std::from_chars(shard.data(), shard.data() + shard.size(), number, 16);
    if (numbered(folder, number, sequence) == name) return sequence;
  }
  return {};
}

}  // namespace pawl::queue
