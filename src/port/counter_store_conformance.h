// What every CounterStore must do, whatever it is made of.
//
// The first part says it in plain examples. The second walks at random beside limit::decide, the
// one decision, and wants the same answer at every step: allowed or not, by whom, how much is left,
// when more comes.
#pragma once

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/audit/replay.h"
#include "core/request/limit_record.h"
#include "port/answer_of.h"
#include "port/counter_store.h"

namespace pawl {

// One store under test, with time moved by hand.
struct CounterStoreUnderTest {
  CounterStore& store;
  std::function<void(Duration)> advance;
  std::function<limit::Now()> now;  // of the store's clocks, as it would read them
  int threads = 4;                  // 1 for a store that lives in one thread
  std::function<void()> pump = {};  // lets a store that answers later answer
  std::string prefix = {};          // of names, so that runs on one server do not meet
};

namespace counter_store_suite {

template <class T, class Call>
Result<T> answer_of(const CounterStoreUnderTest& test, Call call) {
  auto answer = asked<T>(std::move(call));
  if (test.pump) test.pump();
  return answer.get();
}

// What is on record of an answer is what comes out of the record, or the record says that it
// cannot.
inline void expect_replays(Counts counts, const limit::Answer& answer, std::int64_t cost) {
  json::Object record{{"event_type", "limit"}};
  for (auto& [name, value] : request::limit_record(counts, answer, cost)) {
    record.emplace(name, std::move(value));
  }
  const audit::Replayed replayed = audit::replay(
      record, [](std::string_view) -> Result<Zone> { return failure(Code::invalid, "none"); });
  EXPECT_NE(replayed.how, audit::Replayed::How::differs)
      << replayed.why << json::print(replayed.recorded) << json::print(replayed.again);
}

class Suite {
 public:
  explicit Suite(const CounterStoreUnderTest& test) : test_(test) {}

  void run();

 private:
  limit::Policy policy(std::string name, limit::Rule rule, limit::PolicyOptions options = {}) {
    return {test_.prefix + name, std::move(rule), options};
  }
  limit::Policy bucket(std::string name, std::int64_t burst, Duration period) {
    return policy(std::move(name), limit::TokenBucket({1, period}, burst));
  }

  limit::Answer check(Counts counts, std::int64_t cost = 1) {
    const limit::Answer answer = answer_of<limit::Answer>(test_, [&](auto done) {
                                   test_.store.check(counts, cost, std::move(done));
                                 }).value();
    expect_replays(counts, answer, cost);
    return answer;
  }
  limit::Answer check(const limit::Policy& policy, limit::Key key, std::int64_t cost = 1) {
    const Count count{&policy, key};
    return check({&count, 1}, cost);
  }
  Reservation reserve(Counts counts, std::int64_t cost = 1, Duration hold = Duration::seconds(30)) {
    return answer_of<Reservation>(
               test_, [&](auto done) { test_.store.reserve(counts, cost, hold, std::move(done)); })
        .value();
  }
  Result<void> settle(Counts counts, std::uint64_t id, Settlement how) {
    return answer_of<void>(
        test_, [&](auto done) { test_.store.settle(counts, id, how, std::move(done)); });
  }
  void refund(const Count& count, std::int64_t cost) {
    EXPECT_TRUE(answer_of<void>(test_, [&](auto done) {
                  test_.store.refund(count, cost, std::move(done));
                }).has_value());
  }
  void reset(const Count& count) {
    EXPECT_TRUE(answer_of<void>(test_, [&](auto done) {
                  test_.store.reset(count, std::move(done));
                }).has_value());
  }
  void close(const Count& count, Duration for_) {
    const Instant until = test_.now().wall + for_;
    EXPECT_TRUE(answer_of<void>(test_, [&](auto done) {
                  test_.store.close(count, until, std::move(done));
                }).has_value());
  }

