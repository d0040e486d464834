// Goal: what was done under a key is found, set right and forgotten as its state allows.
// Method: the embedded stores, with a clock moved by hand; a second Idempotency on the same file.
#include "pawl/idempotency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pawl/executor.h"
#include "runtime/manual_clock.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

Idempotency open(const std::string& store, Clock* clock = nullptr) {
  auto made = Idempotency::make({.store = store}, clock);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

TEST(Idempotency, ManagerOperationsRecordCheckAndClear) {
  Idempotency keys = open("memory");
  EXPECT_EQ(keys.check("acme", "k").value(), std::nullopt);
  EXPECT_TRUE(keys.record("acme", "k", "result"));
  const auto kept = keys.check("acme", "k").value();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->state, KeyState::done);
  EXPECT_EQ(kept->result, "result");
  EXPECT_EQ(keys.check("other", "k").value(), std::nullopt) << "a key belongs to its tenant";
  EXPECT_TRUE(keys.clear("acme", "k"));
  EXPECT_EQ(keys.check("acme", "k").value(), std::nullopt);
  EXPECT_EQ(keys.clear("acme", "k").error().code, Code::not_found);
}

TEST(Idempotency, AnEmptyResultIsAResult) {
  Idempotency keys = open("memory");
  EXPECT_TRUE(keys.record("", "k", ""));
  const auto kept = keys.check("", "k").value();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->state, KeyState::done);
  EXPECT_EQ(kept->result, "");
}

TEST(Idempotency, AnEmptyResultIsAHitForAnExecutorToo) {
  auto executor = Executor::make();
  ASSERT_TRUE(executor);
  int calls = 0;
  const auto empty = [&](const Attempt&) -> Result<std::string> {
    ++calls;
    return "";
  };
  for (int i = 0; i < 2; ++i) {
    const auto answer = executor->execute_with_retry("RETRY_API_REQUEST", "delete", empty,
                                                     {.idempotency_key = "k"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, "");
  }
  EXPECT_EQ(calls, 1);
}

TEST(Idempotency, WhatIsKeptIsNotOverwritten) {
  Idempotency keys = open("memory");
  EXPECT_TRUE(keys.record("", "k", "first"));
  const Result<void> second = keys.record("", "k", "second");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::refused);
  EXPECT_THAT(second.error().message, HasSubstr("done"));
  EXPECT_EQ(keys.check("", "k").value()->result, "first");
}

TEST(Idempotency, ResultsSurviveARestartAndEndWithTheirTime) {
  const TempFolder folder;
  const std::string store = "sqlite:" + (folder / "keys.db");
  ManualClock clock;
  EXPECT_TRUE(open(store, &clock).record("acme", "k", "kept"));
  EXPECT_EQ(open(store, &clock).check("acme", "k").value()->result, "kept");
  clock.advance(Duration::hours(24) + Duration::seconds(1));
  EXPECT_EQ(open(store, &clock).check("acme", "k").value(), std::nullopt);
}

TEST(Idempotency, AnExecutorGoesByTheSameKeysAndAPersonSettlesThem) {
  auto executor = Executor::make();
  ASSERT_TRUE(executor);
  int calls = 0;
  const auto silent = [&](const Attempt&) -> Result<std::string> {
    ++calls;
    return std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer"));
  };
  const ExecuteOptions how{.idempotency_key = "k", .tenant_id = "acme"};
  EXPECT_EQ(executor->execute_with_retry("RETRY_API_REQUEST", "charge", silent, how).error().code,
            Code::unresolved);
  Idempotency& keys = executor->idempotency();
  EXPECT_EQ(keys.check("acme", "k").value()->state, KeyState::unknown);
  EXPECT_EQ(keys.settle("acme", "k", Outcome::unknown).error().code, Code::usage);
  EXPECT_TRUE(keys.settle("acme", "k", Outcome::applied, "charge 17"));
  EXPECT_EQ(executor->execute_with_retry("RETRY_API_REQUEST", "charge", silent, how).value(),
            "charge 17");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(keys.settle("acme", "k", Outcome::not_applied).error().code, Code::refused);
}

TEST(Idempotency, ListsTheNewestFirst) {
  ManualClock clock;
  Idempotency keys = open("memory", &clock);
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_TRUE(keys.record("acme", key, "r"));
    clock.advance(Duration::seconds(1));
  }
  EXPECT_TRUE(keys.record("other", "d", "r"));
  const auto of_acme = keys.list("acme", 2).value();
  ASSERT_EQ(of_acme.size(), 2u);
  EXPECT_EQ(of_acme[0].key, "c");
  EXPECT_EQ(of_acme[1].key, "b");
  EXPECT_EQ(keys.list().value().size(), 4u);
}

TEST(Idempotency, AStoreThatGivesLessDurabilityThanAskedIsRefused) {
  const auto made = Idempotency::make({.store = "memory", .durability = Durability::fsync});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::invalid);
  EXPECT_THAT(made.error().message, HasSubstr("fsync"));
  EXPECT_FALSE(Idempotency::make({.store = "cupboard"}));
}

TEST(IdempotencyKey, IsTheSameWhateverTheOrderOfMembers) {
  const auto key = [](std::string_view params) {
    return compute_idempotency_key("charge", "acme", "order-17", params);
  };
  EXPECT_EQ(key(R"({"a":1,"b":{"c":2,"d":3}})").value(),
            key(R"({"b":{"d":3,"c":2},"a":1})").value());
  EXPECT_NE(key(R"({"a":1})").value(), key(R"({"a":2})").value());
  EXPECT_EQ(key("{}").value().size(), 64u);
  EXPECT_FALSE(key("{"));
}

}  // namespace
}  // namespace pawl
