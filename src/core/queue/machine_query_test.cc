// Goal: questions are answered from the state, and what they say of the future holds.
// Method: one machine, one command a segment, time moved by hand. That claimable() and
//         next_change() miss nothing is in machine_property_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;

TEST_F(MachineTest, ListsByIdInPagesAndByFilter) {
  for (const std::uint32_t number : {5U, 1U, 4U, 2U, 3U}) {
    TaskTerms terms = plain();
    terms.key = number % 2 == 0 ? "even" : "";
    submit(number, terms);
  }
  claim(1);
  const auto numbers = [&](const TaskFilter& filter) {
    std::vector<std::uint32_t> found;
    for (const Task& task : machine_.list(filter)) found.push_back(number_of(task.id));
    return found;
  };
  EXPECT_THAT(numbers({.limit = 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers({.after = id_of(3)}), ElementsAre(4, 5));
  EXPECT_THAT(numbers({.status = Status::running}), ElementsAre(5));
  EXPECT_THAT(numbers({.key = "even"}), ElementsAre(2, 4));
  EXPECT_THAT(numbers({.type = "unheard of"}), ElementsAre());
  EXPECT_THAT(numbers({.limit = 0}), ElementsAre());
}

TEST_F(MachineTest, CountsThoseAheadAndNamesTheLastWorker) {
  for (std::uint32_t i = 1; i <= 4; ++i) submit(i, keyed("a"));
  submit(5, keyed("slow"));
  submit(6, keyed("a"));
  EXPECT_EQ(why(1).worker, "") << "nobody has claimed this type";
  one(Close{.scope = Scope::key, .name = "slow", .until = now() + Duration::hours(1)});
  claim(1);
  EXPECT_EQ(why(6).hold, Hold::waits);
  EXPECT_EQ(why(6).ahead, 3U) << "what is blocked is not ahead";
  EXPECT_EQ(why(6).worker, "worker-1");
  EXPECT_EQ(why(1).hold, Hold::running);
  EXPECT_EQ(why(1).until, now() + Duration::seconds(30));
  complete(1);
  EXPECT_EQ(why(1).hold, Hold::is_over);
  EXPECT_EQ(machine_.why(id_of(99), now()), std::nullopt);
}

TEST_F(MachineTest, CountsWhatThereIsOfAType) {
  for (std::uint32_t i = 1; i <= 6; ++i) submit(i, plain(0));
  one(Submit{.id = id_of(7), .terms = plain(), .delay = Duration::seconds(5)});
  submit(8, keyed("", "trade"));
  claim(3, {"mail"});
  complete(1);
  fail(2);
  one(Cancel{.id = id_of(4)});
  const Stats stats = machine_.stats(now());
  ASSERT_EQ(stats.types.size(), 2U);
  const Depth& mail = stats.types[0];
  EXPECT_EQ(mail.type, "mail");
  EXPECT_EQ(mail.pending, 3U);
  EXPECT_EQ(mail.due, 2U);
  EXPECT_EQ(mail.oldest_due, now());
  EXPECT_EQ(mail.running, 1U);
  EXPECT_EQ(mail.completed, 1U);
  EXPECT_EQ(mail.failed, 1U);
  EXPECT_EQ(mail.cancelled, 1U);
  EXPECT_EQ(machine_.stats(now() + Duration::seconds(5)).types[0].due, 3U)
      << "what is due by now, though no segment has said so";
  EXPECT_EQ(stats.totals.submitted, 8U);
  EXPECT_EQ(stats.totals.claimed, 3U);
}

TEST_F(MachineTest, TellsWhenToLookAgainThoughNobodyHasWrittenSince) {
  const Instant opens = now() + Duration::seconds(60);
  one(Close{.scope = Scope::key, .name = "slow", .until = opens});
  one(Submit{.id = id_of(1), .terms = keyed("slow"), .delay = Duration::seconds(10)});
  EXPECT_EQ(machine_.next_change({}, now()), now() + Duration::seconds(10));
  pass(Duration::seconds(20));
  EXPECT_EQ(machine_.claimable({}, now(), 9), 0U) << "due, and its key is closed";
  EXPECT_EQ(machine_.next_change({}, now()), opens) << "not a moment that has passed";
  EXPECT_EQ(machine_.claimable({}, opens, 9), 1U);
}

TEST_F(MachineTest, LooksAtTheNamedTypesOnly) {
  one(Submit{.id = id_of(1), .terms = plain(), .delay = Duration::seconds(10)});
  one(Submit{.id = id_of(2), .terms = keyed("", "trade"), .delay = Duration::seconds(20)});
  const std::vector<std::string> trade = {"trade"};
  EXPECT_EQ(machine_.next_change(trade, now()), now() + Duration::seconds(20));
  EXPECT_EQ(machine_.claimable(trade, now() + Duration::seconds(10), 9), 0U);
  const std::vector<std::string> neither = {"unheard of"};
  EXPECT_EQ(machine_.next_change(neither, now()), std::nullopt);
}

TEST_F(MachineTest, CountsNoMoreThanIsAsked) {
  for (std::uint32_t i = 1; i <= 6; ++i) submit(i);
  EXPECT_EQ(machine_.claimable({}, now(), 4), 4U);
  EXPECT_EQ(machine_.claimable({}, now(), 100), 6U);
  EXPECT_EQ(machine_.claimable({}, now(), 0), 0U);
}

TEST_F(MachineTest, ListsWhatChangedSinceAMoment) {
  submit(1);
  pass(Duration::seconds(1));
  submit(2);
  ASSERT_EQ(machine_.list({.updated_after = now() - Duration::seconds(1)}).size(), 1U);
}

TEST_F(MachineTest, ListsThoseThatChangedLastFirst) {
  for (const std::uint32_t number : {3U, 1U, 2U, 4U}) {
    submit(number);
    pass(Duration::seconds(1));
  }
  const auto newest = [&](std::size_t limit) {
    std::vector<std::uint32_t> found;
    for (const Task& task : machine_.list({.limit = limit, .order = TaskOrder::changed})) {
      found.push_back(number_of(task.id));
    }
    return found;
  };
  EXPECT_THAT(newest(10), ElementsAre(4, 2, 1, 3));
  EXPECT_THAT(newest(2), ElementsAre(4, 2));
  claim(1);  // of the oldest
  EXPECT_THAT(newest(2), ElementsAre(3, 4));
}

TEST_F(MachineTest, ListsThoseThatWereDueFirst) {
  std::uint32_t number = 0;
  for (const int delay : {30, 10, 20, 10}) {
    one(Submit{.id = id_of(++number), .terms = plain(), .delay = Duration::seconds(delay)});
  }
  const auto first = [&](std::size_t limit) {
    std::vector<std::uint32_t> found;
    for (const Task& task : machine_.list({.limit = limit, .order = TaskOrder::due})) {
      found.push_back(number_of(task.id));
    }
    return found;
  };
  EXPECT_THAT(first(10), ElementsAre(2, 4, 3, 1));
  EXPECT_THAT(first(2), ElementsAre(2, 4));
}

TEST_F(MachineTest, ListsNothingOfANameThatNobodyHas) {
  submit(1, plain());
  submit(2, keyed("acme"));
  EXPECT_TRUE(machine_.list({.key = "nosuch"}).empty()) << "and not those without a key";
  EXPECT_TRUE(machine_.list({.key = "nosuch", .after = id_of(0)}).empty());
  EXPECT_TRUE(machine_.list({.type = "nosuch"}).empty());
  EXPECT_EQ(machine_.list({.key = "acme"}).size(), 1U);
}

TEST_F(MachineTest, ShowsWhatHasOutlivedItsTimeThoughNobodyHasWrittenSince) {
  one(Submit{.id = id_of(1), .terms = plain(), .time_to_live = Duration::seconds(10)});
  one(Submit{.id = id_of(2),
             .terms = plain(),
             .delay = Duration::hours(1),
             .time_to_live = Duration::seconds(10)});
  submit(3, plain());
  const Instant before = now() + Duration::seconds(9);
  const Instant after = now() + Duration::seconds(10);
  EXPECT_EQ(machine_.find(id_of(1), before)->status, Status::pending);
  const Task expired = *machine_.find(id_of(1), after);
  EXPECT_EQ(expired.status, Status::expired);
  EXPECT_EQ(expired.completed_at, after);
  EXPECT_EQ(machine_.why(id_of(1), before)->hold, Hold::waits);
  EXPECT_EQ(machine_.why(id_of(1), after)->hold, Hold::is_over);
  EXPECT_EQ(machine_.list({.status = Status::pending}, after).size(), 1U);
  const auto listed = machine_.list({.status = Status::expired}, after);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0], expired);
  const Depth depth = machine_.stats(after).types[0];
  EXPECT_EQ(depth.pending, 1U);
  EXPECT_EQ(depth.due, 1U);
  EXPECT_EQ(depth.expired, 2U);
}

