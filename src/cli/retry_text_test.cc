// Goal: an operator sees every policy in force, and what of it is not the default; and what an
// answer means, what follows of it, and which row says so.
// Method: the defaults, and a few changes, as text and as JSON.
#include "cli/retry_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "core/retry/category.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

config::Retry changed() {
  config::Retry retry = config::Config().retry;
  retry.policies["RETRY_API_REQUEST"] = {.max_attempts = 9,
                                         .min_delay = Duration::milliseconds(100),
                                         .retryable = std::vector<std::string>{"a", "b"}};
  retry.policies["mine"].jitter = config::RetryJitter{.kind = retry::Jitter::full};
  return retry;
}

TEST(RetryText, ShowsTheWholeMatrixOfTheDefaults) {
  const std::string text = policies_text(config::Config().retry);
  EXPECT_THAT(
      text,
      HasSubstr(
          "category                     attempts   base  max  multiplier  jitter  deadline  "
          "timeout\n"
          "RETRY_NATS_CONNECT                  5     1s  30s         2.0     0.1      none      "
          "30s\n"));
  for (std::size_t i = 0; i < retry::categories_count; ++i) {
    const auto code = retry::code(static_cast<retry::Category>(i));
    EXPECT_THAT(text, HasSubstr("\n" + std::string(code) + " "));
  }
  EXPECT_THAT(text, HasSubstr("\n(any other) "));
  EXPECT_THAT(text, HasSubstr("budget: 0.2 retries a call, and 10 a second\n"));
  EXPECT_THAT(text, HasSubstr("breaker: opens after 5 failures in a row, for 1s to 1m\n"));
  EXPECT_THAT(text, Not(HasSubstr("*")));
}

TEST(RetryText, MarksWhatIsNotTheDefault) {
  const std::string text = policies_text(changed());
  EXPECT_THAT(text, HasSubstr("RETRY_API_REQUEST                  *9     1s  30s"));
  EXPECT_THAT(text, HasSubstr("*mine"));
  EXPECT_THAT(text, HasSubstr("*full"));
  EXPECT_THAT(text, HasSubstr("\nRETRY_API_REQUEST\n  *min_delay: 100ms\n  *retryable: a, b\n"));
  EXPECT_THAT(text, HasSubstr("* not the default\n"));
  EXPECT_THAT(text, Not(HasSubstr("*2.0")));
}

TEST(RetryText, SaysTheSameToPrograms) {
  const json::Value told = json::parse(policies_json(changed())).value();
  const json::Array& policies = *told.find("policies")->if_array();
  ASSERT_EQ(policies.size(), retry::categories_count + 1);
  const json::Value& api = policies[15];
  EXPECT_EQ(*api.find("category"), "RETRY_API_REQUEST");
  EXPECT_EQ(*api.find("max_attempts"), 9);
  EXPECT_EQ(*api.find("multiplier"), json::Number{"2.0"});
  EXPECT_EQ(*api.find("base_delay"), "1s");
  EXPECT_EQ(*api.find("own"), false);
  EXPECT_EQ(*api.find("changed"), (json::Array{"max_attempts", "min_delay", "retryable"}));
  EXPECT_EQ(*policies[0].find("changed"), json::Array{});
  EXPECT_EQ(*policies[17].find("category"), "mine");
  EXPECT_EQ(*policies[17].find("own"), true);
  EXPECT_EQ(*told.find("any_other")->find("max_attempts"), 3);
  EXPECT_EQ(*told.find("budget")->find("ratio"), json::Number{"0.2"});
  EXPECT_EQ(*told.find("breaker")->find("wait_max"), "1m");
}

config::Retry with_rows() {
  config::Retry retry = config::Config().retry;
  retry.classify["http"] = {{.status = config::StatusRange{503, 503},
                             .failure = retry::Failure::rate_limited,
                             .outcome = Outcome::not_applied,
                             .retryable = true}};
  retry.classify["shop"] = {{.code = "Gone",
                             .names_effect = false,
                             .failure = retry::Failure::unknown,
                             .outcome = Outcome::unknown,
                             .retryable = true},
                            {.transport = retry::Transport::raised,
                             .failure = retry::Failure::client_error,
                             .outcome = Outcome::not_applied}};
  return retry;
}

