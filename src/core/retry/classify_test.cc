// Goal: what every answer, and every absence of one, means; and that a table can be extended.
// Method: each status and each way to break off, against the rulings.
#include "core/retry/classify.h"

#include <gtest/gtest.h>

namespace pawl::retry {
namespace {

Classification answered(int status, std::string_view code = {}, bool names_effect = false) {
  return http_table().classify({.status = status, .code = code, .names_effect = names_effect});
}

Classification without_answer(Transport transport) {
  return http_table().classify({.transport = transport});
}

constexpr Classification unknown(Failure failure, bool retryable) {
  return {failure, Outcome::unknown, retryable};
}

TEST(Classify, WhatSucceededWasApplied) {
  for (const int status : {200, 201, 202, 204, 299}) {
    EXPECT_EQ(answered(status), (Classification{Failure::none, Outcome::applied, false})) << status;
  }
}

TEST(Classify, WhatTheServerRefusedWasNotApplied) {
  for (const int status : {400, 401, 403, 404, 410, 422, 451, 499}) {
    EXPECT_EQ(answered(status),
              (Classification{Failure::client_error, Outcome::not_applied, false}))
        << status;
  }
  EXPECT_EQ(answered(429), (Classification{Failure::rate_limited, Outcome::not_applied, true}));
  for (const int status : {408, 425}) {
    EXPECT_EQ(answered(status),
              (Classification{Failure::transient_network, Outcome::not_applied, true}));
  }
}

TEST(Classify, ServerErrorsTimeOutsAndBrokenConnectionsAreUnknown) {
  for (const int status : {500, 502, 503, 504, 599}) {
    EXPECT_EQ(answered(status), unknown(Failure::server_error, true)) << status;
  }
  EXPECT_EQ(without_answer(Transport::broke_off), unknown(Failure::transient_network, true));
  EXPECT_EQ(without_answer(Transport::timed_out), unknown(Failure::transient_network, true));
}

TEST(Classify, WhatNeverLeftMayBeSentAtOnce) {
  EXPECT_EQ(without_answer(Transport::not_sent),
            (Classification{Failure::transient_network, Outcome::not_applied, true}));
}

TEST(Classify, TradeNotCompletedIsUnknownWithASuccessfulStatusToo) {
  for (const int status : {202, 400, 504}) {
    for (const bool names_effect : {false, true}) {
      EXPECT_EQ(answered(status, "TradeNotCompleted", names_effect),
                unknown(Failure::trade_not_completed, true))
          << status;
    }
  }
}

TEST(Classify, ARefusalThatNamesAnOrderIsALiveOrder) {
  for (const int status : {400, 408, 429}) {
    EXPECT_EQ(answered(status, "SomethingElse", true), unknown(Failure::trade_not_completed, false))
        << status;
  }
}

TEST(Classify, AConflictMeansThatTheFirstCopyArrived) {
  EXPECT_EQ(answered(409), unknown(Failure::conflict, false));
  EXPECT_EQ(answered(409, "DuplicateRequest", true), unknown(Failure::conflict, false));
  EXPECT_EQ(answered(409, "TradeNotCompleted", true), unknown(Failure::conflict, false));
}

TEST(Classify, WhatNobodyKnowsIsUnknown) {
  for (const int status : {0, 100, 199, 301, 303, 600, 999}) {
    EXPECT_EQ(answered(status), unknown(Failure::unknown, true)) << status;
  }
  EXPECT_EQ(without_answer(Transport::raised), unknown(Failure::unknown, true));
  EXPECT_EQ(ClassificationTable({}).classify({.status = 200}), unknown(Failure::unknown, true));
}

TEST(Classify, RowsThatAreAddedAreLookedAtFirst) {
  ClassificationTable table = http_table();
  const std::size_t before = table.rows().size();
  const Classification taken = unknown(Failure::conflict, false);
  const Classification never = {Failure::client_error, Outcome::not_applied, false};
  table.prepend({{.status_min = 200, .status_max = 299, .code = "51016", .means = taken},
                 {.status_min = 200, .status_max = 299, .code = "50071", .means = taken},
                 {.transport = Transport::raised, .code = "ValueError", .means = never}});
  EXPECT_EQ(table.rows().size(), before + 3);
  EXPECT_EQ(table.classify({.status = 200, .code = "51016"}), taken);
  EXPECT_EQ(table.classify({.status = 200, .code = "50071"}), taken);
  EXPECT_EQ(table.classify({.status = 200, .code = "0"}).failure, Failure::none);
  EXPECT_EQ(table.classify({.transport = Transport::raised, .code = "ValueError"}), never);
  EXPECT_EQ(table.classify({.transport = Transport::raised, .code = "KeyError"}),
            unknown(Failure::unknown, true));
  table.prepend({{.status_min = 200, .status_max = 200, .code = "51016", .means = never}});
  EXPECT_EQ(table.classify({.status = 200, .code = "51016"}), never) << "the latest first";
}

TEST(Classify, ARowIsForTheStatusesItSaysWithBothEnds) {
  const ClassificationTable table(
      {{.status_min = 460, .status_max = 461, .means = unknown(Failure::conflict, false)}});
  EXPECT_EQ(table.classify({.status = 459}).failure, Failure::unknown);
  EXPECT_EQ(table.classify({.status = 460}).failure, Failure::conflict);
  EXPECT_EQ(table.classify({.status = 461}).failure, Failure::conflict);
  EXPECT_EQ(table.classify({.status = 462}).failure, Failure::unknown);
}

TEST(Classify, RowsThatContradictThemselvesAreRefused) {
  const auto bad = [](Row row) { return !check(row).has_value(); };
  const Classification applied = {Failure::none, Outcome::applied, false};
  EXPECT_FALSE(bad({.means = applied}));
  EXPECT_TRUE(bad({.status_min = 500, .status_max = 499, .means = applied}));
  EXPECT_TRUE(bad({.status_min = -1, .means = applied}));
  EXPECT_TRUE(bad({.status_max = 1000, .means = applied}));
  EXPECT_TRUE(bad({.transport = Transport::timed_out, .status_min = 400, .means = {}}));
  EXPECT_TRUE(bad({.means = {Failure::none, Outcome::unknown, false}}));
  EXPECT_TRUE(bad({.means = {Failure::server_error, Outcome::applied, false}}));
  EXPECT_TRUE(bad({.means = {Failure::none, Outcome::applied, true}}));
  const ClassificationTable table = http_table();
  for (const Row& row : table.rows()) EXPECT_FALSE(bad(row));
}

TEST(Classify, AnErrorOfACallerSaysItsOutcomeItself) {
  const auto of = [](Code code, Outcome outcome) { return classify(Error(code, outcome, "")); };
  EXPECT_EQ(of(Code::unavailable, Outcome::not_applied),
            (Classification{Failure::transient_network, Outcome::not_applied, true}));
  EXPECT_EQ(of(Code::unavailable, Outcome::unknown), unknown(Failure::transient_network, true));
  EXPECT_EQ(of(Code::internal, Outcome::unknown), unknown(Failure::server_error, true));
  EXPECT_EQ(of(Code::unresolved, Outcome::unknown), unknown(Failure::unknown, true));
  for (const Code code : {Code::invalid, Code::usage, Code::refused, Code::not_found}) {
    EXPECT_EQ(of(code, Outcome::not_applied),
              (Classification{Failure::client_error, Outcome::not_applied, false}));
  }
}

TEST(Classify, AnErrorThatNamesAWaitIsToComeAgain) {
  Error error(Code::refused, Outcome::not_applied, "too many");
  error.retry_after = Duration::seconds(3);
  EXPECT_EQ(classify(error), (Classification{Failure::rate_limited, Outcome::not_applied, true}));
  error.outcome = Outcome::unknown;
  EXPECT_EQ(classify(error), unknown(Failure::rate_limited, true));
}

TEST(Classify, NamesAreReadBack) {
  for (int i = 0; i < 8; ++i) {
    const auto failure = static_cast<Failure>(i);
    EXPECT_EQ(failure_of(to_string(failure)), failure);
  }
  for (int i = 0; i < 5; ++i) {
    const auto transport = static_cast<Transport>(i);
    EXPECT_EQ(transport_of(to_string(transport)), transport);
  }
  EXPECT_EQ(to_string(Failure::trade_not_completed), "trade_not_completed");
  EXPECT_EQ(to_string(Failure::unknown), "unknown");
  EXPECT_EQ(to_string(Transport::broke_off), "broke_off");
  EXPECT_EQ(failure_of("timeout"), std::nullopt);
  EXPECT_EQ(transport_of(""), std::nullopt);
}

}  // namespace
}  // namespace pawl::retry
