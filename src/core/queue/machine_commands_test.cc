// Goal: every command about a task does what the diagram in task.h says; what comes late or twice
//       changes nothing.
// Method: one machine, one command a segment, time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(MachineTest, FailsAtOnceWhenTheErrorIsPermanent) {
  submit(1, plain());
  claim();
  EXPECT_EQ(fail(1, "no such account", true).status, Status::failed);
  EXPECT_EQ(task(1).retry_count, 0U);
}

TEST_F(MachineTest, GoesOnWithTheInputThatAReschedulingGaveIt) {
  submit(1, plain());
  claim();
  reschedule(1, {});
  EXPECT_EQ(task(1).terms.input, "{}") << "none was given";
  claim();
  one(Reschedule{.id = id_of(1), .fence = fence(1), .input = R"({"at":2})"});
  EXPECT_THAT(claim(), ElementsAre(1));
  EXPECT_EQ(task(1).terms.input, R"({"at":2})");
}

TEST_F(MachineTest, FailsWithTheSeedsWordsWhenRescheduledTooOften) {
  TaskTerms terms = plain();
  terms.max_reschedules = 2;
  submit(1, terms);
  for (int i = 0; i < 2; ++i) {
    claim();
    EXPECT_EQ(reschedule(1, {}).status, Status::pending);
  }
  claim();
  EXPECT_EQ(reschedule(1, {}).status, Status::failed);
  EXPECT_EQ(task(1).last_error, "Max reschedules (2) exceeded");
  EXPECT_EQ(lines(1).back(), "Version 7: failed (Max reschedules (2) exceeded)");
  EXPECT_EQ(task(1).reschedule_count, 2U);
}

TEST_F(MachineTest, DoesNotCountATaskThatIsGivenBack) {
  TaskTerms terms = plain();
  terms.max_reschedules = 0;
  submit(1, terms);
  claim();
  const Reply reply = one(Reschedule{.id = id_of(1), .fence = fence(1), .counted = false});
  EXPECT_EQ(std::get<Changed>(reply).status, Status::pending);
  EXPECT_EQ(task(1).reschedule_count, 0U);
  EXPECT_EQ(task(1).retry_count, 0U);
}

TEST_F(MachineTest, RenewsALeaseButNotBeyondTheTimeout) {
  TaskTerms terms = plain();
  terms.timeout = Duration::seconds(50);
  submit(1, terms);
  claim();
  const Instant claimed_at = now();
  pass(Duration::seconds(10));
  const Renew renew = {.id = id_of(1), .fence = fence(1), .lease = Duration::seconds(30)};
  EXPECT_EQ(std::get<Changed>(one(renew)).lease_expires_at, now() + Duration::seconds(30));
  pass(Duration::seconds(25));
  EXPECT_EQ(std::get<Changed>(one(renew)).lease_expires_at, claimed_at + held_most(terms.timeout));
  pass(Duration::seconds(16));
  EXPECT_THAT(refusal(one(renew)), HasSubstr("waits for another"));
  EXPECT_EQ(task(1).last_error, "lease expired: its timeout of 50s is over");
}

TEST_F(MachineTest, NeverShortensALease) {
  submit(1, plain());
  claim();
  const Reply reply = one(Renew{.id = id_of(1), .fence = fence(1), .lease = Duration::seconds(1)});
  EXPECT_EQ(std::get<Changed>(reply).lease_expires_at, now() + Duration::seconds(30));
}

TEST_F(MachineTest, RefusesALateCompletionAndNamesWhoHoldsTheTask) {
  submit(1, plain());
  claim();
  const std::uint64_t late = fence(1);
  pass(Duration::seconds(31));
  tick();
  pass(Duration::seconds(1));
  claim();
  const Complete complete_late = {.id = id_of(1), .fence = late};
  EXPECT_THAT(refusal(one(complete_late)),
              HasSubstr("worker-1 does, with fence " + std::to_string(fence(1))));
  EXPECT_EQ(status(1), Status::running);
  complete(1);
  EXPECT_THAT(refusal(one(complete_late)), HasSubstr("it is over (completed)"));
  EXPECT_THAT(refusal(one(Complete{.id = id_of(9)}), Code::not_found), HasSubstr("no task"));
}

