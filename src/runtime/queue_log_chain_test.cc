// Goal: what is missing from a log, or stands in another's place, is found and named; what only
//       came through badly is not taken for damage; and whoever was paused writes nothing where the
//       log has gone on.
// Method: logs on one store in memory, from which segments are taken away, above and below a
//         snapshot, while processes follow it or begin anew.
#include <gtest/gtest.h>

#include "runtime/queue_log_fixture.h"

namespace pawl {
namespace {

class QueueLogChain : public QueueLogs {
 protected:
  void commit(Process& process, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto told = submit(process, {task(++last)});
      timers.advance(Duration::milliseconds(1));
      ASSERT_TRUE(told->well());
    }
  }
  static std::string name(std::uint64_t sequence) { return queue::segment_name(0, sequence); }
  void damage(const std::string& object) {
    std::string body = objects->get({.name = object})->body;
    body[body.size() / 2] ^= 1;
    (void)objects->put({.name = object, .body = body});
  }

  std::uint32_t last = 0;
};

TEST_F(QueueLogChain, EverySegmentThatIsGoneIsNamed) {
  options.snapshots = {.segments_min = 10, .segments_max = 10};
  constexpr std::uint64_t length = 14;
  for (std::uint64_t gone = 1; gone < length; ++gone) {
    objects = std::make_shared<MemoryObjects>(clock);
    commit(*opened_process(), length);
    ASSERT_EQ(objects_under("snapshot/"), 1U);
    objects->remove({name(gone)});
    const auto two = process();
    open(*two);
    timers.advance(Duration::minutes(1));
    ASSERT_TRUE(two->opened);
    if (gone <= 10) {
      EXPECT_TRUE(*two->opened && sequence(*two) == length) << gone << " is in the snapshot";
      continue;
    }
    ASSERT_TRUE(!*two->opened && two->stopped) << "without " << gone;
    EXPECT_NE(two->stopped->message.find(name(gone) + " is missing"), std::string::npos)
        << two->stopped->message;
    EXPECT_EQ(submit(*two, {task(1000)})->outcome(), Outcome::not_applied);
    EXPECT_FALSE(objects->get({.name = name(gone)})) << "its number was given away";
  }
}

TEST_F(QueueLogChain, WhoReopensFindsTheHoleToo) {
  options.follows = false;
  const auto sleeper = opened_process();
  commit(*sleeper, 2);
  const auto one = opened_process();
  commit(*one, 3);
  objects->remove({name(3)});
  timers.advance(Duration::minutes(31));
  const auto told = submit(*sleeper, {task(1000)});
  timers.advance(Duration::seconds(1));
  ASSERT_TRUE(sleeper->stopped);
  EXPECT_NE(sleeper->stopped->message.find(name(3)), std::string::npos);
  EXPECT_FALSE(told->waits() || told->well());
}

// Nothing is beyond the last one: that it is gone is seen by what follows on it.
TEST_F(QueueLogChain, ANumberThatWasGivenAwayTwiceStopsWhoeverReadsOn) {
  options.follows = false;
  const auto one = opened_process();
  commit(*one, 3);
  objects->remove({name(3)});
  const auto two = opened_process();
  commit(*two, 1);
  ASSERT_EQ(sequence(*two), 3U);
  commit(*one, 1);
  ASSERT_EQ(sequence(*one), 4U) << "it knows nothing yet";
  const auto told = submit(*two, {task(1000)});
  timers.advance(Duration::seconds(1));
  ASSERT_TRUE(two->stopped);
  EXPECT_NE(two->stopped->message.find(name(4)), std::string::npos) << two->stopped->message;
  EXPECT_NE(two->stopped->message.find(name(3)), std::string::npos) << two->stopped->message;
  EXPECT_FALSE(told->waits() || told->well());
  const auto three = process();
  open(*three);
  EXPECT_TRUE(three->stopped) << "so does it whoever opens it";
}

TEST_F(QueueLogChain, ASnapshotIsFollowedByWhatFollowsOnIt) {
  options.snapshots = {.segments_min = 5, .segments_max = 5};
  const auto one = opened_process();
  commit(*one, 7);
  auto segment = queue::parse_segment(objects->get({.name = name(6)})->body).value();
  EXPECT_EQ(segment.before, queue::parse_segment(objects->get({.name = name(5)})->body)->nonce);
  segment.before.low += 1;
  (void)objects->put(
      {.name = name(6),
       .body = queue::write_segment(segment, queue::write_commands(segment.commands))});
  const auto two = process();
  open(*two);
  ASSERT_TRUE(two->stopped);
  EXPECT_NE(two->stopped->message.find(name(5)), std::string::npos) << two->stopped->message;
}

TEST_F(QueueLogChain, WhatCameThroughBadlyIsReadAgain) {
  const auto one = opened_process();
  commit(*one, 3);
  const std::string whole = objects->get({.name = name(2)})->body;
  const auto two = process();
  two->store->set_faults([&, reads = 0](Call call, const std::string& object) mutable {
    if (call != Call::get || object != name(2)) return Fault::none;
    if (reads++ == 0) {
      damage(object);
    } else {
      (void)objects->put({.name = object, .body = whole});
    }
    return Fault::none;
  });
  open(*two);
  EXPECT_FALSE(two->stopped);
  EXPECT_EQ(sequence(*two), 3U);
}

TEST_F(QueueLogChain, WhatIsDamagedTwiceIsDamaged) {
  const auto one = opened_process();
  commit(*one, 3);
  damage(name(2));
  const auto two = process();
  open(*two);
  ASSERT_TRUE(two->stopped);
  EXPECT_NE(two->stopped->message.find("segment 2 of shard 0 is damaged"), std::string::npos)
      << two->stopped->message;
}

// A machine that is paused as a whole: none of its clocks knows.
TEST_F(QueueLogChain, WhoWasPausedWritesNothingWhereTheLogHasGoneOn) {
  options.follows = false;
  ManualClock paused;
  ManualTimers its_timers{paused};
  MemoryObjectStore store(paused, objects);
  QueueLog log(options, {paused, its_timers, store, nonces}, {});
  std::optional<Result<void>> opened;
  log.open([&](Result<void> result) { opened = std::move(result); });
  ASSERT_TRUE(opened && *opened);
  options.snapshots = {.segments_min = 10, .segments_max = 20};
  const auto one = opened_process();
  commit(*one, 45);
  timers.advance(Duration::hours(2));
  commit(*one, 25);
  ASSERT_FALSE(objects->get({.name = name(1)})) << "it was not collected";
  Told told;
  log.submit({task(1000)}, [&](auto result) { told.result.emplace(std::move(result)); });
  its_timers.advance(Duration::seconds(1));
  ASSERT_FALSE(told.waits());
  EXPECT_FALSE(told.well()) << "nobody will ever read it";
  EXPECT_EQ(told.outcome(), Outcome::unknown);
  Told again;
  log.submit({task(1001)}, [&](auto result) { again.result.emplace(std::move(result)); });
  its_timers.advance(Duration::seconds(1));
  EXPECT_TRUE(again.well());
  one->log->poll();
  EXPECT_TRUE(has(*one, 1001));
  EXPECT_EQ(sequence(*one), 71U);
}

// The time of segments.
class QueueLogTime : public QueueLogChain {
 protected:
  Instant log_time(const Process& process) {
    Instant time;
    process.log->look([&](const queue::Machine& m) { time = m.now(); });
    return time;
  }
};

TEST_F(QueueLogTime, AClockThatLeapsForAMomentMovesNothing) {
  const auto one = opened_process();
  commit(*one, 1);
  const Instant before = clock.wall_now();
  clock.set_wall(before + Duration::minutes(14));
  commit(*one, 1);
  EXPECT_LE(log_time(*one), before + Duration::seconds(5));
  EXPECT_LE(one->log->time(), before + Duration::seconds(5));
  clock.set_wall(before + Duration::seconds(1));
  commit(*one, 1);
  EXPECT_LE(log_time(*one), before + Duration::seconds(5));
}

TEST_F(QueueLogTime, ALeapThatStaysIsFollowedAndToldToWhoeverWaits) {
  const auto one = opened_process();
  commit(*one, 1);
  clock.set_wall(clock.wall_now() + Duration::hours(2));
  commit(*one, 1);
  timers.advance(Duration::minutes(2));
  EXPECT_EQ(one->log->time(), clock.wall_now());
  commit(*one, 1);
  EXPECT_GT(log_time(*one), clock.wall_now() - Duration::seconds(1));
}

TEST_F(QueueLogTime, ALogThatIsAheadIsSaidToBe) {
  {
    const auto wrong = opened_process();
    clock.set_wall(clock.wall_now() + Duration::minutes(14));
    commit(*wrong, 1);
    timers.advance(Duration::minutes(2));
    commit(*wrong, 1);
  }
  clock.set_wall(clock.wall_now() - Duration::minutes(14));
  std::vector<std::string> notes;
  MemoryObjectStore store(clock, objects);
  QueueLog log(options, {clock, timers, store, nonces},
               {.note = [&](const std::string& text) { notes.push_back(text); }});
  log.open([](const Result<void>&) {});
  timers.advance(Duration::minutes(1));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("is ahead of the clock by 14m"), std::string::npos) << notes[0];
  const Instant before = log.time();
  timers.advance(Duration::minutes(2));
  EXPECT_EQ(log.time(), before + Duration::minutes(1)) << "it goes on";
}

}  // namespace
}  // namespace pawl
