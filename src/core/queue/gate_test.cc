// Goal: a gate says what may pass now and when to look again, and a gate that has rested is as new.
// Method: time by hand; each kind of barrier by itself, then their bytes.
#include "core/queue/gate.h"

#include <gtest/gtest.h>

#include "core/queue/command_bytes.h"

namespace pawl::queue {
namespace {

constexpr Instant begin = Instant::from_ns(1'000'000'000'000);

Gate limited(std::uint32_t rate, Duration period) {
  Gate gate;
  gate.set_limit({.rate = rate, .period = period});
  return gate;
}

TEST(Gate, IsOpenWhenNothingWasSaid) {
  const Gate gate;
  EXPECT_TRUE(gate.look(begin, 1'000'000).open());
  EXPECT_GT(gate.room(begin, 0, 9), std::uint64_t{1} << 62);
  EXPECT_LE(gate.rests_at(), begin);
}

TEST(Gate, LetsATenthThroughAtOnceAndPacesTheRest) {
  Gate gate = limited(100, Duration::seconds(1));
  EXPECT_EQ(gate.room(begin, 0, 9), 10U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(gate.look(begin, 0).open());
    gate.take(begin, 2);
  }
  const Gate::Look look = gate.look(begin, 0);
  EXPECT_EQ(look.barrier, Gate::Barrier::rate);
  EXPECT_EQ(gate.room(begin, 0, 9), 0U);
  EXPECT_FALSE(gate.look(look.until - Duration::nanoseconds(1), 0).open());
  EXPECT_TRUE(gate.look(look.until, 0).open());
  EXPECT_GT(gate.rests_at(), begin);
}

TEST(Gate, TellsThatOnlyAnEndHelpsWhenAsManyRunAsMay) {
  Gate gate;
  gate.set_limit({.running = 3});
  EXPECT_EQ(gate.room(begin, 1, 9), 2U);
  EXPECT_EQ(gate.room(begin, 5, 9), 0U);
  EXPECT_EQ(gate.look(begin, 3).barrier, Gate::Barrier::running);
  EXPECT_EQ(gate.look(begin, 3).until, Instant::max());
}

TEST(Gate, LetsOneGoAtItsOpeningAndTheRestInTheirTurn) {
  Gate gate;
  const Instant until = begin + Duration::seconds(5);
  gate.close(until, {.length = Duration::seconds(4)});
  EXPECT_EQ(gate.look(begin, 0).until, until);
  EXPECT_EQ(gate.room(begin, 0, 8), 0U);
  gate.let_go(8);
  EXPECT_EQ(gate.room(until, 0, 8), 1U);
  EXPECT_FALSE(gate.take(until, 7));
  EXPECT_EQ(gate.look(until, 0).until, until + Duration::milliseconds(500));
  EXPECT_EQ(gate.room(until + Duration::seconds(2), 0, 7), 4U) << "what was not taken is kept";
  EXPECT_GT(gate.room(until + Duration::seconds(4), 0, 7), 1'000U) << "the spread is over";
}

TEST(Gate, OpensAltogetherWhenNothingWaitsAnyMore) {
  Gate gate;
  gate.close(begin, {.length = Duration::seconds(30)});
  gate.let_go(2);
  EXPECT_FALSE(gate.take(begin, 1));
  EXPECT_EQ(gate.look(begin, 0).until, begin + Duration::seconds(15));
  EXPECT_TRUE(gate.take(begin + Duration::seconds(15), 0));
  EXPECT_TRUE(gate.look(begin + Duration::seconds(15), 0).open());
  EXPECT_LE(gate.rests_at(), begin + Duration::seconds(15));
}

TEST(Gate, LetsWhatComesMeanwhileShareTheRestOfTheTime) {
  Gate gate;
  gate.close(begin, {.length = Duration::seconds(10)});
  gate.let_go(2);
  gate.take(begin, 1);
  const Instant half = begin + Duration::seconds(5);
  EXPECT_EQ(gate.look(begin, 0).until, half);
  gate.take(half, 4);  // the other one, and four have come
  EXPECT_EQ(gate.look(half, 0).until, half + Duration::seconds(1));
}

TEST(Gate, MakesFewOnesWaitNoLongerThanTheirSteps) {
  Gate gate;
  gate.close(begin, {.length = Duration::seconds(60), .step_max = Duration::seconds(1)});
  gate.let_go(3);
  gate.take(begin, 2);
  EXPECT_EQ(gate.look(begin, 0).until, begin + Duration::seconds(1));
  EXPECT_EQ(gate.rests_at(), begin + Duration::seconds(3));
}

TEST(Gate, HasTheSameBytesAsANewOneWhenItHasRested) {
  Gate gate = limited(5, Duration::seconds(1));
  gate.close(begin, {.length = Duration::seconds(1)});
  gate.let_go(3);
  gate.take(begin, 2);
  const Instant rested = gate.rests_at();
  EXPECT_EQ(rested, begin + Duration::seconds(1));
  ByteWriter out;
  gate.save(out, rested);
  ByteWriter fresh;
  Gate().save(fresh, rested);
  EXPECT_EQ(out.text(), fresh.text());
}

TEST(Gate, GoesOnAsItWasWhenReadBack) {
  Gate gate = limited(5, Duration::seconds(1));
  gate.close(begin, {.length = Duration::seconds(9)});
  gate.let_go(3);
  gate.take(begin, 2);
  ByteWriter out;
  gate.save(out, begin);
  Gate again = limited(5, Duration::seconds(1));
  ByteReader in(out.text());
  again.load(in, begin);
  ASSERT_TRUE(in.good()) << in.error();
  EXPECT_EQ(again.look(begin, 0).until, gate.look(begin, 0).until);
  EXPECT_EQ(again.rests_at(), gate.rests_at());
}

TEST(Gate, IsNotReadBackWithWhatIsOver) {
  const auto error_of = [](Instant until, Duration spread, Instant ramp_end, Instant rate_from) {
    ByteWriter out;
    write_instant(out, until);
    write_duration(out, spread);
    write_duration(out, Duration());
    write_bool(out, ramp_end > Instant());
    if (ramp_end > Instant()) {
      write_instant(out, ramp_end);
      write_instant(out, ramp_end);
    }
    out.zigzag(rate_from.ns());
    ByteReader in(out.text());
    Gate().load(in, begin);
    return in.error();
  };
  const Duration second = Duration::seconds(1);
  const Instant later = begin + second;
  EXPECT_EQ(error_of(later, second, later, later), "");
  EXPECT_NE(error_of(begin, second, later, later), "") << "it is open";
  EXPECT_NE(error_of({}, second, later, later), "") << "it was never closed";
  EXPECT_NE(error_of(later, second, begin, later), "") << "all have gone";
  EXPECT_NE(error_of(later, second, later, begin), "") << "the rate is as if never used";
  EXPECT_NE(error_of({}, {}, {}, {}), "") << "it is at rest";
}

TEST(Gate, ReckonsWithoutOverflowAtTheEndsOfTime) {
  Gate gate = limited(1'000'000'000, Duration::days(366));
  gate.close(Instant::max(), {.length = Duration::max()});
  EXPECT_EQ(gate.look(begin, 0).until, Instant::max());
  gate.let_go(~std::uint64_t{0});
  gate.take(Instant::max(), 1);
  EXPECT_EQ(gate.rests_at(), Instant::max());
}

TEST(GateLimit, IsRefusedWhenItCannotBeKept) {
  EXPECT_TRUE(check(GateLimit{}).has_value());
  EXPECT_FALSE(check(GateLimit{.rate = 1}).has_value());
  EXPECT_FALSE(check(GateLimit{.rate = 1, .period = Duration::days(400)}).has_value());
  EXPECT_FALSE(check(GateLimit{.rate = 3, .period = Duration::nanoseconds(2)}).has_value());
}

}  // namespace
}  // namespace pawl::queue
