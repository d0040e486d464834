// Goal: a claim waits for what segments and time bring, costs no commit while there is nothing, is
//       fair, and fires schedules once. Method: as local_queue_test.cc.
#include "runtime/queue_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "runtime/local_queue_fixture.h"

namespace pawl {
namespace {

using queue::Changed;
using queue::Submitted;
using ::testing::HasSubstr;

class QueueClaimsTest : public LocalQueues {
 protected:
  static ClaimAsk one_of(std::string type, Duration wait = Duration::hours(1)) {
    const Duration lease = Duration::minutes(5);
    return {.claim = {.types = {std::move(type)}, .count = 1, .lease = lease}, .wait = wait};
  }
  queue::SetSchedule every_minute(std::string name) {
    return {.name = std::move(name),
            .cron = "* * * * *",
            .zone = "UTC",
            .terms = {.type = "t", .input = "{}"},
            .next = clock.wall_now() + Duration::minutes(1)};
  }
};

TEST_F(QueueClaimsTest, CostNothingWhileThereIsNothing) {
  const auto one = process();
  const auto waits = claim(*one, one_of("t"));
  timers.advance(Duration::minutes(30));
  EXPECT_FALSE(*waits);
  EXPECT_EQ(one->queue->view().commits, 0u);
  EXPECT_EQ(one->queue->view().requests.puts, 0u);
}

TEST_F(QueueClaimsTest, GetWhatIsSubmittedHereAtOnce) {
  const auto one = process();
  const auto waits = claim(*one, one_of("t"));
  got(give(*one, {submit("other"), submit("t")}));
  ASSERT_TRUE(*waits);
  EXPECT_EQ(got(waits).size(), 1u);
}

TEST_F(QueueClaimsTest, GetWhatAnotherProcessSubmits) {
  const auto one = process();
  const auto other = process();
  const auto waits = claim(*one, one_of("t"));
  got(give(*other, {submit("t")}));
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(got(waits).size(), 1u);
}

TEST_F(QueueClaimsTest, GetATaskWhenItIsDueAndNoCommitBefore) {
  const auto one = process();
  queue::Submit later = submit("t");
  later.delay = Duration::minutes(5);
  got(give(*one, {later}));
  const auto commits = one->queue->view().commits;
  const auto waits = claim(*one, one_of("t"));
  timers.advance(Duration::minutes(5) - Duration::milliseconds(1));
  EXPECT_FALSE(*waits);
  EXPECT_EQ(one->queue->view().commits, commits);
  timers.advance(Duration::milliseconds(3));
  EXPECT_EQ(got(waits).size(), 1u);
}

TEST_F(QueueClaimsTest, GetATaskWhoseLeaseHasEnded) {
  const auto one = process();
  queue::Submit lost = submit("t");
  lost.terms.retry = {.base_delay = Duration(), .max_delay = Duration(), .jitter_milli = 0};
  got(give(*one, {lost}));
  ASSERT_EQ(got(claim(*one, {.claim = {.lease = Duration::seconds(30)}})).size(), 1u);
  const auto waits = claim(*one, one_of("t"));
  timers.advance(Duration::seconds(29));
  EXPECT_FALSE(*waits);
  timers.advance(Duration::seconds(10));
  ASSERT_TRUE(*waits);
  EXPECT_EQ(got(waits)[0].attempt, 2u);
}

// Somebody wrote there with a clock that was wrong by ten years, and is gone.
TEST_F(QueueClaimsTest, GoOnInAShardWhoseTimeIsFarAhead) {
  settings.shards = 2;
  objects->put({.name = queue::segment_name(1, 1),
                .body = queue::write_segment({.shard = 1,
                                              .sequence = 1,
                                              .nonce = {.high = 1, .low = 1},
                                              .at = clock.wall_now() + Duration::days(3'650)},
                                             "")});
  const auto one = process();
  for (const std::uint8_t shard : {std::uint8_t{0}, std::uint8_t{1}}) {
    queue::Submit later = submit_to(shard);
    later.terms.retry = {.base_delay = Duration(), .max_delay = Duration(), .jitter_milli = 0};
    later.delay = Duration::minutes(1);
    got(give(*one, {later}));
    const Duration pace = Duration::minutes(shard + 1);  // of a minute there
    const auto waits = claim(*one, one_of("t"));
    timers.advance(pace - Duration::seconds(1));
    EXPECT_FALSE(*waits);
    timers.advance(Duration::seconds(2));
    ASSERT_EQ(got(waits).size(), 1u) << "shard " << int{shard};
    EXPECT_EQ(got(waits)[0].id.shard(), shard);
    const auto again = claim(*one, one_of("t"));  // when its lease of five minutes is over
    timers.advance(pace * 5 - Duration::seconds(5));
    EXPECT_FALSE(*again);
    timers.advance(Duration::seconds(10));
    ASSERT_EQ(got(again).size(), 1u) << "shard " << int{shard};
    const queue::Task held = got(again)[0];
    got(give(*one, {queue::Complete{.id = held.id, .fence = held.fence, .output = "{}"}}));
  }
}

TEST_F(QueueClaimsTest, EndEmptyWhenTheirTimeIsOver) {
  const auto one = process();
  const auto waits = claim(*one, one_of("t", Duration::seconds(3)));
  timers.advance(Duration::seconds(2));
  EXPECT_FALSE(*waits);
  timers.advance(Duration::seconds(2));
  EXPECT_TRUE(got(waits).empty());
  EXPECT_TRUE(got(claim(*one, one_of("t", Duration()))).empty());
}

TEST_F(QueueClaimsTest, SeeWhatOthersSubmittedEvenIfTheyDoNotWait) {
  log.follows = false;
  const auto one = process();
  const auto other = process();
  got(give(*other, {submit("t")}));
  clock.advance(Duration::seconds(3));
  EXPECT_EQ(got(claim(*one, one_of("t", Duration()))).size(), 1u);
}

TEST_F(QueueClaimsTest, AreBrokenOff) {
  const auto one = process();
  const auto waits = claim(*one, one_of("t"));
  one->queue->stop_claims();
  EXPECT_TRUE(got(waits).empty());
}

TEST_F(QueueClaimsTest, TakeFromAllShardsUpToTheirCount) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 40; ++i) commands.emplace_back(submit("t"));
  got(give(*one, commands));
  const Tasks tasks = got(claim(*one, {.claim = {.count = 30}}));
  EXPECT_EQ(tasks.size(), 30u);
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 30}})).size(), 10u);
}

