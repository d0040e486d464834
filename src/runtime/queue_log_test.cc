// Goal: a shard's log takes what it is given, once, whatever the store does; and says so truly.
// Method: logs on one store in memory whose answers are lost or held by order, and a clock that is
//         moved by hand.
#include "runtime/queue_log.h"

#include <gtest/gtest.h>

#include "base/bounds_queue.h"
#include "runtime/queue_log_fixture.h"

namespace pawl {
namespace {

class QueueLogTest : public QueueLogs {};

TEST_F(QueueLogTest, ACommitIsAnsweredWhenItIsDurable) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held_answer});
  const auto told = submit(*p, {task(1), task(2)});
  EXPECT_TRUE(told->waits());
  EXPECT_FALSE(has(*p, 1));
  p->store->release();
  ASSERT_TRUE(told->well());
  ASSERT_EQ((*told->result)->size(), 2U);
  EXPECT_TRUE(std::get<queue::Submitted>((**told->result)[0]).fresh);
  EXPECT_TRUE(has(*p, 1) && has(*p, 2));
  EXPECT_EQ(p->log->numbers().commits, 1U);
}

TEST_F(QueueLogTest, WhatComesMeanwhileSharesTheNextCommit) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held});
  const auto first = submit(*p, {task(1)});
  const auto second = submit(*p, {task(2)});
  const auto third = submit(*p, {task(3), task(1)});
  p->store->release();
  ASSERT_TRUE(first->well() && second->well() && third->well());
  EXPECT_EQ((*third->result)->size(), 2U);
  EXPECT_FALSE(std::get<queue::Submitted>((**third->result)[1]).fresh);
  EXPECT_EQ(p->log->numbers().commits, 2U);
  EXPECT_EQ(p->log->numbers().callers, 3U);
  EXPECT_EQ(p->log->numbers().commands, 4U);
}

TEST_F(QueueLogTest, UnderLoadACommitWaitsForOthersToShareIt) {
  options.gather = {
      .window = Duration::milliseconds(100), .gap = Duration::milliseconds(10), .enough = 4};
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held});
  const auto first = submit(*p, {task(1)});
  submit(*p, {task(2)});
  submit(*p, {task(3)});
  p->store->release();
  ASSERT_EQ(p->log->numbers().commits, 2U);
  const auto fourth = submit(*p, {task(4)});
  timers.advance(Duration::milliseconds(9));
  const auto fifth = submit(*p, {task(5)});
  timers.advance(Duration::milliseconds(9));
  EXPECT_TRUE(fourth->waits() && fifth->waits());
  timers.advance(Duration::milliseconds(1));
  EXPECT_TRUE(fourth->well() && fifth->well());
  EXPECT_EQ(p->log->numbers().commits, 3U);
  const auto sixth = submit(*p, {task(6)});
  EXPECT_TRUE(sixth->waits());
  EXPECT_TRUE(submit(*p, {task(7), task(8), task(9)})->well()) << "that is enough";
  EXPECT_TRUE(sixth->well());
  submit(*p, {task(10)});
  timers.advance(Duration::milliseconds(10));
  EXPECT_TRUE(submit(*p, {task(11)})->well()) << "the last one was alone";
}

TEST_F(QueueLogTest, EndingsOfTasksGoAlongWithTheNextCommit) {
  options.gather = {.window = Duration::milliseconds(100), .gap = Duration::milliseconds(10)};
  const auto p = opened_process();
  const auto ending = [&] { return submit(*p, {queue::Complete{.id = task_id(1)}}); };
  EXPECT_TRUE(ending()->well()) << "nobody else is to be expected";
  for (std::uint32_t i = 1; i <= 4; ++i) ASSERT_TRUE(submit(*p, {task(i)})->well());
  const auto rides = ending();
  EXPECT_TRUE(rides->waits());
  EXPECT_TRUE(submit(*p, {task(5)})->well());
  EXPECT_TRUE(rides->well());
  const auto late = ending();
  timers.advance(Duration::milliseconds(199));
  EXPECT_TRUE(late->waits());
  timers.advance(Duration::milliseconds(1));
  EXPECT_TRUE(late->well());
}

