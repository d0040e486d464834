// Goal: names are written once and read as the same ones; a task that cannot be is not read.
// Method: the tables by hand; one task, its bytes spoiled one by one.
#include "core/queue/slot_bytes.h"

#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

TEST(WrittenNames, AreTheSameOnesWhenReadBack) {
  ByteWriter out;
  WrittenNames written;
  for (const std::uint32_t number : {7U, 0U, 3U, 7U, 3U, 9U}) {
    if (written.write(out, number)) out.varint(number * 100);
  }
  ByteReader in(out.text());
  ReadNames read;
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 6; ++i) {
    numbers.push_back(read.read(in, [&] { return static_cast<std::uint32_t>(in.varint()); }));
  }
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{700, 0, 300, 700, 300, 900}));
  EXPECT_TRUE(in.good() && in.left() == 0);
}

TEST(WrittenNames, FailWhenOneIsNamedThatWasNotGiven) {
  ByteWriter out;
  out.varint(2);
  ByteReader in(out.text());
  EXPECT_EQ(ReadNames().read(in, [] { return 1U; }), 0U);
  EXPECT_FALSE(in.good());
}

std::string bytes_of_task() {
  Machine::State state(0, {});
  state.next_arrival = 2;
  state.run(Submit{.id = id_of(1), .terms = keyed("a")});
  state.slots[1].arrival = 1;
  ByteWriter out;
  TaskWriter(state, out).write(state.slots[1]);
  return out.take();
}

std::string problem(std::string_view bytes, std::uint64_t next_arrival = 2) {
  Machine::State state(0, {});
  state.next_arrival = next_arrival;
  ByteReader in(bytes);
  TaskReader(state, in).read();
  return in.error();
}

TEST(TaskReader, ReadsWhatWasWritten) {
  EXPECT_EQ(problem(bytes_of_task()), "");
}

TEST(TaskReader, RefusesATaskThatCannotBe) {
  constexpr std::size_t status = 12;
  constexpr std::size_t ended = 13;
  for (const std::size_t at : {std::size_t{0}, status, ended}) {
    std::string damaged = bytes_of_task();
    damaged[at] = '\x63';
    EXPECT_NE(problem(damaged), "") << at;
  }
  EXPECT_NE(problem(bytes_of_task(), 1), "") << "an arrival that has not been yet";
}

}  // namespace
}  // namespace pawl::queue
