// Goal: what was written is read back; all else is refused, in words that say what and where.
// Method: random segments there and back; one segment flipped and cut at every byte; segments by
//         hand that are whole but wrong.
#include "core/queue/segment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "base/crc32c.h"
#include "base/wire.h"
#include "core/queue/command_bytes.h"
#include "core/queue/queue_generators_fixture.h"

namespace pawl::queue {
namespace {

std::string written(const Segment& segment) {
  return write_segment(segment, write_commands(segment.commands));
}

Segment some_segment() {
  TaskId id;
  id.bytes.fill(7);
  return {.shard = 2,
          .sequence = 17,
          .writer = "host 1",
          .nonce = {1, 2},
          .at = Instant::from_ns(1'700'000'000'000'000'000),
          .commands = {Submit{.id = id, .terms = {.type = "mail", .input = "{}"}},
                       Complete{.id = id, .fence = 16, .output = "null"}}};
}

constexpr LogPlace its_place = {.shard = 2, .sequence = 17};

// With another checksum, as if it had been written so.
std::string summed(std::string bytes) {
  bytes.resize(bytes.size() - 4);
  ByteWriter sum;
  sum.fixed32(crc32c(bytes));
  return bytes + sum.text();
}

std::string error_of(std::string_view bytes, const std::optional<LogPlace>& place = its_place) {
  const auto parsed = parse_segment(bytes, place);
  return parsed ? "" : parsed.error().message;
}

RC_GTEST_PROP(Segment, IsReadBackAsItWasWritten, ()) {
  const Segment segment = *any::segment();
  const std::string bytes = written(segment);
  const auto parsed = parse_segment(bytes, LogPlace{segment.shard, segment.sequence});
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == segment);
  RC_ASSERT(written(*parsed) == bytes);
}

RC_GTEST_PROP(Segment, TwoBatchesOneBehindTheOtherAreOne, ()) {
  std::vector<Command> all = *any::commands();
  const auto more = *any::commands();
  const std::string bytes = write_commands(all) + write_commands(more);
  all.insert(all.end(), more.begin(), more.end());
  RC_ASSERT(write_commands(all) == bytes);
}

// The bytes are the format: whoever changes them must raise its number.
TEST(Segment, HasTheBytesOfTheDocumentedFormat) {
  Segment segment = {.shard = 1, .sequence = 300, .writer = "w", .nonce = {1, 2}, .before = {3, 4}};
  segment.at = Instant::from_ns(5);
  TaskId id;
  id.bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  segment.commands = {Renew{.id = id, .fence = 299, .lease = Duration::nanoseconds(3)}};
  using namespace std::string_literals;
  const std::string bytes = written(segment);
  EXPECT_EQ(bytes.substr(0, bytes.size() - 4),
            "PAWLQSEG"s
            "\1\0\0\0"s
            "\x55\0\0\0\0\0\0\0"s  // version, length
            "\1"s
            "\xac\2"s
            "\1w"s  // shard, sequence, writer
            "\1\0\0\0\0\0\0\0"s
            "\2\0\0\0\0\0\0\0"s  // nonce
            "\3\0\0\0\0\0\0\0"s
            "\4\0\0\0\0\0\0\0"s  // that of the one before
            "\5\0\0\0\0\0\0\0"s  // time
            "\3"s
            "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc"s
            "\xab\2"s
            "\6"s);
  EXPECT_EQ(summed(bytes), bytes);
}

TEST(Segment, EveryFlippedByteIsNoticed) {
  const std::string whole = written(some_segment());
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[place] = static_cast<char>(bytes[place] ^ 1 << bit);
      EXPECT_TRUE(error_of(bytes).starts_with("segment 17 of shard 2 is damaged: ")) << place;
    }
  }
}

