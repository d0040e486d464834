// Goal: closings and limits hold for the queue, a type, a key and each key; they are told by why();
//       and what is held up by one key holds up nobody else, at no cost for those who wait.
// Method: one machine, one command a segment, time moved by hand. The bounds of limits are checked
//         by counting claims, not by asking the gate.
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <rapidcheck/gtest.h>
#include <set>

#include "base/bounds_queue.h"
#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ScopesTest : public MachineTest {
 protected:
  void submit_many(std::uint32_t first, std::uint32_t count, const TaskTerms& terms) {
    for (std::uint32_t i = 0; i < count; ++i) submit(first + i, terms);
  }
};

TEST_F(ScopesTest, ClosesAKeyAndLetsOthersThrough) {
  submit(1, keyed("slow"));
  submit(2, keyed("fast"));
  submit(3, keyed(""));
  const Instant until = now() + Duration::seconds(60);
  one(Close{.scope = Scope::key, .name = "slow", .until = until});
  EXPECT_THAT(claim(9), ElementsAre(2, 3));
  EXPECT_EQ(why(1).hold, Hold::closed);
  EXPECT_EQ(why(1).scope, Scope::key);
  EXPECT_EQ(why(1).name, "slow");
  EXPECT_EQ(why(1).until, until);
  ASSERT_EQ(machine_.closings(now()).size(), 1U);
  EXPECT_EQ(machine_.closings(now())[0].name, "slow");
  EXPECT_EQ(machine_.claimable({}, now(), 10), 0U);
  EXPECT_EQ(machine_.next_change({}, now()), now() + Duration::seconds(30)) << "a lease";
  pass(Duration::seconds(60));
  EXPECT_THAT(claim(9, {"mail"}), ElementsAre(1));
  EXPECT_THAT(machine_.closings(now()), IsEmpty());
}

TEST_F(ScopesTest, ClosesNoMoreThanItsBound) {
  for (std::size_t i = 0; i < bounds::queue_limits_max; ++i) {
    const auto reply = one(Close{.scope = Scope::key,
                                 .name = "key" + std::to_string(i),
                                 .until = now() + Duration::seconds(60)});
    ASSERT_FALSE(std::holds_alternative<Refusal>(reply)) << i;
  }
  const Close further = {
      .scope = Scope::key, .name = "further", .until = now() + Duration::hours(1)};
  EXPECT_THAT(refusal(one(further)), HasSubstr("there are 10000 closings"));
  pass(Duration::seconds(61));
  EXPECT_FALSE(std::holds_alternative<Refusal>(one(further))) << "they are open again";
}

TEST_F(ScopesTest, OpensAtOnceWhenClosedUntilThePast) {
  submit_many(1, 5, keyed("a"));
  one(Close{.scope = Scope::queue, .until = now() + Duration::hours(1)});
  EXPECT_THAT(claim(9), IsEmpty());
  EXPECT_EQ(why(1).scope, Scope::queue);
  one(Close{.scope = Scope::queue, .until = now()});
  EXPECT_EQ(claim(9).size(), 5U);
}

TEST_F(ScopesTest, OpensAKeyThatHasKeptTasksWaiting) {
  submit_many(1, 3, keyed("a"));
  one(Close{.scope = Scope::key, .name = "a", .until = now() + Duration::hours(1)});
  EXPECT_THAT(claim(9), IsEmpty());
  one(Close{.scope = Scope::key, .name = "a", .until = now()});
  EXPECT_THAT(claim(9), ElementsAre(1, 2, 3));
}

TEST_F(ScopesTest, LetsWhatWaitedGoEvenly) {
  submit_many(1, 100, keyed("a"));
  one(Close{.scope = Scope::key,
            .name = "a",
            .until = now() + Duration::seconds(10),
            .spread = Duration::seconds(20)});
  pass(Duration::seconds(10));
  EXPECT_EQ(claim(100).size(), 1U);
  EXPECT_EQ(why(50).hold, Hold::closed);
  EXPECT_EQ(why(50).until, now() + Duration::milliseconds(200)) << "20 s over 100 tasks";
  EXPECT_EQ(machine_.next_change({}, now()), now() + Duration::milliseconds(200));
  std::size_t let_go = 1;
  for (int second = 1; second < 20; ++second) {
    pass(Duration::seconds(1));
    const std::size_t more = claim(100).size();
    EXPECT_EQ(more, 5U) << "in second " << second;
    let_go += more;
  }
  pass(Duration::seconds(1));
  EXPECT_EQ(claim(100).size(), 100 - let_go);
}

