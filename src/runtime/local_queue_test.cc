// Goal: many shards are one queue to whoever uses it: each command reaches its shard or all of
//       them, replies come in order, and what is looked at is the whole and fresh.
// Method: queues of several processes on one store in memory, clock and timers by hand.
#include "runtime/local_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/bounds_queue.h"
#include "runtime/local_queue_fixture.h"

namespace pawl {
namespace {

using queue::Changed;
using queue::Refusal;
using queue::Status;
using queue::Submitted;
using ::testing::HasSubstr;

TEST_F(LocalQueues, GivesRepliesInTheOrderOfTheCommands) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 20; ++i) commands.emplace_back(submit("type" + std::to_string(i)));
  const auto replies = give(*one, commands);
  std::set<int> shards;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto id = reply<Submitted>(replies, i).id;
    shards.insert(id.shard());
    const auto task =
        got(ask<queue::Task>([&](auto done) { one->queue->find(id, std::move(done)); }));
    EXPECT_EQ(task.terms.type, "type" + std::to_string(i));
  }
  EXPECT_EQ(shards.size(), 4u);
}

TEST_F(LocalQueues, HaveTheTasksOfAKeyInOneShard) {
  const auto one = process();
  std::set<int> shards;
  for (int i = 0; i < 10; ++i) {
    shards.insert(reply<Submitted>(give(*one, {submit("t", "acme")})).id.shard());
  }
  EXPECT_EQ(shards.size(), 1u);
}

TEST_F(LocalQueues, GiveTheSameTaskForTheSameSubmit) {
  const auto one = process();
  const queue::Submit same = submit();
  const auto first = reply<Submitted>(give(*one, {same}));
  const auto again = reply<Submitted>(give(*one, {same}));
  EXPECT_EQ(first.id, again.id);
  EXPECT_TRUE(first.fresh);
  EXPECT_FALSE(again.fresh);
}

TEST_F(LocalQueues, RefuseWhatIsNotAllowedAndTakeTheRest) {
  const auto one = process();
  queue::Submit nameless = submit();
  nameless.terms.type.clear();
  queue::Submit without_id = submit();
  without_id.id = {};
  const auto replies = give(*one, {nameless, submit(), queue::Claim{.worker = "w"}, without_id});
  EXPECT_EQ(reply<Refusal>(replies, 0).code, Code::invalid);
  EXPECT_TRUE(reply<Submitted>(replies, 1).fresh);
  EXPECT_THAT(reply<Refusal>(replies, 2).message, HasSubstr("asked for"));
  EXPECT_THAT(reply<Refusal>(replies, 3).message, HasSubstr("needs a new one"));
}

TEST_F(LocalQueues, AskNothingOfTheStoreForNumbersOfWhatIsFollowed) {
  const auto one = process();
  const auto other = process();
  give(*other, {submit()});
  timers.advance(Duration::minutes(1));
  const auto alone = one->store->counts().gets;
  timers.advance(Duration::hours(1));
  const auto polls = one->store->counts().gets - alone;
  const auto before = one->store->counts().gets;
  for (int i = 0; i < 1800; ++i) {
    timers.advance(Duration::seconds(2));
    const auto stats =
        ask<queue::Stats>([&](auto done) { one->queue->followed_stats(std::move(done)); });
    ASSERT_EQ(got(stats).totals.submitted, 1U);
  }
  EXPECT_EQ(one->store->counts().gets - before, polls) << "as many as without a look";
}

TEST_F(LocalQueues, SayThatTheStoreIsAwayWhenTheirNumbersAreOld) {
  log.follows = false;
  const auto one = process();
  const auto stats = [&] {
    return ask<queue::Stats>([&](auto done) { one->queue->followed_stats(std::move(done)); });
  };
  const auto before = one->store->counts().gets;
  clock.advance(log.poll_max);
  got(stats());
  EXPECT_EQ(one->store->counts().gets, before);
  clock.advance(log.poll_max * 2);
  got(stats());
  EXPECT_GT(one->store->counts().gets, before) << "it is asked, and says so if it cannot be";
}

