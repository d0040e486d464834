// Goal: every category has the policy its users were promised, what a configuration may say is
// bounded, and the lists of kinds contradict nobody. Method: the matrix row by row; each member of
// a policy at and beyond its ends.
#include "core/retry/policy.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::retry {
namespace {

struct Expected {
  std::string_view code;
  int max_attempts;
  std::int64_t base_ms;
  std::int64_t max_seconds;
};

constexpr Expected matrix[] = {
    {"RETRY_NATS_CONNECT", 5, 1000, 30},
    {"RETRY_NATS_PUBLISH", 3, 500, 10},
    {"RETRY_NATS_SUBSCRIBE", 3, 500, 10},
    {"RETRY_NATS_STREAM_CREATE", 2, 2000, 60},
    {"RETRY_KV_CREATE", 2, 1000, 30},
    {"RETRY_KV_GET", 3, 500, 10},
    {"RETRY_KV_PUT", 3, 500, 10},
    {"RETRY_KV_DELETE", 2, 1000, 30},
    {"RETRY_EXECUTION_INTENT", 2, 2000, 60},
    {"RETRY_EXECUTION_CONTAINMENT", 2, 2000, 60},
    {"RETRY_EXECUTION_EXPIRATION", 1, 1000, 30},
    {"RETRY_APPROVAL_CHECK", 3, 1000, 30},
    {"RETRY_APPROVAL_GRANT", 2, 2000, 60},
    {"REPLAY_REPLAY_PROCESSING", 1, 1000, 30},
    {"REPLAY_REPLAY_VALIDATION", 2, 1000, 30},
    {"RETRY_API_REQUEST", 3, 1000, 30},
    {"RETRY_API_VALIDATION", 2, 500, 10},
};

TEST(RetryPolicy, PolicyRetrievalGivesEachCategoryItsRowOfTheMatrix) {
  static_assert(std::size(matrix) == categories_count);
  const PolicyTable table;
  for (const Expected& row : matrix) {
    const auto [policy, known] = table.find(row.code);
    EXPECT_TRUE(known) << row.code;
    EXPECT_EQ(policy->max_attempts, row.max_attempts) << row.code;
    EXPECT_EQ(policy->base_delay, Duration::milliseconds(row.base_ms)) << row.code;
    EXPECT_EQ(policy->max_delay, Duration::seconds(row.max_seconds)) << row.code;
    EXPECT_EQ(policy->multiplier_milli, 2000) << row.code;
    EXPECT_EQ(policy->jitter, Jitter::proportional) << row.code;
    EXPECT_EQ(policy->jitter_milli, 100) << row.code;
    EXPECT_TRUE(check(*policy)) << row.code;
    EXPECT_EQ(*policy, default_policy(*category_of(row.code)));
  }
}

TEST(RetryPolicy, AnUnknownCategoryGetsTheDefaultAndIsToldFromAKnownOne) {
  const PolicyTable table;
  const auto [policy, known] = table.find("RETRY_SOMETHING_ELSE");
  EXPECT_FALSE(known) << "worth a warning";
  EXPECT_EQ(*policy, default_policy());
  EXPECT_EQ(policy->max_attempts, 3);
  EXPECT_EQ(policy->base_delay, Duration::seconds(1));
  EXPECT_EQ(policy->max_delay, Duration::seconds(30));
  EXPECT_TRUE(check(*policy));
}

TEST(RetryPolicy, ATableTakesOverridesOfKnownCategoriesAndNewOnes) {
  PolicyTable table;
  Policy mine;
  mine.max_attempts = 7;
  ASSERT_TRUE(table.set("RETRY_REPLAY_PROCESSING", mine));
  EXPECT_EQ(table.find("REPLAY_REPLAY_PROCESSING").policy->max_attempts, 7) << "one by two names";
  EXPECT_EQ(table.find(Category::replay_processing).max_attempts, 7);
  EXPECT_TRUE(table.own().empty());
  EXPECT_EQ(table.find(Category::replay_validation).max_attempts, 2) << "the others stay";

  ASSERT_TRUE(table.set("SEND_MAIL", mine));
  EXPECT_TRUE(table.find("SEND_MAIL").known);
  EXPECT_EQ(table.find("SEND_MAIL").policy->max_attempts, 7);
  EXPECT_EQ(table.own().size(), 1);
}

TEST(RetryPolicy, ATableRefusesWhatCouldNotBeUsed) {
  PolicyTable table;
  Policy endless;
  endless.max_attempts = bounds::retry_attempts_max + 1;
  EXPECT_FALSE(table.set("SEND_MAIL", endless));
  EXPECT_FALSE(table.set("RETRY_KV_GET", endless));
  EXPECT_EQ(table.find(Category::kv_get).max_attempts, 3);
  EXPECT_FALSE(table.set("", {}));
  EXPECT_FALSE(table.set(std::string(bounds::retry_code_bytes_max + 1, 'A'), {}));
  for (std::size_t i = 0; i < bounds::retry_categories_max; ++i) {
    ASSERT_TRUE(table.set("C" + std::to_string(i), {}));
  }
  EXPECT_FALSE(table.set("ONE_MORE", {}));
  EXPECT_TRUE(table.set("C7", {})) << "which is there";
  EXPECT_TRUE(table.set("RETRY_KV_GET", {}));
}

std::string problem(void (*change)(Policy&)) {
  Policy policy;
  change(policy);
  const Result<void> checked = check(policy);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, Code::invalid);
  return checked.error().message;
}

