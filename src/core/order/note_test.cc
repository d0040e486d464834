// Goal: the log's names, weights and categories are those users search for.
// Method: compared one by one.
#include "core/order/note.h"

#include <gtest/gtest.h>
#include <set>

namespace pawl::order {
namespace {

TEST(Note, HasTheNamesOfTheLog) {
  EXPECT_EQ(to_string(Told::executing_operation), "executing_operation");
  EXPECT_EQ(to_string(Told::conflict_no_retry), "conflict_no_retry");
  EXPECT_EQ(to_string(Told::max_retries_exhausted), "max_retries_exhausted");
  EXPECT_EQ(to_string(Told::no_order_found_retrying), "no_order_found_retrying");
  EXPECT_EQ(to_string(Told::order_not_saved), "order_not_saved");
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Told::order_not_saved); ++i) {
    names.insert(to_string(static_cast<Told>(i)));
  }
  EXPECT_EQ(names.size(), 18u);
}

TEST(Note, WeighsWhatNeedsAPerson) {
  EXPECT_EQ(weight_of(Told::executing_operation), Weight::info);
  EXPECT_EQ(weight_of(Told::operation_failed), Weight::warning);
  EXPECT_EQ(weight_of(Told::order_save_retry), Weight::warning);
  EXPECT_EQ(weight_of(Told::conflict_no_retry), Weight::error);
  EXPECT_EQ(weight_of(Told::order_unresolved), Weight::error);
}

TEST(Note, PutsAnswersIntoCategories) {
  EXPECT_EQ(category_of({.sent = Sent::rate_limited, .status = 429}), "rate_limited");
  EXPECT_EQ(category_of({.sent = Sent::duplicate, .status = 409}), "conflict");
  EXPECT_EQ(category_of({.sent = Sent::refused, .status = 400}), "client_error");
  EXPECT_EQ(category_of({.sent = Sent::unknown, .status = 503}), "server_error");
  EXPECT_EQ(category_of({.sent = Sent::unknown}), "transient_network");
  EXPECT_EQ(category_of({.sent = Sent::not_sent}), "transient_network");
  EXPECT_EQ(category_of({.sent = Sent::unknown, .status = 200}), "unknown");
  EXPECT_EQ(category_of({.sent = Sent::unknown, .status = 202, .code = "TradeNotCompleted"}),
            "trade_not_completed");
}

}  // namespace
}  // namespace pawl::order
