// Goal: a commit is shared where that can be had for a short wait, and nobody waits for nothing.
// Method: who waits, and when, by hand; and a stream of callers, by the numbers it leads to.
#include "core/queue/gather.h"

#include <gtest/gtest.h>

namespace pawl::queue {
namespace {

constexpr Duration ms(std::int64_t count) {
  return Duration::milliseconds(count);
}
constexpr SteadyInstant begin = SteadyInstant::from_ns(1'000'000'000'000);
constexpr GatherTerms costly = {.window = ms(100), .gap = ms(10), .enough = 256};
constexpr GatherTerms cheap = {.window = ms(2), .gap = Duration::microseconds(500)};

Gathered one(SteadyInstant at) {
  return {.callers = 1, .commands = 1, .first = at, .last = at};
}
Gathered patient(SteadyInstant at) {
  return {.callers = 1, .patient = 1, .commands = 1, .first = at, .last = at};
}

TEST(Gather, NobodyWaitsWhoIsAlone) {
  for (const GatherTerms& terms : {costly, cheap, GatherTerms()}) {
    Gather gather(terms);
    EXPECT_EQ(gather.due(one(begin), begin), begin);
    EXPECT_EQ(gather.due(patient(begin), begin), begin);
    gather.went({.callers = 1}, begin);
    EXPECT_EQ(gather.due(one(begin), begin), begin);
  }
}

TEST(Gather, OthersAreWaitedForWhileTheyFollowEachOther) {
  Gather gather(costly);
  gather.went({.callers = 2}, begin);
  Gathered waiting = one(begin);
  EXPECT_EQ(gather.due(waiting, begin), begin + ms(10));
  waiting.last = begin + ms(8);
  EXPECT_EQ(gather.due(waiting, begin + ms(8)), begin + ms(18));
  waiting.last = begin + ms(95);
  EXPECT_EQ(gather.due(waiting, begin + ms(95)), begin + ms(100)) << "but not for longer";
}

TEST(Gather, EnoughCommandsGoAtOnce) {
  Gather gather(costly);
  gather.went({.callers = 2}, begin);
  Gathered waiting = one(begin);
  waiting.commands = 255;
  EXPECT_GT(gather.due(waiting, begin), begin);
  waiting.commands = 256;
  EXPECT_EQ(gather.due(waiting, begin), begin);
}

TEST(Gather, WhereAPutIsCheapAllWhoWereAnsweredAreEnough) {
  Gather gather(cheap);
  gather.went({.callers = 3, .patient = 1}, begin);
  Gathered waiting = one(begin);
  EXPECT_EQ(gather.due(waiting, begin), begin + Duration::microseconds(500));
  waiting.callers = 2;
  EXPECT_EQ(gather.due(waiting, begin), begin);
  waiting.patient = 1;
  EXPECT_GT(gather.due(waiting, begin), begin) << "an ending is none of those";
}

TEST(Gather, EndingsWaitForOthersOnlyWhenThereAreMany) {
  Gather gather(costly);
  for (int i = 0; i < 3; ++i) gather.went({.callers = 1}, begin + ms(i));
  EXPECT_EQ(gather.due(patient(begin + ms(5)), begin + ms(5)), begin + ms(5));
  gather.went({.callers = 1}, begin + ms(6));
  EXPECT_EQ(gather.due(patient(begin + ms(7)), begin + ms(7)), begin + ms(207));
  EXPECT_EQ(gather.due(patient(begin + ms(400)), begin + ms(400)), begin + ms(400))
      << "that was long ago";
  Gathered many = patient(begin + ms(7));
  many.commands = 256;
  EXPECT_EQ(gather.due(many, begin + ms(7)), begin + ms(7));
}

TEST(Gather, AThousandCallersASecondShareTenCommits) {
  Gather gather(costly);
  Gathered waiting = {};
  int commits = 0;
  for (int i = 0; i < 10'000; ++i) {
    const SteadyInstant now = begin + ms(i);
    if (waiting.callers == 0) waiting.first = now;
    waiting.last = now;
    ++waiting.callers;
    ++waiting.commands;
    // A put takes three milliseconds.
    if (i % 3 != 0 || gather.due(waiting, now) > now) continue;
    gather.went(waiting, now);
    waiting = {};
    ++commits;
  }
  EXPECT_LE(commits, 110);
  EXPECT_GE(commits, 90);
}

TEST(Gather, WhoTellsHowTasksEndedIsPatient) {
  EXPECT_TRUE(is_patient({Complete{}, Fail{}, Reschedule{}, Renew{}}));
  EXPECT_FALSE(is_patient({Complete{}, Submit{}}));
  EXPECT_FALSE(is_patient({Claim{}}));
  EXPECT_FALSE(is_patient({Cancel{}}));
}

}  // namespace
}  // namespace pawl::queue