TEST_F(QueueClaimsTest, LetTheShardsTakeTurns) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 40; ++i) commands.emplace_back(submit("t"));
  got(give(*one, commands));
  std::set<int> shards;
  for (int i = 0; i < 4; ++i) {
    const Tasks tasks = got(claim(*one, one_of("t")));
    ASSERT_EQ(tasks.size(), 1u);
    shards.insert(tasks[0].id.shard());
  }
  EXPECT_EQ(shards.size(), 4u);
}

TEST_F(QueueClaimsTest, DoNotAllAskForTheSameTask) {
  settings.shards = 1;
  const auto one = process();
  std::vector<Answer<Tasks>> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(claim(*one, one_of("t")));
  const auto before = one->queue->view();
  got(give(*one, {submit("t")}));
  EXPECT_EQ(std::ranges::count_if(waiting, [](const auto& each) { return each->has_value(); }), 1);
  EXPECT_EQ(one->queue->view().commands - before.commands, 2u) << "the submit, and one claim";
}

TEST_F(QueueClaimsTest, OfManyProcessesForTheSameTaskLeaveOneSegment) {
  settings.shards = 1;
  std::vector<std::unique_ptr<Process>> all;
  std::vector<Answer<Tasks>> waiting;
  for (int i = 0; i < 5; ++i) {
    all.push_back(process());
    waiting.push_back(claim(*all.back(), one_of("t")));
  }
  got(give(*all[0], {submit("t")}));
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(std::ranges::count_if(waiting, [](const auto& each) { return each->has_value(); }), 1);
  std::uint64_t commits = 0;
  for (const auto& each : all) commits += each->queue->view().commits;
  EXPECT_EQ(commits, 2u) << "the submit, and one claim";
  got(give(*all[1], {submit("t"), submit("t"), submit("t"), submit("t")}));
  timers.advance(Duration::seconds(10));
  for (const auto& each : waiting) EXPECT_EQ(got(each).size(), 1u);
}

