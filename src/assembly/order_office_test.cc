// Goal: an office opens what it stands on, says whether the database is new, and ends in order.
// Method: folders of their own, and venues that nobody serves.
#include "assembly/order_office.h"

#include <gtest/gtest.h>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "port/answer_of.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

class OrderOfficeTest : public ::testing::Test {
 protected:
  OrderOfficeSettings settings() const {
    OrderOfficeSettings made{.database = folder / "below/orders.db"};
    made.okx = okx::OkxOptions{.base_url = "http://127.0.0.1:1",
                               .ws_url = "ws://127.0.0.1:1/ws",
                               .credentials = {.api_key = Secret<std::string>("k"),
                                               .secret_key = Secret<std::string>("s"),
                                               .passphrase = Secret<std::string>("p")}};
    return made;
  }

  TempFolder folder;
  SystemClock clock;
  SystemEntropy entropy;
  OrderOffice::Parts parts{.clock = clock, .entropy = entropy};
};

TEST_F(OrderOfficeTest, MakesItsDatabaseOnce) {
  {
    const auto office = OrderOffice::open(settings(), parts);
    ASSERT_TRUE(office.has_value()) << office.error().message;
    EXPECT_TRUE((*office)->made_database());
    EXPECT_EQ((*office)->venues().size(), 1U);
  }
  const auto again = OrderOffice::open(settings(), parts);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE((*again)->made_database());
  (*again)->close();
  (*again)->close();
}

TEST_F(OrderOfficeTest, BeginsNothingOnceItIsClosed) {
  const auto office = OrderOffice::open(settings(), parts);
  ASSERT_TRUE(office.has_value());
  (*office)->close();
  const order::Order order{.venue = "okx",
                           .instrument = "BTC-USDT",
                           .type = order::Type::market,
                           .size = parse_decimal("1").value()};
  const auto placed = answer_of<Placed>(
      [&](auto done) { (*office)->desk().place({.order = order}, std::move(done)); });
  ASSERT_FALSE(placed.has_value());
  EXPECT_EQ(placed.error().outcome, Outcome::not_applied);
}

TEST_F(OrderOfficeTest, RefusesWhatItCannotUse) {
  OrderOfficeSettings wrong = settings();
  wrong.database = folder.path();
  EXPECT_FALSE(OrderOffice::open(wrong, parts).has_value());
  wrong = settings();
  wrong.placement.settle = Duration() - Duration::seconds(1);
  EXPECT_FALSE(OrderOffice::open(wrong, parts).has_value());
}

TEST_F(OrderOfficeTest, KeepsTokensBesideTheDatabaseUnlessItIsToldWhere) {
  OrderOfficeSettings made = settings();
  EXPECT_EQ(token_file_of(made), "");
  made.saxo = saxo::SaxoOptions{.refresh_token = Secret<std::string>("r")};
  EXPECT_EQ(token_file_of(made), made.database + "-saxo-tokens");
  made.saxo->token_file = "mine";
  EXPECT_EQ(token_file_of(made), "mine");
}

}  // namespace
}  // namespace pawl
