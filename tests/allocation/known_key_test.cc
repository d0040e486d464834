// Goal: a decision on a key that is known asks for no memory. Method: this program replaces
// operator new by one that counts; so it is a program of its own, and does not blunt the
// sanitizers' look at other tests.
#include <array>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <string>

#include "adapter/memory/memory_counter_store.h"
#include "runtime/manual_clock.h"

namespace {

thread_local int allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  std::abort();
}
void* counted(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  std::abort();
}

}  // namespace

// The other forms of new and delete are defined by way of these.
void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace pawl {
namespace {

constexpr int times = 1'000;
constexpr limit::Rate ample = {1'000'000, Duration::hours(1)};

template <class Call>
int allocations_of(Call call) {
  const int before = allocations;
  for (int i = 0; i < times; ++i) call();
  return allocations - before;
}

class KnownKey : public ::testing::Test {
 protected:
  ManualClock clock_;
  MemoryCounterStore store_{clock_};

  int allocations_of_checks(Counts counts) {
    EXPECT_TRUE(store_.check_now(counts, 1).allowed);
    bool allowed = true;
    const int found = allocations_of([&] {
      clock_.advance(Duration::microseconds(1));
      allowed = store_.check_now(counts, 1).allowed && allowed;
    });
    EXPECT_TRUE(allowed);
    return found;
  }
};

TEST_F(KnownKey, TakesNoMemoryUnderAnyAlgorithmThatKeepsACell) {
  const std::array policies = {
      limit::Policy("bucket", limit::TokenBucket(ample, 10'000)),
      limit::Policy("window", limit::SlidingWindow{ample}),
      limit::Policy("month", limit::Calendar{.count = 1'000'000, .rule = {}}),
  };
  for (const limit::Policy& policy : policies) {
    const Count by_name{&policy, "a tenant whose name fits in no small string"};
    const Count by_id{&policy, limit::KeyId{1, 2}};
    EXPECT_EQ(allocations_of_checks({&by_name, 1}), 0) << policy.name;
    EXPECT_EQ(allocations_of_checks({&by_id, 1}), 0) << policy.name;
  }
}

TEST_F(KnownKey, TakesNoMemoryInASetOfPolicies) {
  const limit::Policy everyone("everyone", limit::TokenBucket(ample, 10'000));
  const limit::Policy tenant("tenant", limit::SlidingWindow{ample});
  const limit::Policy route("route", limit::TokenBucket(ample, 20'000));
  const std::array<Count, 3> counts = {{{&everyone, ""}, {&tenant, "acme"}, {&route, "acme /x"}}};
  EXPECT_EQ(allocations_of_checks(counts), 0);
}

TEST_F(KnownKey, TakesNoMemoryWhenItIsRefused) {
  const limit::Policy policy("slow", limit::TokenBucket({1, Duration::hours(1)}, 0));
  const Count count{&policy, "acme"};
  EXPECT_TRUE(store_.check_now({&count, 1}, 1).allowed);
  bool allowed = false;
  EXPECT_EQ(allocations_of([&] { allowed |= store_.check_now({&count, 1}, 1).allowed; }), 0);
  EXPECT_FALSE(allowed);
}

TEST_F(KnownKey, TakesNoMemoryThroughThePort) {
  const limit::Policy policy("bucket", limit::TokenBucket(ample, 10'000));
  const Count count{&policy, "acme"};
  CounterStore& port = store_;
  int allowed = 0;
  const auto check = [&] {
    port.check({&count, 1}, 1,
               [&](const Result<limit::Answer>& answer) { allowed += answer && answer->allowed; });
  };
  check();
  EXPECT_EQ(allocations_of(check), 0);
  EXPECT_EQ(allowed, times + 1);
}

TEST_F(KnownKey, IsToldFromOneThatDoesTakeMemory) {
  EXPECT_GE(allocations_of([] { ASSERT_NE(std::make_unique<std::string>(100, 'x'), nullptr); }),
            times);
}

}  // namespace
}  // namespace pawl