TEST_F(MachineTest, AnswersACommandThatIsGivenAgainAsTheFirstTime) {
  submit(1, plain());
  claim();
  const Reschedule later = {.id = id_of(1), .fence = fence(1), .delay = Duration::seconds(5)};
  one(later);
  pass(Duration::seconds(1));
  EXPECT_EQ(std::get<Changed>(one(later)).available_at, now() + Duration::seconds(4));
  EXPECT_EQ(task(1).reschedule_count, 1U);
  EXPECT_THAT(refusal(one(Complete{.id = id_of(1), .fence = fence(1)})), HasSubstr("has ended"));
  pass(Duration::seconds(4));
  claim();
  const Complete done = {.id = id_of(1), .fence = fence(1), .output = "1"};
  one(done);
  EXPECT_EQ(std::get<Changed>(one(done)).status, Status::completed);
  EXPECT_EQ(lines(1).size(), 5U);
}

TEST_F(MachineTest, CancelsWhatWaitsAtOnceAndAsksWhatRuns) {
  submit(1, plain());
  submit(2, plain());
  EXPECT_THAT(claim(), ElementsAre(1));
  const Cancel second = {.id = id_of(2), .by = "anna", .why = "wrong list"};
  EXPECT_EQ(std::get<Changed>(one(second)).status, Status::cancelled);
  EXPECT_EQ(std::get<Changed>(one(second)).status, Status::cancelled) << "again";
  EXPECT_EQ(lines(2).back(), "Version 2: cancelled (by anna: wrong list)");
  EXPECT_EQ(claim(), std::vector<std::uint32_t>());

  const Reply asked = one(Cancel{.id = id_of(1), .by = "anna"});
  EXPECT_EQ(std::get<Changed>(asked).status, Status::running);
  EXPECT_TRUE(std::get<Changed>(asked).cancel_requested);
  EXPECT_EQ(lines(1).back(), "Version 3: running (cancel requested by anna)");
  EXPECT_TRUE(std::get<Changed>(one(Renew{.id = id_of(1), .fence = fence(1)})).cancel_requested);
}

TEST_F(MachineTest, EndsWhatWasCancelledWhileItRanByHowItStops) {
  for (std::uint32_t i = 1; i <= 4; ++i) submit(i, plain());
  claim(4);
  for (std::uint32_t i = 1; i <= 4; ++i) one(Cancel{.id = id_of(i), .by = "ops"});
  EXPECT_EQ(complete(1).status, Status::completed) << "the effect happened";
  EXPECT_EQ(fail(2).status, Status::cancelled);
  EXPECT_EQ(reschedule(3, {}).status, Status::cancelled);
  pass(Duration::seconds(30));
  tick();
  EXPECT_EQ(status(4), Status::cancelled);
  EXPECT_THAT(refusal(one(Cancel{.id = id_of(1)})), HasSubstr("is over (completed)"));
}

TEST_F(MachineTest, ReplaysFromTheStartAndKeepsTheHistory) {
  submit(1, plain(0));
  claim();
  fail(1);
  ASSERT_EQ(status(1), Status::failed);
  EXPECT_EQ(std::get<Changed>(one(Replay{.id = id_of(1)})).status, Status::pending);
  EXPECT_EQ(std::get<Changed>(one(Replay{.id = id_of(1)})).status, Status::pending) << "again";
  EXPECT_EQ(task(1).replay_count, 1U);
  EXPECT_EQ(task(1).attempt, 0U);
  EXPECT_EQ(task(1).last_error, "");
  EXPECT_FALSE(task(1).completed_at.has_value());
  EXPECT_EQ(lines(1).back(), "Version 4: pending (replayed)");
  EXPECT_THAT(claim(), ElementsAre(1));
  complete(1);
  EXPECT_THAT(refusal(one(Replay{.id = id_of(1)})), HasSubstr("is completed"));
}

