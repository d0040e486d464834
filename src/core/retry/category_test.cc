// Goal: users find their categories by the codes they know. Method: the whole list, word for word.
#include "core/retry/category.h"

#include <array>
#include <gtest/gtest.h>

namespace pawl::retry {
namespace {

constexpr std::array<std::string_view, categories_count> codes = {"RETRY_NATS_CONNECT",
                                                                  "RETRY_NATS_PUBLISH",
                                                                  "RETRY_NATS_SUBSCRIBE",
                                                                  "RETRY_NATS_STREAM_CREATE",
                                                                  "RETRY_KV_CREATE",
                                                                  "RETRY_KV_GET",
                                                                  "RETRY_KV_PUT",
                                                                  "RETRY_KV_DELETE",
                                                                  "RETRY_EXECUTION_INTENT",
                                                                  "RETRY_EXECUTION_CONTAINMENT",
                                                                  "RETRY_EXECUTION_EXPIRATION",
                                                                  "RETRY_APPROVAL_CHECK",
                                                                  "RETRY_APPROVAL_GRANT",
                                                                  "REPLAY_REPLAY_PROCESSING",
                                                                  "REPLAY_REPLAY_VALIDATION",
                                                                  "RETRY_API_REQUEST",
                                                                  "RETRY_API_VALIDATION"};

TEST(Category, EachHasItsCodeAndIsFoundByIt) {
  for (std::size_t i = 0; i < categories_count; ++i) {
    const auto category = static_cast<Category>(i);
    EXPECT_EQ(code(category), codes[i]);
    EXPECT_EQ(category_of(codes[i]), category);
  }
  EXPECT_EQ(code(Category::kv_get), "RETRY_KV_GET");
  EXPECT_EQ(code(Category::execution_intent), "RETRY_EXECUTION_INTENT");
  EXPECT_EQ(code(Category::api_validation), "RETRY_API_VALIDATION");
}

TEST(Category, TheReplayCodesAreFoundUnderBothNames) {
  EXPECT_EQ(category_of("RETRY_REPLAY_PROCESSING"), Category::replay_processing);
  EXPECT_EQ(category_of("RETRY_REPLAY_VALIDATION"), Category::replay_validation);
  EXPECT_EQ(code(Category::replay_processing), "REPLAY_REPLAY_PROCESSING");
  EXPECT_EQ(code(Category::replay_validation), "REPLAY_REPLAY_VALIDATION");
}

TEST(Category, NothingElseIsOne) {
  for (const std::string_view none :
       {"", "RETRY_", "RETRY_KV_GE", "RETRY_KV_GETS", "retry_kv_get", "REPLAY_KV_GET"}) {
    EXPECT_EQ(category_of(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace pawl::retry