TEST_F(QueueClaimsTest, OfOneTypeAreNotKeptWaitingByAnother) {
  settings.shards = 1;
  const auto one = process();
  const auto waits = claim(*one, one_of("rare"));
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string&) {
    return call == MemoryObjectStore::Call::put ? MemoryObjectStore::Fault::held
                                                : MemoryObjectStore::Fault::none;
  });
  std::vector<queue::Command> commands = {submit("rare")};
  for (int i = 0; i < 10; ++i) commands.emplace_back(submit("often"));
  const auto given = give(*one, commands);
  const auto often =
      claim(*one, {.claim = {.types = {"often"}, .count = 10}, .wait = Duration::hours(1)});
  one->store->set_faults({});
  while (one->store->held() > 0) one->store->release();
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(got(waits).size(), 1u);
  EXPECT_EQ(got(often).size(), 10u);
}

TEST_F(QueueClaimsTest, TellAnErrorOfTheStore) {
  settings.shards = 1;
  log.deadline = Duration::seconds(1);
  const auto one = process();
  got(give(*one, {submit("t")}));
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string&) {
    return call == MemoryObjectStore::Call::put ? MemoryObjectStore::Fault::failed
                                                : MemoryObjectStore::Fault::none;
  });
  const auto waits = claim(*one, one_of("t"));
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(error(waits).code, Code::unavailable);
}

TEST_F(QueueClaimsTest, RefuseALeaseOfNothing) {
  const auto one = process();
  const auto refused = claim(*one, {.claim = {.lease = Duration()}});
  EXPECT_EQ(error(refused).code, Code::invalid);
}

TEST_F(QueueClaimsTest, FireASchedulesTaskOnceThoughManyWait) {
  const auto one = process();
  const auto other = process();
  const auto third = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  std::vector<Answer<Tasks>> waiting;
  for (Process* each : {one.get(), other.get(), third.get()}) {
    for (int i = 0; i < 3; ++i) waiting.push_back(claim(*each, one_of("t")));
  }
  const auto answered = [&] {
    return std::ranges::count_if(waiting, [](const auto& each) { return each->has_value(); });
  };
  timers.advance(Duration::seconds(50));
  EXPECT_EQ(answered(), 0);
  timers.advance(Duration::seconds(40));
  EXPECT_EQ(answered(), 1);
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(answered(), 2);
}

TEST_F(QueueClaimsTest, FireOnceForAllThatWasMissed) {
  const auto one = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  clock.advance(Duration::hours(3));
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 10}})).size(), 1u);
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 10}})).size(), 0u);
}

TEST_F(QueueClaimsTest, NoteAScheduleWhoseZoneIsNotKnownHere) {
  const auto one = process();
  queue::SetSchedule elsewhere = every_minute("m");
  elsewhere.zone = "Mars/Olympus";
  reply<Changed>(give(*one, {elsewhere}));
  const auto waits = claim(*one, one_of("t"));
  timers.advance(Duration::minutes(10));
  EXPECT_FALSE(*waits);
  ASSERT_FALSE(one->notes.empty());
  EXPECT_LE(one->notes.size(), 11u) << "once a minute";
  EXPECT_THAT(one->notes[0], HasSubstr("schedule 'm' cannot be fired from here"));
}

TEST_F(QueueClaimsTest, FireWhileNobodyWaits) {
  fires = true;
  const auto one = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  timers.advance(Duration::minutes(5) + Duration::seconds(30));
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 10}})).size(), 5u) << "each firing, once";
}

TEST_F(QueueClaimsTest, FireOnceThoughManyFollowAndNobodyWaits) {
  fires = true;
  const auto one = process();
  const auto other = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  timers.advance(Duration::minutes(5) + Duration::seconds(30));
  EXPECT_EQ(got(claim(*other, {.claim = {.count = 10}})).size(), 5u);
}

TEST_F(QueueClaimsTest, FireNothingForWhoeverOnlyLooks) {
  const auto one = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  const auto commits = one->queue->view().commits;
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(one->queue->view().commits, commits);
}

TEST_F(QueueClaimsTest, FireWhatWasDueWhenTheQueueIsOpened) {
  const auto one = process();
  reply<Changed>(give(*one, {every_minute("m")}));
  timers.advance(Duration::minutes(3));
  fires = true;
  const auto other = process();
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(got(claim(*other, {.claim = {.count = 10}})).size(), 1u) << "what was missed, once";
}

