// Goal: snapshots open a log fast, what nobody needs goes, and nobody who slept or reads meanwhile
//       is led astray by what has gone.
// Method: logs on one store in memory that write a snapshot every few segments, and a clock that is
//         moved by hand.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/wire.h"
#include "runtime/queue_log_fixture.h"

namespace pawl {
namespace {

class QueueLogKeepTest : public QueueLogs {
 protected:
  QueueLogKeepTest() { options.snapshots = {.segments_min = 10, .segments_max = 20}; }

  void commit(Process& process, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto told = submit(process, {task(++last)});
      timers.advance(Duration::milliseconds(1));
      ASSERT_TRUE(told->well());
    }
  }
  std::vector<std::string> names_under(const std::string& under) const {
    std::vector<std::string> names;
    for (auto& entry : objects->list({.under = under}).entries) names.push_back(entry.name);
    return names;
  }
  void damage(const std::string& name) {
    std::string body = objects->get({.name = name})->body;
    body[body.size() / 2] ^= 1;
    (void)objects->put({.name = name, .body = body});
  }

  std::uint32_t last = 0;
};

TEST_F(QueueLogKeepTest, ASnapshotOpensTheLog) {
  const auto one = opened_process();
  commit(*one, 25);
  EXPECT_GE(one->log->numbers().snapshots, 1U);
  const auto two = opened_process();
  EXPECT_EQ(sequence(*two), 25U);
  for (std::uint32_t i = 1; i <= 25; ++i) EXPECT_TRUE(has(*two, i));
  EXPECT_LE(two->store->counts().gets, 20U);
}

TEST_F(QueueLogKeepTest, WhoClosesWaitsForTheSnapshotThatItBegan) {
  const auto one = opened_process();
  commit(*one, 9);
  faults(*one, Call::list, {Fault::held_answer});
  bool closed = false;
  const auto told = submit(*one, {task(100)});
  EXPECT_TRUE(told->well()) << "nobody else waits for it";
  one->log->close([&] { closed = true; });
  EXPECT_FALSE(closed);
  one->store->release();
  EXPECT_TRUE(closed);
  EXPECT_EQ(objects_under("snapshot/"), 1U);
}

TEST_F(QueueLogKeepTest, WhoClosesDoesNotWaitForASnapshotForEver) {
  const auto one = opened_process();
  commit(*one, 9);
  faults(*one, Call::list, {Fault::held_answer});
  bool closed = false;
  commit(*one, 1);
  one->log->close([&] { closed = true; });
  timers.advance(options.deadline - Duration::milliseconds(1));
  EXPECT_FALSE(closed);
  timers.advance(Duration::milliseconds(1));
  EXPECT_TRUE(closed);
}

TEST_F(QueueLogKeepTest, ThoseWhoComeAndGoKeepTheLogShort) {
  options.snapshots = {.opened_min = 5};
  for (std::uint32_t i = 0; i < 40; ++i) {
    const auto one = opened_process();
    commit(*one, 1);
    one->log->close([] {});
    EXPECT_LE(one->store->counts().gets, 16U) << "those that are read ahead included";
  }
  EXPECT_GE(objects_under("snapshot/"), 1U);
}

TEST_F(QueueLogKeepTest, ASlowStoreThatAnswersIsWaitedFor) {
  options.snapshots = {.segments_min = 1'000};
  options.ahead = 0;
  const auto one = opened_process();
  commit(*one, 20);
  const auto two = process();
  two->store->set_faults([](Call call, const std::string&) {
    return call == Call::get ? Fault::held_answer : Fault::none;
  });
  open(*two);
  for (int i = 0; i < 20; ++i) {
    timers.advance(options.deadline - Duration::seconds(1));
    ASSERT_FALSE(two->opened) << i;
    two->store->release();
  }
  timers.advance(Duration::seconds(1));
  two->store->release();
  EXPECT_TRUE(two->opened && *two->opened);
  EXPECT_EQ(sequence(*two), 20U);
}

TEST_F(QueueLogKeepTest, OfSeveralOneWritesTheSnapshot) {
  const auto one = opened_process();
  const auto two = opened_process();
  for (int i = 0; i < 30; ++i) {
    commit(*one, 1);
    timers.advance(Duration::milliseconds(50));
    commit(*two, 1);
    timers.advance(Duration::milliseconds(50));
  }
  EXPECT_LE(objects_under("snapshot/"), 4U);
  EXPECT_LE(one->log->numbers().snapshots + two->log->numbers().snapshots, 6U);
}

TEST_F(QueueLogKeepTest, SegmentsGoWhenAnOldSnapshotCoversThem) {
  const auto one = opened_process();
  commit(*one, 45);
  EXPECT_EQ(objects_under("log/"), 45U);
  timers.advance(Duration::hours(1) + Duration::minutes(1));
  commit(*one, 20);
  EXPECT_LT(objects_under("log/"), 45U);
  EXPECT_GT(one->log->numbers().collected, 20U);
  const auto two = opened_process();
  EXPECT_EQ(sequence(*two), 65U);
  EXPECT_TRUE(has(*two, 1) && has(*two, 65));
}

TEST_F(QueueLogKeepTest, WhoSleptFindsTheLogAgain) {
  options.follows = false;
  const auto sleeper = opened_process();
  commit(*sleeper, 1);
  const auto one = opened_process();
  commit(*one, 45);
  timers.advance(Duration::hours(2));
  commit(*one, 25);
  ASSERT_FALSE(objects->get({.name = queue::segment_name(0, 2)})) << "it was not collected";
  const auto told = submit(*sleeper, {task(1000)});
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(told->well());
  EXPECT_EQ(sequence(*sleeper), 72U);
  EXPECT_FALSE(objects->get({.name = queue::segment_name(0, 2)})) << "the log has forked";
}

TEST_F(QueueLogKeepTest, WhoSleptOnAnAnswerDoesNotKnow) {
  options.follows = false;
  options.deadline = Duration::hours(10);
  const auto sleeper = opened_process();
  faults(*sleeper, Call::put, {Fault::held_answer});
  const auto told = submit(*sleeper, {task(1000)});
  const auto one = opened_process();
  commit(*one, 45);
  timers.advance(Duration::hours(2));
  sleeper->store->release();
  timers.advance(Duration::seconds(1));
  ASSERT_FALSE(told->waits() || told->well());
  EXPECT_EQ(told->outcome(), Outcome::unknown);
  EXPECT_TRUE(submit(*sleeper, {task(1001)})->well());
  EXPECT_TRUE(has(*sleeper, 1000));
}

TEST_F(QueueLogKeepTest, WhoSleptAloneGoesOnWhereItWas) {
  options.follows = false;
  options.deadline = Duration::hours(10);
  const auto sleeper = opened_process();
  faults(*sleeper, Call::put, {Fault::held_answer});
  const auto told = submit(*sleeper, {task(1000)});
  timers.advance(Duration::hours(2));
  sleeper->store->release();
  EXPECT_TRUE(told->well());
  EXPECT_EQ(tasks_in(*objects).size(), 1U);
}

TEST_F(QueueLogKeepTest, ADamagedSnapshotLeavesTheOneBefore) {
  const auto one = opened_process();
  commit(*one, 45);
  timers.advance(Duration::hours(2));
  commit(*one, 25);
  const auto snapshots = names_under("snapshot/");
  ASSERT_GE(snapshots.size(), 2U);
  damage(snapshots.back());
  const auto two = opened_process();
  EXPECT_EQ(sequence(*two), 70U);
  EXPECT_TRUE(has(*two, 1) && has(*two, 70));
  ASSERT_EQ(two->notes.size(), 1U) << "nobody hears of it";
  EXPECT_NE(two->notes[0].find(snapshots.back()), std::string::npos) << two->notes[0];
  EXPECT_NE(two->notes[0].find("is damaged"), std::string::npos) << two->notes[0];
}

TEST_F(QueueLogKeepTest, AHoleInTheLogIsNamed) {
  const auto one = opened_process();
  commit(*one, 45);
  const auto snapshots = names_under("snapshot/");
  damage(snapshots.back());
  const auto hole = *queue::sequence_of(snapshots[snapshots.size() - 2]) + 1;
  objects->remove({queue::segment_name(0, hole)});
  const auto two = process();
  open(*two);
  ASSERT_TRUE(two->opened && !*two->opened);
  EXPECT_NE(two->opened->error().message.find(queue::segment_name(0, hole)), std::string::npos)
      << two->opened->error().message;
}

// Whether its frame or its state is of a newer format.
TEST_F(QueueLogKeepTest, ANewersSnapshotIsRefused) {
  const auto one = opened_process();
  commit(*one, 45);
  const std::string name = names_under("snapshot/").back();
  const std::string whole = objects->get({.name = name})->body;
  // Behind the letters; behind the head, the shard, the sequence (a byte of it) and the nonce.
  for (const std::size_t format_at : {std::size_t{8}, std::size_t{20 + 1 + 1 + 16}}) {
    std::string body = whole;
    ASSERT_EQ(body[format_at], 1);
    body[format_at] = 2;
    ByteWriter sum;
    sum.fixed32(crc32c(std::string_view(body).substr(0, body.size() - 4)));
    body.replace(body.size() - 4, 4, sum.text());
    (void)objects->put({.name = name, .body = body});
    const auto two = process();
    open(*two);
    ASSERT_TRUE(two->opened && !*two->opened) << format_at;
    EXPECT_NE(two->opened->error().message.find("newer pawl"), std::string::npos)
        << two->opened->error().message;
    EXPECT_TRUE(two->stopped);
    EXPECT_EQ(submit(*two, {task(1000)})->outcome(), Outcome::not_applied);
  }
  EXPECT_EQ(objects_under("log/"), 45U) << "somebody wrote behind it";
}

TEST_F(QueueLogKeepTest, ASnapshotThatFailsIsTriedLater) {
  const auto one = opened_process();
  one->store->set_faults([](Call call, const std::string& name) {
    return call == Call::put && name.starts_with("snapshot/") ? Fault::failed : Fault::none;
  });
  commit(*one, 30);
  EXPECT_EQ(one->log->numbers().snapshots, 0U);
  EXPECT_LE(one->store->counts().puts, 32U);
  timers.advance(Duration::minutes(2));
  commit(*one, 1);
  ASSERT_EQ(one->notes.size(), 1U) << "said once, until one is written";
  EXPECT_NE(one->notes[0].find("no snapshot could be written"), std::string::npos) << one->notes[0];
  one->store->set_faults({});
  timers.advance(Duration::minutes(2));
  commit(*one, 1);
  EXPECT_EQ(one->log->numbers().snapshots, 1U);
}

// As on a disk that is full of what nobody needs any more.
TEST_F(QueueLogKeepTest, WhatIsNotNeededGoesThoughNoSnapshotCanBeWritten) {
  const auto one = opened_process();
  commit(*one, 25);
  timers.advance(options.grace + Duration::minutes(1));
  commit(*one, 1);
  const std::size_t before = objects_under("log/");
  one->store->set_faults([](Call call, const std::string& name) {
    return call == Call::put && name.starts_with("snapshot/") ? Fault::failed : Fault::none;
  });
  commit(*one, 25);
  EXPECT_EQ(one->notes.size(), 1U);
  EXPECT_LT(objects_under("log/"), before + 25);
}

TEST_F(QueueLogKeepTest, WhatIsNotNeededGoesThoughNoSegmentCanBeWritten) {
  const auto one = opened_process();
  commit(*one, 25);
  timers.advance(options.grace + Duration::minutes(1));
  const std::size_t before = objects_under("log/");
  one->store->set_faults([](Call call, const std::string&) {
    return call == Call::put ? Fault::failed : Fault::none;
  });
  const auto told = submit(*one, {task(100)});
  timers.advance(Duration::seconds(20));
  EXPECT_TRUE(told->waits());
  EXPECT_LT(objects_under("log/"), before);
  EXPECT_LE(one->store->counts().lists, 6U) << "not at every try";
  one->store->set_faults({});
  timers.advance(Duration::seconds(20));
  EXPECT_TRUE(told->well());
}

TEST_F(QueueLogKeepTest, AStoreThatIsAwayIsToldOfOnceAndThatItIsBack) {
  options.follows = true;
  const auto one = opened_process();
  one->store->set_faults([](Call, const std::string&) { return Fault::failed; });
  timers.advance(Duration::seconds(8));
  EXPECT_TRUE(one->notes.empty()) << "it may pass";
  timers.advance(Duration::minutes(2));
  ASSERT_EQ(one->notes.size(), 1U);
  EXPECT_NE(one->notes[0].find("has given no good answer for 1"), std::string::npos)
      << one->notes[0];
  one->store->set_faults({});
  timers.advance(Duration::seconds(10));
  ASSERT_EQ(one->notes.size(), 2U);
  EXPECT_NE(one->notes[1].find("answers again"), std::string::npos) << one->notes[1];
}

TEST_F(QueueLogKeepTest, ARemovalThatFailsIsTriedLater) {
  const auto one = opened_process();
  faults(*one, Call::remove, {Fault::failed, Fault::failed});
  for (int i = 0; i < 8; ++i) {
    commit(*one, 25);
    timers.advance(options.grace + Duration::minutes(1));
  }
  commit(*one, 25);
  EXPECT_GE(one->log->numbers().troubles, 2U);
  EXPECT_LT(objects_under("log/"), 100U) << "the oldest were never collected";
  EXPECT_LE(objects_under("snapshot/"), 4U);
}

TEST_F(QueueLogKeepTest, AListThatFailsIsTriedLater) {
  const auto one = opened_process();
  one->store->set_faults([](Call call, const std::string&) {
    return call == Call::list ? Fault::failed : Fault::none;
  });
  commit(*one, 30);
  EXPECT_EQ(one->store->counts().lists, 3U);  // two of them to open it
}

// Whatever it has just asked for when all that it knew of was covered anew and collected.
TEST_F(QueueLogKeepTest, AReaderSurvivesACollectionAtAnyPoint) {
  const auto writer = opened_process();
  commit(*writer, 25);
  int point = 0;
  for (bool was_held = true; was_held; ++point) {
    const auto reader = process();
    reader->store->set_faults([point, calls = 0](Call, const std::string&) mutable {
      return calls++ == point ? Fault::held : Fault::none;
    });
    open(*reader);
    timers.advance(Duration::milliseconds(10));
    was_held = reader->store->held() > 0;
    const std::string oldest = names_under("log/").front();
    for (int i = 0; i < 4; ++i) {
      commit(*writer, 25);
      timers.advance(options.grace + Duration::minutes(1));
    }
    commit(*writer, 25);
    ASSERT_NE(names_under("log/").front(), oldest) << "nothing was collected";
    if (reader->store->held() > 0) reader->store->release();  // a look for news, perhaps
    timers.advance(Duration::minutes(1));
    EXPECT_FALSE(reader->stopped) << "at call " << point << ": " << reader->stopped->message;
    EXPECT_EQ(sequence(*reader), last) << "at call " << point;
    EXPECT_TRUE(has(*reader, 1) && has(*reader, last)) << "at call " << point;
  }
  EXPECT_GT(point, 6) << "a list, a snapshot, and what is behind it";
}

TEST_F(QueueLogKeepTest, ASnapshotThatGoesWhileItIsReadIsLookedForAgain) {
  const auto one = opened_process();
  commit(*one, 45);
  const auto two = process();
  faults(*two, Call::get, {Fault::held});
  open(*two);
  objects->remove({names_under("snapshot/").back()});
  two->store->release();
  ASSERT_TRUE(two->opened && *two->opened) << "at once";
  EXPECT_EQ(sequence(*two), 45U);
}

TEST_F(QueueLogKeepTest, ALargeSnapshotIsReadInParts) {
  const auto one = opened_process();
  commit(*one, 20);
  const std::uint64_t bytes = objects->list({.under = "snapshot/"}).entries.back().bytes;
  for (const std::uint64_t part : {bytes - 1, bytes / 2, bytes / 7 + 1, bytes}) {
    options.part_bytes = part;
    const auto two = opened_process();
    EXPECT_EQ(sequence(*two), 20U);
    EXPECT_TRUE(has(*two, 1) && has(*two, 20));
    const std::uint64_t segments = 20 - *queue::sequence_of(names_under("snapshot/").back());
    EXPECT_EQ(two->store->counts().gets, (bytes + part - 1) / part + segments + 1);
  }
}

TEST_F(QueueLogKeepTest, AFullShardRefusesSubmitsAndTakesThemWhenThereIsRoom) {
  options.settings.kept = Duration::hours(1);
  options.state_bytes_max = 8'000;
  const auto one = opened_process();
  const std::string input = "\"" + std::string(1'000, 'x') + "\"";
  std::vector<std::uint32_t> taken;
  std::shared_ptr<Told> told;
  for (std::uint32_t i = 1; i < 50; ++i) {
    told = submit(*one, {queue::Submit{.id = task_id(i), .terms = {.type = "t", .input = input}}});
    if (!told->well()) break;
    taken.push_back(i);
  }
  ASSERT_FALSE(told->well());
  EXPECT_EQ(told->result->error().code, Code::refused);
  EXPECT_EQ(told->outcome(), Outcome::not_applied);
  EXPECT_NE(told->result->error().message.find("is full"), std::string::npos);
  for (const std::uint32_t i : taken) {
    EXPECT_TRUE(submit(*one, {queue::Cancel{.id = task_id(i)}})->well()) << "what ends may end";
  }
  EXPECT_FALSE(submit(*one, {task(1000)})->well());
  timers.advance(Duration::hours(2));
  EXPECT_FALSE(submit(*one, {task(1000)})->well()) << "nobody has looked yet";
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(submit(*one, {task(1000)})->well());
}

// A store whose pages are small, end in nothing, and show what is no object of ours.
class OddPages final : public ObjectStore {
 public:
  explicit OddPages(MemoryObjectStore& store) : store_(store) {}
  void put(PutObject put, Done<PutAnswer> done) override {
    store_.put(std::move(put), std::move(done));
  }
  void get(GetObject get, Done<Object> done) override {
    store_.get(std::move(get), std::move(done));
  }
  void list(ListObjects list, Done<Listing> done) override {
    const std::string under = list.under;
    list.limit = 7;
    store_.list(std::move(list), [under, done = std::move(done)](Result<Listing> page) mutable {
      if (page && !page->entries.empty() && under.starts_with("log/")) {
        page->entries.insert(page->entries.begin(), {.name = under});
      }
      if (page && !page->more) page->more = true;
      done(std::move(page));
    });
  }
  void remove(std::vector<std::string> names, Done<void> done) override {
    store_.remove(std::move(names), std::move(done));
  }
  std::optional<TimeSample> time_sample() const override { return store_.time_sample(); }
  RequestCounts counts() const override { return store_.counts(); }
  std::string name() const override { return "odd"; }

 private:
  MemoryObjectStore& store_;
};

TEST_F(QueueLogKeepTest, OddPagesOfAStoreDoNotStopTheCollecting) {
  MemoryObjectStore memory(clock, objects);
  OddPages store(memory);
  QueueLog log(options, {clock, timers, store, nonces}, {});
  log.open([](const Result<void>&) {});
  for (int i = 0; i < 6; ++i) {
    for (int n = 0; n < 25; ++n) log.submit({task(++last)}, [](const auto&) {});
    timers.advance(options.grace + Duration::minutes(1));
  }
  log.submit({task(++last)}, [](const auto&) {});
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(log.numbers().commits, 151U);
  EXPECT_LT(objects_under("log/"), 100U);
}

}  // namespace
}  // namespace pawl
