// Goal: an order is what every venue could take, is written and read without loss, and is told
//       apart from any other.
// Method: tables of orders that are and are not fit; round trips; random orders.
#include "core/order/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"
#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Order& order) {
  const auto checked = check(order);
  return checked ? "" : checked.error().message;
}

Order changed(void (*change)(Order&)) {
  Order order = swap_order();
  change(order);
  return order;
}

TEST(Order, IsCheckedForWhatNoVenueTakes) {
  EXPECT_EQ(refusal(swap_order()), "");
  EXPECT_EQ(refusal(stock_order()), "");
  EXPECT_THAT(refusal(changed([](Order& o) { o.venue = ""; })), HasSubstr("venue is missing"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.instrument = ""; })), HasSubstr("instrument"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.instrument = "A B"; })), HasSubstr("visible"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.instrument = std::string(65, 'A'); })),
              HasSubstr("64"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.trade_mode = "\n"; })), HasSubstr("trade_mode"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.size = decimal("0"); })), HasSubstr("greater than"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.size = decimal("-1"); })), HasSubstr("size is -1"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.price = {}; })), HasSubstr("price is missing"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.price = decimal("0"); })), HasSubstr("price is 0"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.type = Type::market; })),
              HasSubstr("a market order has none"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.type = Type::stop_limit; })),
              HasSubstr("stop_price is missing"));
  EXPECT_THAT(refusal(changed([](Order& o) { o.stop_price = decimal("1"); })),
              HasSubstr("stop_price is given"));
  EXPECT_THAT(refusal(changed([](Order& o) {
                o.type = Type::post_only;
                o.validity = Validity::ioc;
              })),
              HasSubstr("post_only"));
}

TEST(Order, HasAShortForm) {
  EXPECT_EQ(brief(swap_order()), "BTC-USDT-SWAP buy 0.1");
  EXPECT_EQ(brief(stock_order()), "211:Stock sell 10");
}

TEST(Order, IsWrittenInTheWordsOfTheCommandLine) {
  EXPECT_EQ(json::print(to_json(swap_order())),
            R"({"inst":"BTC-USDT-SWAP","price":"50000","side":"buy","size":"0.1",)"
            R"("type":"limit","venue":"okx"})");
  EXPECT_EQ(json::print(to_json(stock_order())),
            R"({"asset_type":"Stock","side":"sell","size":"10","type":"market","uic":"211",)"
            R"("venue":"saxo"})");
}

Result<Order> read(std::string_view text) {
  return order_of(json::parse(text).value());
}

TEST(Order, TakesNumbersAsTheyWereWritten) {
  const auto order = read(R"({"venue":"saxo","uic":211,"asset_type":"Stock","side":"buy",
                             "type":"limit","size":1.10,"price":0.100000000000000055})");
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->instrument, "211");
  EXPECT_EQ(to_string(order->size), "1.10");
  EXPECT_EQ(to_string(*order->price), "0.100000000000000055");
}

TEST(Order, SaysWhatIsWrongWithAText) {
  const auto why = [](std::string_view text) {
    const auto order = read(text);
    return order ? "" : order.error().message;
  };
  EXPECT_THAT(why("[]"), HasSubstr("object"));
  EXPECT_THAT(why(R"({"colour":"red"})"), HasSubstr("'colour'"));
  EXPECT_THAT(why(R"({"venue":"okx"})"), HasSubstr("side is missing"));
  EXPECT_THAT(why(R"({"side":"up"})"), HasSubstr("buy, sell"));
  EXPECT_THAT(why(R"({"side":"buy"})"), HasSubstr("type is missing"));
  EXPECT_THAT(why(R"({"side":"buy","type":"market"})"), HasSubstr("size is missing"));
  EXPECT_THAT(why(R"({"side":"buy","type":"market","size":"1e3"})"), HasSubstr("no number"));
  EXPECT_THAT(why(R"({"side":"buy","type":"market","size":true})"), HasSubstr("must be text"));
  EXPECT_THAT(why(R"({"side":"buy","type":"market","size":"1","reduce_only":"yes"})"),
              HasSubstr("true or false"));
  EXPECT_THAT(why(R"({"inst":"a","uic":"1"})"), HasSubstr("given twice"));
  EXPECT_THAT(why(R"({"venue":"okx","inst":"a","side":"buy","type":"limit","size":"1"})"),
              HasSubstr("price is missing"));
}