TEST_F(MachineTest, ReplaysWhatWasCancelledAndWhatExpired) {
  one(Submit{.id = id_of(1), .terms = plain(), .time_to_live = Duration::seconds(1)});
  submit(2, plain());
  one(Cancel{.id = id_of(2), .by = "ops"});
  pass(Duration::seconds(1));
  tick();
  one(Replay{.id = id_of(1)});
  one(Replay{.id = id_of(2)});
  EXPECT_FALSE(task(2).cancel_requested);
  EXPECT_THAT(claim(2), ElementsAre(1, 2));
}

TEST_F(MachineTest, FiresAScheduleOnceHoweverManyTry) {
  const Instant first = now() + Duration::hours(1);
  const Instant second = first + Duration::hours(24);
  one(SetSchedule{
      .name = "nightly", .cron = "@daily", .zone = "UTC", .terms = plain(), .next = first});
  EXPECT_EQ(machine_.next_firing(), first);
  EXPECT_TRUE(machine_.due_schedules(now()).empty());
  pass(Duration::hours(1));
  ASSERT_EQ(machine_.due_schedules(now()).size(), 1U);
  const auto replies = all({Fire{.name = "nightly", .due = first, .next = second, .id = id_of(1)},
                            Fire{.name = "nightly", .due = first, .next = second, .id = id_of(2)}});
  EXPECT_TRUE(std::get<Submitted>(replies[0]).fresh);
  EXPECT_THAT(refusal(replies[1]), HasSubstr("does not fire"));
  EXPECT_EQ(machine_.schedules()[0].last, first);
  EXPECT_EQ(machine_.next_firing(), second);
  EXPECT_THAT(claim(9), ElementsAre(1));

  one(SetSchedule{.name = "nightly", .cron = "@daily", .terms = plain(), .enabled = false});
  EXPECT_EQ(machine_.next_firing(), std::nullopt);
  one(SetSchedule{.name = "nightly"});
  EXPECT_TRUE(machine_.schedules().empty());
  refusal(one(SetSchedule{.name = "nightly"}), Code::not_found);
}

// After an outage that was longer than the lease.
TEST_F(MachineTest, BelievesAnEndingOverALeaseThatItsOwnSegmentWouldEnd) {
  for (std::uint32_t i = 1; i <= 4; ++i) submit(i, plain(i == 2 ? 1 : 0));
  ASSERT_EQ(claim(4).size(), 4U);
  pass(Duration::minutes(5));
  const std::vector<Command> commands = {
      Claim{.worker = "other", .count = 9},
      Complete{.id = id_of(1), .fence = fence(1), .output = "1"},
      Fail{.id = id_of(2), .fence = fence(2), .error = "reset"},
      Reschedule{.id = id_of(3), .fence = fence(3), .delay = Duration::seconds(9)},
      Complete{.id = id_of(4), .fence = fence(4) + 1},
      Complete{.id = id_of(1), .fence = fence(1)}};
  const auto replies = all(commands);
  EXPECT_EQ(std::get<Changed>(replies[1]).status, Status::completed);
  EXPECT_EQ(std::get<Changed>(replies[5]).status, Status::completed) << "given again";
  EXPECT_EQ(task(1).output, "1");
  EXPECT_EQ(task(2).last_error, "reset") << "and not that its lease expired";
  EXPECT_EQ(task(2).retry_count, 1U);
  EXPECT_EQ(status(3), Status::pending);
  EXPECT_EQ(task(3).retry_count, 0U);
  EXPECT_EQ(lines(3).back(), "Version 3: pending (rescheduled, available_at: +9s, count: 1)");
  refusal(replies[4]);
  EXPECT_EQ(status(4), Status::failed) << "nobody who held it said anything";
  EXPECT_EQ(machine_.stats(now()).totals.timed_out, 1U);
}

TEST_F(MachineTest, RefusesAnEndingWhenAnEarlierSegmentHasEndedTheLease) {
  submit(1, plain());
  claim();
  const Complete late = {.id = id_of(1), .fence = fence(1)};
  pass(Duration::seconds(30));
  tick();
  EXPECT_THAT(refusal(one(late)), HasSubstr("waits for another"));
}

