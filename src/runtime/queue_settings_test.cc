// Goal: a queue is made once, and opened with the settings it was made with. Method: a store in
//       memory that loses answers.
#include "runtime/queue_settings.h"

#include <gtest/gtest.h>

#include "adapter/memory/memory_object_store.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using Call = MemoryObjectStore::Call;
using Fault = MemoryObjectStore::Fault;

class QueueSettings : public ::testing::Test {
 protected:
  Result<queue::Settings> open(WantedSettings wanted) {
    Result<queue::Settings> result = failure(Code::internal, "nobody answered");
    open_queue_settings(store, wanted,
                        [&](Result<queue::Settings> got) { result = std::move(got); });
    return result;
  }

  ManualClock clock;
  MemoryObjectStore store{clock};
};

TEST_F(QueueSettings, AreThoseItWasMadeWith) {
  EXPECT_EQ(open({.shards = 4})->shards, 4U);
  EXPECT_EQ(open({})->shards, 4U);
  EXPECT_EQ(open({.shards = 4})->shards, 4U);
  EXPECT_EQ(store.counts().puts, 1U);
}

TEST_F(QueueSettings, OtherOnesAreRefusedByName) {
  ASSERT_TRUE(open({.shards = 4}));
  const auto other = open({.shards = 2});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "the queue at memory was made with shards: 4, and these settings say 2: it stays as "
            "it was made; change the settings");
}

TEST_F(QueueSettings, WhatNobodyNamesIsAsItIs) {
  ASSERT_TRUE(open({.shards = 4, .kept = Duration::hours(1)}));
  EXPECT_EQ(open({.shards = 4})->kept, Duration::hours(1));
  EXPECT_EQ(open({.kept = Duration::hours(1)})->shards, 4U);
  EXPECT_EQ(open({.kept = Duration::hours(2)}).error().message,
            "the queue at memory was made with kept: 1h, and these settings say 2h: it stays as it "
            "was made; change the settings");
}

TEST_F(QueueSettings, TasksAreKeptForLongEnoughToBeAskedForAgain) {
  const auto shorter = open({.kept = Duration::minutes(5) - Duration::seconds(1)});
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().code, Code::invalid);
  EXPECT_EQ(store.counts().puts, 0U);
  EXPECT_TRUE(open({.kept = Duration::minutes(5)}));
}

TEST_F(QueueSettings, ALostAnswerIsReadBack) {
  store.set_faults([](Call call, const std::string&) {
    return call == Call::put ? Fault::lost_answer : Fault::none;
  });
  EXPECT_EQ(open({.shards = 3})->shards, 3U);
}

TEST_F(QueueSettings, AStoreThatIsAwayIsSaidToBe) {
  store.set_faults([](Call, const std::string&) { return Fault::failed; });
  EXPECT_EQ(open({}).error().code, Code::unavailable);
  store.set_faults([](Call call, const std::string&) {
    return call == Call::put ? Fault::lost_request : Fault::none;
  });
  EXPECT_FALSE(open({}));
}

}  // namespace
}  // namespace pawl
