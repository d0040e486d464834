// Goal: a snapshot makes the machine again that it was taken of, and nothing else passes as one.
// Method: machines after random commands there and back; one snapshot flipped and cut at every
//         byte; whole ones that are of another shard, another format, or say another number.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/frame.h"
#include "core/queue/queue_generators_fixture.h"
#include "core/queue/segment.h"

namespace pawl::queue {
namespace {

constexpr Frame frame = {.letters = "PAWLQSNP", .bytes_max = bounds::snapshot_bytes_max};
constexpr Instant start = Instant::from_ns(1'700'000'000'000'000'000);

Machine some_machine() {
  Machine machine(0, {});
  TaskId id;
  id.bytes.fill(7);
  id.bytes[0] = 0;
  const std::vector<Command> commands = {
      Submit{.id = id, .terms = {.type = "mail", .input = "{}", .key = "k"}}, Claim{.worker = "w"},
      Close{.scope = Scope::key, .name = "k", .until = start + Duration::hours(1)}};
  machine.apply(start, commands);
  return machine;
}

constexpr Nonce last = {.high = 3, .low = 4};

std::string written(const Machine& machine) {
  return finish_snapshot(begin_snapshot(machine, {.shard = 0, .last = last})).value();
}

std::string error_of(std::string_view bytes, std::uint8_t shard = 0) {
  const auto parsed = parse_snapshot(bytes, shard, {});
  return parsed ? "" : parsed.error().message;
}

// A whole one of these bytes.
template <class Write>
std::string framed(const Write& write) {
  ByteWriter out;
  frame.begin(out);
  write(out);
  return frame.finish(std::move(out)).value();
}

RC_GTEST_PROP(Snapshot, MakesTheMachineAgainThatItWasTakenOf, ()) {
  Machine machine(0, {});
  const auto segments = *rc::gen::inRange(0, 6);
  for (int i = 0; i < segments; ++i) {
    machine.apply(start + Duration::seconds(i), *any::commands());
  }
  const std::string bytes = written(machine);
  const auto parsed = parse_snapshot(bytes, 0, {});
  RC_ASSERT((parsed ? "" : parsed.error().message) == "");
  RC_ASSERT(parsed->machine.sequence() == machine.sequence());
  RC_ASSERT(parsed->machine.tasks() == machine.tasks());
  RC_ASSERT(parsed->last == last);
  RC_ASSERT(written(parsed->machine) == bytes);
}

TEST(Snapshot, EveryFlippedByteAndEveryCutIsNoticed) {
  const std::string whole = written(some_machine());
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(~bytes[place]);
    EXPECT_TRUE(error_of(bytes).starts_with("a snapshot of shard 0 is damaged: ")) << place;
    EXPECT_TRUE(error_of(whole.substr(0, place)).starts_with("a snapshot of shard 0 is damaged: "));
  }
  EXPECT_NE(error_of(whole + "x"), "");
}

TEST(Snapshot, IsOfItsShardAndItsFormat) {
  const std::string whole = written(some_machine());
  EXPECT_EQ(error_of(whole, 1), "snapshot 1 of shard 1 is not what stands there: it is of shard 0");
  const std::string segment = write_segment({.sequence = 1}, "");
  EXPECT_EQ(error_of(segment),
            "a snapshot of shard 0 is damaged: it does not begin with PAWLQSNP at byte 0");
}

TEST(Snapshot, AWholeOneWithAnotherStateIsNamed) {
  const Machine machine = some_machine();
  EXPECT_EQ(error_of(framed([&](ByteWriter& out) {
              out.u8(0);
              out.varint(2);
              write_nonce(out, last);
              machine.save(out);
            })).substr(0, 76),
            "snapshot 2 of shard 0 is damaged: the state is that of another segment at by");
  EXPECT_TRUE(error_of(framed([&](ByteWriter& out) {
                out.u8(0);
                out.varint(1);
                write_nonce(out, last);
                machine.save(out);
                out.u8(0);
              })).starts_with("snapshot 1 of shard 0 is damaged: the state ends too early at "));
  EXPECT_TRUE(error_of(framed([&](ByteWriter& out) {
                out.u8(0);
                out.varint(1);
                write_nonce(out, last);
              })).starts_with("snapshot 1 of shard 0 is damaged: "));
}

TEST(Snapshot, WhoseStateANewerPawlWroteIsNotDamaged) {
  const Machine machine = some_machine();
  ByteWriter state;
  machine.save(state);
  std::string newer = state.take();
  newer[0] = 2;
  const std::string bytes = framed([&](ByteWriter& out) {
    out.u8(0);
    out.varint(1);
    write_nonce(out, last);
    out.raw(newer);
  });
  EXPECT_EQ(error_of(bytes),
            "snapshot 1 of shard 0 was written by a newer pawl (format 2); this one reads format "
            "1: update pawl");
  EXPECT_EQ(parse_snapshot(bytes, 0, {}).error().code, Code::refused);
}

}  // namespace
}  // namespace pawl::queue