TEST_F(MachineTest, ListsPageByPageWhileTasksComeAndGo) {
  settings_.kept = {};
  machine_ = Machine(0, settings_);
  for (std::uint32_t i = 10; i <= 60; i += 10) submit(i, plain());
  const auto page = [&](std::uint32_t after) {
    std::vector<std::uint32_t> found;
    for (const Task& one_task : machine_.list({.after = id_of(after), .limit = 2})) {
      found.push_back(number_of(one_task.id));
    }
    return found;
  };
  EXPECT_THAT(page(0), ElementsAre(10, 20));
  one(Cancel{.id = id_of(30)});
  tick();               // it is no longer kept
  submit(45, plain());  // in its slot
  EXPECT_THAT(page(20), ElementsAre(40, 45));
  EXPECT_THAT(page(45), ElementsAre(50, 60));
  one(Cancel{.id = id_of(40)});
  tick();
  submit(40, plain());  // the same id, in the same slot
  EXPECT_THAT(page(20), ElementsAre(40, 45)) << "once";
  for (std::uint32_t i = 100; i < 2'000; ++i) submit(i, plain());
  EXPECT_THAT(page(60), ElementsAre(100, 101));
  EXPECT_THAT(page(1'998), ElementsAre(1'999));
}

// An export of all of them looks at each a few times, and not once for every page.
TEST_F(MachineTest, MakesAPageNoDearerByWhatIsNotOnIt) {
  constexpr std::uint32_t count = 200'000;
  std::vector<Command> commands;
  for (std::uint32_t i = 1; i <= count; ++i) {
    commands.push_back(Submit{.id = id_of(i), .terms = plain()});
  }
  all(commands);
  TaskFilter filter = {.limit = 1};
  std::uint32_t seen = 0;
  for (auto tasks = machine_.list(filter); !tasks.empty(); tasks = machine_.list(filter)) {
    ASSERT_EQ(number_of(tasks[0].id), ++seen);
    filter.after = tasks[0].id;
  }
  EXPECT_EQ(seen, count) << "pages of one: a scan for each would be 4·10¹⁰ looks";
}

TEST_F(MachineTest, KnowsTheOldestThatIsDueWhateverItsPriority) {
  const Instant begin = now();
  const auto oldest = [&] { return machine_.stats(now()).types[0].oldest_due; };
  const auto put = [&](std::uint32_t number, std::int32_t priority) {
    TaskTerms terms = keyed("k" + std::to_string(number));
    terms.priority = priority;
    submit(number, terms);
    pass(Duration::seconds(1));
  };
  put(1, 0);
  put(2, 5);
  put(3, -5);
  put(4, 5);
  EXPECT_EQ(oldest(), begin);
  one(Close{.scope = Scope::key, .name = "k1", .until = begin + Duration::hours(1)});
  EXPECT_THAT(claim(1), ElementsAre(2));
  EXPECT_EQ(oldest(), begin) << "in a lane by itself";
  one(Cancel{.id = id_of(1)});
  EXPECT_EQ(oldest(), begin + Duration::seconds(2)) << "behind one of a higher priority";
  EXPECT_THAT(claim(9), ElementsAre(4, 3));
  EXPECT_EQ(oldest(), std::nullopt);
}

}  // namespace
}  // namespace pawl::queue
