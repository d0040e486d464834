// Goal: a program that links pawl hears what is wrong before anything is sent, and an order that
//       could not leave takes nothing from the week. Method: a database in a folder of its own and
//       a venue that nobody serves. What one answers is shown by tests/package with an emulator.
#include "pawl/orders.h"

#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace pawl {
namespace {

class OrdersTest : public ::testing::Test {
 protected:
  OrdersOptions options() const {
    return {.database = folder / "orders.db",
            .max_retries = 0,
            .timeout = Duration::milliseconds(500),
            .okx = OkxAccount{.base_url = "http://127.0.0.1:1",
                              .api_key = "key",
                              .secret_key = "secret",
                              .passphrase = "phrase"}};
  }
  static OrderRequest request(std::string size = "0.1") {
    return {.external_reference = "ref1",
            .order = {.venue = "okx",
                      .instrument = "BTC-USDT-SWAP",
                      .type = OrderType::limit,
                      .size = std::move(size),
                      .price = "50000"}};
  }

  TempFolder folder;
};

TEST_F(OrdersTest, RefusesOptionsThatMakeNoSense) {
  OrdersOptions wrong = options();
  wrong.okx.reset();
  EXPECT_EQ(Orders::make(wrong).error().code, Code::invalid);
  wrong = options();
  wrong.weekly_max_orders = 0;
  EXPECT_EQ(Orders::make(wrong).error().message,
            "Invalid weekly_max_orders, must be positive integer");
  wrong = options();
  wrong.okx->base_url = "https://okx.example";
  wrong.settle = Duration::seconds(15);
  EXPECT_EQ(Orders::make(wrong).error().message,
            "settle is 15s, but a venue may take an order for a copy of one that is 15s old: give "
            "16s or more, unless every venue is an emulator on this machine");
  wrong.okx->base_url = "http://127.0.0.1:1";
  EXPECT_TRUE(Orders::make(wrong).has_value());
  wrong = options();
  wrong.rate_count = 0;
  EXPECT_FALSE(Orders::make(wrong).has_value());
}

TEST_F(OrdersTest, RefusesAnOrderThatNoVenueTakes) {
  auto orders = Orders::make(options());
  ASSERT_TRUE(orders.has_value()) << orders.error().message;
  EXPECT_EQ(orders->place(request("1e3")).error().code, Code::invalid);
  EXPECT_EQ(orders->place(request("")).error().code, Code::invalid);
  OrderRequest strange = request();
  strange.external_reference = "a b";
  EXPECT_EQ(orders->place(strange).error().code, Code::usage);
}

TEST_F(OrdersTest, SaysWhatWouldHappenWithoutAskingAnybody) {
  auto orders = Orders::make(options());
  ASSERT_TRUE(orders.has_value());
  const auto preview = orders->dry_run(request());
  ASSERT_TRUE(preview.has_value()) << preview.error().message;
  EXPECT_TRUE(preview->would_send);
  EXPECT_EQ(preview->quota.limit, 5);
  EXPECT_EQ(orders->status("ref1").error().code, Code::not_found);
}

TEST_F(OrdersTest, TakesNothingFromTheWeekForWhatCouldNotLeave) {
  std::vector<std::string> notes;
  OrdersOptions told = options();
  told.note = [&](const OrderNote& note) { notes.push_back(note.event); };
  auto orders = Orders::make(told);
  ASSERT_TRUE(orders.has_value());
  for (int i = 0; i < 2; ++i) {  // and it may be placed again
    const auto placed = orders->place(request());
    ASSERT_FALSE(placed.has_value());
    EXPECT_EQ(placed.error().code, Code::unavailable);
    EXPECT_EQ(placed.error().outcome, Outcome::not_applied);
    EXPECT_TRUE(placed.error().message.starts_with("Nothing was sent: ")) << placed.error().message;
  }
  const auto kept = orders->status("ref1", false);
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_EQ(kept->status, OrderStatus::rejected) << kept->message;
  EXPECT_EQ(to_string(kept->status), "rejected");
  EXPECT_FALSE(kept->evidence.empty());
  EXPECT_EQ(orders->quota().value().used, 0);
  EXPECT_TRUE(orders->unresolved().value().empty());
  EXPECT_FALSE(notes.empty());
}

}  // namespace
}  // namespace pawl
