// Goal: an office opens what it stands on, says whether the database is new, and ends in order.
// Method: folders of their own, and venues that nobody serves.
#include "assembly/order_office.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <variant>
#include <vector>

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
  std::vector<Duration> waited;
  std::vector<desk::StoreFailed> failures;
  OrderOffice::Parts parts{.clock = clock,
                           .entropy = entropy,
                           .note =
                               [this](const desk::Note& note) {
                                 if (const auto* failed = std::get_if<desk::StoreFailed>(&note)) {
                                   failures.push_back(*failed);
                                 }
                               },
                           .wants = desk::StoreFailed::What::check,
                           .wait = [this](Duration wait) { waited.push_back(wait); }};
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

// A file where the folder should be: nothing can be opened below it.
TEST_F(OrderOfficeTest, WaitsForADatabaseThatCannotBeOpened) {
  std::ofstream(folder / "below") << "in the way";
  parts.wait = [this](Duration wait) {
    waited.push_back(wait);
    if (waited.size() == 2) std::filesystem::remove(folder / "below");
  };
  const auto office = OrderOffice::open(settings(), parts);
  ASSERT_TRUE(office.has_value()) << office.error().message;
  EXPECT_EQ(waited, (std::vector{Duration::seconds(1), Duration::seconds(2)}));
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[1].what, desk::StoreFailed::What::check);
  EXPECT_EQ(failures[1].attempt, 2);
  EXPECT_EQ(failures[1].max_attempts, 4);
  EXPECT_EQ(failures[1].delay, Duration::seconds(2));
}

TEST_F(OrderOfficeTest, GivesADatabaseUpAfterSevenSeconds) {
  std::ofstream(folder / "below") << "in the way";
  const auto office = OrderOffice::open(settings(), parts);
  ASSERT_FALSE(office.has_value());
  EXPECT_EQ(office.error().code, Code::unavailable);
  EXPECT_EQ(waited,
            (std::vector{Duration::seconds(1), Duration::seconds(2), Duration::seconds(4)}));
  ASSERT_EQ(failures.size(), 4U);
  EXPECT_EQ(failures[3].delay, Duration()) << "that was the last time";
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
