// Segment: one commit of the log as an object: who wrote it, when, and its commands.
//
// Format:   docs/formats.md has the grammar. It begins with "PAWLQSEG", a version and a length, and
//           ends with a CRC-32C of everything before; so will every later version. Snapshots alike.
// Contract: parse(write(s)) is s, and everything else is an error that says what and where: a
//           newer version is named as such ("written by a newer pawl"), a damaged one as damaged.
//           Nothing is skipped.
// Chain:    each segment has the nonce of the one before, and a snapshot that of its last. So a
//           segment that was lost, or put in the place of another, is found by whoever reads on.
// Bounds:   bounds::segment_bytes_max, segment_commands_max (PAWL_ASSERT for whoever writes), and
//           snapshot_bytes_max: an error for whoever writes, as it is for whoever reads.
// Threads:  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "pawl/result.h"

namespace pawl::queue {

struct Nonce {  // of one attempt to append; never twice
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const Nonce&) const = default;
};

void write_nonce(ByteWriter& out, const Nonce& nonce);
Nonce read_nonce(ByteReader& in);

struct Segment {
  std::uint8_t shard = 0;
  std::uint64_t sequence = 0;
  std::string writer = {};  // for people: host, process
  Nonce nonce = {};
  Nonce before = {};  // that of the segment before; of the first one: none
  Instant at = {};
  std::vector<Command> commands = {};
  bool operator==(const Segment&) const = default;
};
// What a name says (segment_name).
struct LogPlace {
  std::uint8_t shard = 0;
  std::uint64_t sequence = 0;
  bool operator==(const LogPlace&) const = default;
};
// Around its commands, and the longest name of a writer.
inline constexpr std::size_t segment_frame_bytes_max = 512;

// The commands as bytes, so that a batch that lost its place is not written anew. Those of two
// batches, one behind the other, are those of both.
std::string write_commands(std::span<const Command> commands);
// Of the head everything but its commands. A writer's name that is too long is cut.
std::string write_segment(const Segment& head, std::string_view commands);
// `expected`: where it was found. What belongs elsewhere is an error; all errors name the place.
Result<Segment> parse_segment(std::string_view bytes, const std::optional<LogPlace>& expected = {});

// A snapshot: the state after a segment. "PAWLQSNP", version, length, shard, sequence, the nonce of
// that segment, the bytes of the machine, CRC-32C. One of another shard is an error.
struct Snapshot {
  Machine machine;
  Nonce last = {};
};
// In two steps, of which only the first needs the machine. `expected`: about so many bytes. The
// error: a state of more than bounds::snapshot_bytes_max.
struct SnapshotHead {
  std::uint8_t shard = 0;
  Nonce last = {};
};
ByteWriter begin_snapshot(const Machine& machine, const SnapshotHead& head,
                          std::size_t expected = 0);
Result<std::string> finish_snapshot(ByteWriter begun);
// The error is `refused` where a newer pawl wrote it: there may be an older one to read instead,
// but what we would write then is not what that pawl expects.
Result<Snapshot> parse_snapshot(std::string_view bytes, std::uint8_t shard,
                                const Settings& settings);

// queue.json: {"format":1,"shards":1,"kept_seconds":604800}
std::string write_settings(const Settings& settings);
Result<Settings> parse_settings(std::string_view text);

// Names of objects below the queue's prefix; numbers have twenty digits, so that they sort.
std::string segment_name(std::uint8_t shard,
                         std::uint64_t sequence);  // log/00/00000000000000000001
std::string snapshot_name(std::uint8_t shard, std::uint64_t sequence);  // snapshot/00/0000…
// The sequence of such a name; none when it is not one.
std::optional<std::uint64_t> sequence_of(std::string_view name);

}  // namespace pawl::queue