TEST(RetryPolicy, ConfigurationValidationRefusesWhatIsOutOfRangeAndNamesTheRange) {
  EXPECT_EQ(problem([](Policy& p) { p.max_attempts = 0; }),
            "max_attempts is 0: it must be 1 … 100");
  EXPECT_EQ(problem([](Policy& p) { p.max_attempts = 101; }),
            "max_attempts is 101: it must be 1 … 100");
  EXPECT_EQ(problem([](Policy& p) { p.base_delay = Duration::seconds(31); }),
            "base_delay is 31s: it must be 0s … 30s");
  EXPECT_EQ(problem([](Policy& p) { p.base_delay = Duration::seconds(-1); }),
            "base_delay is negative: it must be 0s … 30s");
  EXPECT_EQ(problem([](Policy& p) { p.min_delay = Duration::seconds(31); }),
            "min_delay is 31s: it must be 0s … 30s");
  EXPECT_EQ(problem([](Policy& p) { p.max_delay = Duration::days(8); }),
            "max_delay is 8d: it must be 0s … 7d");
  EXPECT_EQ(problem([](Policy& p) { p.multiplier_milli = 999; }),
            "multiplier is 0.999: it must be 1.0 … 10.0");
  EXPECT_EQ(problem([](Policy& p) { p.multiplier_milli = 10'001; }),
            "multiplier is 10.001: it must be 1.0 … 10.0");
  EXPECT_EQ(problem([](Policy& p) { p.jitter_milli = 1500; }),
            "jitter is 1.5: it must be 0.0 … 1.0");
  EXPECT_EQ(problem([](Policy& p) { p.jitter_milli = -50; }),
            "jitter is -0.05: it must be 0.0 … 1.0");
  EXPECT_EQ(problem([](Policy& p) { p.attempt_timeout = {}; }),
            "attempt_timeout is 0s: it must be 1ms … 1d");
  EXPECT_EQ(problem([](Policy& p) { p.attempt_timeout = Duration::days(2); }),
            "attempt_timeout is 2d: it must be 1ms … 1d");
  EXPECT_EQ(problem([](Policy& p) { p.deadline = Duration::days(400); }),
            "deadline is 400d: it must be 0s … 366d");
  EXPECT_EQ(problem([](Policy& p) { p.delays = {Duration::seconds(1), Duration::hours(1)}; }),
            "delays is 1h: it must be 0s … 30s");
  EXPECT_EQ(problem([](Policy& p) { p.delays.resize(101); }),
            "delays is a list of 101: it must be of at most 100");
  EXPECT_NE(problem([](Policy& p) {
              p.delays = {Duration::seconds(1)};
              p.jitter = Jitter::decorrelated;
            }).find("leave out delays"),
            std::string::npos);
  EXPECT_NE(problem([](Policy& p) { p.retryable = {""}; }).find("retryable has a name of 0"),
            std::string::npos);
  EXPECT_NE(problem([](Policy& p) { p.non_retryable.resize(101, "x"); }).find("a list of 101"),
            std::string::npos);
}

TEST(RetryPolicy, ConfigurationValidationTakesWhatIsWithin) {
  EXPECT_EQ(problem([](Policy& p) { p.max_attempts = 100; }), "");
  EXPECT_EQ(problem([](Policy& p) { p.base_delay = p.max_delay = {}; }), "") << "at once";
  EXPECT_EQ(problem([](Policy& p) { p.base_delay = p.max_delay = p.min_delay; }), "");
  EXPECT_EQ(problem([](Policy& p) { p.multiplier_milli = 1000; }), "");
  EXPECT_EQ(problem([](Policy& p) { p.jitter_milli = 1000; }), "");
  EXPECT_EQ(problem([](Policy& p) {
              p.delays = {Duration::seconds(30), {}};
              p.base_delay = Duration::hours(1);  // is not used then
            }),
            "");
}

// A list that is looked at first must not make the other one dead.
TEST(RetryPolicy, AnExplicitRetryableEntryBeatsANonRetryableOneWhichBeatsTheDefault) {
  const std::string_view value_error[] = {"ValueError"};
  const std::string_view network_error[] = {"NetworkError"};
  Policy policy;
  EXPECT_EQ(listed(policy, value_error), Listed::neither) << "the default: to retry";

  policy.non_retryable = {"ValueError", "TypeError", "KeyError"};
  EXPECT_EQ(listed(policy, value_error), Listed::non_retryable) << "not dead beside the default";
  EXPECT_EQ(listed(policy, network_error), Listed::neither);

  policy.non_retryable = {"ValueError"};
  policy.retryable = {"ValueError", "NetworkError"};
  EXPECT_EQ(listed(policy, value_error), Listed::retryable) << "ValueError wins";
}

TEST(RetryPolicy, AFailureIsListedByAnyOfItsNames) {
  Policy policy;
  policy.non_retryable = {"client_error"};
  const std::string_view names[] = {"client_error", "HttpError"};
  EXPECT_EQ(listed(policy, names), Listed::non_retryable);
  policy.retryable = {"HttpError"};
  EXPECT_EQ(listed(policy, names), Listed::retryable);
  EXPECT_EQ(listed(policy, {}), Listed::neither);
}

TEST(RetryPolicy, NamesOfJitterAndListsAreReadBack) {
  for (int i = 0; i < 5; ++i) {
    const auto jitter = static_cast<Jitter>(i);
    EXPECT_EQ(jitter_of(to_string(jitter)), jitter);
  }
  EXPECT_EQ(to_string(Jitter::decorrelated), "decorrelated");
  EXPECT_EQ(jitter_of("Full"), std::nullopt);
  for (int i = 0; i < 3; ++i) {
    const auto each = static_cast<Listed>(i);
    EXPECT_EQ(listed_of(to_string(each)), each);
  }
  EXPECT_EQ(to_string(Listed::non_retryable), "non_retryable");
  EXPECT_EQ(listed_of(""), std::nullopt);
}

}  // namespace
}  // namespace pawl::retry
