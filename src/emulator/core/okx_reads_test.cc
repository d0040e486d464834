// Goal: an order is in exactly those answers, for exactly as long, as OKX's documentation says.
// Method: orders of every kind, and a clock moved to each side of every boundary.
#include "emulator/core/okx_reads.h"

#include <gtest/gtest.h>

#include "emulator/core/okx_fixture.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view pending = "/api/v5/trade/orders-pending";
constexpr std::string_view history = "/api/v5/trade/orders-history?instType=SPOT";
constexpr std::string_view archive = "/api/v5/trade/orders-history-archive?instType=SPOT";

class OkxReads : public OkxFixture {
 protected:
  void cancel(std::string_view client_id) {
    post("/api/v5/trade/cancel-order",
         R"({"instId":"BTC-USDT","clOrdId":")" + std::string(client_id) + "\"}");
  }
  void fill_at_once(std::string_view client_id) {
    place(R"({"instId":"BTC-USDT","tdMode":"cash","side":"sell","ordType":"market","sz":"1",)"
          R"("clOrdId":")" +
          std::string(client_id) + "\"}");
  }
  // The clOrdIds of a list.
  std::string listed(std::string_view target) {
    std::string names;
    for (const json::Value& row : get(target).data()) names += member_of(row, "clOrdId") + " ";
    return names;
  }
};

TEST_F(OkxReads, ShowOpenOrdersInOneListAndTheOthersInAnother) {
  place(limit_order("open"));
  place(limit_order("gone"));
  cancel("gone");
  fill_at_once("full");
  EXPECT_EQ(listed(pending), "open ") << "a filled order is not among the open ones";
  EXPECT_EQ(listed(history), "full gone ");
  EXPECT_EQ(listed(archive), "full gone ");
  EXPECT_EQ(listed(std::string(history) + "&state=filled"), "full ");
  EXPECT_EQ(listed(std::string(history) + "&ordType=limit"), "gone ");
  EXPECT_EQ(listed("/api/v5/trade/orders-history?instType=SWAP"), "");
}

TEST_F(OkxReads, ForgetACanceledOrderWithoutAFillAfterTwoHours) {
  place(limit_order("gone"));
  now = now + Duration::days(30);  // it is the end that counts
  cancel("gone");
  now = now + Duration::hours(2) - Duration::milliseconds(1);
  EXPECT_EQ(listed(history), "gone ");
  EXPECT_EQ(find("gone").code, "0");
  now = now + Duration::milliseconds(1);
  EXPECT_EQ(listed(history), "");
  EXPECT_EQ(listed(archive), "");
  EXPECT_EQ(find("gone").code, "51603");
  play(R"({"settings": {"order_keeps_canceled": true, "archive_keeps_canceled": true}})");
  EXPECT_EQ(find("gone").code, "0");
  EXPECT_EQ(listed(archive), "gone ");
  EXPECT_EQ(listed(history), "");
}

TEST_F(OkxReads, KeepACanceledOrderThatHadAFill) {
  const std::string id = place(limit_order("part")).order_id;
  ASSERT_TRUE(exchange.act(id, "fill_half", now).has_value());
  cancel("part");
  now = now + Duration::hours(3);
  EXPECT_EQ(listed(history), "part ");
  EXPECT_EQ(find("part").at("state"), "canceled");
}

TEST_F(OkxReads, KeepFilledOrdersForAWeekAndThenForThreeMonthsInTheArchive) {
  fill_at_once("full");
  now = now + Duration::days(7) - Duration::milliseconds(1);
  EXPECT_EQ(listed(history), "full ");
  now = now + Duration::milliseconds(1);
  EXPECT_EQ(listed(history), "");
  EXPECT_EQ(listed(archive), "full ");
  EXPECT_EQ(find("full").code, "0");
  now = now + Duration::days(83);
  EXPECT_EQ(listed(archive), "");
  EXPECT_EQ(find("full").code, "51603");
}