  void admits_what_the_bucket_holds();
  void counts_by_every_algorithm();
  void charges_all_or_none();
  void lets_a_shadow_count_and_never_refuse();
  void settles_a_reservation_once();
  void forgets_a_reservation_that_ran_out();
  void lets_nobody_pass_by_a_late_cancel();
  void lends_slots();
  void renews_all_or_nothing();
  void gives_back_resets_and_closes();
  void keeps_what_was_used_when_the_rule_changes();
  void serves_two_rules_of_one_count();
  void admits_a_crowd_exactly();
  void walks_beside_the_decision();

  CounterStoreUnderTest test_;
};

inline void Suite::admits_what_the_bucket_holds() {
  const limit::Policy slow = bucket("slow", 1, Duration::seconds(1));
  const limit::Policy other = bucket("other", 1, Duration::seconds(1));
  EXPECT_TRUE(check(slow, "a").allowed);
  EXPECT_TRUE(check(slow, "a").allowed);
  const limit::Answer refused = check(slow, "a");
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.bound().remaining, 0);
  EXPECT_EQ(refused.retry_after, Duration::seconds(1));

  // Keys, names and numbers, and policies of the same key, do not touch each other.
  EXPECT_TRUE(check(slow, "b").allowed);
  EXPECT_TRUE(check(other, "a").allowed);
  EXPECT_TRUE(check(slow, limit::KeyId{0, 'a'}, 2).allowed);
  EXPECT_TRUE(check(slow, limit::KeyId{'a', 0}, 2).allowed);
  EXPECT_TRUE(check(slow, std::string(1, '\0'), 2).allowed);
  EXPECT_TRUE(check(slow, "").allowed);
  EXPECT_TRUE(check(slow, "{a}\r\n").allowed);

  // A refusal cost nothing: after one interval exactly one token is there.
  test_.advance(Duration::seconds(1));
  EXPECT_TRUE(check(slow, "a").allowed);
  EXPECT_FALSE(check(slow, "a").allowed);

  // A look costs nothing; a cost above one is taken whole or not at all, or never.
  test_.advance(Duration::seconds(10));
  EXPECT_EQ(check(slow, "a", 0).bound().remaining, 2);
  EXPECT_EQ(check(slow, "a", 3).retry_after, Duration::max());
  EXPECT_TRUE(check(slow, "a", 2).allowed);
  EXPECT_FALSE(check(slow, "a", 1).allowed);
}

inline void Suite::counts_by_every_algorithm() {
  const limit::Rate three{3, Duration::minutes(1)};
  const limit::CalendarRule hourly{.unit = limit::CalendarUnit::hour};
  const limit::Policy policies[] = {policy("window", limit::SlidingWindow{three}),
                                    policy("log", limit::SlidingLog{three}),
                                    policy("slots", limit::Concurrency{3, Duration::minutes(1)}),
                                    policy("calendar", limit::Calendar{3, hourly})};
  for (const limit::Policy& each : policies) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(check(each, "k").bound().remaining, 2);
    EXPECT_TRUE(check(each, "k", 2).allowed);
    const limit::Answer refused = check(each, "k");
    EXPECT_FALSE(refused.allowed);
    EXPECT_GT(refused.retry_after, Duration());
    EXPECT_EQ(check(each, "k", 0).bound().remaining, 0);
    EXPECT_TRUE(check(each, "l").allowed) << "another key";
  }
  test_.advance(Duration::hours(1));
  for (const limit::Policy& each : policies) {
    EXPECT_TRUE(check(each, "k", 3).allowed) << each.name;
  }
}

inline void Suite::charges_all_or_none() {
  const limit::Policy wide = bucket("all wide", 9, Duration::hours(1));
  const limit::Policy narrow = bucket("all narrow", 1, Duration::minutes(1));
  const limit::Policy log = policy("all log", limit::SlidingLog{{5, Duration::hours(1)}});
  const Count set[] = {{&wide, "t"}, {&narrow, "t"}, {&log, "t"}};
  EXPECT_TRUE(check(set).allowed);
  EXPECT_TRUE(check(set).allowed);
  for (int i = 0; i < 20; ++i) {
    const limit::Answer refused = check(set);
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.binding, 1);
    EXPECT_EQ(refused.retry_after, Duration::minutes(1));
    EXPECT_TRUE(refused.verdicts[0].allowed);
    EXPECT_EQ(refused.verdicts[0].remaining, 8) << "a refusal charges nobody";
    EXPECT_EQ(refused.verdicts[2].remaining, 3);
  }
  EXPECT_EQ(check(wide, "t", 0).bound().remaining, 8);
  EXPECT_EQ(check(log, "t", 0).bound().remaining, 3);
}

