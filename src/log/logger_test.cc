// Goal: a logger writes what its level lets through, and pays nothing for the rest.
// Method: a clock moved by hand and a sink that keeps lines; a count of allocations in this
//         binary; real threads.
#include "log/logger.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <thread>

#include "base/bounds.h"
#include "log/capture_sink.h"

// The thread sanitizer brings its own operator new and lets nobody replace it.
#if defined(__has_feature)
#define PAWL_HAS_FEATURE(feature) __has_feature(feature)
#else
#define PAWL_HAS_FEATURE(feature) 0
#endif
#if !PAWL_HAS_FEATURE(thread_sanitizer)
#define PAWL_COUNTS_ALLOCATIONS

namespace {
thread_local int allocations = 0;
}  // namespace

// Not inlined: g++ would see free() meet a pointer of "another" allocator and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace pawl::log {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HandClock : public Clock {
 public:
  Instant wall_now() override { return wall_; }
  SteadyInstant steady_now() override { return steady_; }
  void advance(Duration by) {
    wall_ = wall_ + by;
    steady_ = steady_ + by;
  }
  void step_wall(Duration by) { wall_ = wall_ + by; }

 private:
  Instant wall_ = parse_instant("2026-01-25T21:15:00.000Z").value();
  SteadyInstant steady_ = SteadyInstant::from_ns(1);
};

class LoggerTest : public testing::Test {
 protected:
  HandClock clock_;
  CaptureSink sink_;
  Output output_{clock_, sink_, {}};
  Logger logger_{output_};
};

TEST_F(LoggerTest, WritesEventFieldsAndTime) {
  clock_.advance(Duration::milliseconds(123));
  logger_.info("rate_limit_waiting", {{"operation", std::string("order")}, {"wait_seconds", 0.5}});
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:00.123Z INFO  rate_limit_waiting operation=order "
                          "wait_seconds=0.5"));
}

TEST_F(LoggerTest, CarriesItsCorrelationAndLeavesTheOriginalAlone) {
  const Logger mine = logger_.with({.tenant_id = "acme"});
  mine.warn("store_slow");
  logger_.warn("store_slow");
  mine.with({.request_id = "r1"}).warn("store_slow");
  EXPECT_THAT(sink_.take(), ElementsAre("2026-01-25T21:15:00.000Z WARN  store_slow tenant_id=acme",
                                        "2026-01-25T21:15:00.000Z WARN  store_slow",
                                        "2026-01-25T21:15:00.000Z WARN  store_slow request_id=r1"));
}

TEST_F(LoggerTest, WritesItsLevelAndWhatIsGraver) {
  const auto write_all = [&] {
    logger_.trace("t");
    logger_.debug("d");
    logger_.info("i");
    logger_.warn("w");
    logger_.error("e");
    return sink_.take().size();
  };
  EXPECT_EQ(write_all(), 3u);
  output_.set({.level = Level::trace});
  EXPECT_EQ(write_all(), 5u);
  output_.set({.level = Level::error});
  EXPECT_EQ(write_all(), 1u);
  EXPECT_TRUE(logger_.enabled(Level::error));
  EXPECT_FALSE(logger_.enabled(Level::warn));
}

TEST_F(LoggerTest, ChangesItsFormatWhileRunning) {
  output_.set({.format = Format::json});
  logger_.info("started");
  EXPECT_THAT(sink_.take(), ElementsAre(R"({"ts":"2026-01-25T21:15:00.000Z","level":"info",)"
                                        R"("event":"started"})"));
}

#ifdef PAWL_COUNTS_ALLOCATIONS
TEST_F(LoggerTest, AllocatesNothingBelowTheLevel) {
  const std::string value(1'000, 'x');
  const Logger mine = logger_.with({.tenant_id = value});
  const int before = allocations;
  mine.debug("request_seen", {{"value", value}, {"size", value.size()}, {"ratio", 0.5}});
  EXPECT_EQ(allocations, before);
  EXPECT_THAT(sink_.take(), IsEmpty());
  mine.info("request_seen", {{"value", value}});
  EXPECT_GT(allocations, before);  // the count counts
}
#endif

class RepeatedTest : public LoggerTest {
 protected:
  void repeat(int count) {
    for (int i = 0; i < count; ++i) logger_.error("store_down", {{"n", i}});
  }
  static constexpr int many = bounds::log_repeats_a_second_max;
};

TEST_F(RepeatedTest, TellsTheCountWithTheNextLine) {
  repeat(many + 5);
  EXPECT_EQ(sink_.take().size(), static_cast<std::size_t>(many));
  clock_.advance(Duration::seconds(1));
  repeat(2);
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:01.000Z ERROR store_down n=0 repeats_suppressed=5",
                          "2026-01-25T21:15:01.000Z ERROR store_down n=1"));
}

TEST_F(RepeatedTest, TellsTheCountAtTheTickAfterTheSecond) {
  repeat(many + 5);
  (void)sink_.take();
  output_.tick();
  EXPECT_THAT(sink_.take(), IsEmpty());
  clock_.advance(Duration::seconds(1));
  output_.tick();
  output_.tick();
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:01.000Z ERROR store_down repeats_suppressed=5"));
}

TEST_F(RepeatedTest, TellsTheCountAtAFlush) {
  repeat(many + 5);
  (void)sink_.take();
  output_.flush();
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:00.000Z ERROR store_down repeats_suppressed=5"));
}

TEST_F(RepeatedTest, TellsTheCountAtTheEnd) {
  {
    Output output(clock_, sink_, {});
    const Logger logger(output);
    for (int i = 0; i < many + 1; ++i) logger.error("store_down");
    (void)sink_.take();
  }
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:00.000Z ERROR store_down repeats_suppressed=1"));
}

TEST_F(RepeatedTest, IsNotFooledByAStepOfTheWallClock) {
  repeat(many);
  (void)sink_.take();
  clock_.step_wall(Duration::hours(1));
  repeat(1);
  EXPECT_THAT(sink_.take(), IsEmpty());
}

TEST_F(RepeatedTest, CountsNothingBelowTheLevel) {
  for (int i = 0; i < many + 5; ++i) logger_.debug("request_seen");
  output_.flush();
  EXPECT_THAT(sink_.take(), IsEmpty());
}

TEST_F(RepeatedTest, AccountsForEveryLineOfManyThreads) {
  constexpr int calls = 50'000;
  const auto shout = [&] {
    for (int i = 0; i < calls; ++i) logger_.error("store_down");
  };
  {
    const std::jthread one(shout);
    const std::jthread two(shout);
  }
  EXPECT_EQ(sink_.take().size(), static_cast<std::size_t>(many));
  output_.flush();
  EXPECT_THAT(sink_.take(),
              ElementsAre("2026-01-25T21:15:00.000Z ERROR store_down repeats_suppressed=" +
                          std::to_string(2 * calls - many)));
}

class RefusingSink : public Sink {
 public:
  bool write(std::string_view) override { return false; }
};

TEST(Output, CountsLinesTheSinkDidNotTake) {
  HandClock clock;
  RefusingSink sink;
  Output output(clock, sink, {});
  Logger(output).info("started");
  EXPECT_EQ(output.take_lines_lost(), 1u);
  EXPECT_EQ(output.take_lines_lost(), 0u);
}

}  // namespace
}  // namespace pawl::log
