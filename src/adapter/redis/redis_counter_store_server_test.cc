// Goal: on real servers, one and a cluster, the store decides as core/limit does, counts exactly
// for everybody who shares it, and is honest about what it does not know. Method: the conformance
// suite; walks at random through all its calls beside a model kept by core/limit, with a hand-moved
// clock that also goes back; servers of the test's own where one is flushed, killed or looked into.
#include <algorithm>
#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapter/redis/redis_counter_store.h"
#include "adapter/redis/redis_server_fixture.h"
#include "adapter/redis/slots.h"
#include "core/limit/limit_fixture.h"
#include "port/counter_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using limit::Chance;
using limit::Moment;
using redis::eventually;
using redis::RedisServer;

constexpr Duration long_deadline = Duration::seconds(30);
constexpr Duration microsecond = Duration::microseconds(1);

// So that runs on one server do not meet.
std::string fresh_name(const std::string& name) {
  static int count = 0;
  return "test " + std::to_string(getpid()) + "." + std::to_string(++count) + " " + name;
}

class RedisCounterStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<RedisCounterStore> open(const std::string& url, Clock* time = nullptr,
                                          Duration deadline = long_deadline) {
    static std::uint64_t seed = 0;
    const RedisCounterStoreOptions options{
        .deadline = deadline,
        .seed = ++seed,
        .zones = [](std::string_view) -> Result<Zone> { return limit::zurich(); },
        .time = time};
    auto store = RedisCounterStore::make(redis::parse_redis_url(url).value(), clock_, options);
    return std::move(store.value());
  }
  std::unique_ptr<RedisCounterStore> open(const RedisServer& server, Clock* time = nullptr,
                                          Duration deadline = long_deadline) {
    auto store = open("redis://" + server.address(), time, deadline);
    EXPECT_TRUE(eventually([&] { return store->health().has_value(); })) << server.log();
    return store;
  }
  template <class T, class Call>
  static Result<T> result_of(Call call) {
    std::promise<Result<T>> promise;
    call([&](Result<T> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
  static Result<limit::Answer> check(CounterStore& store, Counts counts, std::int64_t cost = 1) {
    return result_of<limit::Answer>([&](auto done) { store.check(counts, cost, std::move(done)); });
  }
  static Result<limit::Answer> check(CounterStore& store, const limit::Policy& policy,
                                     limit::Key key, std::int64_t cost = 1) {
    const Count count{&policy, key};
    return check(store, {&count, 1}, cost);
  }
  static Result<Reservation> reserve(CounterStore& store, Counts counts, std::int64_t cost,
                                     Duration hold) {
    return result_of<Reservation>(
        [&](auto done) { store.reserve(counts, cost, hold, std::move(done)); });
  }
  static Result<void> settle(CounterStore& store, Counts counts, std::uint64_t id, Settlement how) {
    return result_of<void>([&](auto done) { store.settle(counts, id, how, std::move(done)); });
  }

  redis::RealClock clock_;
};

limit::Now now_of(Clock& clock) {
  return {Moment::from_ns(clock.wall_now().ns()), clock.wall_now()};
}

void expect_conforms(RedisCounterStore& store, ManualClock& clock, const std::string& prefix) {
  expect_counter_store_conforms({.store = store,
                                 .advance = [&](Duration d) { clock.advance(d); },
                                 .now = [&] { return now_of(clock); },
                                 .prefix = prefix});
  EXPECT_EQ(store.disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, ConformsOnOneServer) {
  ManualClock clock;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"), &clock);
  expect_conforms(*store, clock, fresh_name(""));
}

TEST_F(RedisCounterStoreTest, ConformsOnACluster) {
  ManualClock clock;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS_CLUSTER"), &clock);
  expect_conforms(*store, clock, fresh_name(""));
}

// Every state as core/limit has it, in whole microseconds.
class Model {
 public:
  explicit Model(std::vector<limit::Policy> policies) : policies_(std::move(policies)) {
    for (limit::Policy& policy : policies_) policy.rule = redis::rounded_up(policy.rule);
  }

  struct Use {
    std::size_t policy;
    std::string key;
    bool charged = false;
  };

  limit::Answer ask(std::vector<Use>& uses, limit::Ask ask, limit::Now now) {
    std::vector<limit::Member> members;
    for (const Use& use : uses) members.push_back({&policies_[use.policy], &state(use)});
    const limit::Answer answer = limit::decide(members, ask, now);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      uses[i].charged = answer.allowed && answer.verdicts[i].allowed;
    }
    return answer;
  }
  bool settle(const std::vector<Use>& uses, limit::Ask reserved, Settlement how, limit::Now now) {
    std::vector<limit::Kept> before;
    bool all = true;
    for (const Use& use : uses) before.push_back(kept_[{use.policy, use.key}]);
    for (const Use& use : uses) {
      if (!use.charged) continue;
      const std::int64_t used = how.kind == Settlement::Kind::commit ? how.actual : 0;
      const bool slots = std::holds_alternative<limit::Concurrency>(policies_[use.policy].rule);
      all = limit::settle(policies_[use.policy], state(use), reserved, how, now) && all;
      if (slots || used != reserved.cost) forget_if_rested(use, now);
    }
    for (std::size_t i = 0; i < uses.size() && !all; ++i) {
      kept_[{uses[i].policy, uses[i].key}] = before[i];
    }
    return all;
  }
  void refund(const Use& use, std::int64_t cost, limit::Now now) {
    limit::give_back(policies_[use.policy], state(use), {.cost = cost, .charged = now}, now);
    forget_if_rested(use, now);
  }
  void close(const Use& use, Duration shut, limit::Now now) {
    state(use).closed_until = std::max(state(use).closed_until, now.moment + shut);
    forget_if_rested(use, now);
  }
  void reset(const Use& use) { kept_.erase({use.policy, use.key}); }

 private:
  // What equals nothing is not kept, so it does not come back when the clock goes back.
  void forget_if_rested(const Use& use, limit::Now now) {
    const bool rested =
        limit::until_unused(policies_[use.policy].rule, state(use), now) == Duration();
    if (rested) reset(use);
  }
  limit::State& state(const Use& use) { return kept_[{use.policy, use.key}].state; }

  std::vector<limit::Policy> policies_;
  std::map<std::pair<std::size_t, std::string>, limit::Kept> kept_;
};

// One walk through every call. The policies are any. With one key an ask the clock goes back now
// and then; with several, what one slot refuses is given back in another, which may leave less to
// be found when it does.
class Walk {
 public:
  Walk(RedisCounterStore& store, ManualClock& clock, Chance& chance, bool one_key)
      : store_(store),
        clock_(clock),
        chance_(chance),
        one_key_(one_key),
        policies_(any_policies(chance)),
        model_(policies_) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      move_clock();
      step();
    }
  }

 private:
  struct Held {
    std::vector<Model::Use> uses;
    limit::Ask reserved;
    Moment until;
  };

  static std::vector<limit::Policy> any_policies(Chance& chance) {
    const std::string name = fresh_name("walk ");
    std::vector<limit::Policy> policies;
    for (int i = 0; i < 4; ++i) {
      limit::Rule rule = limit::any_rule(chance);
      if (chance.one_in(2)) rule = small_rule(chance);
      policies.emplace_back(name + std::to_string(i), rule,
                            limit::PolicyOptions{.shadow = chance.one_in(5)});
    }
    return policies;
  }
  static limit::Rule small_rule(Chance& chance) {
    const limit::Rate rate{chance.between(1, 9), chance.duration(microsecond, microsecond * 99)};
    switch (chance.between(0, 3)) {
      case 0:
        return limit::TokenBucket(rate, chance.between(0, 5));
      case 1:
        return limit::SlidingWindow{rate};
      case 2:
        return limit::SlidingLog{rate};
      default:
        return limit::Concurrency{rate.count, rate.period};
    }
  }

  void move_clock() {
    const limit::Rule& rule = any_policy().rule;
    Duration by = limit::any_pause(chance_, rule, now_of(clock_));
    if (one_key_ && chance_.one_in(25)) by = -by;
    const std::int64_t us = (clock_.wall_now() + by).ns() / 1000;
    // Not so far that no clock would show it.
    const std::int64_t least = 1'500'000'000'000'000, most = 2'000'000'000'000'000;
    clock_.set_wall(
        Instant::from_ns((us < least || us > most ? most - least + least / 2 : us) * 1000));
  }
  const limit::Policy& any_policy() {
    return policies_[static_cast<std::size_t>(chance_.between(0, 3))];
  }

  void step() {
    std::vector<Model::Use> uses;
    std::string key = chance_.one_in(2) ? "a" : "b";
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      if (!one_key_) key = std::string(1, static_cast<char>('a' + chance_.between(0, 3)));
      if (chance_.one_in(2)) uses.push_back({i, key});
    }
    if (uses.empty()) return;
    std::vector<Count> counts = counts_of(uses);
    const limit::Now now = now_of(clock_);
    const std::int64_t capacity = limit::capacity_of(policies_[uses[0].policy].rule);
    const std::int64_t cost = chance_.one_in(6) ? 0 : limit::any_cost(chance_, capacity);
    switch (chance_.between(0, 9)) {
      case 0:
        return refund(uses[0], counts[0], std::max<std::int64_t>(1, cost));
      case 1:
        return close(uses[0], counts[0]);
      case 2:
      case 3:
        return settle_one();
      case 4:
      case 5:
        return reserve(uses, counts, cost);
      default:
        SCOPED_TRACE(described(uses, cost));
        const limit::Answer wanted = model_.ask(uses, {.cost = cost}, now);
        const auto found = counter_store_suite::answer_of<limit::Answer>(
            test(), [&](auto done) { store_.check(counts, cost, std::move(done)); });
        ASSERT_TRUE(found.has_value()) << found.error().message;
        counter_store_suite::expect_same(*found, wanted);
    }
  }

  void reserve(std::vector<Model::Use> uses, Counts counts, std::int64_t cost) {
    const Duration hold = chance_.any_duration(microsecond, bounds::limit_hold_max);
    const auto found = counter_store_suite::answer_of<Reservation>(
        test(), [&](auto done) { store_.reserve(counts, cost, hold, std::move(done)); });
    ASSERT_TRUE(found.has_value()) << found.error().message;
    SCOPED_TRACE(described(uses, cost));
    const limit::Now now = now_of(clock_);
    const limit::Ask ask{.cost = cost, .holder = found->id == 0 ? 77 : found->id, .charged = now};
    const limit::Answer wanted = model_.ask(uses, ask, now);
    counter_store_suite::expect_same(found->answer, wanted);
    ASSERT_EQ(found->id != 0, wanted.allowed);
    const Moment until = now.moment + microsecond * redis::microseconds_up(hold.ns());
    if (wanted.allowed) held_[found->id] = {std::move(uses), ask, until};
  }

  void settle_one() {
    if (held_.empty()) return;
    auto found = held_.begin();
    std::advance(found, chance_.between(0, static_cast<std::int64_t>(held_.size()) - 1));
    const std::uint64_t id = found->first;
    const Held& held = found->second;
    const Settlement how{
        .kind = static_cast<Settlement::Kind>(chance_.between(0, one_key_ ? 2 : 1)),
        .actual = chance_.between(0, std::min<std::int64_t>(held.reserved.cost * 2, 1'000'000'000)),
        .hold = chance_.any_duration(microsecond, bounds::limit_hold_max)};
    const std::vector<Count> counts = counts_of(held.uses);
    const auto result = counter_store_suite::answer_of<void>(
        test(), [&](auto done) { store_.settle(counts, id, how, std::move(done)); });
    const limit::Now now = now_of(clock_);
    const bool is_open = held.until > now.moment;
    const bool wanted = is_open && model_.settle(held.uses, held.reserved, how, now);
    ASSERT_EQ(result.has_value(), wanted);
    const bool renewed = how.kind == Settlement::Kind::renew;
    if (is_open && !renewed) {
      held_.erase(found);
    } else if (wanted) {
      found->second.until = now.moment + microsecond * redis::microseconds_up(how.hold.ns());
    }
  }

  void refund(const Model::Use& use, const Count& count, std::int64_t cost) {
    // Slots that were asked for in several slots of a cluster are somebody's.
    if (!one_key_ && std::holds_alternative<limit::Concurrency>(count.policy->rule)) return;
    model_.refund(use, cost, now_of(clock_));
    const auto result = counter_store_suite::answer_of<void>(
        test(), [&](auto done) { store_.refund(count, cost, std::move(done)); });
    ASSERT_TRUE(result.has_value());
  }
  void close(const Model::Use& use, const Count& count) {
    const bool reset = chance_.one_in(3);
    const Duration shut = microsecond * chance_.any_size(1, 100'000'000);
    if (reset) {
      model_.reset(use);
    } else {
      model_.close(use, shut, now_of(clock_));
    }
    const auto result = counter_store_suite::answer_of<void>(test(), [&](auto done) {
      if (reset) return store_.reset(count, std::move(done));
      store_.close(count, clock_.wall_now() + shut, std::move(done));
    });
    ASSERT_TRUE(result.has_value());
  }

  std::string described(const std::vector<Model::Use>& uses, std::int64_t cost) {
    std::string text = "cost " + std::to_string(cost) + " at " + to_string(clock_.wall_now());
    for (const Model::Use& use : uses) {
      const limit::Policy& policy = policies_[use.policy];
      text += "; " + policy.name + (policy.options.shadow ? " (shadow) " : " ") +
              std::string(algorithm_of(policy.rule)) + " " + to_string(policy.rule) + " for " +
              use.key;
    }
    return text;
  }
  std::vector<Count> counts_of(const std::vector<Model::Use>& uses) const {
    std::vector<Count> counts;
    for (const Model::Use& use : uses) counts.push_back({&policies_[use.policy], use.key});
    return counts;
  }
  CounterStoreUnderTest test() { return {.store = store_, .advance = {}, .now = {}}; }

  RedisCounterStore& store_;
  ManualClock& clock_;
  Chance& chance_;
  bool one_key_;
  std::vector<limit::Policy> policies_;
  Model model_;
  std::map<std::uint64_t, Held> held_;
};

TEST_F(RedisCounterStoreTest, DoesWhateverTheDecisionDoes) {
  ManualClock clock;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"), &clock);
  limit::for_seeds(60, [&](Chance& chance) { Walk(*store, clock, chance, true).run(80); });
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, AcrossTheSlotsOfAClusterItDoesSoToo) {
  ManualClock clock;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS_CLUSTER"), &clock);
  limit::for_seeds(30, [&](Chance& chance) { Walk(*store, clock, chance, false).run(80); });
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, CarriesEveryCountOverToEveryRule) {
  ManualClock clock;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"), &clock);
  limit::for_seeds(100, [&](Chance& chance) {
    const std::string name = fresh_name("change");
    limit::Kept kept;
    std::optional<limit::Policy> last;
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      const limit::PolicyOptions options{.on_change =
                                             static_cast<limit::OnChange>(chance.between(0, 2))};
      const limit::Policy policy(name, limit::any_rule(chance), options);
      const limit::Policy exact(name, redis::rounded_up(policy.rule), options);
      SCOPED_TRACE(std::string(algorithm_of(policy.rule)) + " " + to_string(policy.rule));
      const std::int64_t cost = limit::any_cost(chance, limit::capacity_of(policy.rule));
      for (const std::int64_t each : {std::int64_t{0}, cost}) {
        limit::Kept copy = kept;
        const bool changes = last && redis::rule_text(last->rule) != redis::rule_text(exact.rule);
        const bool lasts =
            changes && limit::carry_over(last->rule, exact, copy.state, now_of(clock));
        const limit::Member member{&exact, &copy.state};
        const limit::Answer wanted = limit::decide({&member, 1}, {.cost = each}, now_of(clock));
        const auto found = check(*store, policy, "k", each);
        ASSERT_TRUE(found.has_value()) << found.error().message;
        counter_store_suite::expect_same(*found, wanted);
        if (each == 0 || (changes && !lasts && !wanted.allowed)) continue;
        copy.state.carried_for = {};
        kept = copy;
        last = exact;
      }
      clock.advance(microsecond * chance.any_size(0, 1'000'000));
    }
  });
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, IsExactToTheMicrosecondWithTheLargestNumbers) {
  const auto at = [](std::int64_t us) { return Instant::from_ns(us * 1000); };
  ManualClock clock(at(1'710'000'000'000'000));
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"), &clock);
  // Half of what fills one window has faded in the middle of the next: their products pass 2^53.
  const limit::Policy policy(
      fresh_name("large"),
      limit::SlidingWindow{{999'999'998, Duration::microseconds(30'000'000'000'000)}});
  EXPECT_TRUE(check(*store, policy, "k", 999'999'998)->allowed);
  clock.set_wall(at(1'755'000'000'000'000 - 1));
  EXPECT_FALSE(check(*store, policy, "k", 499'999'999)->allowed);
  clock.set_wall(at(1'755'000'000'000'000));
  EXPECT_TRUE(check(*store, policy, "k", 499'999'999)->allowed);
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, ASmallStepBackOverACalendarsLineHandsNothingOutTwice) {
  const Instant line = parse_instant("2026-05-01T00:00:00Z").value();
  ManualClock clock(line + Duration::seconds(1));
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"), &clock);
  const limit::Policy policy(fresh_name("month"), limit::Calendar{2, {}});
  EXPECT_TRUE(check(*store, policy, "k", 2)->allowed);
  clock.set_wall(line - Duration::seconds(30));
  EXPECT_FALSE(check(*store, policy, "k")->allowed);
  clock.set_wall(line + Duration::seconds(2));
  EXPECT_FALSE(check(*store, policy, "k")->allowed);
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, CountsByTheServersClock) {
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS"));
  const Duration interval = Duration::milliseconds(200);
  const limit::Policy pace(fresh_name("pace"), limit::TokenBucket({1, interval}, 0));
  const limit::Policy daily(fresh_name("daily"),
                            limit::Calendar{2, {.unit = limit::CalendarUnit::year}});
  const Count set[] = {{&pace, "k"}, {&daily, "k"}};
  const auto first = check(*store, set);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_TRUE(first->allowed);
  EXPECT_LT(first->now.wall - clock_.wall_now(), Duration::minutes(1));
  EXPECT_LT(clock_.wall_now() - first->now.wall, Duration::minutes(1));
  limit::Answer again = *first;
  ASSERT_TRUE(eventually([&] {
    again = check(*store, set).value();
    EXPECT_LE(again.retry_after, interval);
    return again.allowed;
  }));
  EXPECT_GE(again.now.moment - first->now.moment, interval) << "never early";
  EXPECT_EQ(again.verdicts[1].remaining, 0);
  EXPECT_EQ(store->disagreements(), 0u);
}

// A machine whose clock is days ahead.
class SkewedClock final : public Clock {
 public:
  Instant wall_now() override { return clock_.wall_now() + Duration::days(3); }
  SteadyInstant steady_now() override { return clock_.steady_now(); }

 private:
  redis::RealClock clock_;
};

TEST_F(RedisCounterStoreTest, CalendarWindowsFollowTheServerWhateverTheCallersClockSays) {
  SkewedClock ahead;
  const redis::RedisUrl url =
      redis::parse_redis_url(redis::server_of_run("PAWL_TEST_REDIS")).value();
  const auto skewed =
      RedisCounterStore::make(url, ahead, {.deadline = long_deadline, .seed = 99}).value();
  const auto right = open(redis::server_of_run("PAWL_TEST_REDIS"));
  const limit::CalendarRule yearly{.unit = limit::CalendarUnit::year};
  const limit::Policy year(fresh_name("year"), limit::Calendar{9, yearly});
  // So short that three days are more than the windows the caller names.
  const limit::Policy hour(fresh_name("hour"),
                           limit::Calendar{1'000'000, {.unit = limit::CalendarUnit::hour}});
  const Count set[] = {{&year, "k"}, {&hour, "k"}};
  EXPECT_EQ(check(*skewed, set)->verdicts[0].remaining, 8);
  const auto answer = check(*right, set);
  EXPECT_EQ(answer->verdicts[0].remaining, 7) << "one window for both";
  EXPECT_LE(answer->verdicts[1].full_after, Duration::hours(1));
  EXPECT_EQ(check(*skewed, hour, "k", 0)->bound().full_after.seconds_up() / 3'601, 0);
  // A closing lasts as long as was said, not until a time of the wrong clock.
  const auto closed = result_of<void>([&](auto done) {
    skewed->close(set[0], ahead.wall_now() + Duration::minutes(1), std::move(done));
  });
  ASSERT_TRUE(closed.has_value());
  EXPECT_LE(check(*right, year, "k")->retry_after, Duration::minutes(1));
  EXPECT_EQ(skewed->disagreements() + right->disagreements(), 0u);
}

TEST_F(RedisCounterStoreTest, KeysStayUntilTheirCountsRestAndThenGoByThemselves) {
  RedisServer server;
  const auto store = open(server);
  const Duration long_period = Duration::days(365);  // no line of a window's grid in between
  const auto policies = [](Duration period) {
    const limit::Rate rate{2, period};
    return std::vector<limit::Policy>{{"t", limit::TokenBucket(rate, 3)},
                                      {"w", limit::SlidingWindow{rate}},
                                      {"l", limit::SlidingLog{rate}},
                                      {"s", limit::Concurrency{2, period}}};
  };
  for (const limit::Policy& policy : policies(long_period)) {
    const SteadyInstant before = clock_.steady_now();
    const auto answer = check(*store, policy, "long");
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    const std::int64_t left = std::stoll(server.cli("PTTL 'rate:" + policy.name + ":{long}'"));
    const Duration passed = clock_.steady_now() - before;
    const Duration in_use = answer->bound().full_after;
    EXPECT_GE(Duration::milliseconds(left) + passed, in_use) << policy.name;
    EXPECT_LE(Duration::milliseconds(left), in_use + Duration::milliseconds(4)) << policy.name;
  }
  EXPECT_EQ(server.cli("DBSIZE"), "4");
  for (const limit::Policy& policy : policies(Duration::milliseconds(100))) {
    const Count count{&policy, "short"};
    ASSERT_TRUE(reserve(*store, {&count, 1}, 1, Duration::milliseconds(100)).has_value());
    const auto closed = result_of<void>([&](auto done) {
      store->close({&policy, "shut"}, clock_.wall_now() + Duration::milliseconds(100),
                   std::move(done));
    });
    ASSERT_TRUE(closed.has_value()) << closed.error().message;
  }
  EXPECT_TRUE(eventually([&] { return server.cli("DBSIZE") == "4"; })) << server.cli("KEYS '*'");
  // What equals none is not kept at all.
  for (const limit::Policy& policy : policies(long_period)) {
    const Count count{&policy, "long"};
    const auto refunded =
        result_of<void>([&](auto done) { store->refund(count, 1, std::move(done)); });
    ASSERT_TRUE(refunded.has_value()) << refunded.error().message;
  }
  EXPECT_EQ(server.cli("KEYS '*'"), "rate:s:{long}") << "slots come back by their lease alone";
}

TEST_F(RedisCounterStoreTest, AScriptTheServerForgotIsSentAgain) {
  RedisServer server;
  ManualClock time;
  const auto store = open(server, &time);
  const limit::Policy policy("flushed", limit::TokenBucket({1, Duration::hours(1)}, 999'999));
  const Count count{&policy, "k"};
  constexpr int many = 3'000;
  std::atomic<int> allowed = 0;
  std::latch all(many);
  for (int i = 0; i < many; ++i) {
    if (i % 1'000 == 500) {
      EXPECT_EQ(server.cli("SCRIPT FLUSH"), "OK");
    }
    store->check({&count, 1}, 1, [&](const Result<limit::Answer>& answer) {
      if (answer && answer->allowed) ++allowed;
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(allowed, many);
  EXPECT_EQ(check(*store, policy, "k", 0)->bound().remaining, 1'000'000 - many);
  const redis::Scripts scripts;
  EXPECT_EQ(server.cli("SCRIPT EXISTS " + scripts.ask.sha + " " + scripts.carry.sha), "1\n0");
}

// The server syncs before it answers, so what it kept can be compared with what was said.
TEST_F(RedisCounterStoreTest, AServerKilledMidwayKeepsEveryChargeThatWasAnswered) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  ManualClock time;
  const auto store = open(server, &time);
  const limit::Policy bucket("killed", limit::TokenBucket({1, Duration::hours(1)}, 999'999));
  const limit::Policy log("killed log", limit::SlidingLog{{10'000, Duration::hours(1)}});
  const Count set[] = {{&bucket, "k"}, {&log, "k"}};
  redis::Ends ends;
  redis::kill_midway(server, 9'000, ends,
                     [&](auto done) { store->check(set, 1, std::move(done)); });
  EXPECT_FALSE(store->health().has_value());

  server.start();
  ASSERT_TRUE(eventually([&] { return store->health().has_value(); })) << server.log();
  const auto look = check(*store, set, 0);
  ASSERT_TRUE(look.has_value()) << look.error().message;
  const std::int64_t used = 1'000'000 - look->verdicts[0].remaining;
  EXPECT_GE(used, ends.applied);
  EXPECT_LE(used, ends.applied + ends.unknown);
  EXPECT_EQ(10'000 - look->verdicts[1].remaining, used) << "all of a set or none";
  EXPECT_TRUE(check(*store, set).value().allowed) << "it goes on by itself";
}

TEST_F(RedisCounterStoreTest, SaysWhatItDoesNotKnowAndWhatNeverLeft) {
  RedisServer server;
  const auto store = open(server, nullptr, Duration::milliseconds(100));
  const limit::Policy policy("honest", limit::TokenBucket({1, Duration::hours(1)}, 9));
  EXPECT_EQ(server.cli("CLIENT PAUSE 300 ALL"), "OK");
  const auto late = check(*store, policy, "k");
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::unavailable);
  EXPECT_EQ(late.error().outcome, Outcome::unknown);
  EXPECT_TRUE(eventually([&] { return check(*store, policy, "k", 0).has_value(); }));
  server.kill();
  EXPECT_TRUE(eventually([&] { return !store->health().has_value(); }));
  const auto away = check(*store, policy, "k");
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_EQ(away.error().outcome, Outcome::not_applied);
  EXPECT_NE(store->health().error().message.find(server.address()), std::string::npos);
}

TEST_F(RedisCounterStoreTest, StoresOfSeveralProcessesShareALimitExactly) {
  for (const char* variable : {"PAWL_TEST_REDIS", "PAWL_TEST_REDIS_CLUSTER"}) {
    ManualClock time;
    const std::unique_ptr<RedisCounterStore> stores[] = {
        open(redis::server_of_run(variable), &time), open(redis::server_of_run(variable), &time)};
    const limit::Policy bucket(fresh_name("shared"),
                               limit::TokenBucket({1, Duration::hours(1)}, 99));
    const limit::Policy log(fresh_name("shared log"), limit::SlidingLog{{80, Duration::hours(1)}});
    const limit::Policy slots(fresh_name("slots"), limit::Concurrency{3, Duration::hours(1)});
    const Count set[] = {{&bucket, "k"}, {&log, "k"}};
    const Count lent[] = {{&slots, "k"}};
    std::atomic<int> allowed = 0;
    std::atomic<int> holders = 0;
    std::atomic<int> most = 0;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, &store = *stores[t % 2]] {
        for (int i = 0; i < 50; ++i) {
          if (check(store, set)->allowed) ++allowed;
          const auto slot = reserve(store, lent, 1, Duration::minutes(1));
          if (slot->id == 0) continue;
          const int now = ++holders;
          int seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
          --holders;
          EXPECT_TRUE(settle(store, lent, slot->id, {.kind = Settlement::Kind::cancel}));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(allowed, 80) << variable;
    EXPECT_EQ(check(*stores[0], bucket, "k", 0)->bound().remaining, 20);
    EXPECT_LE(most, 3);
    EXPECT_EQ(check(*stores[0], slots, "k", 0)->bound().remaining, 3);
    EXPECT_EQ(stores[0]->disagreements() + stores[1]->disagreements(), 0u);
  }
}

TEST_F(RedisCounterStoreTest, AcrossTheSlotsOfAClusterAllAreChargedOrNone) {
  ManualClock time;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS_CLUSTER"), &time);
  const limit::Policy tenant(fresh_name("tenant"), limit::SlidingLog{{9, Duration::hours(1)}});
  const limit::Policy address(fresh_name("address"),
                              limit::TokenBucket({1, Duration::hours(1)}, 1));
  const limit::Policy everyone(fresh_name("all"), limit::SlidingWindow{{9, Duration::hours(1)}});
  // The one that refuses asked first, in the middle, and last.
  for (const std::string key : {"a", "b", "c", "d"}) {
    const std::string from = key + "1", whole = key + "2";
    const Count set[] = {{&tenant, key}, {&address, from}, {&everyone, whole}};
    ASSERT_NE(redis::key_slot(redis::count_key(set[0])), redis::key_slot(redis::count_key(set[1])));
    EXPECT_TRUE(check(*store, set)->allowed);
    const auto held = reserve(*store, set, 1, Duration::minutes(1));
    EXPECT_NE(held->id, 0u);
    for (int i = 0; i < 3; ++i) {
      const auto refused = check(*store, set);
      EXPECT_FALSE(refused->allowed);
      EXPECT_EQ(refused->binding, 1);
      EXPECT_EQ(refused->verdicts[0].remaining, 7);
      EXPECT_EQ(refused->verdicts[2].remaining, 7);
    }
    EXPECT_EQ(check(*store, tenant, key, 0)->bound().remaining, 7);
    EXPECT_TRUE(settle(*store, set, held->id, {.kind = Settlement::Kind::cancel}));
    EXPECT_FALSE(settle(*store, set, held->id, {.kind = Settlement::Kind::cancel}));
    const auto look = check(*store, set, 0);
    for (const std::size_t i : {0u, 2u}) EXPECT_EQ(look->verdicts[i].remaining, 8) << i;
    EXPECT_EQ(look->verdicts[1].remaining, 1);
  }
}

TEST_F(RedisCounterStoreTest, AcrossSlotsRecordsStayNoLongerThanSomebodyMayUndo) {
  const std::string url = redis::server_of_run("PAWL_TEST_REDIS_CLUSTER");
  const auto client = redis::Client::make(redis::parse_redis_url(url).value(), clock_).value();
  const auto ask_node = [&](const char* command, const std::string& what, const std::string& key) {
    // No node passes KEYS on, so that the client must have heard before whose slot it is.
    const std::string_view passed_on[] = {"EXISTS", key};
    EXPECT_TRUE(client->call_and_wait(passed_on, key, long_deadline));
    const std::string_view words[] = {command, what};
    return client->call_and_wait(words, key, long_deadline).value();
  };
  const Duration deadline = Duration::seconds(5);
  const auto store = open(url, nullptr, deadline);
  const limit::Policy tenant(fresh_name("tenant"), limit::SlidingLog{{9, Duration::hours(1)}});
  const limit::Policy address(fresh_name("address"), limit::SlidingLog{{9, Duration::hours(1)}});
  const Count set[] = {{&tenant, "a"}, {&address, "b"}};
  std::string keys[] = {redis::count_key(set[0]), redis::count_key(set[1])};
  std::ranges::sort(keys, {}, redis::key_slot);
  ASSERT_NE(redis::key_slot(keys[0]), redis::key_slot(keys[1]));
  EXPECT_TRUE(check(*store, set)->allowed);
  const redis::Reply first = ask_node("KEYS", keys[0] + ":*", keys[0]);
  ASSERT_EQ(first.items().size(), 1u);
  const redis::Reply stays = ask_node("PTTL", *first.items()[0].text(), keys[0]);
  EXPECT_GT(*stays.integer(), deadline.milliseconds_up());
  EXPECT_LE(*stays.integer(), 2 * deadline.milliseconds_up() + 2);
  const redis::Reply last = ask_node("KEYS", keys[1] + ":*", keys[1]);
  EXPECT_EQ(last.items().size(), 0u) << "nothing comes after it that could refuse";
}

// So slow are the round trips that a short hold runs out before they are through.
class LaggingClock final : public Clock {
 public:
  Instant wall_now() override { return now_ = now_ + Duration::milliseconds(10); }
  SteadyInstant steady_now() override { return {}; }

 private:
  Instant now_ = Instant() + Duration::days(20'000);
};

TEST_F(RedisCounterStoreTest, AcrossSlotsNothingStaysChargedHoweverShortTheHold) {
  LaggingClock time;
  const auto store = open(redis::server_of_run("PAWL_TEST_REDIS_CLUSTER"), &time);
  const limit::Rate rate{9, Duration::hours(1)};
  const limit::Policy policies[] = {{fresh_name("1"), limit::SlidingLog{rate}},
                                    {fresh_name("2"), limit::SlidingLog{rate}}};
  for (const std::size_t full : {0u, 1u}) {  // asked first, and last
    const Count set[] = {{&policies[0], "a"}, {&policies[1], "b"}};
    EXPECT_TRUE(check(*store, {&set[full], 1}, 9)->allowed);
    EXPECT_EQ(reserve(*store, set, 1, Duration::milliseconds(1))->id, 0u);
    EXPECT_EQ(check(*store, {&set[1 - full], 1}, 0)->bound().remaining, 9);
    result_of<void>([&](auto done) { store->reset(set[full], std::move(done)); }).value();
  }
}

// A failure is undone like a refusal.
TEST_F(RedisCounterStoreTest, AcrossSlotsNothingStaysChargedWhenOneFails) {
  const std::string url = redis::server_of_run("PAWL_TEST_REDIS_CLUSTER");
  const auto client = redis::Client::make(redis::parse_redis_url(url).value(), clock_).value();
  const auto store = open(url);
  const limit::Policy policies[] = {{fresh_name("1"), limit::SlidingLog{{9, Duration::hours(1)}}},
                                    {fresh_name("2"), limit::SlidingLog{{9, Duration::hours(1)}}}};
  for (const std::size_t broken : {0u, 1u}) {
    const Count set[] = {{&policies[0], "a"}, {&policies[1], "b"}};
    const std::string key = redis::count_key(set[broken]);
    const std::string_view spoil[] = {"SET", key, "hello"};
    ASSERT_TRUE(client->call_and_wait(spoil, key, long_deadline));
    const auto failed = check(*store, set);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().outcome, Outcome::not_applied);
    EXPECT_EQ(check(*store, {&set[1 - broken], 1}, 0)->bound().remaining, 9);
    result_of<void>([&](auto done) { store->reset(set[broken], std::move(done)); }).value();
  }
}

TEST_F(RedisCounterStoreTest, NoTwoNamesShareACount) {
  ManualClock time;
  for (const char* variable : {"PAWL_TEST_REDIS", "PAWL_TEST_REDIS_CLUSTER"}) {
    const auto store = open(redis::server_of_run(variable), &time);
    const std::string name = fresh_name("odd");
    const limit::Rule once = limit::TokenBucket({1, Duration::hours(1)}, 0);
    const limit::Policy policies[] = {{name, once},
                                      {name + ":", once},
                                      {name + ":{a}", once},
                                      {name + "%", once},
                                      {name + "\n", once}};
    const std::string keys[] = {"",
                                "%",
                                "%7b",
                                "{",
                                "}",
                                "{}",
                                "{a}",
                                "a}b{c",
                                "a b",
                                "a\nb",
                                "a\r\nb",
                                std::string(1, '\0'),
                                "\xff\xfe",
                                "a:{b}",
                                "a}:1",
                                "'\"\\",
                                std::string(50'000, 'x')};
    for (const limit::Policy& policy : policies) {
      for (const std::string& key : keys) {
        const auto answer = check(*store, policy, key);
        ASSERT_TRUE(answer.has_value()) << answer.error().message;
        EXPECT_TRUE(answer->allowed) << policy.name << " " << key.substr(0, 20);
        EXPECT_FALSE(check(*store, policy, key)->allowed)
            << policy.name << " " << key.substr(0, 20);
      }
      EXPECT_TRUE(check(*store, policy, limit::KeyId{1, 2})->allowed);
    }
  }
}

TEST_F(RedisCounterStoreTest, AKeyThatHoldsSomethingElseIsAnErrorThatSaysSo) {
  RedisServer server;
  ManualClock time;
  const auto store = open(server, &time);
  const limit::Policy cell("mine", limit::TokenBucket({1, Duration::hours(1)}, 0));
  const limit::Policy marks("mine", limit::SlidingLog{{1, Duration::hours(1)}});
  for (const std::string command :
       {"HSET 'rate:mine:{k}' a b", "SET 'rate:mine:{k}' hello", "RPUSH 'rate:mine:{k}' 1 2",
        "SET 'rate:mine:{k}' '1 2 3 4 t 0 0'", "SET 'rate:mine:{k}' '1 2 3 4 c 1 month 1 2'"}) {
    for (const limit::Policy* policy : {&cell, &marks}) {
      server.cli("DEL 'rate:mine:{k}'");
      server.cli(command);
      for (const std::int64_t cost : {0, 1}) {
        const auto answer = check(*store, *policy, "k", cost);
        ASSERT_FALSE(answer.has_value()) << command;
        EXPECT_EQ(answer.error().code, Code::invalid) << answer.error().message;
        EXPECT_EQ(answer.error().outcome, Outcome::not_applied);
        EXPECT_NE(answer.error().message.find("'rate:mine:{k}'"), std::string::npos)
            << answer.error().message;
      }
      const auto reset =
          result_of<void>([&](auto done) { store->reset({policy, "k"}, std::move(done)); });
      ASSERT_TRUE(reset.has_value());
      EXPECT_TRUE(check(*store, *policy, "k")->allowed) << "a reset cures it";
    }
  }
}

}  // namespace
}  // namespace pawl