TEST(Segment, EveryCutAndEveryByteTooManyIsNoticed) {
  const std::string whole = written(some_segment());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_TRUE(error_of(whole.substr(0, bytes)).starts_with("segment 17 of shard 2 is damaged: "));
  }
  EXPECT_EQ(error_of(whole + "x"), "segment 17 of shard 2 is damaged: it should have " +
                                       std::to_string(whole.size()) + " bytes, and has " +
                                       std::to_string(whole.size() + 1));
  EXPECT_EQ(error_of(""), "segment 17 of shard 2 is damaged: it ends too early at byte 0");
}

TEST(Segment, ANewerOneIsNotCalledDamaged) {
  std::string bytes = written(some_segment());
  bytes[8] = 2;
  EXPECT_EQ(error_of(summed(bytes)),
            "segment 17 of shard 2 was written by a newer pawl (format 2); this one reads format "
            "1: update pawl");
}

TEST(Segment, StandsWhereItsNameSays) {
  const std::string bytes = written(some_segment());
  EXPECT_EQ(error_of(bytes, LogPlace{.shard = 2, .sequence = 18}),
            "segment 18 of shard 2 is not what stands there: it is segment 17 of shard 2");
  EXPECT_EQ(error_of(bytes, LogPlace{.shard = 3, .sequence = 17}),
            "segment 17 of shard 3 is not what stands there: it is segment 17 of shard 2");
  EXPECT_EQ(error_of(bytes, {}), "");
}

TEST(Segment, SaysWhereItsCommandsAreWrong) {
  const std::size_t begin = write_segment(some_segment(), "").size() - 4;
  ByteWriter commands;
  write_command(commands, Replay{});
  commands.u8(0);
  EXPECT_EQ(error_of(write_segment(some_segment(), commands.text())),
            "segment 17 of shard 2 is damaged: a command is of an unknown kind at byte " +
                std::to_string(begin + 13));
}

TEST(Segment, HasNoMoreCommandsThanAllowed) {
  Segment segment = some_segment();
  segment.commands.assign(bounds::segment_commands_max, Replay{});
  EXPECT_EQ(error_of(written(segment)), "");
  segment.commands.emplace_back(Replay{});
  EXPECT_NE(error_of(written(segment)).find("more commands than a segment may have"),
            std::string::npos);
}

TEST(Segment, AnyNameOfAWriterCanBeRead) {
  Segment segment = some_segment();
  segment.writer = "a\nb\xff" + std::string(251, 'c') + "é";
  const auto parsed = parse_segment(written(segment));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->writer, "a?b?" + std::string(251, 'c'));
  EXPECT_LE(written({.shard = 2, .sequence = ~0UL, .writer = std::string(999, 'x')}).size(),
            segment_frame_bytes_max);
}

TEST(Segment, NamesSortAndTellTheirNumber) {
  EXPECT_EQ(segment_name(0, 1), "log/00/00000000000000000001");
  EXPECT_EQ(snapshot_name(255, ~0UL), "snapshot/ff/18446744073709551615");
  EXPECT_LT(segment_name(0, 9), segment_name(0, 10));
  EXPECT_EQ(sequence_of("log/00/00000000000000000001"), 1U);
  EXPECT_EQ(sequence_of("snapshot/ff/18446744073709551615"), ~0UL);
  for (const char* name :
       {"", "log", "log/00/1", "log/00/000000000000000000001", "log/0g/00000000000000000001",
        "log/0/00000000000000000001", "log/FF/00000000000000000001", "00000000000000000001",
        "log/00/18446744073709551616", "log/00/0000000000000000000a", "queue.json",
        "other/00/00000000000000000001", "log/00/x/00000000000000000001", "log/00/"}) {
    EXPECT_EQ(sequence_of(name), std::nullopt) << name;
  }
}

RC_GTEST_PROP(Segment, NamesAreReadBack, (std::uint8_t shard, std::uint64_t sequence)) {
  RC_ASSERT(sequence_of(segment_name(shard, sequence)) == sequence);
  RC_ASSERT(sequence_of(snapshot_name(shard, sequence)) == sequence);
}

}  // namespace
}  // namespace pawl::queue