TEST_F(QueueLogTest, WhoGathersIsNotHeldUpByClosing) {
  options.gather = {.window = Duration::milliseconds(100), .gap = Duration::milliseconds(10)};
  const auto p = opened_process();
  for (std::uint32_t i = 1; i <= 4; ++i) ASSERT_TRUE(submit(*p, {task(i)})->well());
  const auto told = submit(*p, {queue::Complete{.id = task_id(1)}});
  bool closed = false;
  p->log->close([&] { closed = true; });
  EXPECT_TRUE(told->well() && closed);
}

TEST_F(QueueLogTest, ALostAnswerIsReadBack) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::lost_answer});
  EXPECT_TRUE(submit(*p, {task(1)})->well());
  EXPECT_EQ(tasks_in(*objects).size(), 1U);
  EXPECT_EQ(p->store->counts().puts, 1U);
}

// What was not there before a put says nothing about what is there behind it.
TEST_F(QueueLogTest, AnEarlierLookIsNotTakenForAnAnswer) {
  options.poll_min = Duration::seconds(4);
  const auto p = opened_process();
  faults(*p, Call::get, {Fault::held_answer});
  p->log->poll();
  ASSERT_EQ(p->store->held(), 1U);
  faults(*p, Call::put, {Fault::lost_answer});
  const auto told = submit(*p, {task(1)});
  p->store->release();
  EXPECT_TRUE(told->well());
  EXPECT_EQ(p->store->counts().puts, 1U);
}

TEST_F(QueueLogTest, ALostRequestIsSentAgain) {
  const auto p = opened_process();
  for (const Fault fault : {Fault::lost_request, Fault::failed, Fault::busy, Fault::late}) {
    faults(*p, Call::put, {fault});
    const auto told = submit(*p, {task(static_cast<std::uint32_t>(fault))});
    EXPECT_TRUE(told->waits());
    timers.advance(Duration::seconds(1));
    EXPECT_TRUE(told->well());
    if (fault == Fault::late) p->store->release();
  }
  EXPECT_EQ(tasks_in(*objects).size(), 4U);
  EXPECT_EQ(sequence(*p), 4U);
}

TEST_F(QueueLogTest, ALostPlaceIsFollowedByTheNext) {
  const auto one = opened_process();
  const auto two = opened_process();
  ASSERT_TRUE(submit(*one, {task(1)})->well());
  ASSERT_TRUE(submit(*one, {task(2)})->well());
  const auto told = submit(*two, {task(3)});
  timers.advance(Duration::milliseconds(100));
  EXPECT_TRUE(told->well());
  EXPECT_TRUE(has(*two, 1) && has(*two, 2) && has(*two, 3));
  EXPECT_GE(two->log->numbers().conflicts, 1U);
  timers.advance(Duration::seconds(5));
  EXPECT_TRUE(has(*one, 3));
  for (const std::uint32_t i : {1U, 2U, 3U}) EXPECT_EQ(found(*one, i), found(*two, i));
}

TEST_F(QueueLogTest, FollowsOthersAndIsQuietWhenNothingHappens) {
  const auto one = opened_process();
  const auto two = opened_process();
  ASSERT_TRUE(submit(*one, {task(1)})->well());
  EXPECT_FALSE(has(*two, 1));
  timers.advance(Duration::milliseconds(50));
  EXPECT_TRUE(has(*two, 1));
  const std::uint64_t before = two->store->counts().gets;
  timers.advance(Duration::hours(1));
  const std::uint64_t gets = two->store->counts().gets - before;
  EXPECT_LE(gets, 1000U);
  EXPECT_GE(gets, 800U);
  EXPECT_EQ(two->store->counts().lists, 2U);
  ASSERT_TRUE(submit(*one, {task(2)})->well());
  for (int i = 0; i < 400 && !has(*two, 2); ++i) timers.advance(Duration::milliseconds(10));
  EXPECT_TRUE(has(*two, 2));
  // After news more is looked for soon.
  ASSERT_TRUE(submit(*one, {task(3)})->well());
  timers.advance(Duration::milliseconds(50));
  EXPECT_TRUE(has(*two, 3));
  timers.advance(Duration::hours(1));
  ASSERT_TRUE(submit(*one, {task(4)})->well());
  two->log->poll();
  EXPECT_TRUE(has(*two, 4));
}

