// Goal: what the file says of a category replaces that part of its policy, and no other; the rows
// it has for a classification table are looked at first, and the built-in ones after them.
// Method: configurations as values, and the tables that come of them.
#include "config/retry.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace pawl::config {
namespace {

TEST(PolicyTable, IsThatOfTheDefaultsWithoutAFile) {
  const retry::PolicyTable table = policy_table(Config().retry);
  for (std::size_t i = 0; i < retry::categories_count; ++i) {
    const auto category = static_cast<retry::Category>(i);
    EXPECT_EQ(table.find(category), retry::default_policy(category)) << retry::code(category);
  }
  EXPECT_TRUE(table.own().empty());
}

TEST(PolicyTable, ReplacesWhatIsGivenAndKeepsTheRest) {
  Retry retry;
  retry.policies["RETRY_NATS_CONNECT"].max_attempts = 9;
  retry.policies["RETRY_KV_GET"].jitter = RetryJitter{.kind = retry::Jitter::equal};
  const retry::PolicyTable table = policy_table(retry);
  retry::Policy connect = retry::default_policy(retry::Category::nats_connect);
  connect.max_attempts = 9;
  EXPECT_EQ(table.find(retry::Category::nats_connect), connect);
  retry::Policy get = retry::default_policy(retry::Category::kv_get);
  get.jitter = retry::Jitter::equal;
  EXPECT_EQ(table.find(retry::Category::kv_get), get);
  EXPECT_EQ(table.find(retry::Category::kv_put), retry::default_policy(retry::Category::kv_put));
}

TEST(PolicyTable, TakesEveryMember) {
  Retry retry;
  retry.policies["mine"] = {.max_attempts = 2,
                            .base_delay = Duration::seconds(2),
                            .max_delay = Duration::seconds(3),
                            .min_delay = Duration::seconds(1),
                            .multiplier_milli = 3000,
                            .jitter = RetryJitter{.kind = retry::Jitter::proportional, .milli = 5},
                            .delays = std::vector{Duration::seconds(1)},
                            .deadline = Duration::seconds(9),
                            .attempt_timeout = Duration::seconds(4),
                            .retryable = std::vector<std::string>{"a"},
                            .non_retryable = std::vector<std::string>{"b"}};
  const retry::Policy wanted{.max_attempts = 2,
                             .base_delay = Duration::seconds(2),
                             .max_delay = Duration::seconds(3),
                             .min_delay = Duration::seconds(1),
                             .multiplier_milli = 3000,
                             .jitter = retry::Jitter::proportional,
                             .jitter_milli = 5,
                             .delays = {Duration::seconds(1)},
                             .deadline = Duration::seconds(9),
                             .attempt_timeout = Duration::seconds(4),
                             .retryable = {"a"},
                             .non_retryable = {"b"}};
  EXPECT_EQ(policy_table(retry).own().at("mine"), wanted);
  retry.policies["mine"] = written_out(wanted);
  EXPECT_EQ(policy_table(retry).own().at("mine"), wanted) << "and back";
}

// A row for one status.
RetryRow row_for(int status, retry::Failure failure) {
  return {.status = StatusRange{status, status}, .failure = failure, .outcome = Outcome::unknown};
}

retry::Failure failure_by(const Retry& retry, std::string_view table, int status) {
  return table_of(retry, table).value().classify({.status = status}).failure;
}

TEST(TableOf, IsTheBuiltInOneWithoutAFile) {
  const auto table = table_of(Config().retry, "http").value();
  const auto built_in = retry::http_table();
  EXPECT_TRUE(std::ranges::equal(table.rows(), built_in.rows()));
}

TEST(TableOf, LooksAtTheFileBeforeWhatIsBuiltIn) {
  Retry retry;
  retry.classify["http"] = {row_for(503, retry::Failure::rate_limited),
                            row_for(503, retry::Failure::conflict)};
  EXPECT_EQ(failure_by(retry, "http", 503), retry::Failure::rate_limited);
  EXPECT_EQ(failure_by(retry, "http", 502), retry::Failure::server_error);
}

TEST(TableOf, LooksAtATablesOwnRowsBeforeThoseOfHttp) {
  Retry retry;
  retry.classify["http"] = {row_for(503, retry::Failure::rate_limited),
                            row_for(504, retry::Failure::rate_limited)};
  retry.classify["shop"] = {row_for(503, retry::Failure::conflict)};
  retry.classify["other"] = {row_for(504, retry::Failure::conflict)};
  EXPECT_EQ(failure_by(retry, "shop", 503), retry::Failure::conflict);
  EXPECT_EQ(failure_by(retry, "shop", 504), retry::Failure::rate_limited);
  EXPECT_EQ(failure_by(retry, "shop", 502), retry::Failure::server_error);
  EXPECT_EQ(failure_by(retry, "http", 503), retry::Failure::rate_limited);
}

TEST(TableOf, DoesNotKnowATableThatNobodyDefined) {
  Retry retry;
  retry.classify["shop"];
  retry.classify["http"];
  const auto table = table_of(retry, "shp");
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().code, Code::not_found);
  EXPECT_EQ(table.error().message,
            "there is no classification table 'shp'; take http or shop, or define it in "
            "retry.classify");
}

TEST(TableOf, SaysWhereTheFileHasARow) {
  Retry retry;
  retry.classify["http"] = {row_for(503, retry::Failure::rate_limited)};
  retry.classify["shop"] = {row_for(503, retry::Failure::conflict),
                            row_for(504, retry::Failure::conflict)};
  EXPECT_EQ(path_of_row(retry, "shop", 0), "retry.classify.shop[0]");
  EXPECT_EQ(path_of_row(retry, "shop", 1), "retry.classify.shop[1]");
  EXPECT_EQ(path_of_row(retry, "shop", 2), "retry.classify.http[0]");
  EXPECT_EQ(path_of_row(retry, "shop", 3), "");
  EXPECT_EQ(path_of_row(retry, "http", 0), "retry.classify.http[0]");
  EXPECT_EQ(path_of_row(retry, "http", 1), "");
}

TEST(TableOf, TakesEveryMemberAndWritesItOut) {
  const retry::Row wanted{.transport = retry::Transport::answered,
                          .status_min = 500,
                          .status_max = 599,
                          .code = "TooBusy",
                          .names_effect = true,
                          .means = {retry::Failure::rate_limited, Outcome::not_applied, true}};
  Retry retry;
  retry.classify["http"] = {{.status = StatusRange{500, 599},
                             .code = "TooBusy",
                             .names_effect = true,
                             .failure = retry::Failure::rate_limited,
                             .outcome = Outcome::not_applied,
                             .retryable = true}};
  const auto first = [&] { return table_of(retry, "http").value().rows().front(); };
  EXPECT_EQ(first(), wanted);
  retry::ClassificationTable all = retry::http_table();
  all.prepend({wanted});
  for (const retry::Row& row : all.rows()) {
    retry.classify["http"] = {written_out(row)};
    EXPECT_EQ(first(), row) << "and back";
  }
}

}  // namespace
}  // namespace pawl::config
