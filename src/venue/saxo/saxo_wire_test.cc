// Goal: an order reaches Saxo with the digits it was given, and with all that Saxo insists on.
// Method: whole bodies, byte by byte; each thing that check() refuses.
#include "venue/saxo/saxo_wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "venue/common/wire.h"

namespace pawl::saxo {
namespace {

using order::Order;
using order::Type;
using order::Validity;

Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

const Account account{.client_key = "client|1", .account_key = "account=="};

Order limit_order() {
  return {.venue = "saxo",
          .instrument = "211",
          .asset_type = "Stock",
          .type = Type::limit,
          .size = decimal("10"),
          .price = decimal("150.10")};
}

TEST(SaxoWire, WritesALimitOrderWithItsDigits) {
  EXPECT_EQ(place_body(limit_order(), "ref-1", account),
            R"({"AccountKey":"account==","Amount":10,"AssetType":"Stock","BuySell":"Buy",)"
            R"("ExternalReference":"ref-1","ManualOrder":false,)"
            R"("OrderDuration":{"DurationType":"DayOrder"},"OrderPrice":150.10,)"
            R"("OrderType":"Limit","Uic":211})");
}

TEST(SaxoWire, WritesAMarketOrderWithoutAPrice) {
  Order order = limit_order();
  order.type = Type::market;
  order.side = order::Side::sell;
  const std::string body = place_body(order, "ref-1", account);
  EXPECT_EQ(body.find("Price"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("BuySell":"Sell")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("OrderType":"Market")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("DurationType":"DayOrder")"), std::string::npos) << body;
}

TEST(SaxoWire, WakesAStopOrderByItsStopPrice) {
  Order order = limit_order();
  order.stop_price = decimal("149.5");
  order.type = Type::stop_limit;
  const std::string both = place_body(order, "ref-1", account);
  EXPECT_NE(both.find(R"("OrderPrice":149.5,)"), std::string::npos) << both;
  EXPECT_NE(both.find(R"("StopLimitPrice":150.10)"), std::string::npos) << both;
  order.type = Type::stop;
  order.price.reset();
  EXPECT_NE(place_body(order, "r", account).find(R"("OrderType":"StopIfTraded")"),
            std::string::npos);
  order.asset_type = "FxSpot";
  EXPECT_NE(place_body(order, "r", account).find(R"("OrderType":"Stop")"), std::string::npos);
}

TEST(SaxoWire, HasAWordForEveryValidity) {
  const std::pair<Validity, std::string_view> words[] = {{Validity::day, "DayOrder"},
                                                         {Validity::gtc, "GoodTillCancel"},
                                                         {Validity::ioc, "ImmediateOrCancel"},
                                                         {Validity::fok, "FillOrKill"}};
  for (const auto& [validity, word] : words) {
    Order order = limit_order();
    order.validity = validity;
    EXPECT_NE(place_body(order, "r", account).find(word), std::string::npos) << word;
  }
}

TEST(SaxoWire, SaysWhetherAPersonDecided) {
  Account person = account;
  person.manual = true;
  EXPECT_NE(place_body(limit_order(), "r", person).find(R"("ManualOrder":true)"),
            std::string::npos);
}

TEST(SaxoWire, AsksInAPrecheckForCostsAndMargin) {
  const auto body = json::parse(precheck_body(limit_order(), "r", account)).value();
  EXPECT_EQ(json::print(*body.find("FieldGroups")), R"(["Costs","MarginImpactBuySell"])");
  EXPECT_EQ(venue::text_of(body, "Uic"), "211");
}

TEST(SaxoWire, ChangesAnOrderBySendingTheWholeOfIt) {
  const ChangeAsk ask{.order = limit_order(),
                      .reference = "ref-1",
                      .order_id = "55024416",
                      .change = {.size = decimal("7"), .price = decimal("151.00")}};
  EXPECT_EQ(change_body(ask, account),
            R"({"AccountKey":"account==","Amount":7,"AssetType":"Stock","BuySell":"Buy",)"
            R"("ExternalReference":"ref-1","ManualOrder":false,)"
            R"("OrderDuration":{"DurationType":"DayOrder"},"OrderId":"55024416",)"
            R"("OrderPrice":151.00,"OrderType":"Limit","Uic":211})");
}

TEST(SaxoWire, RefusesWhatSaxoDoesNotTake) {
  EXPECT_TRUE(check(limit_order(), "ref-1"));
  EXPECT_TRUE(check(limit_order(), std::string(50, 'r')));
  EXPECT_FALSE(check(limit_order(), std::string(51, 'r')));
  EXPECT_FALSE(check(limit_order(), ""));
  const auto refused = [](auto change) {
    Order order = limit_order();
    change(order);
    return !check(order, "ref-1");
  };
  EXPECT_TRUE(refused([](Order& order) { order.instrument = "BTC-USDT"; }));
  EXPECT_TRUE(refused([](Order& order) { order.instrument = "0211"; }));
  EXPECT_TRUE(refused([](Order& order) { order.instrument = "99999999999"; }));
  EXPECT_TRUE(refused([](Order& order) { order.instrument = "1,\"x\":2"; }));
  EXPECT_TRUE(refused([](Order& order) { order.asset_type = ""; }));
  EXPECT_TRUE(refused([](Order& order) { order.asset_type = "Stock\""; }));
  EXPECT_TRUE(refused([](Order& order) { order.type = Type::post_only; }));
  EXPECT_TRUE(refused([](Order& order) { order.trade_mode = "cash"; }));
  EXPECT_TRUE(refused([](Order& order) { order.position_side = "long"; }));
  EXPECT_TRUE(refused([](Order& order) {
    order.type = Type::market;
    order.price.reset();
    order.validity = Validity::gtc;
  }));
  EXPECT_FALSE(refused([](Order& order) { order.reduce_only = true; }));
}

RC_GTEST_PROP(SaxoWire, KeepsEveryDigit, ()) {
  const auto digits = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  const auto scale = *rc::gen::inRange<std::size_t>(0, 8);
  std::string text = std::to_string(digits);
  if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
  if (scale > 0) text.insert(text.size() - scale, 1, '.');
  Order order = limit_order();
  order.size = decimal(text);
  order.price = order.size;
  const auto body = json::parse(place_body(order, "r", account)).value();
  RC_ASSERT(venue::text_of(body, "Amount") == text);
  RC_ASSERT(venue::text_of(body, "OrderPrice") == text);
}

}  // namespace
}  // namespace pawl::saxo