TEST_F(QueueLogTest, ManySegmentsAreReadSeveralAtOnce) {
  const auto one = opened_process();
  for (std::uint32_t i = 1; i <= 100; ++i) ASSERT_TRUE(submit(*one, {task(i)})->well());
  const auto two = process();
  std::size_t most = 0;
  two->store->set_faults(
      [](Call call, const std::string&) { return call == Call::get ? Fault::held : Fault::none; });
  open(*two);
  while (two->store->held() > 0) {
    most = std::max(most, two->store->held());
    two->store->release(two->store->held() - 1);  // the last one first
  }
  ASSERT_TRUE(two->opened && *two->opened);
  EXPECT_EQ(sequence(*two), 100U);
  EXPECT_GE(most, options.ahead);
}

TEST_F(QueueLogTest, AStoreThatIsAwayIsToldAndWaitedFor) {
  const auto p = opened_process();
  p->store->set_faults([](Call, const std::string&) { return Fault::failed; });
  const auto told = submit(*p, {task(1)});
  timers.advance(Duration::seconds(10));
  const auto later = submit(*p, {task(2)});
  timers.advance(Duration::seconds(21));
  ASSERT_FALSE(told->waits() || told->well());
  EXPECT_EQ(told->result->error().code, Code::unavailable);
  EXPECT_EQ(told->outcome(), Outcome::not_applied);
  EXPECT_TRUE(later->waits());
  p->store->set_faults({});
  timers.advance(Duration::seconds(6));
  EXPECT_TRUE(later->well());
  const auto reader = opened_process();
  EXPECT_TRUE(has(*reader, 2));
  EXPECT_FALSE(has(*reader, 1)) << "it was told that nothing was written";
}

TEST_F(QueueLogTest, WhoIsInABatchThatMayHaveLandedIsNotSentAgain) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held});
  submit(*p, {task(1)});
  const auto early = submit(*p, {task(2)});
  timers.advance(Duration::seconds(10));
  const auto late = submit(*p, {task(3)});
  p->store->set_faults([](Call call, const std::string&) {
    return call == Call::put ? Fault::late : Fault::failed;
  });
  p->store->release();  // now both are under way, together
  timers.advance(Duration::seconds(21));
  EXPECT_EQ(early->outcome(), Outcome::unknown);
  EXPECT_EQ(late->outcome(), Outcome::unknown);
  p->store->set_faults({});
  while (p->store->held() > 0) p->store->release();
  timers.advance(Duration::seconds(6));
  EXPECT_TRUE(submit(*p, {task(4)})->well());
  EXPECT_TRUE(has(*p, 2) && has(*p, 3));
  EXPECT_EQ(tasks_in(*objects).size(), 4U);
}

TEST_F(QueueLogTest, WhatMayHaveLandedIsToldToBeUnknown) {
  const auto p = opened_process();
  p->store->set_faults([](Call call, const std::string&) {
    return call == Call::put ? Fault::late : Fault::failed;
  });
  const auto told = submit(*p, {task(1)});
  timers.advance(Duration::seconds(31));
  ASSERT_FALSE(told->waits() || told->well());
  EXPECT_EQ(told->outcome(), Outcome::unknown);
  p->store->set_faults({});
  p->store->release();  // there it is
  const auto next = submit(*p, {task(2)});
  timers.advance(Duration::seconds(6));
  EXPECT_TRUE(next->well());
  EXPECT_TRUE(has(*p, 1));
  EXPECT_EQ(tasks_in(*objects).size(), 2U);
}

TEST_F(QueueLogTest, OpeningWaitsForTheStoreToo) {
  const auto p = process();
  p->store->set_faults([](Call, const std::string&) { return Fault::failed; });
  open(*p);
  const auto told = submit(*p, {task(1)});
  timers.advance(Duration::seconds(31));
  ASSERT_TRUE(p->opened);
  EXPECT_EQ(p->opened->error().code, Code::unavailable);
  EXPECT_EQ(told->outcome(), Outcome::not_applied);
  p->store->set_faults({});
  timers.advance(Duration::seconds(6));
  EXPECT_TRUE(submit(*p, {task(2)})->well());
}