inline void Suite::lets_a_shadow_count_and_never_refuse() {
  const limit::Policy real = bucket("shadow real", 4, Duration::hours(1));
  const limit::Policy shadow =
      policy("shadow", limit::TokenBucket({1, Duration::hours(1)}, 0), {.shadow = true});
  const Count set[] = {{&shadow, "t"}, {&real, "t"}};
  EXPECT_TRUE(check(set).verdicts[0].allowed);
  const limit::Answer second = check(set);
  EXPECT_TRUE(second.allowed);
  EXPECT_FALSE(second.verdicts[0].allowed) << "it says what it would have done";
  EXPECT_EQ(second.binding, 1);
  EXPECT_EQ(second.verdicts[1].remaining, 3);

  // What a shadow was not charged, it does not get back.
  const Reservation held = reserve(set);
  EXPECT_TRUE(settle(set, held.id, {.kind = Settlement::Kind::cancel}).has_value());
  const limit::Answer look = check(set, 0);
  EXPECT_EQ(look.verdicts[0].remaining, 0);
  EXPECT_EQ(look.verdicts[1].remaining, 3);
}

inline void Suite::settles_a_reservation_once() {
  const limit::Policy tokens = bucket("held", 9, Duration::hours(1));
  const limit::Policy window =
      policy("held window", limit::SlidingWindow{{10, Duration::hours(1)}});
  const Count set[] = {{&tokens, "t"}, {&window, "t"}};
  const auto left = [&] {
    const limit::Answer look = check(set, 0);
    EXPECT_EQ(look.verdicts[0].remaining, look.verdicts[1].remaining);
    return look.verdicts[0].remaining;
  };
  const Reservation first = reserve(set, 4);
  EXPECT_TRUE(first.answer.allowed);
  EXPECT_EQ(first.id % 2, 1u) << "even ones are not a store's";
  EXPECT_EQ(left(), 6);
  const Reservation second = reserve(set, 4);
  EXPECT_NE(second.id, first.id);
  const Reservation refused = reserve(set, 4);
  EXPECT_FALSE(refused.answer.allowed);
  EXPECT_EQ(refused.id, 0u);

  using Kind = Settlement::Kind;
  EXPECT_TRUE(settle(set, first.id, {.kind = Kind::commit, .actual = 1}).has_value());
  EXPECT_EQ(left(), 5);
  EXPECT_TRUE(settle(set, second.id, {.kind = Kind::cancel}).has_value());
  EXPECT_EQ(left(), 9);
  for (const std::uint64_t id : {first.id, second.id, std::uint64_t{12345}}) {
    const auto again = settle(set, id, {.kind = Kind::cancel});
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, Code::not_found);
    EXPECT_EQ(again.error().outcome, Outcome::not_applied);
  }
  EXPECT_EQ(left(), 9) << "a settlement happens once";

  // More was used than reserved: it is counted, allowed or not, and never more than all.
  const Reservation third = reserve(set, 1);
  EXPECT_TRUE(settle(set, third.id, {.kind = Kind::commit, .actual = 500}).has_value());
  EXPECT_EQ(left(), 0);
}

inline void Suite::forgets_a_reservation_that_ran_out() {
  const limit::Policy tokens = bucket("ran out", 9, Duration::hours(10));
  const limit::Policy month =
      policy("ran out in a month", limit::Calendar{10, {.unit = limit::CalendarUnit::month}});
  const Count set[] = {{&tokens, "t"}, {&month, "t"}};
  using Kind = Settlement::Kind;
  const Reservation renewed = reserve(set, 2, Duration::seconds(10));
  const Reservation lost = reserve(set, 2, Duration::seconds(10));
  test_.advance(Duration::seconds(9));
  EXPECT_TRUE(
      settle(set, renewed.id, {.kind = Kind::renew, .hold = Duration::seconds(10)}).has_value());
  test_.advance(Duration::seconds(1));
  const auto late = settle(set, lost.id, {.kind = Kind::cancel});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::not_found);
  EXPECT_EQ(check(set, 0).bound().remaining, 6) << "what was charged stays charged";
  EXPECT_TRUE(settle(set, renewed.id, {.kind = Kind::cancel}).has_value());
  EXPECT_EQ(check(set, 0).bound().remaining, 8);
}