TEST_F(OkxReads, KeepFillsForThreeDaysAndInTheirHistoryForThreeMonths) {
  fill_at_once("full");
  const std::string fills = "/api/v5/trade/fills";
  const std::string past = "/api/v5/trade/fills-history?instType=SPOT";
  const OkxTold told = get(fills);
  EXPECT_EQ(told.at("fillSz"), "1");
  EXPECT_EQ(told.at("side"), "sell");
  EXPECT_EQ(told.at("execType"), "T");
  EXPECT_EQ(listed(fills + "?ordId=" + told.at("ordId")), "full ");
  EXPECT_EQ(listed(fills + "?ordId=1"), "");
  now = now + Duration::days(3);
  EXPECT_EQ(listed(fills), "");
  EXPECT_EQ(listed(past), "full ");
  now = now + Duration::days(87);
  EXPECT_EQ(listed(past), "");
  EXPECT_EQ(get("/api/v5/trade/fills-history").code, "50014");
}

TEST_F(OkxReads, ComeInPagesNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(place(limit_order("o" + std::to_string(i))).order_id);
    now = now + Duration::seconds(1);
  }
  const std::string base(pending);
  EXPECT_EQ(listed(base + "?limit=2"), "o4 o3 ");
  EXPECT_EQ(listed(base + "?limit=2&after=" + ids[3]), "o2 o1 ");
  EXPECT_EQ(listed(base + "?before=" + ids[3]), "o4 ");
  EXPECT_EQ(listed(base + "?begin=1769342401000&end=1769342402000"), "o2 o1 ");
  EXPECT_EQ(listed(base + "?limit=0"), "o4 ");
  EXPECT_EQ(listed(base + "?instId=ETH-USDT"), "");
}

TEST_F(OkxReads, HoldAHundredRowsAtTheMost) {
  for (int i = 0; i < 101; ++i) {
    place(limit_order("o" + std::to_string(i)));
    now = now + Duration::milliseconds(100);
  }
  EXPECT_EQ(get(std::string(pending) + "?limit=500").data().size(), 100U);
}

TEST_F(OkxReads, AskForWhatTheyNeed) {
  EXPECT_EQ(get("/api/v5/trade/order?clOrdId=a").code, "50014");
  EXPECT_EQ(get("/api/v5/trade/order?instId=BTC-USDT").code, "50015");
  EXPECT_EQ(get("/api/v5/trade/order?instId=NO-SUCH&clOrdId=a").code, "51001");
  EXPECT_EQ(get("/api/v5/trade/orders-history").code, "50014");
  EXPECT_EQ(get("/api/v5/trade/orders-history-archive").code, "50014");
  EXPECT_EQ(get("/api/v5/public/instruments").code, "50014");
}

TEST_F(OkxReads, FindAnOrderByEitherNameAndPreferItsId) {
  const std::string id = place(limit_order("a")).order_id;
  place(limit_order("b"));
  EXPECT_EQ(get("/api/v5/trade/order?instId=BTC-USDT&clOrdId=b&ordId=" + id).at("clOrdId"), "a");
  EXPECT_EQ(get("/api/v5/trade/order?instId=ETH-USDT&ordId=" + id).code, "51603");
  EXPECT_EQ(find("none").status, 200);
  EXPECT_EQ(find("none").code, "51603");
}

TEST_F(OkxReads, ShowNoOrderOfAnInstrumentThatIsOver) {
  place(limit_order("a"));
  play(R"({"settings": {"instruments": {"BTC-USDT": {"live": false}}}})");
  EXPECT_EQ(find("a").code, "51001");
  EXPECT_EQ(place(limit_order("b")).s_code, "51001");
}

TEST_F(OkxReads, TellPositionsInstrumentsAndLimits) {
  place(swap_order("sell", "2"));
  const OkxTold position = get("/api/v5/account/positions?instId=BTC-USDT-SWAP");
  EXPECT_EQ(position.at("pos"), "-2");
  EXPECT_EQ(position.at("posSide"), "net");
  EXPECT_EQ(*parse_decimal(position.at("avgPx")), *parse_decimal("50000"));
  EXPECT_TRUE(get("/api/v5/account/positions?instType=FUTURES").data().empty());
  EXPECT_EQ(get("/api/v5/public/instruments?instType=SWAP").data().size(), 2U);
  EXPECT_EQ(get("/api/v5/trade/account-rate-limit").at("accRateLimit"), "1000");
  EXPECT_EQ(get("/api/v5/account/config").at("posMode"), "net_mode");
}

}  // namespace
}  // namespace pawl::emulator