TEST_F(QueueClaimsTest, AreToldThatTheQueueHasStopped) {
  settings.shards = 1;
  const auto one = process();
  got(give(*one, {submit("other")}));
  const auto waits = claim(*one, one_of("t"));
  damage(0, 1);
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(error(waits).code, Code::invalid);
  EXPECT_THAT(error(waits).message, HasSubstr("segment 2 of shard 0 is damaged"));
  EXPECT_EQ(error(claim(*one, one_of("t"))).code, Code::invalid) << "and so is who comes later";
  EXPECT_THAT(one->notes, testing::ElementsAre(HasSubstr("the queue has stopped")));
}

TEST_F(QueueClaimsTest, GoOnInTheOtherShardsWhenOneHasStopped) {
  const auto one = process();
  got(give(*one, {submit_to(1, "other")}));
  const auto waits = claim(*one, one_of("t"));
  damage(1, 1);
  timers.advance(Duration::minutes(1));
  EXPECT_FALSE(*waits);
  EXPECT_THAT(one->notes, testing::ElementsAre(HasSubstr("in one of its 4 shards")));
  got(give(*one, {submit_to(0)}));
  EXPECT_EQ(got(waits).size(), 1u);
}

TEST_F(QueueClaimsTest, AreNotKeptBackByAShardThatDoesNotAnswer) {
  settings.shards = 2;
  const auto one = process();
  const queue::Submit slow = submit_to(1);
  got(give(*one, {submit_to(0), slow}));
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string& name) {
    const bool held = call == MemoryObjectStore::Call::put && name.starts_with("log/01/");
    return held ? MemoryObjectStore::Fault::held : MemoryObjectStore::Fault::none;
  });
  const auto waits =
      claim(*one, {.claim = {.count = 5, .lease = Duration::minutes(5)}, .wait = {}});
  EXPECT_FALSE(*waits);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(got(waits).size(), 1u) << "what there is, before its lease has gone by";
  got(give(*one, {submit_to(0)}));
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(got(claim(*one, one_of("t", Duration::hours(1)))).size(), 1u);
  one->store->set_faults({});
  one->store->release();
  const auto task = got(ask<queue::Task>(
      [&](auto done) { one->queue->find(queue::placed(slow.id, 1), std::move(done)); }));
  EXPECT_EQ(task.status, queue::Status::pending) << "nobody waits for it, so it is given back";
  EXPECT_EQ(task.reschedule_count, 0u);
}

TEST_F(QueueClaimsTest, DoNotAllAskAShardThatDoesNotAnswer) {
  settings.shards = 2;
  const auto one = process();
  got(give(*one, {submit_to(1), submit_to(1), submit_to(1)}));
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string& name) {
    const bool held = call == MemoryObjectStore::Call::put && name.starts_with("log/01/");
    return held ? MemoryObjectStore::Fault::held : MemoryObjectStore::Fault::none;
  });
  const auto stuck = claim(*one, one_of("t"));
  timers.advance(Duration::seconds(3));
  const auto waits = claim(*one, one_of("t"));
  got(give(*one, {submit_to(0)}));
  EXPECT_FALSE(*stuck);
  EXPECT_EQ(got(waits).size(), 1u);
}

TEST_F(QueueClaimsTest, SaySinceWhenATaskIsTheirs) {
  settings.shards = 1;
  const auto one = process();
  queue::Submit later = submit("t");
  later.delay = Duration::seconds(40);
  got(give(*one, {later}));
  const auto waits = ask<ClaimedTasks>([&](auto done) {
    ClaimAsk asked = one_of("t");
    asked.claim.worker = "w";
    one->queue->claim(std::move(asked), std::move(done));
  });
  timers.advance(Duration::seconds(30));
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string&) {
    return call == MemoryObjectStore::Call::put ? MemoryObjectStore::Fault::held_answer
                                                : MemoryObjectStore::Fault::none;
  });
  timers.advance(Duration::seconds(11));
  EXPECT_FALSE(*waits);
  timers.advance(Duration::seconds(6));
  one->store->release();
  EXPECT_GE(got(waits).waited, Duration::seconds(40));
  EXPECT_LT(got(waits).waited, Duration::seconds(42)) << "the answer's own time is not waiting";
}

}  // namespace
}  // namespace pawl