TEST_F(LocalQueues, KnowThatATaskOfAShardThatIsNotThereIsNone) {
  const auto one = process();
  queue::TaskId id = queue::make_task_id(ids.next());
  id.bytes[0] = 200;
  const auto refusal = reply<Refusal>(give(*one, {queue::Cancel{.id = id}}));
  EXPECT_EQ(refusal.code, Code::not_found);
  EXPECT_THAT(refusal.message, HasSubstr("an id of another queue"));
  EXPECT_EQ(error(ask<queue::Task>([&](auto done) { one->queue->find(id, std::move(done)); })).code,
            Code::not_found);
}

TEST_F(LocalQueues, PutMoreThanACommitHoldsIntoSeveral) {
  settings.shards = 1;
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 30; ++i) {
    queue::Submit large = submit();
    large.terms.input = "\"" + std::string(bounds::task_input_bytes_max - 2, 'x') + "\"";
    commands.emplace_back(std::move(large));
  }
  EXPECT_EQ(got(give(*one, commands)).size(), 30u);
  EXPECT_GT(one->queue->view().commits, 3u);
}

TEST_F(LocalQueues, CloseATypeInEveryShard) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 8; ++i) commands.emplace_back(submit("t"));
  got(give(*one, commands));
  const Instant until = clock.wall_now() + Duration::hours(1);
  reply<Changed>(
      give(*one, {queue::Close{.scope = queue::Scope::type, .name = "t", .until = until}}));
  EXPECT_TRUE(got(claim(*one, {.claim = {.count = 100}})).empty());
  const auto closings = got(
      ask<std::vector<queue::Closing>>([&](auto done) { one->queue->closings(std::move(done)); }));
  ASSERT_EQ(closings.size(), 1u);
  EXPECT_EQ(closings[0].until, until);
  reply<Changed>(give(*one, {queue::Close{.scope = queue::Scope::type, .name = "t"}}));
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 100}})).size(), 8u);
}

TEST_F(LocalQueues, CloseEveryShardForARescheduleOfTheType) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 8; ++i) commands.emplace_back(submit("t"));
  got(give(*one, commands));
  const Tasks tasks = got(claim(*one, {.claim = {.count = 1}}));
  ASSERT_EQ(tasks.size(), 1u);
  reply<Changed>(give(*one, {queue::Reschedule{.id = tasks[0].id,
                                               .fence = tasks[0].fence,
                                               .delay = Duration::minutes(1),
                                               .scope = queue::Scope::type}}));
  EXPECT_TRUE(got(claim(*one, {.claim = {.count = 100}})).empty());
  timers.advance(Duration::minutes(3));
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 100}})).size(), 8u);
}

// Eight tasks of a type, in all shards, and one of them claimed; its reschedule of that scope.
class WideReschedules : public LocalQueues {
 protected:
  queue::Reschedule claimed_by(Process& process, queue::Scope scope) {
    std::vector<queue::Command> commands;
    for (int i = 0; i < 8; ++i) commands.emplace_back(submit("t"));
    got(give(process, commands));
    const Tasks tasks = got(claim(process, {.claim = {.count = 1}}));
    if (tasks.size() != 1) return {};
    return {
        .id = tasks[0].id, .fence = tasks[0].fence, .delay = Duration::minutes(1), .scope = scope};
  }
  std::size_t claimable(Process& process) {
    return got(claim(process, {.claim = {.count = 100}})).size();
  }
};

TEST_F(WideReschedules, CloseTheQueueInEveryShardForAllProcesses) {
  const auto one = process();
  const auto other = process();
  const queue::Reschedule away = claimed_by(*one, queue::Scope::queue);
  reply<Changed>(give(*one, {away}));
  EXPECT_EQ(claimable(*one), 0u);
  EXPECT_EQ(claimable(*other), 0u);
  timers.advance(Duration::minutes(3));
  EXPECT_EQ(claimable(*other), 8u);
}