TEST_F(ScopesTest, SpreadsOverATenthOfTheClosingWhenNobodySaidHow) {
  submit_many(1, 10, keyed("a"));
  one(Close{.scope = Scope::type, .name = "mail", .until = now() + Duration::seconds(100)});
  pass(Duration::seconds(100));
  EXPECT_EQ(claim(99).size(), 1U);
  pass(Duration::seconds(5));
  EXPECT_EQ(claim(99).size(), 5U);
  pass(Duration::seconds(5));
  EXPECT_EQ(claim(99).size(), 4U);
}

TEST_F(ScopesTest, DoesNotHoldUpWhatComesAfterTheLastThatWaited) {
  submit(1, keyed("a"));
  const Duration closed = Duration::seconds(2);
  one(Close{.scope = Scope::queue, .until = now() + closed, .spread = Duration::seconds(30)});
  pass(closed);
  EXPECT_THAT(claim(9), ElementsAre(1));
  submit_many(2, 6, keyed("a"));
  EXPECT_EQ(claim(9).size(), 6U) << "nothing waits any more: the queue is open";
}

// Of a key as well, whose tasks stand in lanes meanwhile.
TEST_F(ScopesTest, OpensAKeyAltogetherWhenTheLastThatWaitedHasGone) {
  submit_many(1, 2, keyed("a"));
  submit(3, keyed("a", "trade"));
  one(Close{.scope = Scope::key,
            .name = "a",
            .until = now() + Duration::seconds(2),
            .spread = Duration::seconds(30)});
  pass(Duration::seconds(2));
  EXPECT_THAT(claim(9), ElementsAre(1));
  one(Cancel{.id = id_of(3)});
  pass(Duration::seconds(15));
  EXPECT_THAT(claim(9), ElementsAre(2));
  submit(4, keyed("a", "trade"));
  submit(5, keyed("a"));
  EXPECT_THAT(claim(9), ElementsAre(4, 5));
}

// What comes while a scope opens is let go with what waited, and does not heap up before its end.
TEST_F(ScopesTest, SpreadsWhatComesWhileItOpens) {
  submit_many(1, 10, keyed("a"));
  one(Close{.scope = Scope::type,
            .name = "mail",
            .until = now() + Duration::seconds(10),
            .spread = Duration::seconds(20)});
  pass(Duration::seconds(10));
  std::size_t most = claim(99).size();
  std::size_t all_gone = most;
  for (std::uint32_t second = 1; second <= 25; ++second) {
    submit_many(100 + second * 10, 3, keyed("a"));
    pass(Duration::seconds(1));
    const std::size_t gone = claim(99).size();
    all_gone += gone;
    most = std::max(most, gone);
  }
  EXPECT_EQ(all_gone, 10 + 25 * 3U);
  EXPECT_LE(most, 15U) << "three come each second: 60 stood before the door when it opened";
}

TEST_F(ScopesTest, MakesFewOnesWaitASecondEachWhenNobodySaidHow) {
  submit_many(1, 3, keyed("a"));
  claim(1);
  reschedule(1, Duration::minutes(10), Scope::queue);
  pass(Duration::minutes(10));
  EXPECT_THAT(claim(9), ElementsAre(2));
  submit(4, keyed("a"));
  pass(Duration::seconds(1));
  EXPECT_EQ(claim(9).size(), 1U);
  pass(Duration::seconds(2));
  EXPECT_EQ(claim(9).size(), 2U);
}

TEST_F(ScopesTest, ClosesTheScopeThatARescheduleNames) {
  submit_many(1, 3, keyed("api"));
  submit(4, keyed("other"));
  EXPECT_THAT(claim(1), ElementsAre(1));
  reschedule(1, Duration::seconds(30), Scope::key);
  EXPECT_THAT(claim(9), ElementsAre(4));
  EXPECT_EQ(task(2).reschedule_count, 0U) << "one write, not one for each that waits";
  pass(Duration::seconds(30));
  EXPECT_THAT(claim(1, {"mail"}), ElementsAre(2));
}

TEST_F(ScopesTest, NeverShortensAClosingByAReschedule) {
  submit_many(1, 3, keyed("api"));
  claim(2);
  reschedule(1, Duration::seconds(60), Scope::type);
  reschedule(2, Duration::seconds(10), Scope::type);
  EXPECT_EQ(machine_.closings(now())[0].until, now() + Duration::seconds(60));
}