// Time had brought it back already, and others used that: it does not come back twice.
inline void Suite::lets_nobody_pass_by_a_late_cancel() {
  const limit::Policy policies[] = {
      bucket("late tokens", 0, Duration::seconds(10)),
      policy("late window", limit::SlidingWindow{{1, Duration::seconds(10)}}),
      policy("late log", limit::SlidingLog{{1, Duration::seconds(10)}})};
  for (const limit::Policy& each : policies) {
    SCOPED_TRACE(each.name);
    const Count set[] = {{&each, "t"}};
    const Reservation slow = reserve(set, 1, Duration::hours(1));
    ASSERT_TRUE(slow.answer.allowed);
    test_.advance(Duration::seconds(20));
    EXPECT_TRUE(check(set).allowed);
    test_.advance(Duration::seconds(5));
    EXPECT_TRUE(settle(set, slow.id, {.kind = Settlement::Kind::cancel}).has_value());
    EXPECT_FALSE(check(set).allowed);
    test_.advance(Duration::seconds(20));
  }
}

inline void Suite::lends_slots() {
  const limit::Policy slots = policy("lent", limit::Concurrency{2, Duration::seconds(60)});
  const Count set[] = {{&slots, "t"}};
  using Kind = Settlement::Kind;
  const Reservation crashed = reserve(set, 1, Duration::hours(1));
  const Reservation busy = reserve(set, 1, Duration::hours(1));
  EXPECT_FALSE(check(set).allowed);
  EXPECT_TRUE(settle(set, busy.id, {.kind = Kind::commit, .actual = 1}).has_value());
  EXPECT_EQ(check(set, 0).bound().remaining, 1) << "a slot is used while it is held";
  const Reservation again = reserve(set, 1, Duration::hours(1));
  test_.advance(Duration::seconds(59));
  EXPECT_TRUE(settle(set, again.id, {.kind = Kind::renew, .hold = Duration::hours(1)}).has_value());
  EXPECT_EQ(check(set, 0).bound().remaining, 0);
  test_.advance(Duration::seconds(1));
  EXPECT_EQ(check(set, 0).bound().remaining, 1) << "the crashed holder's slot came back";
  test_.advance(Duration::seconds(59));
  EXPECT_EQ(check(set, 0).bound().remaining, 2);
  (void)settle(set, crashed.id, {.kind = Kind::cancel});
  EXPECT_EQ(check(set, 0).bound().remaining, 2);

  EXPECT_TRUE(check(set).allowed);
  EXPECT_TRUE(check(set).allowed);
  refund(set[0], 1);
  EXPECT_EQ(check(set, 0).bound().remaining, 0) << "slots come back by their lease";
}

