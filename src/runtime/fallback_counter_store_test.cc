// Goal: a lost store stops nobody it need not stop, is not asked in vain, is found again by itself,
// and all of it is seen. Method: the conformance suite while the store answers; then one that is
// lost and comes back by hand, in each mode.
#include "runtime/fallback_counter_store.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "port/counter_store_conformance.h"
#include "runtime/counter_store_fixture.h"

namespace pawl {
namespace {

const Error lost(Code::unavailable, Outcome::unknown, "no answer within 50ms");

struct Fallback {
  explicit Fallback(WhenLost when_lost)
      : store({.when_lost = when_lost,
               .on_change = [this](const auto& status) { changes.push_back(status); }},
              {.clock = clock, .remote = remote, .local = local}) {}

  ManualClock clock;
  MemoryCounterStore remote_memory{clock, {.seed = 1}};
  MemoryCounterStore local{clock, {.seed = 2}};
  TroubledStore remote{remote_memory};
  std::vector<FallbackCounterStore::Status> changes;
  FallbackCounterStore store;

  limit::Policy pace{"pace", limit::TokenBucket({1, Duration::hours(1)}, 2)};
  Count count{&pace, "a tenant whose name is too long for a short string"};
  Counts set{&count, 1};

  void come_back() {
    remote.error.reset();
    clock.advance(bounds::store_lost_wait_max);
  }
};

void expect_conforms(Fallback& fallback) {
  expect_counter_store_conforms({.store = fallback.store,
                                 .advance = [&](Duration d) { fallback.clock.advance(d); },
                                 .now = [&] { return now_of(fallback.clock); }});
}

TEST(FallbackCounterStore, ConformsWhileTheStoreAnswers) {
  for (const WhenLost when_lost : {WhenLost::local, WhenLost::allow, WhenLost::deny}) {
    Fallback fallback(when_lost);
    expect_conforms(fallback);
    EXPECT_TRUE(fallback.changes.empty());
    EXPECT_EQ(fallback.store.status().decided_without, 0u);
  }
}

TEST(FallbackCounterStore, LocallyTheWholeLimitIsThere) {
  Fallback fallback(WhenLost::local);
  ASSERT_TRUE(checked(fallback.store, fallback.set, 2)->allowed);
  fallback.remote.error = lost;
  for (int i = 0; i < 3; ++i) {
    const limit::Answer answer = checked(fallback.store, fallback.set).value();
    EXPECT_TRUE(answer.allowed);
    EXPECT_EQ(answer.bound().remaining, 2 - i);
    EXPECT_EQ(answer.counted_by, limit::CountedBy::process);
  }
  EXPECT_FALSE(checked(fallback.store, fallback.set)->allowed);
  EXPECT_TRUE(fallback.store.health().has_value());
  fallback.come_back();
  const limit::Answer answer = checked(fallback.store, fallback.set).value();
  EXPECT_EQ(answer.bound().remaining, 0) << "it has what it had";
  EXPECT_EQ(answer.counted_by, limit::CountedBy::store);
}

TEST(FallbackCounterStore, AKeyThatTheStoreCannotReadTroublesNoOther) {
  Fallback fallback(WhenLost::local);
  ASSERT_TRUE(checked(fallback.store, fallback.set, 3)->allowed);
  fallback.remote.error = Error(Code::invalid, Outcome::not_applied, "it holds something else");
  EXPECT_EQ(checked(fallback.store, fallback.set)->counted_by, limit::CountedBy::process);
  fallback.remote.error.reset();
  const limit::Answer next = checked(fallback.store, fallback.set).value();
  EXPECT_EQ(next.counted_by, limit::CountedBy::store);
  EXPECT_FALSE(next.allowed) << "its counts are there";
  EXPECT_TRUE(fallback.changes.empty());
}

TEST(FallbackCounterStore, AFewSlowAnswersDoNotMakeALostStore) {
  Fallback fallback(WhenLost::local);
  fallback.remote.slow = true;
  for (int round = 0; round < 3; ++round) {
    fallback.remote.error = lost;
    for (int i = 1; i < bounds::store_lost_failures; ++i) {
      EXPECT_EQ(checked(fallback.store, fallback.set, 0)->counted_by, limit::CountedBy::process);
    }
    fallback.remote.error.reset();
    EXPECT_EQ(checked(fallback.store, fallback.set, 0)->counted_by, limit::CountedBy::store);
  }
  EXPECT_TRUE(fallback.changes.empty());
  fallback.remote.error = lost;
  for (int i = 0; i < bounds::store_lost_failures; ++i) {
    EXPECT_FALSE(fallback.store.status().lost);
    ASSERT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  }
  EXPECT_TRUE(fallback.store.status().lost);
  fallback.come_back();
  EXPECT_EQ(checked(fallback.store, fallback.set, 0)->counted_by, limit::CountedBy::store);
}

TEST(FallbackCounterStore, AllowsUncountedAndSaysSo) {
  Fallback fallback(WhenLost::allow);
  fallback.remote.error = lost;
  for (int i = 0; i < 100; ++i) {
    const limit::Answer answer = checked(fallback.store, fallback.set, 7).value();
    EXPECT_TRUE(answer.allowed);
    EXPECT_EQ(answer.counted_by, limit::CountedBy::nobody);
    EXPECT_EQ(answer.bound().limit, 1);
    EXPECT_EQ(answer.bound().remaining, 3);
  }
  const Reservation first = reserved(fallback.store, fallback.set).value();
  const Reservation second = reserved(fallback.store, fallback.set).value();
  EXPECT_NE(first.id, 0u);
  EXPECT_NE(first.id, second.id);
  EXPECT_TRUE(
      settled(fallback.store, fallback.set, first.id, Settlement::Kind::commit).has_value());
  EXPECT_EQ(fallback.store.status().decided_without, 102u);
  EXPECT_TRUE(fallback.store.health().has_value());
}

TEST(FallbackCounterStore, DeniesWithTheReason) {
  Fallback fallback(WhenLost::deny);
  fallback.remote.error = lost;
  EXPECT_EQ(checked(fallback.store, fallback.set).error(), lost);
  const Error later = reserved(fallback.store, fallback.set).error();
  EXPECT_EQ(later.code, Code::unavailable);
  EXPECT_EQ(later.outcome, Outcome::not_applied) << "it was not even asked";
  EXPECT_NE(later.message.find(lost.message), std::string::npos) << later.message;
  EXPECT_EQ(fallback.store.health().error(), later);
  EXPECT_EQ(fallback.store.status().decided_without, 0u);
  fallback.come_back();
  EXPECT_TRUE(checked(fallback.store, fallback.set)->allowed);
  EXPECT_TRUE(fallback.store.health().has_value());
}

TEST(FallbackCounterStore, ALostStoreIsNotAskedButByProbes) {
  Fallback fallback(WhenLost::local);
  fallback.remote.error = lost;
  for (int i = 0; i < 1'000; ++i) {
    fallback.clock.advance(Duration::milliseconds(10));
    EXPECT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  }
  // 100 ms, 200 … 3.2 s, then one every 5 s.
  EXPECT_LE(fallback.remote.calls, 8);
  EXPECT_GE(fallback.remote.calls, 6);
  EXPECT_EQ(fallback.store.status().failures, static_cast<std::uint64_t>(fallback.remote.calls));
}

TEST(FallbackCounterStore, OneProbesWhileTheOthersDoNotWait) {
  Fallback fallback(WhenLost::local);
  fallback.remote.error = lost;
  EXPECT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  fallback.come_back();
  fallback.remote.late = true;
  std::vector<limit::CountedBy> by;
  for (int i = 0; i < 3; ++i) {
    fallback.store.check(fallback.set, 0, [&](auto answer) { by.push_back(answer->counted_by); });
  }
  EXPECT_EQ(by, std::vector(2, limit::CountedBy::process));
  EXPECT_TRUE(fallback.store.status().lost);
  fallback.remote.pump();
  EXPECT_EQ(by.back(), limit::CountedBy::store);
  EXPECT_FALSE(fallback.store.status().lost);
}

TEST(FallbackCounterStore, TellsEachChangeOnce) {
  Fallback fallback(WhenLost::local);
  const Instant began = fallback.clock.wall_now();
  fallback.remote.error = lost;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  ASSERT_EQ(fallback.changes.size(), 1u);
  EXPECT_TRUE(fallback.changes[0].lost);
  EXPECT_EQ(fallback.changes[0].why, lost.message);
  EXPECT_EQ(fallback.changes[0].since, began);
  fallback.come_back();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  ASSERT_EQ(fallback.changes.size(), 2u);
  EXPECT_FALSE(fallback.changes[1].lost);
  EXPECT_EQ(fallback.changes[1].since, began + bounds::store_lost_wait_max);
  EXPECT_EQ(fallback.store.status().changes, 2u);
  EXPECT_EQ(fallback.store.status().decided_without, 5u);
}

TEST(FallbackCounterStore, SettlesAReservationWhereItWasMade) {
  Fallback fallback(WhenLost::local);
  const auto settle = [&](std::uint64_t id) {
    return settled(fallback.store, fallback.set, id, Settlement::Kind::cancel);
  };
  const auto left = [&](CounterStore& store) {
    return checked(store, fallback.set, 0)->bound().remaining;
  };
  const Reservation before = reserved(fallback.store, fallback.set).value();
  fallback.remote.error = lost;
  const Reservation meanwhile = reserved(fallback.store, fallback.set).value();
  EXPECT_EQ(meanwhile.answer.counted_by, limit::CountedBy::process);
  EXPECT_EQ(settle(before.id).error().code, Code::unavailable) << "its store is not there";
  fallback.come_back();
  EXPECT_EQ(left(fallback.local), 2);
  EXPECT_TRUE(settle(meanwhile.id).has_value());
  EXPECT_EQ(left(fallback.local), 3);
  EXPECT_EQ(left(fallback.remote_memory), 2);
  EXPECT_TRUE(settle(before.id).has_value());
  EXPECT_EQ(left(fallback.remote_memory), 3);
  EXPECT_EQ(settle(before.id).error().code, Code::not_found);
  EXPECT_EQ(settle(meanwhile.id).error().code, Code::not_found);
  EXPECT_FALSE(fallback.store.status().lost) << "nothing there is an answer too";
}

TEST(FallbackCounterStore, GivesBackWhereItWasCharged) {
  for (const WhenLost when_lost : {WhenLost::local, WhenLost::allow}) {
    Fallback fallback(when_lost);
    const auto left = [&](CounterStore& store) {
      return checked(store, fallback.set, 0)->bound().remaining;
    };
    const auto refund = [&] {
      EXPECT_TRUE(told<void>([&](auto done) {
                    fallback.store.refund(fallback.count, 1, std::move(done));
                  }).has_value());
    };
    ASSERT_TRUE(checked(fallback.store, fallback.set, 2)->allowed);
    fallback.remote.error = lost;
    ASSERT_TRUE(checked(fallback.store, fallback.set, 2)->allowed);
    const std::int64_t left_locally = left(fallback.local);
    fallback.come_back();
    refund();
    EXPECT_EQ(left(fallback.local), when_lost == WhenLost::local ? left_locally + 1 : 3);
    EXPECT_EQ(left(fallback.remote_memory), 1) << "it was not asked for that one";
    ASSERT_TRUE(checked(fallback.store, fallback.set, 1)->allowed);
    refund();
    EXPECT_EQ(left(fallback.remote_memory), 1);
  }
}

TEST(FallbackCounterStore, AClosingHoldsWhenTheStoreIsLostAfterwards) {
  Fallback fallback(WhenLost::local);
  const auto close = [&] {
    return told<void>([&](auto done) {
      fallback.store.close(fallback.count, fallback.clock.wall_now() + Duration::hours(1),
                           std::move(done));
    });
  };
  EXPECT_TRUE(close().has_value());
  EXPECT_FALSE(checked(fallback.store, fallback.set)->allowed);
  fallback.remote.error = lost;
  EXPECT_FALSE(checked(fallback.store, fallback.set)->allowed);
  EXPECT_FALSE(close().has_value()) << "the other processes have not heard it";
  ASSERT_FALSE(told<void>([&](auto done) {
                 fallback.store.reset(fallback.count, std::move(done));
               }).has_value());
  EXPECT_TRUE(checked(fallback.store, fallback.set)->allowed) << "it is open here";
}

TEST(FallbackCounterStore, ALateAnswerMayComeWhenItIsGone) {
  auto fallback = std::make_unique<Fallback>(WhenLost::local);
  int told = 0;
  {
    FallbackCounterStore brief(
        {}, {.clock = fallback->clock, .remote = fallback->remote, .local = fallback->local});
    fallback->remote.late = true;
    fallback->remote.error = lost;
    brief.check(fallback->set, 1, [&](const auto& answer) { told += answer.has_value() ? 1 : 0; });
  }
  fallback->remote.pump();
  EXPECT_EQ(told, 1);
}

TEST(FallbackCounterStore, ThreadsSeeItLostAndFoundWithoutHarm) {
  Fallback fallback(WhenLost::local);
  fallback.remote.error = lost;
  ASSERT_TRUE(checked(fallback.store, fallback.set, 0).has_value());
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) answers += checked(fallback.store, fallback.set, 0) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers, 2'000);
  EXPECT_EQ(fallback.remote.calls, 1);
}

}  // namespace
}  // namespace pawl