Order any_order() {
  Order order = *rc::gen::arbitrary<bool>() ? swap_order() : stock_order();
  order.side = *rc::gen::element(Side::buy, Side::sell);
  order.type =
      *rc::gen::element(Type::market, Type::limit, Type::stop, Type::stop_limit, Type::post_only);
  const auto number = [] {
    return decimal(std::to_string(*rc::gen::inRange(0, 1'000)) + "." +
                   std::to_string(*rc::gen::inRange(1, 1'000)));
  };
  order.size = number();
  order.price.reset();
  const bool priced =
      order.type == Type::limit || order.type == Type::stop_limit || order.type == Type::post_only;
  if (priced) order.price = number();
  if (order.type == Type::stop || order.type == Type::stop_limit) order.stop_price = number();
  if (*rc::gen::arbitrary<bool>()) order.validity = Validity::gtc;
  order.reduce_only = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) order.trade_mode = "cross";
  if (*rc::gen::arbitrary<bool>()) order.position_side = "long";
  return order;
}

RC_GTEST_PROP(Order, ReadsBackAsItWas, ()) {
  const Order order = any_order();
  const auto again = order_of(to_json(order));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == order);
  RC_ASSERT(fingerprint(*again) == fingerprint(order));
}

RC_GTEST_PROP(Order, HasTheFingerprintOfItsEqualsAlone, ()) {
  const Order one = any_order();
  const Order other = any_order();
  RC_ASSERT((one == other) == (fingerprint(one) == fingerprint(other)));
  RC_ASSERT((one == other) == difference(one, other).empty());
}

TEST(Order, IsTheSameHoweverItsNumbersAreWritten) {
  Order one = swap_order();
  Order other = swap_order();
  one.size = decimal("1.10");
  other.size = decimal("1.1");
  EXPECT_EQ(fingerprint(one), fingerprint(other));
  one.size = decimal("10");
  other.size = decimal("10.00");
  EXPECT_EQ(fingerprint(one), fingerprint(other));
  EXPECT_EQ(difference(one, other), "");
  other.size = decimal("1");
  EXPECT_NE(fingerprint(one), fingerprint(other));
}

TEST(Order, SaysWhatDiffers) {
  Order other = swap_order();
  other.size = decimal("0.2");
  other.side = Side::sell;
  other.reduce_only = true;
  EXPECT_EQ(difference(swap_order(), other),
            "side was buy and is sell; size was 0.1 and is 0.2; "
            "reduce_only was not given and is true");
}

TEST(Reference, IsShortAndPlain) {
  EXPECT_TRUE(check_reference("E005_BUY-AAPL.001:x"));
  EXPECT_TRUE(check_reference("..."));
  EXPECT_TRUE(check_reference(std::string(bounds::order_reference_bytes_max, 'a')));
  EXPECT_FALSE(check_reference(std::string(bounds::order_reference_bytes_max + 1, 'a')));
  for (const char* bad : {"", "a b", "ü", "a/b", "a\n", "a'b", ".", ".."}) {
    EXPECT_FALSE(check_reference(bad)) << bad;
  }
}

TEST(Reference, IsMadeUniqueAndInTheOrderOfTime) {
  const std::string one = make_reference(noon, {1});
  const std::string later = make_reference(noon + second, {0});
  EXPECT_TRUE(check_reference(one));
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one.find('-'), std::string::npos);
  EXPECT_LT(one, later);
  EXPECT_NE(one, make_reference(noon, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Order, HasNamesForItsWords) {
  EXPECT_EQ(side_of(to_string(Side::sell)), Side::sell);
  EXPECT_EQ(type_of(to_string(Type::post_only)), Type::post_only);
  EXPECT_EQ(type_of("stop_limit"), Type::stop_limit);
  EXPECT_EQ(validity_of(to_string(Validity::fok)), Validity::fok);
  EXPECT_EQ(validity_of("soon"), std::nullopt);
}

}  // namespace
}  // namespace pawl::order