// The lease of the second slot ends first.
inline void Suite::renews_all_or_nothing() {
  const limit::Policy slow = policy("renewed slow", limit::Concurrency{1, Duration::seconds(60)});
  const limit::Policy fast = policy("renewed fast", limit::Concurrency{1, Duration::seconds(10)});
  const limit::Policy tokens = bucket("renewed tokens", 9, Duration::hours(10));
  const limit::Policy month =
      policy("renewed month", limit::Calendar{10, {.unit = limit::CalendarUnit::month}});
  const Count set[] = {{&slow, "t"}, {&fast, "t"}, {&tokens, "t"}, {&month, "t"}};
  const auto left = [&] {
    std::vector<std::int64_t> remaining;
    const limit::Answer look = check(set, 0);
    for (const limit::Verdict& verdict : look.verdicts) remaining.push_back(verdict.remaining);
    return remaining;
  };
  using Left = std::vector<std::int64_t>;
  using Kind = Settlement::Kind;
  for (const Kind kind : {Kind::commit, Kind::cancel}) {
    const Reservation late = reserve(set, 1, Duration::seconds(100));
    ASSERT_TRUE(late.answer.allowed);
    test_.advance(Duration::seconds(10));
    EXPECT_EQ(left(), (Left{0, 1, 9, 9}));
    const auto renewed = settle(set, late.id, {.kind = Kind::renew, .hold = Duration::hours(1)});
    ASSERT_FALSE(renewed.has_value());
    EXPECT_EQ(renewed.error().code, Code::not_found);
    EXPECT_EQ(renewed.error().outcome, Outcome::not_applied);
    EXPECT_EQ(left(), (Left{0, 1, 9, 9}));
    test_.advance(Duration::seconds(50));
    EXPECT_EQ(left(), (Left{1, 1, 9, 9})) << "the other slot's lease has not begun anew";
    EXPECT_TRUE(settle(set, late.id, {.kind = kind}).has_value()) << "the rest is there";
    EXPECT_EQ(left(), (Left{1, 1, 10, 10}));
  }
  const Reservation over = reserve(set, 1, Duration::seconds(100));
  test_.advance(Duration::seconds(10));
  const auto renewed = settle(set, over.id, {.kind = Kind::renew, .hold = Duration::hours(1)});
  EXPECT_FALSE(renewed.has_value());
  test_.advance(Duration::seconds(90));
  EXPECT_FALSE(settle(set, over.id, {.kind = Kind::cancel}).has_value()) << "nor has its hold";
  EXPECT_EQ(left(), (Left{1, 1, 9, 9}));
}