TEST_F(QueueLogTest, ADamagedSegmentStopsTheShardByName) {
  const auto one = opened_process();
  ASSERT_TRUE(submit(*one, {task(1)})->well());
  ASSERT_TRUE(submit(*one, {task(2)})->well());
  const std::string name = queue::segment_name(0, 2);
  std::string body = objects->get({.name = name})->body;
  body[body.size() / 2] ^= 1;
  (void)objects->put({.name = name, .body = body});
  const auto two = process();
  open(*two);
  ASSERT_TRUE(two->opened && !*two->opened);
  EXPECT_EQ(two->opened->error().code, Code::invalid);
  EXPECT_NE(two->opened->error().message.find("segment 2 of shard 0"), std::string::npos)
      << two->opened->error().message;
  ASSERT_TRUE(two->stopped);
  EXPECT_EQ(sequence(*two), 1U);
  EXPECT_FALSE(submit(*two, {task(3)})->well());
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(objects_under("log/"), 2U);
}

TEST_F(QueueLogTest, TooMuchForOneCommitIsRefused) {
  const auto p = opened_process();
  std::vector<queue::Command> many(bounds::segment_commands_max + 1, queue::Replay{});
  const auto told = submit(*p, many);
  EXPECT_EQ(told->result->error().code, Code::invalid);
  const std::string large(bounds::task_input_bytes_max, '1');
  std::vector<queue::Command> wide(40, queue::Submit{.terms = {.type = "t", .input = large}});
  EXPECT_EQ(submit(*p, wide)->result->error().code, Code::invalid);
}

TEST_F(QueueLogTest, CallersThatDoNotFitTogetherGoOneAfterTheOther) {
  const auto p = opened_process();
  const std::string large(bounds::task_input_bytes_max, '1');
  faults(*p, Call::put, {Fault::held});
  std::vector<std::shared_ptr<Told>> told = {submit(*p, {task(1)})};
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::vector<queue::Command> wide;
    for (std::uint32_t k = 0; k < 15; ++k) {
      wide.push_back(
          queue::Submit{.id = task_id(100 + 15 * i + k), .terms = {.type = "t", .input = large}});
    }
    told.push_back(submit(*p, std::move(wide)));
  }
  p->store->release();
  timers.advance(Duration::seconds(1));
  for (const auto& t : told) EXPECT_TRUE(t->well());
  EXPECT_EQ(p->log->numbers().commits, 3U);
}

TEST_F(QueueLogTest, ClosingFinishesWhatIsUnderWay) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held});
  const auto first = submit(*p, {task(1)});
  const auto second = submit(*p, {task(2)});
  bool closed = false;
  p->log->close([&] { closed = true; });
  const auto late = submit(*p, {task(3)});
  EXPECT_EQ(late->outcome(), Outcome::not_applied);
  EXPECT_FALSE(closed);
  p->store->release();
  EXPECT_TRUE(first->well() && second->well());
  EXPECT_TRUE(closed);
}

TEST_F(QueueLogTest, DestroyingItAnswersEverybody) {
  const auto p = opened_process();
  faults(*p, Call::put, {Fault::held});
  const auto first = submit(*p, {task(1)});
  const auto second = submit(*p, {task(2)});
  p->log.reset();
  EXPECT_EQ(first->outcome(), Outcome::unknown);
  EXPECT_EQ(second->outcome(), Outcome::not_applied);
  p->store->release();
}

TEST_F(QueueLogTest, TheTimeOfASegmentIsTheStoresWhereOursIsWrong) {
  ManualClock wrong(clock.wall_now() + Duration::hours(3));
  MemoryObjectStore store(wrong, objects);
  QueueLog log(options, {wrong, timers, store, nonces}, {});
  log.open([](const Result<void>&) {});
  log.submit({task(1)}, [](const Result<QueueLog::Replies>&) {});
  const auto segment =
      queue::parse_segment(objects->get({.name = queue::segment_name(0, 1)})->body);
  ASSERT_TRUE(segment);
  EXPECT_LE(segment->at - clock.wall_now(), Duration::seconds(2));
}

}  // namespace
}  // namespace pawl