TEST_F(MachineTest, KnowsAUniqueNameByWhatWasSubmittedThoughItGoesOnWithAnotherInput) {
  TaskTerms terms = plain();
  terms.unique = "invoice-7";
  submit(1, terms);
  for (const std::string input : {"[2]", "[3]"}) {
    claim();
    one(Reschedule{.id = id_of(1), .fence = fence(1), .input = input});
    EXPECT_EQ(std::get<Submitted>(one(Submit{.id = id_of(2), .terms = terms})).id, id_of(1));
  }
  TaskTerms other = terms;
  other.input = "[3]";
  EXPECT_THAT(refusal(one(Submit{.id = id_of(3), .terms = other})), HasSubstr("another type"));
  EXPECT_EQ(task(1).terms.input, "[3]");
  ByteWriter out;
  machine_.save(out);
  ByteReader in(out.text());
  Machine again = *Machine::load(in, 0, settings_);
  const std::vector<Command> same = {Submit{.id = id_of(2), .terms = terms}};
  EXPECT_EQ(std::get<Submitted>(again.apply(now(), same)[0]).id, id_of(1)) << "read back";
}

TEST_F(MachineTest, SaysThatATaskWithoutAKeyClosedNone) {
  submit(1, plain());
  submit(2, keyed("acme"));
  claim(2);
  reschedule(1, Duration::seconds(60), Scope::key);
  reschedule(2, Duration::seconds(60), Scope::key);
  EXPECT_EQ(lines(1).back(),
            "Version 3: pending (rescheduled, available_at: +60s, count: 1, no key to close: only "
            "this task waits)");
  EXPECT_EQ(lines(2).back(), "Version 3: pending (rescheduled, available_at: +60s, count: 1)");
  EXPECT_EQ(machine_.closings(now()).size(), 1U);
}

TEST_F(MachineTest, FiresNoTimeAgainWhenAScheduleIsSetAgain) {
  const Instant first = now() + Duration::hours(1);
  const Instant second = first + Duration::hours(24);
  const SetSchedule set = {.name = "nightly", .cron = "@daily", .terms = plain(), .next = first};
  one(set);
  pass(Duration::hours(1));
  one(Fire{.name = "nightly", .due = first, .next = second, .id = id_of(1)});
  one(set);
  EXPECT_EQ(machine_.next_firing(), second) << "the answer was lost, and it was given again";
  SetSchedule other = set;
  other.terms.priority = 7;
  other.next = second + Duration::hours(1);
  one(other);
  EXPECT_EQ(machine_.next_firing(), other.next) << "another one";
  one(set);
  EXPECT_EQ(machine_.next_firing(), other.next) << "reckoned before the last firing";
  EXPECT_EQ(machine_.schedules()[0].set.terms.priority, 0);
  EXPECT_TRUE(machine_.has_schedule("nightly"));
  EXPECT_FALSE(machine_.has_schedule("weekly"));
}

TEST_F(MachineTest, TellsWhichSchedulesAreDueTheFirstOneFirst) {
  const auto set = [&](std::string name, Duration after, bool enabled = true) {
    one(SetSchedule{.name = std::move(name),
                    .cron = "@daily",
                    .terms = plain(),
                    .enabled = enabled,
                    .next = now() + after});
  };
  set("b", Duration::seconds(10));
  set("a", Duration::seconds(20));
  set("c", Duration::seconds(30));
  set("off", Duration::seconds(5), false);
  const auto due = machine_.due_schedules(now() + Duration::seconds(20));
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].set.name, "b");
  EXPECT_EQ(due[1].set.name, "a");
  set("b", Duration::seconds(40), false);
  EXPECT_EQ(machine_.next_firing(), now() + Duration::seconds(20));
  one(SetSchedule{.name = "a"});
  EXPECT_EQ(machine_.next_firing(), now() + Duration::seconds(30));
}

}  // namespace
}  // namespace pawl::queue