inline void Suite::gives_back_resets_and_closes() {
  const limit::Policy tokens = bucket("given", 9, Duration::hours(1));
  const Count count{&tokens, "t"};
  EXPECT_TRUE(check(tokens, "t", 5).allowed);
  refund(count, 2);
  EXPECT_EQ(check(tokens, "t", 0).bound().remaining, 7);
  refund(count, 100);
  EXPECT_EQ(check(tokens, "t", 0).bound().remaining, 10) << "no further than to a rested key";

  close(count, Duration::seconds(10));
  close(count, Duration::seconds(2));
  close(count, -Duration::seconds(2));
  const limit::Answer closed = check(tokens, "t");
  EXPECT_FALSE(closed.allowed);
  EXPECT_EQ(closed.retry_after, Duration::seconds(10)) << "the strictest word counts";
  EXPECT_TRUE(closed.bound().closed);
  EXPECT_EQ(closed.bound().remaining, 0);
  EXPECT_TRUE(check(tokens, "u").allowed) << "another key is open";
  test_.advance(Duration::milliseconds(9'999));
  EXPECT_FALSE(check(tokens, "t").allowed);
  test_.advance(Duration::milliseconds(1));
  EXPECT_EQ(check(tokens, "t", 10).retry_after, Duration());

  EXPECT_FALSE(check(tokens, "t").allowed);
  close(count, Duration::hours(5));
  reset(count);
  EXPECT_EQ(check(tokens, "t").bound().remaining, 9) << "as if it had never been used, nor closed";
}

inline void Suite::keeps_what_was_used_when_the_rule_changes() {
  const auto window = [&](std::int64_t limit, limit::OnChange on_change) {
    return policy("plan", limit::SlidingWindow{{limit, Duration::minutes(1)}},
                  {.on_change = on_change});
  };
  using limit::OnChange;
  const limit::Policy free = window(100, OnChange::as_is);
  EXPECT_TRUE(check(free, "acme", 40).allowed);
  EXPECT_TRUE(check(free, "bolt", 40).allowed);
  EXPECT_TRUE(check(free, "core", 40).allowed);
  EXPECT_EQ(check(window(1000, OnChange::as_is), "acme").bound().remaining, 959);
  EXPECT_EQ(check(window(30, OnChange::as_is), "acme").bound().remaining, 0);
  EXPECT_EQ(check(window(1000, OnChange::proportional), "bolt").bound().remaining, 599);
  EXPECT_EQ(check(window(1000, OnChange::reset), "core").bound().remaining, 999);

  // Once more: the rule it was carried to is one to carry from.
  EXPECT_EQ(check(window(50, OnChange::as_is), "acme", 0).bound().remaining, 9);
  EXPECT_EQ(check(window(50, OnChange::as_is), "acme").bound().remaining, 8);
  const limit::Policy hourly = policy("plan", limit::SlidingWindow{{60, Duration::hours(1)}});
  EXPECT_EQ(check(hourly, "acme").bound().remaining, 17);

  // From one algorithm to another.
  const limit::Policy before = policy("way", limit::SlidingLog{{10, Duration::hours(1)}});
  EXPECT_TRUE(check(before, "acme", 4).allowed);
  const limit::Policy after = policy("way", limit::TokenBucket({1, Duration::hours(1)}, 9));
  EXPECT_EQ(check(after, "acme", 1).bound().remaining, 5);
  EXPECT_EQ(check(before, "acme", 1).bound().remaining, 4);
}

// As while programs are brought up to date one after the other: nothing comes free, and nobody is
// locked out.
inline void Suite::serves_two_rules_of_one_count() {
  const limit::Policy wide =
      policy("both", limit::SlidingWindow{{.count = 20, .period = Duration::hours(2)}});
  const limit::Policy narrow =
      policy("both", limit::SlidingWindow{{.count = 10, .period = Duration::hours(1)}});
  EXPECT_TRUE(check(wide, "k", 20).allowed);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(check(narrow, "k").allowed);
    EXPECT_FALSE(check(wide, "k").allowed);
  }
  test_.advance(Duration::hours(4));
  EXPECT_TRUE(check(narrow, "k", 10).allowed);

  const limit::Policy five = policy("pair", limit::TokenBucket({5, Duration::seconds(1)}, 5));
  const limit::Policy four = policy("pair", limit::TokenBucket({4, Duration::seconds(1)}, 5));
  int admitted = 0;
  for (int i = 0; i < 400; ++i) {
    admitted += check(i % 2 == 0 ? five : four, "k").allowed ? 1 : 0;
    test_.advance(Duration::milliseconds(10));
  }
  EXPECT_GE(admitted, 6 + 4 * 4 - 1);
  EXPECT_LE(admitted, 6 + 4 * 5);
}

inline void Suite::admits_a_crowd_exactly() {
  const limit::Policy wide = bucket("crowd", 99, Duration::hours(1));
  const limit::Policy window =
      policy("crowd window", limit::SlidingWindow{{60, Duration::hours(1)}});
  const limit::Policy log = policy("crowd log", limit::SlidingLog{{70, Duration::hours(1)}});
  std::atomic<int> alone = 0, together = 0;
  std::vector<std::thread> threads;
  const auto ask = [&] {
    const Count set[] = {{&wide, "set"}, {&log, "set"}, {&window, "set"}};
    for (int i = 0; i < 400 / test_.threads; ++i) {
      alone += check(wide, "hot").allowed ? 1 : 0;
      together += check(set).allowed ? 1 : 0;
    }
  };
  if (test_.threads == 1) ask();
  for (int t = 0; t < test_.threads && test_.threads > 1; ++t) threads.emplace_back(ask);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, 100);
  EXPECT_EQ(together, 60);
  EXPECT_EQ(check(wide, "set", 0).bound().remaining, 40) << "refusals charged nobody";
  EXPECT_EQ(check(log, "set", 0).bound().remaining, 10);
}

// The same states, kept in the plainest way.
class Model {
 public:
  limit::Answer check(Counts counts, std::int64_t cost, limit::Now now) {
    std::vector<limit::Member> members;
    for (const Count& count : counts) members.push_back({count.policy, &state(count)});
    return limit::decide(members, {.cost = cost, .holder = ++holder_}, now);
  }
  limit::State& state(const Count& count) {
    Kept& kept = kept_[{count.policy->name, count.key.text()}];
    kept.state.marks = &kept.marks;
    return kept.state;
  }