TEST_F(WideReschedules, CloseATypeOfWhichThisProcessHasNotHeard) {
  log.follows = false;
  const auto other = process();
  const auto one = process();
  const queue::Reschedule away = claimed_by(*one, queue::Scope::type);
  reply<Changed>(give(*other, {away}));
  clock.advance(bounds::queue_look_age + Duration::milliseconds(1));
  EXPECT_EQ(claimable(*one), 0u);
}

TEST_F(WideReschedules, ThatAreRefusedCloseNothing) {
  const auto one = process();
  queue::Reschedule late = claimed_by(*one, queue::Scope::type);
  late.fence += 1;
  reply<Refusal>(give(*one, {late}));
  EXPECT_EQ(claimable(*one), 7u);
}

TEST_F(WideReschedules, LeaveWhatIsClosedForLonger) {
  const auto one = process();
  const queue::Reschedule away = claimed_by(*one, queue::Scope::type);
  const Instant until = clock.wall_now() + Duration::hours(1);
  reply<Changed>(
      give(*one, {queue::Close{.scope = queue::Scope::type, .name = "t", .until = until}}));
  reply<Changed>(give(*one, {away}));
  timers.advance(Duration::minutes(30));
  EXPECT_EQ(claimable(*one), 0u);
}

// The process is gone when its own shard has it, and before the others do.
TEST_F(WideReschedules, CloseOneShardWhenTheProcessDiesAndTheRestWithTheNext) {
  auto one = process();
  const queue::Reschedule away = claimed_by(*one, queue::Scope::type);
  const std::string own = "log/0" + std::to_string(away.id.shard()) + "/";
  one->store->set_faults([own](MemoryObjectStore::Call call, const std::string& name) {
    const bool spoiled = call == MemoryObjectStore::Call::put && !name.starts_with(own);
    return spoiled ? MemoryObjectStore::Fault::failed : MemoryObjectStore::Fault::none;
  });
  const auto told = give(*one, {away});
  EXPECT_FALSE(*told) << "the others have not taken it";
  one.reset();
  EXPECT_EQ(error(told).outcome, Outcome::unknown);
  const auto next = process();
  const Tasks rest = got(claim(*next, {.claim = {.count = 1}}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_NE(rest[0].id.shard(), away.id.shard());
  EXPECT_EQ(got(ask<queue::Task>([&](auto done) {
              next->queue->find(away.id, std::move(done));
            })).reschedule_count,
            1u);
  reply<Changed>(give(*next, {queue::Reschedule{.id = rest[0].id,
                                                .fence = rest[0].fence,
                                                .delay = Duration::minutes(1),
                                                .scope = queue::Scope::type}}));
  EXPECT_EQ(claimable(*next), 0u);
}

TEST_F(WideReschedules, CloseTheRestWhenTheyAreGivenAgain) {
  log.deadline = Duration::seconds(1);
  const auto one = process();
  const queue::Reschedule away = claimed_by(*one, queue::Scope::type);
  const std::string own = "log/0" + std::to_string(away.id.shard()) + "/";
  one->store->set_faults([own](MemoryObjectStore::Call call, const std::string& name) {
    const bool spoiled = call == MemoryObjectStore::Call::put && !name.starts_with(own);
    return spoiled ? MemoryObjectStore::Fault::failed : MemoryObjectStore::Fault::none;
  });
  const auto told = give(*one, {away});
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(error(told).outcome, Outcome::unknown);
  one->store->set_faults({});
  const auto again = give(*one, {away});
  timers.advance(Duration::seconds(6));
  reply<Changed>(again);
  EXPECT_EQ(claimable(*one), 0u);
  EXPECT_EQ(got(ask<queue::Task>([&](auto done) {
              one->queue->find(away.id, std::move(done));
            })).reschedule_count,
            1u);
}

TEST_F(LocalQueues, ShareALimitOutAndRefuseWhatCannotBe) {
  const auto one = process();
  reply<Changed>(
      give(*one, {queue::SetLimit{.limited = queue::Limited::type, .name = "t", .running = 4}}));
  std::vector<queue::Command> commands;
  for (int i = 0; i < 40; ++i) commands.emplace_back(submit("t"));
  got(give(*one, commands));
  EXPECT_EQ(got(claim(*one, {.claim = {.count = 100}})).size(), 4u);
  const auto limits = got(
      ask<std::vector<queue::SetLimit>>([&](auto done) { one->queue->limits(std::move(done)); }));
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits[0].running, 4u);
  EXPECT_THAT(
      reply<Refusal>(give(*one, {queue::SetLimit{.limited = queue::Limited::queue, .running = 3}}))
          .message,
      HasSubstr("cannot be shared out among 4 shards"));
}

TEST_F(LocalQueues, ListAllShardsByIdAndPage) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 25; ++i) commands.emplace_back(submit());
  got(give(*one, commands));
  std::vector<queue::TaskId> seen;
  queue::TaskFilter filter{.limit = 10};
  while (true) {
    const Tasks page =
        got(ask<Tasks>([&](auto done) { one->queue->list(filter, std::move(done)); }));
    if (page.empty()) break;
    for (const queue::Task& task : page) seen.push_back(task.id);
    filter.after = seen.back();
  }
  EXPECT_EQ(seen.size(), 25u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST_F(LocalQueues, ListTheNewestAndTheFirstDueOfAllShards) {
  const auto one = process();
  std::vector<queue::TaskId> made;
  for (int i = 0; i < 12; ++i) {
    clock.advance(Duration::seconds(1));
    made.push_back(reply<Submitted>(give(*one, {submit()})).id);
  }
  const auto first = [&](queue::TaskOrder order) {
    return got(ask<Tasks>(
        [&](auto done) { one->queue->list({.limit = 5, .order = order}, std::move(done)); }));
  };
  const Tasks newest = first(queue::TaskOrder::changed);
  ASSERT_EQ(newest.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(newest[i].id, made[11 - i]);
  const Tasks due = first(queue::TaskOrder::due);
  ASSERT_EQ(due.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(due[i].id, made[i]);
}

TEST_F(LocalQueues, AddUpStatsOfAllShards) {
  const auto one = process();
  std::vector<queue::Command> commands;
  for (int i = 0; i < 12; ++i) commands.emplace_back(submit(i % 2 == 0 ? "a" : "b"));
  got(give(*one, commands));
  got(claim(*one, {.claim = {.types = {"a"}, .count = 2}}));
  const auto stats = got(ask<queue::Stats>([&](auto done) { one->queue->stats(std::move(done)); }));
  ASSERT_EQ(stats.types.size(), 2u);
  EXPECT_EQ(stats.types[0].type, "a");
  EXPECT_EQ(stats.types[0].pending, 4u);
  EXPECT_EQ(stats.types[0].running, 2u);
  EXPECT_EQ(stats.types[1].due, 6u);
  EXPECT_EQ(stats.totals.submitted, 12u);
}

TEST_F(LocalQueues, ShowWhatAnotherProcessDidWhenTheLookIsOld) {
  log.follows = false;
  const auto one = process();
  const auto other = process();
  const auto id = reply<Submitted>(give(*other, {submit()})).id;
  const auto look = [&] {
    return ask<queue::Task>([&](auto done) { one->queue->find(id, std::move(done)); });
  };
  EXPECT_EQ(error(look()).code, Code::not_found);
  clock.advance(bounds::queue_look_age + Duration::milliseconds(1));
  EXPECT_EQ(got(look()).status, Status::pending);
}

TEST_F(LocalQueues, SayUnknownWhenAPartWasWritten) {
  log.deadline = Duration::seconds(1);
  const auto one = process();
  one->store->set_faults([](MemoryObjectStore::Call call, const std::string& name) {
    const bool spoiled = call == MemoryObjectStore::Call::put && name.starts_with("log/01/");
    return spoiled ? MemoryObjectStore::Fault::failed : MemoryObjectStore::Fault::none;
  });
  std::vector<queue::Command> commands;
  for (int i = 0; i < 16; ++i) commands.emplace_back(submit());
  const auto told = give(*one, commands);
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(error(told).outcome, Outcome::unknown);
  one->store->set_faults({});
  const auto again = give(*one, commands);
  timers.advance(Duration::seconds(6));
  for (std::size_t i = 0; i < commands.size(); ++i) reply<Submitted>(again, i);
  const auto stats = got(ask<queue::Stats>([&](auto done) { one->queue->stats(std::move(done)); }));
  EXPECT_EQ(stats.totals.submitted, 16u);
}

class Schedules : public LocalQueues {
 protected:
  queue::SetSchedule set(std::string key) {
    return {.name = "nightly",
            .cron = "@daily",
            .zone = "UTC",
            .terms = {.type = "t", .input = "{}", .key = std::move(key)},
            .next = clock.wall_now() + Duration::hours(5)};
  }
  static std::vector<queue::Schedule> all(Process& process) {
    return got(ask<std::vector<queue::Schedule>>(
        [&](auto done) { process.queue->schedules(std::move(done)); }));
  }
};

TEST_F(Schedules, MoveWhenTheirKeyChanges) {
  const auto one = process();
  for (const char* key : {"a", "b", "c", "d", ""}) {
    reply<Changed>(give(*one, {set(key)}));
    ASSERT_EQ(all(*one).size(), 1u);
    EXPECT_EQ(all(*one)[0].set.terms.key, key);
  }
  reply<Changed>(give(*one, {queue::SetSchedule{.name = "nightly"}}));
  EXPECT_TRUE(all(*one).empty());
  EXPECT_EQ(reply<Refusal>(give(*one, {queue::SetSchedule{.name = "nightly"}})).code,
            Code::not_found);
}

TEST_F(Schedules, StandOnceThoughWhoeverMovesThemHasNotHeardOfThem) {
  const auto one = process();
  const auto behind = process();
  for (const char* key : {"a", "b", "c", "d"}) {
    const auto late = process();
    reply<Changed>(give(*one, {set(key)}));
    reply<Changed>(give(*late, {set(std::string(key) + " moved")}));
  }
  EXPECT_EQ(all(*process()).size(), 1u);
  reply<Changed>(give(*one, {set("e")}));
  give(*behind, {queue::SetSchedule{.name = "nightly"}});
  EXPECT_TRUE(all(*process()).empty()) << "removed by one who had not heard of it";
}

TEST_F(Schedules, StandNowhereWhenAMoveBreaksOff) {
  const auto one = process();
  reply<Changed>(give(*one, {set("a")}));
  const std::uint8_t home = queue::shard_of(set("a"), settings.shards);
  std::string key = "b";
  while (queue::shard_of(set(key), settings.shards) == home) key += "b";
  const std::string first = queue::segment_name(queue::shard_of(set(key), settings.shards), 1);
  const std::string there = first.substr(0, first.rfind('/') + 1);
  one->store->set_faults([&](MemoryObjectStore::Call call, const std::string& name) {
    const bool dies = call == MemoryObjectStore::Call::put && name.starts_with(there);
    return dies ? MemoryObjectStore::Fault::held : MemoryObjectStore::Fault::none;
  });
  give(*one, {set(key)});
  EXPECT_TRUE(all(*process()).empty());
}

TEST_F(LocalQueues, AnswerEverybodyWhenTheyGo) {
  auto one = process();
  one->store->set_faults(
      [](MemoryObjectStore::Call, const std::string&) { return MemoryObjectStore::Fault::held; });
  const auto given = give(*one, {submit()});
  const auto claimed = claim(*one, {.claim = {}, .wait = Duration::hours(1)});
  const auto looked = ask<queue::Stats>([&](auto done) {
    clock.advance(Duration::seconds(5));
    one->queue->stats(std::move(done));
  });
  one->queue.reset();
  EXPECT_EQ(error(given).code, Code::unavailable);
  EXPECT_EQ(error(claimed).code, Code::unavailable);
  EXPECT_EQ(error(looked).code, Code::unavailable);
}

}  // namespace
}  // namespace pawl
