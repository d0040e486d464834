// Goal: a stack of stores ends when all that was asked is answered, and not before; what is cut off
// is answered too, and nothing is asked of a store that is gone. Method: the conformance suite;
// then stores that answer by hand, below a split store whose answers lead to further asks.
#include "runtime/drainable_counter_store.h"

#include <gtest/gtest.h>
#include <thread>

#include "port/counter_store_conformance.h"
#include "runtime/counter_store_fixture.h"
#include "runtime/split_counter_store.h"

namespace pawl {
namespace {

TEST(DrainableCounterStore, Conforms) {
  ManualClock clock;
  Drain drain;
  DrainableCounterStore store(drain, std::make_unique<MemoryCounterStore>(clock));
  expect_counter_store_conforms({.store = store,
                                 .advance = [&](Duration d) { clock.advance(d); },
                                 .now = [&] { return now_of(clock); }});
  EXPECT_TRUE(drain.wait_until_idle(Duration()));
}

// A settlement that both stores have to hear of, one after the other.
struct Stack {
  Stack() {
    const Result<Reservation> reserved = pawl::reserved(split, set);
    slow_others->late = slow_calendar->late = true;
    split.settle(set, reserved->id, {.kind = Settlement::Kind::cancel},
                 [this](Result<void> how) { settled = std::move(how); });
  }

  ManualClock clock;
  MemoryCounterStore others_memory{clock};
  MemoryCounterStore calendar_memory{clock};
  std::unique_ptr<TroubledStore> owned_others = std::make_unique<TroubledStore>(others_memory);
  std::unique_ptr<TroubledStore> owned_calendar = std::make_unique<TroubledStore>(calendar_memory);
  TroubledStore* slow_others = owned_others.get();
  TroubledStore* slow_calendar = owned_calendar.get();
  Drain drain;
  DrainableCounterStore others{drain, std::move(owned_others)};
  DrainableCounterStore calendar{drain, std::move(owned_calendar)};
  SplitCounterStore split{clock, {.calendar = calendar, .others = others}};

  limit::Policy slots{"slots", limit::Concurrency{1, Duration::hours(1)}};
  limit::Policy month{"month", limit::Calendar{5, {.unit = limit::CalendarUnit::month}}};
  Count set[2] = {{&slots, "t"}, {&month, "t"}};
  std::optional<Result<void>> settled;
};

TEST(DrainableCounterStore, IsIdleWhenWhatCameOfTheAnswersIsAnsweredToo) {
  Stack stack;
  EXPECT_FALSE(stack.drain.wait_until_idle(Duration()));
  stack.slow_others->pump();
  EXPECT_EQ(stack.slow_calendar->waiting(), 1u);
  EXPECT_FALSE(stack.drain.wait_until_idle(Duration()));
  std::thread calendars([&] { stack.slow_calendar->pump(); });
  EXPECT_TRUE(stack.drain.wait_until_idle(Duration::minutes(1)));
  calendars.join();
  ASSERT_TRUE(stack.settled && *stack.settled);
}

TEST(DrainableCounterStore, OnceClosedNothingIsAskedOfAStoreThatMayBeGone) {
  Stack stack;
  stack.drain.close();
  stack.calendar.end();
  stack.slow_others->pump();
  ASSERT_TRUE(stack.settled.has_value());
  EXPECT_EQ(stack.settled->error().code, Code::unavailable);
  EXPECT_TRUE(stack.drain.wait_until_idle(Duration()));
  EXPECT_FALSE(stack.calendar.health().has_value());
}

}  // namespace
}  // namespace pawl