TEST_F(ScopesTest, LimitsHowManyOfAKeyRunAtOnce) {
  one(SetLimit{.limited = Limited::key, .name = "a", .running = 2});
  submit_many(1, 5, keyed("a"));
  submit(6, keyed("b"));
  EXPECT_THAT(claim(9), ElementsAre(1, 2, 6));
  EXPECT_EQ(why(3).hold, Hold::concurrency);
  EXPECT_EQ(why(3).name, "a");
  EXPECT_EQ(why(3).until, std::nullopt);
  complete(1);
  EXPECT_THAT(claim(9), ElementsAre(3));
  EXPECT_THAT(claim(9), IsEmpty());
  pass(Duration::seconds(30));
  EXPECT_EQ(machine_.claimable({}, now(), 10), 3U) << "leases that a claim would end";
}

TEST_F(ScopesTest, LimitsTheRateOfATypeAndTellsWhenToLookAgain) {
  one(SetLimit{
      .limited = Limited::type, .name = "mail", .rate = 2, .period = Duration::seconds(1)});
  submit_many(1, 4, keyed("a"));
  submit(5, keyed("a", "trade"));
  EXPECT_THAT(claim(9), ElementsAre(1, 5));
  EXPECT_EQ(why(2).hold, Hold::rate);
  EXPECT_EQ(why(2).scope, Scope::type);
  EXPECT_EQ(why(2).until, now() + Duration::milliseconds(500));
  const std::vector<std::string> mail = {"mail"};
  EXPECT_EQ(machine_.claimable(mail, now(), 9), 0U);
  EXPECT_EQ(machine_.next_change(mail, now()), now() + Duration::milliseconds(500));
  pass(Duration::milliseconds(500));
  EXPECT_EQ(machine_.claimable(mail, now(), 9), 1U);
  EXPECT_THAT(claim(9), ElementsAre(2));
}

TEST_F(ScopesTest, ForgetsALimitThatIsTakenAway) {
  one(SetLimit{.limited = Limited::queue, .running = 1});
  submit_many(1, 3, keyed("a"));
  EXPECT_THAT(claim(9), ElementsAre(1));
  ASSERT_EQ(machine_.limits().size(), 1U);
  one(SetLimit{.limited = Limited::queue});
  EXPECT_THAT(machine_.limits(), IsEmpty());
  EXPECT_THAT(claim(9), ElementsAre(2, 3));
}

TEST_F(ScopesTest, PutsAKeysOwnLimitInPlaceOfThatOfEach) {
  one(SetLimit{.limited = Limited::each_key, .running = 1});
  one(SetLimit{.limited = Limited::key, .name = "big", .running = 3});
  submit_many(1, 5, keyed("big"));
  submit_many(6, 5, keyed("small"));
  EXPECT_THAT(claim(9), ElementsAre(1, 2, 3, 6));
  one(SetLimit{.limited = Limited::key, .name = "big"});
  complete(1);
  complete(2);
  EXPECT_THAT(claim(9), IsEmpty()) << "one still runs, and that is what each key may";
}

TEST_F(ScopesTest, RefusesScopesAndLimitsThatMakeNoSense) {
  const auto refused = [&](Command command) {
    const Reply reply = one(std::move(command));
    const auto* refusal = std::get_if<Refusal>(&reply);
    return refusal == nullptr ? std::string("not refused") : refusal->message;
  };
  EXPECT_THAT(refused(Close{.scope = Scope::task, .name = "x"}), HasSubstr("cannot be closed"));
  EXPECT_THAT(refused(Close{.scope = Scope::key}), HasSubstr("needs a name"));
  EXPECT_THAT(refused(Close{.scope = Scope::queue, .name = "x"}), HasSubstr("leave it empty"));
  EXPECT_THAT(refused(SetLimit{.limited = Limited::key, .name = "a", .rate = 1}),
              HasSubstr("period"));
  EXPECT_THAT(
      refused(SetLimit{
          .limited = Limited::key, .name = "a", .rate = 5, .period = Duration::nanoseconds(2)}),
      HasSubstr("too high"));
}

TEST_F(ScopesTest, SharesTheLimitOfATypeOutAmongShards) {
  const Settings shared = {.shards = 4};
  std::uint32_t together = 0;
  for (std::uint8_t shard = 0; shard < 4; ++shard) {
    Machine part(shard, shared);
    std::vector<Command> commands = {
        SetLimit{.limited = Limited::type, .name = "mail", .running = 6}};
    for (std::uint32_t i = 0; i < 10; ++i) {
      TaskId id = id_of(i);
      id.bytes[0] = shard;
      commands.push_back(Submit{.id = id, .terms = keyed("")});
    }
    commands.push_back(Claim{.worker = "w", .count = 10});
    const auto replies = part.apply(now(), commands);
    together += static_cast<std::uint32_t>(std::get<Claimed>(replies.back()).tasks.size());
    const std::vector<Command> too_few = {
        SetLimit{.limited = Limited::type, .name = "mail", .running = 3}};
    EXPECT_TRUE(std::holds_alternative<Refusal>(part.apply(now(), too_few)[0]));
  }
  EXPECT_EQ(together, 6U);
}