std::string told(std::string_view table, const retry::Observation& seen) {
  return verdict_text(verdict_of(with_rows(), table, seen).value());
}

TEST(Verdict, SaysWhatAnAnswerMeansAndWhichRowSaysSo) {
  EXPECT_EQ(told("http", {.status = 503}),
            "failure: rate_limited\noutcome: not_applied\nretryable: true\n"
            "then: it may be sent again\n"
            "decided by: retry.classify.http[0] (status: 503)\n");
  EXPECT_EQ(told("http", {.status = 502}),
            "failure: server_error\noutcome: unknown\nretryable: true\n"
            "then: what became of it is found out first; if nothing, it may be sent again\n"
            "decided by: a built-in row (status: 500-599)\n");
  EXPECT_EQ(told("shop", {.transport = retry::Transport::raised, .code = "Oops"}),
            "failure: client_error\noutcome: not_applied\nretryable: false\n"
            "then: it is never sent again\n"
            "decided by: retry.classify.shop[1] (transport: raised)\n");
}

TEST(Verdict, LooksAtTheRowsOfHttpAfterATablesOwn) {
  EXPECT_THAT(told("shop", {.status = 503}), HasSubstr("decided by: retry.classify.http[0] "));
  EXPECT_THAT(told("shop", {.status = 503, .code = "Gone"}),
              HasSubstr("decided by: retry.classify.shop[0] (code: Gone, names_effect: false)\n"));
}

TEST(Verdict, TellsARowThatMeansUnknownFromNoRow) {
  EXPECT_EQ(told("shop", {.status = 200, .code = "Gone"}),
            "failure: unknown\noutcome: unknown\nretryable: true\n"
            "then: what became of it is found out first; if nothing, it may be sent again\n"
            "decided by: retry.classify.shop[0] (code: Gone, names_effect: false)\n");
  EXPECT_EQ(told("http", {.transport = retry::Transport::raised}),
            "failure: unknown\noutcome: unknown\nretryable: true\n"
            "then: what became of it is found out first; if nothing, it may be sent again\n"
            "decided by: no row: nothing matches\n");
}

TEST(Verdict, SaysWhatFollowsAsTheMachineDecidesIt) {
  EXPECT_THAT(told("http", {.status = 200}),
              HasSubstr("then: it has been done, and is never sent again\n"));
  EXPECT_THAT(told("http", {.status = 409}),
              HasSubstr("then: what became of it is found out first; it is never sent again\n"));
  EXPECT_THAT(told("http", {.status = 400}), HasSubstr("then: it is never sent again\n"));
}

TEST(Verdict, SaysTheSameToPrograms) {
  const auto as_json = [](std::string_view table, const retry::Observation& seen) {
    return verdict_json(verdict_of(with_rows(), table, seen).value());
  };
  EXPECT_EQ(as_json("http", {.status = 503}),
            R"({"decided_by":{"path":"retry.classify.http[0]","row":{"failure":"rate_limited",)"
            R"("outcome":"not_applied","retryable":true,"status":"503","transport":"answered"}},)"
            R"("failure":"rate_limited","next":"backoff","outcome":"not_applied",)"
            R"("retryable":true,"then":"it may be sent again"})"
            "\n");
  const json::Value built_in = json::parse(as_json("http", {.status = 404})).value();
  EXPECT_EQ(*built_in.find("decided_by")->find("path"), json::Value());
  EXPECT_EQ(*built_in.find("next"), "give_up");
  const json::Value none =
      json::parse(as_json("http", {.transport = retry::Transport::raised})).value();
  EXPECT_EQ(*none.find("decided_by"), json::Value());
  EXPECT_EQ(*none.find("next"), "reconcile");
}

TEST(Verdict, DoesNotKnowATableThatNobodyDefined) {
  EXPECT_EQ(verdict_of(with_rows(), "shp", {.status = 200}).error().code, Code::not_found);
}

}  // namespace
}  // namespace pawl::cli