 private:
  struct Kept {
    limit::State state;
    limit::Marks marks;
  };
  std::map<std::pair<std::string, std::string>, Kept> kept_;
  std::uint64_t holder_ = 0;
};

inline void expect_same(const limit::Answer& found, const limit::Answer& wanted) {
  ASSERT_EQ(found.allowed, wanted.allowed);
  ASSERT_EQ(found.retry_after, wanted.retry_after);
  ASSERT_EQ(found.binding, wanted.binding);
  ASSERT_EQ(found.verdicts.size(), wanted.verdicts.size());
  for (std::size_t i = 0; i < wanted.verdicts.size(); ++i) {
    const limit::Verdict& a = found.verdicts[i];
    const limit::Verdict& b = wanted.verdicts[i];
    ASSERT_EQ(a.allowed, b.allowed) << "policy " << i;
    ASSERT_EQ(a.closed, b.closed) << "policy " << i;
    ASSERT_EQ(a.limit, b.limit) << "policy " << i;
    ASSERT_EQ(a.remaining, b.remaining) << "policy " << i;
    ASSERT_EQ(a.retry_after, b.retry_after) << "policy " << i;
    ASSERT_EQ(a.more_after, b.more_after) << "policy " << i;
    ASSERT_EQ(a.full_after, b.full_after) << "policy " << i;
  }
}

inline void Suite::walks_beside_the_decision() {
  // Every number is whole in microseconds, the finest that every store can tell.
  const limit::Rate rate{4, Duration::seconds(2)};
  const limit::Policy policies[] = {
      policy("walk tokens", limit::TokenBucket(rate, 2)),
      policy("walk window", limit::SlidingWindow{rate}),
      policy("walk log", limit::SlidingLog{{5, Duration::seconds(3)}}),
      policy("walk slots", limit::Concurrency{6, Duration::seconds(4)}),
      policy("walk calendar", limit::Calendar{7, {.unit = limit::CalendarUnit::minute}}),
      policy("walk shadow", limit::SlidingWindow{{2, Duration::seconds(1)}}, {.shadow = true})};
  Model model;
  std::uint64_t dice = 20'261'115;
  const auto roll = [&](std::uint64_t below) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (dice >> 33) % below;
  };
  int allowed = 0;
  for (int step = 0; step < 600; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    test_.advance(Duration::milliseconds(static_cast<std::int64_t>(roll(600))));
    std::vector<Count> counts;
    const std::string key = roll(2) == 0 ? "a" : "b";
    for (const limit::Policy& each : policies) {
      if (roll(2) == 0) counts.push_back({&each, key});
    }
    if (counts.empty()) continue;
    const auto cost = static_cast<std::int64_t>(roll(4));
    if (roll(40) == 0) {
      const Duration shut = Duration::milliseconds(static_cast<std::int64_t>(roll(2'000)));
      close(counts[0], shut);
      limit::Moment& until = model.state(counts[0]).closed_until;
      until = std::max(until, test_.now().moment + shut);
    }
    const limit::Answer wanted = model.check(counts, cost, test_.now());
    expect_same(check(counts, cost), wanted);
    if (::testing::Test::HasFatalFailure()) return;
    allowed += wanted.allowed ? 1 : 0;
  }
  EXPECT_GT(allowed, 100);
  EXPECT_LT(allowed, 500);
}

inline void Suite::run() {
  admits_what_the_bucket_holds();
  counts_by_every_algorithm();
  charges_all_or_none();
  lets_a_shadow_count_and_never_refuse();
  settles_a_reservation_once();
  forgets_a_reservation_that_ran_out();
  lets_nobody_pass_by_a_late_cancel();
  lends_slots();
  renews_all_or_nothing();
  gives_back_resets_and_closes();
  keeps_what_was_used_when_the_rule_changes();
  serves_two_rules_of_one_count();
  admits_a_crowd_exactly();
  walks_beside_the_decision();
}

}  // namespace counter_store_suite

inline void expect_counter_store_conforms(const CounterStoreUnderTest& test) {
  counter_store_suite::Suite(test).run();
}

}  // namespace pawl