// Claims of any sizes at any times, against one limit on each key.
RC_GTEST_PROP(Limits, AreNeverPassedInAnyWindow, ()) {
  const auto rate = *rc::gen::inRange<std::uint32_t>(1, 40);
  const Duration period = Duration::milliseconds(*rc::gen::inRange(1, 500));
  const auto running = *rc::gen::inRange<std::uint32_t>(1, 12);
  Machine machine(0, {});
  std::vector<Command> commands = {
      SetLimit{.limited = Limited::each_key, .rate = rate, .period = period, .running = running}};
  for (std::uint32_t i = 0; i < 200; ++i) {
    commands.push_back(Submit{.id = id_of(i), .terms = keyed(i % 3 == 0 ? "a" : "b")});
  }
  Instant at = Instant::from_ns(5'000'000'000);
  machine.apply(at, commands);
  std::map<std::string, std::deque<Instant>> claims;
  std::map<std::string, std::vector<Task>> held;
  for (int i = 0; i < 60; ++i) {
    at = at + Duration::microseconds(*rc::gen::inRange(0, 200'000));
    commands = {Claim{.worker = "w", .count = 50, .lease = Duration::hours(1)}};
    for (auto& [key, tasks] : held) {
      if (tasks.empty() || *rc::gen::inRange(0, 2) == 0) continue;
      commands.insert(commands.begin(),
                      Complete{.id = tasks.back().id, .fence = tasks.back().fence});
      tasks.pop_back();
    }
    const auto replies = machine.apply(at, commands);
    for (const Task& task : std::get<Claimed>(replies.back()).tasks) {
      auto& times = claims[task.terms.key];
      times.push_back(at);
      held[task.terms.key].push_back(task);
      while (times.front() + period <= at) times.pop_front();
      RC_ASSERT(times.size() <= rate);
      RC_ASSERT(held[task.terms.key].size() <= running);
    }
  }
}

// Workers that come again when they are told to, and sometimes fail, see every task to its end.
RC_GTEST_PROP(Limits, LetEveryTaskReachItsEnd, ()) {
  Machine machine(0, {});
  std::vector<Command> commands = {SetLimit{.limited = Limited::each_key,
                                            .rate = *rc::gen::inRange<std::uint32_t>(1, 20),
                                            .period = Duration::milliseconds(100),
                                            .running = *rc::gen::inRange<std::uint32_t>(1, 5)},
                                   Close{.scope = Scope::type,
                                         .name = "mail",
                                         .until = Instant::from_ns(8'000'000'000),
                                         .spread = Duration::seconds(1)}};
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::string key = std::to_string(*rc::gen::inRange(0, 4));
    const bool mail = *rc::gen::inRange(0, 2) == 0;
    commands.push_back(Submit{.id = id_of(i), .terms = keyed(key, mail ? "mail" : "trade")});
  }
  Instant at = Instant::from_ns(5'000'000'000);
  machine.apply(at, commands);
  std::map<std::string, std::uint32_t> last;  // of a key and type: first in, first out
  for (int i = 0; i < 5'000; ++i) {
    if (machine.claimable({}, at, 1) == 0) {
      const auto next = machine.next_change({}, at);
      if (!next) break;
      at = *next;
    }
    const auto replies = machine.apply(at, std::vector<Command>{Claim{.worker = "w", .count = 7}});
    commands.clear();
    for (const Task& task : std::get<Claimed>(replies[0]).tasks) {
      const int fate = *rc::gen::inRange(0, 10);
      const std::string line = task.terms.type + task.terms.key;
      if (task.attempt == 1) {
        RC_ASSERT(task.id >= id_of(last[line]));
        last[line] = task.id.bytes[11];
      }
      if (fate == 0) continue;  // its lease ends
      if (fate == 1) {
        commands.push_back(Fail{.id = task.id, .fence = task.fence});
      } else if (fate == 2) {
        commands.push_back(Reschedule{.id = task.id, .fence = task.fence, .scope = Scope::key});
      } else {
        commands.push_back(Complete{.id = task.id, .fence = task.fence});
      }
    }
    at = at + Duration::milliseconds(1);
    machine.apply(at, commands);
  }
  for (const Task& task : machine.list({.limit = 1000})) RC_ASSERT(is_over(task.status));
}

}  // namespace
}  // namespace pawl::queue
