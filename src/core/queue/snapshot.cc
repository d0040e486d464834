// Snapshots: the machine's own bytes in a frame (segment.h).
#include "base/bounds_queue.h"
#include "core/queue/frame.h"
#include "core/queue/segment.h"

namespace pawl::queue {
namespace {

constexpr Frame frame = {.letters = "PAWLQSNP", .bytes_max = bounds::snapshot_bytes_max};

}  // namespace

ByteWriter begin_snapshot(const Machine& machine, const SnapshotHead& head, std::size_t expected) {
  ByteWriter out;
  out.expect(expected);
  frame.begin(out);
  out.u8(head.shard);
  out.varint(machine.sequence());
  write_nonce(out, head.last);
  machine.save(out);
  return out;
}

Result<std::string> finish_snapshot(ByteWriter begun) {
  Result<std::string> bytes = frame.finish(std::move(begun));
  if (!bytes) return failure(Code::invalid, "a snapshot " + bytes.error().message);
  return bytes;
}

Result<Snapshot> parse_snapshot(std::string_view bytes, std::uint8_t shard,
                                const Settings& settings) {
  const auto wrong_as = [&](Code code, std::string_view what,
                            std::optional<std::uint64_t> sequence = {}) {
    std::string name = sequence ? "snapshot " + std::to_string(*sequence) : "a snapshot";
    name.append(" of shard ").append(std::to_string(shard)).append(" ");
    return failure(code, name.append(what));
  };
  const auto wrong = [&](std::string_view what, std::optional<std::uint64_t> sequence = {}) {
    return wrong_as(Code::invalid, what, sequence);
  };
  auto in = frame.open(bytes);
  if (!in) return wrong_as(in.error().code, in.error().message);
  const std::uint8_t own_shard = in->u8();
  const std::uint64_t sequence = in->varint();
  const Nonce last = read_nonce(*in);
  if (in->good() && own_shard != shard) {
    return wrong("is not what stands there: it is of shard " + std::to_string(own_shard), sequence);
  }
  if (!in->good()) return wrong("is damaged: " + in->error());
  auto machine = Machine::load(*in, shard, settings);
  if (!machine) return wrong_as(machine.error().code, machine.error().message, sequence);
  if (in->left() > 0) in->fail("the state ends too early");
  if (machine->sequence() != sequence) in->fail("the state is that of another segment");
  if (!in->good()) return wrong("is damaged: " + in->error(), sequence);
  return Snapshot{.machine = *std::move(machine), .last = last};
}

}  // namespace pawl::queue
