// Goal: our clock counts, except where the store's proves it wrong; and neither moves the queue by
//       a leap that does not stay.
// Method: samples by hand.
#include "runtime/store_time.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

constexpr Instant now = Instant::from_ns(1'700'000'000'000'000'000);

// Taken a moment ago, by a clock of whole seconds that is ahead of ours by so much.
TimeSample sample(Duration ahead) {
  const Instant asked = now - Duration::milliseconds(200);
  return {.store = asked + ahead,
          .resolution = Duration::seconds(1),
          .asked = asked,
          .answered = asked + Duration::milliseconds(100)};
}

TEST(StoreTime, WithoutASampleItIsOurs) {
  EXPECT_EQ(store_time(now, std::nullopt), now);
}

TEST(StoreTime, ASampleThatProvesNothingChangesNothing) {
  EXPECT_EQ(store_time(now, sample({})), now);
  EXPECT_EQ(store_time(now, sample(Duration::milliseconds(100))), now);
  EXPECT_EQ(store_time(now, sample(-Duration::seconds(1))), now);
}

TEST(StoreTime, AClockThatIsBehindIsSetForward) {
  EXPECT_EQ(store_time(now, sample(Duration::seconds(5))), now + Duration::milliseconds(4900));
}

TEST(StoreTime, AClockThatIsAheadIsSetBack) {
  EXPECT_EQ(store_time(now, sample(-Duration::seconds(5))), now - Duration::seconds(4));
}

// A store and a machine whose clocks are set by hand.
class StoreClockTest : public ::testing::Test {
 protected:
  StoreClock::Time read() {
    const TimeSample said = {.store = own + store_ahead, .asked = own, .answered = own};
    return clock.read({.at = steady, .own = own, .sample = said});
  }
  void pass(Duration time) {
    own = own + time;
    steady = steady + time;
  }

  Instant own = now;
  SteadyInstant steady = SteadyInstant::from_ns(1);
  Duration store_ahead = {};
  StoreClock clock;
};

TEST_F(StoreClockTest, TheStoresTimeIsTakenAtFirst) {
  store_ahead = Duration::minutes(10);
  EXPECT_EQ(read().now, own + Duration::minutes(10));
  pass(Duration::hours(1));
  EXPECT_EQ(read().now, own + Duration::minutes(10));
}

TEST_F(StoreClockTest, ALeapIsFollowedOnlyWhenItStays) {
  read();
  pass(Duration::seconds(10));
  const Instant before = own;
  own = own + Duration::minutes(14);
  StoreClock::Time time = read();
  EXPECT_EQ(time.now, before);
  EXPECT_EQ(time.leap, StoreClock::Leap::begins);
  EXPECT_EQ(time.by, Duration::minutes(14));
  pass(Duration::seconds(50));
  time = read();
  EXPECT_EQ(time.now, before + Duration::seconds(50)) << "time goes on";
  EXPECT_EQ(time.leap, StoreClock::Leap::none);
  pass(Duration::seconds(10));
  time = read();
  EXPECT_EQ(time.now, own);
  EXPECT_EQ(time.leap, StoreClock::Leap::followed);
}

TEST_F(StoreClockTest, ALeapThatGoesBackWasNone) {
  read();
  for (int i = 0; i < 10; ++i) {
    store_ahead = Duration::minutes(14);
    EXPECT_EQ(read().now, own);
    pass(Duration::seconds(30));
    store_ahead = {};
    EXPECT_EQ(read().now, own);
    pass(Duration::seconds(30));
  }
}

TEST_F(StoreClockTest, EachLeapIsCountedFromItsOwnBeginning) {
  read();
  for (int i = 1; i <= 10; ++i) {
    store_ahead = Duration::minutes(14 * i);
    EXPECT_EQ(read().now, own) << "no two agree";
    pass(Duration::seconds(30));
  }
}

TEST_F(StoreClockTest, AClockThatIsSetBackIsTaken) {
  read();
  own = own - Duration::minutes(10);
  EXPECT_EQ(read().now, own);
}

TEST_F(StoreClockTest, TheLogMayBeAheadOfTheSteadyClock) {
  read();
  clock.seen(own + Duration::hours(2), steady);  // we were paused, others were not
  own = own + Duration::hours(2);
  EXPECT_EQ(read().now, own);
}

TEST_F(StoreClockTest, ALogThatIsAheadGoesOnAtHalfThePaceUntilTheClockIsThere) {
  const Instant log = own + Duration::minutes(14);
  clock.seen(log, steady);
  EXPECT_EQ(read().now, log);
  EXPECT_EQ(read().ahead, Duration::minutes(14));
  pass(Duration::minutes(10));
  EXPECT_EQ(read().now, log + Duration::minutes(5));
  EXPECT_EQ(read().ahead, Duration::minutes(9));
  clock.seen(read().now, steady);  // a segment of ours
  pass(Duration::minutes(10));
  EXPECT_EQ(read().now, log + Duration::minutes(10)) << "however many there are";
  pass(Duration::minutes(10));
  EXPECT_EQ(read().now, own);
  EXPECT_EQ(read().ahead, Duration());
}

TEST_F(StoreClockTest, WhoIsBehindGoesByWhatOthersWrite) {
  clock.seen(own + Duration::seconds(10), steady);
  for (int i = 0; i < 10; ++i) {
    pass(Duration::seconds(10));
    clock.seen(own + Duration::seconds(10), steady);
    EXPECT_EQ(read().now, own + Duration::seconds(10));
  }
}

TEST_F(StoreClockTest, AgainstOurClockAndAFreshLogTheStoreIsNotBelieved) {
  clock.seen(own - Duration::seconds(20), steady);
  store_ahead = Duration::minutes(14);
  EXPECT_EQ(read().now, own);
  pass(Duration::minutes(2));
  EXPECT_EQ(read().now, own + Duration::minutes(14)) << "it stays so";
}

TEST_F(StoreClockTest, AgainstOurClockAndAnOldLogTheStoreIsBelieved) {
  clock.seen(own - Duration::minutes(2), steady);
  store_ahead = Duration::minutes(14);
  EXPECT_EQ(read().now, own + Duration::minutes(14));
}

}  // namespace
}  // namespace pawl
