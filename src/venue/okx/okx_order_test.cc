// Goal: what OKX is sent says what the caller meant, and what it has no word for is refused before
// anything is reserved. Method: bodies and refusals by example.
#include "venue/okx/okx_order.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace pawl::okx {
namespace {

using order::Order;
using order::Side;
using order::Type;
using order::Validity;

Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

Order limit_order(std::string instrument) {
  return {.venue = "okx",
          .instrument = std::move(instrument),
          .side = Side::buy,
          .type = Type::limit,
          .size = decimal("0.10"),
          .price = decimal("50000.50")};
}
std::string body_of(const Order& order, PositionMode mode = PositionMode::net) {
  return place_body({.order = order, .reference = "ref1"}, mode);
}
std::string refusal_of(const Order& order) {
  const auto checked = check_order(order);
  return checked ? "taken" : checked.error().message;
}

TEST(OkxOrder, KnowsAnInstrumentByTheFormOfItsName) {
  EXPECT_EQ(kind_of("BTC-USDT"), Kind::spot);
  EXPECT_EQ(kind_of("1INCH-USDC"), Kind::spot);
  EXPECT_EQ(kind_of("BTC-USDT-SWAP"), Kind::swap);
  EXPECT_EQ(kind_of("BTC-USD_UM-SWAP"), Kind::swap);
  EXPECT_EQ(kind_of("BTC-USD-261225"), Kind::futures);
  EXPECT_EQ(kind_of("BTC-USD-261225-50000-C"), Kind::option);
  for (const char* none :
       {"", "BTC", "BTC-", "-USDT", "BTC--SWAP", "btc-usdt", "BTC-USDT-SPOT", "BTC-USDT&x=1",
        "BTC-USD-2612", "BTC-USD-261225-50000-X", "A-B-C-D-E-F", "BTC-USDT-SWAP-"}) {
    EXPECT_FALSE(kind_of(std::string_view(none))) << none;
  }
}

TEST(OkxOrder, WritesALimitOrderWithTheDigitsOfTheCaller) {
  EXPECT_EQ(body_of(limit_order("BTC-USDT")),
            R"({"clOrdId":"ref1","instId":"BTC-USDT","ordType":"limit","px":"50000.50",)"
            R"("side":"buy","sz":"0.10","tdMode":"cash"})");
  EXPECT_EQ(body_of(limit_order("BTC-USDT-SWAP")),
            R"({"clOrdId":"ref1","instId":"BTC-USDT-SWAP","ordType":"limit","px":"50000.50",)"
            R"("side":"buy","sz":"0.10","tdMode":"cross"})");
}

TEST(OkxOrder, SaysThatTheSizeOfASpotMarketOrderIsInBaseCurrency) {
  Order order = limit_order("BTC-USDT");
  order.type = Type::market;
  order.price.reset();
  EXPECT_EQ(body_of(order),
            R"({"clOrdId":"ref1","instId":"BTC-USDT","ordType":"market","side":"buy",)"
            R"("sz":"0.10","tdMode":"cash","tgtCcy":"base_ccy"})");
  order.instrument = "BTC-USDT-SWAP";
  EXPECT_EQ(body_of(order).find("tgtCcy"), std::string::npos);
}

TEST(OkxOrder, SaysReduceOnlyWhereOkxHeedsIt) {
  Order order = limit_order("BTC-USDT-SWAP");
  order.reduce_only = true;
  EXPECT_NE(body_of(order).find(R"("posSide":"net","px":"50000.50","reduceOnly":true)"),
            std::string::npos)
      << body_of(order);
  const std::string before_asking = body_of(order, PositionMode::unknown);
  EXPECT_NE(before_asking.find(R"("reduceOnly":true)"), std::string::npos);
  EXPECT_EQ(before_asking.find("posSide"), std::string::npos);
  EXPECT_EQ(body_of(order, PositionMode::long_short).find("reduceOnly"), std::string::npos);
  order.position_side = "long";
  EXPECT_EQ(body_of(order).find("reduceOnly"), std::string::npos);

  Order spot = limit_order("BTC-USDT");
  spot.reduce_only = true;
  EXPECT_EQ(body_of(spot).find("reduceOnly"), std::string::npos);
  spot.trade_mode = "cross";
  EXPECT_NE(body_of(spot).find(R"("reduceOnly":true)"), std::string::npos);
  EXPECT_EQ(body_of(spot).find("posSide"), std::string::npos);
}

TEST(OkxOrder, ReduceOnlyIsEnforcedInNetModeAndNeverForSpot) {
  Order order = limit_order("BTC-USDT-SWAP");
  EXPECT_FALSE(enforces_reduce_only(order, PositionMode::net)) << "nobody asked for it";
  order.reduce_only = true;
  EXPECT_TRUE(enforces_reduce_only(order, PositionMode::net));
  EXPECT_FALSE(enforces_reduce_only(order, PositionMode::long_short));
  EXPECT_FALSE(enforces_reduce_only(order, PositionMode::unknown));
  order.instrument = "BTC-USD-261225";
  EXPECT_TRUE(enforces_reduce_only(order, PositionMode::net));
  order.instrument = "BTC-USD-261225-50000-C";
  EXPECT_FALSE(enforces_reduce_only(order, PositionMode::net));
  order.instrument = "BTC-USDT";
  EXPECT_FALSE(enforces_reduce_only(order, PositionMode::net));
  order.trade_mode = "isolated";
  EXPECT_TRUE(enforces_reduce_only(order, PositionMode::net)) << "that is MARGIN";
}

TEST(OkxOrder, TypeAndValidityTogetherAreOneWordOfOkx) {
  struct Case {
    Type type;
    std::optional<Validity> validity;
    std::string_view word;
  };
  for (const Case& c :
       {Case{Type::limit, {}, "limit"}, Case{Type::limit, Validity::gtc, "limit"},
        Case{Type::limit, Validity::ioc, "ioc"}, Case{Type::limit, Validity::fok, "fok"},
        Case{Type::post_only, {}, "post_only"}, Case{Type::market, Validity::ioc, "market"}}) {
    Order order = limit_order("BTC-USDT-SWAP");
    order.type = c.type;
    order.validity = c.validity;
    EXPECT_EQ(refusal_of(order), "taken");
    const auto body = json::parse(body_of(order)).value();
    EXPECT_EQ(*body.find("ordType"), json::Value(c.word));
  }
  Order order = limit_order("BTC-USDT");
  order.validity = Validity::day;
  EXPECT_EQ(refusal_of(order), "OKX does not take this order: a limit order cannot be day");
  order.type = Type::market;
  order.validity = Validity::gtc;
  EXPECT_EQ(refusal_of(order), "OKX does not take this order: a market order cannot be gtc");
}

TEST(OkxOrder, RefusesWhatOkxHasNoWordFor) {
  Order order = limit_order("BTC-USDT");
  order.type = Type::stop;
  EXPECT_EQ(refusal_of(order),
            "OKX does not take this order: a stop order is an algo order there, which pawl does "
            "not place");
  order = limit_order("211");
  EXPECT_NE(refusal_of(order).find("'211' is no instrument of OKX"), std::string::npos);
  order = limit_order("BTC-USDT");
  order.asset_type = "Stock";
  EXPECT_NE(refusal_of(order).find("asset type"), std::string::npos);
  order = limit_order("BTC-USDT");
  order.trade_mode = "margin";
  EXPECT_NE(refusal_of(order).find("trade mode is 'margin'"), std::string::npos);
  order = limit_order("BTC-USDT-SWAP");
  order.trade_mode = "cash";
  EXPECT_NE(refusal_of(order).find("not cash"), std::string::npos);
  order = limit_order("BTC-USDT-SWAP");
  order.position_side = "both";
  EXPECT_NE(refusal_of(order).find("position side is 'both'"), std::string::npos);
  order = limit_order("BTC-USDT");
  order.position_side = "long";
  EXPECT_NE(refusal_of(order).find("only FUTURES and SWAP"), std::string::npos);
}

TEST(OkxOrder, RefusesASizeThatOkxWouldReadInAnotherCurrency) {
  Order order = limit_order("BTC-USDT");
  order.type = Type::market;
  order.trade_mode = "cross";
  EXPECT_NE(refusal_of(order).find("quote currency"), std::string::npos);
  order.side = Side::sell;
  EXPECT_EQ(refusal_of(order), "taken");
}

TEST(OkxOrder, ABatchIsAListOfOrders) {
  const PlaceAsk ask{.order = limit_order("BTC-USDT"), .reference = "ref1"};
  PlaceAsk other = ask;
  other.reference = "ref-2";
  const auto batch = json::parse(batch_body(std::vector{ask, other}, PositionMode::net)).value();
  ASSERT_EQ(batch.if_array()->size(), 2u);
  EXPECT_EQ(json::print(batch.if_array()->at(0)), body_of(ask.order));
  EXPECT_NE(*batch.if_array()->at(1).find("clOrdId"), json::Value("ref-2")) << "a hyphen";
}

TEST(OkxOrder, AChangeNamesTheOrderByTheIdOfOkxWhereItIsKnown) {
  ChangeAsk ask{.order = limit_order("BTC-USDT"), .reference = "ref1"};
  EXPECT_EQ(cancel_body(ask), R"({"clOrdId":"ref1","instId":"BTC-USDT"})");
  ask.order_id = "77";
  EXPECT_EQ(cancel_body(ask), R"({"instId":"BTC-USDT","ordId":"77"})");
  ask.change = {.size = decimal("3"), .price = decimal("2.50")};
  EXPECT_EQ(amend_body(ask).value(),
            R"({"instId":"BTC-USDT","newPx":"2.50","newSz":"3","ordId":"77"})");
  ask.change = {};
  EXPECT_EQ(amend_body(ask).error().code, Code::invalid);
  ask.change = {.size = decimal("3"), .stop_price = decimal("1")};
  EXPECT_EQ(amend_body(ask).error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl::okx
