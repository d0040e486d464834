// Goal: a reading is whole only when OKX could not have hidden the order anywhere, and every order
// of the intent is found. Method: the test plays OKX, call by call.
#include "venue/okx/okx_reading.h"

#include <gtest/gtest.h>
#include <map>

#include "venue/okx/okx_answer.h"

namespace pawl::okx {
namespace {

using Found = order::SourceRead::Found;

constexpr Instant noon = Instant::from_ns(1'700'000'000'000'000'000);

std::string row(std::string_view id, std::string_view client_id,
                std::string_view state = "filled") {
  return R"({"instId":"BTC-USDT","ordId":")" + std::string(id) + R"(","clOrdId":")" +
         std::string(client_id) + R"(","sz":"2","px":"2.15","side":"buy","ordType":"limit",)" +
         R"("accFillSz":"0","state":")" + std::string(state) + R"(","cTime":"1700000000000"})";
}
HttpAnswer answered(std::string_view code, std::string data, int status = 200) {
  return {.status = status,
          .body = R"({"code":")" + std::string(code) + R"(","msg":"","data":)" + data + "}",
          .complete = true};
}
HttpAnswer rows(const std::vector<std::string>& list) {
  std::string data = "[";
  for (const std::string& text : list) data += (data.size() > 1 ? "," : "") + text;
  return answered("0", data + "]");
}

// Answers by the call's name; what is not named is empty, and no order exists.
class FakeLists {
 public:
  Result<HttpAnswer> answer(const ReadCall& call) {
    calls.push_back(call.path);
    const auto found = answers.find(call.name);
    if (found != answers.end()) return found->second;
    if (call.name == "public/time") {
      return answered("0", R"([{"ts":")" + to_milliseconds(venue_time) + R"("}])");
    }
    return call.name == "trade/order" ? answered("51603", "[]") : rows({});
  }
  order::Reading read(const ReadAsk& ask) {
    OkxReading reading(ask);
    while (const auto call = reading.next()) {
      if (calls.size() > 100) ADD_FAILURE() << "it never ends";
      if (calls.size() > 100) break;
      reading.heard(answer(*call), noon);
    }
    return reading.result();
  }

  Instant venue_time = noon;
  std::map<std::string, Result<HttpAnswer>> answers;
  std::vector<std::string> calls;
};

ReadAsk ask_at(Instant since, Instant now = noon) {
  return {.order = {.venue = "okx", .instrument = "BTC-USDT"},
          .reference = "ref1",
          .since = since,
          .now = now};
}
const ReadAsk young = ask_at(noon - Duration::seconds(30));

TEST(OkxReading, NothingAnywhereIsAWholeReading) {
  FakeLists lists;
  const order::Reading reading = lists.read(young);
  EXPECT_TRUE(reading.whole) << reading.why_not_whole;
  EXPECT_TRUE(reading.orders.empty());
  EXPECT_EQ(reading.venue_time, noon);
  ASSERT_EQ(reading.sources.size(), 3u);
  EXPECT_EQ(reading.sources[0].source, "GET /api/v5/trade/order");
  EXPECT_EQ(reading.sources[0].says, "trade/order: 51603: ");
  EXPECT_EQ(reading.sources[1].source, "GET /api/v5/trade/orders-pending");
  EXPECT_EQ(reading.sources[2].source, "GET /api/v5/trade/orders-history");
  EXPECT_EQ(reading.sources[2].says, "absent among 0 orders");
  for (const auto& source : reading.sources) EXPECT_EQ(source.found, Found::absent);
  EXPECT_EQ(lists.calls,
            (std::vector<std::string>{
                "/api/v5/public/time", "/api/v5/trade/order?instId=BTC-USDT&clOrdId=ref1",
                "/api/v5/trade/orders-pending?instType=SPOT&instId=BTC-USDT&limit=100",
                "/api/v5/trade/orders-history?instType=SPOT&instId=BTC-USDT&begin=1699999070000"
                "&limit=100"}));
}

TEST(OkxReading, FindsTheOrderAndGivesItOurReferenceBack) {
  FakeLists lists;
  ReadAsk ask = young;
  ask.reference = "my-ref";
  lists.answers["trade/orders-history"] = rows({row("9", "x"), row("7", "pawlX46a5dd2fc57a5f")});
  EXPECT_TRUE(lists.read(ask).orders.empty()) << "that one only begins like it";

  lists.answers["trade/order"] = rows({row("7", "ref1", "live")});
  const order::Reading reading = lists.read(young);
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_EQ(reading.orders[0].order_id, "7");
  EXPECT_EQ(reading.orders[0].reference, "ref1");
  EXPECT_EQ(reading.sources[0].found, Found::present);
  EXPECT_EQ(reading.sources[0].says, "order 7 live, filled 0 of 2");
}

TEST(OkxReading, SeesBothOrdersOfOneClientId) {
  FakeLists lists;
  lists.answers["trade/order"] = rows({row("8", "ref1", "live")});
  lists.answers["trade/orders-pending"] = rows({row("8", "ref1", "live"), row("9", "other")});
  lists.answers["trade/orders-history"] = rows({row("7", "ref1", "filled")});
  const order::Reading reading = lists.read(young);
  ASSERT_EQ(reading.orders.size(), 2u);
  EXPECT_EQ(reading.orders[0].order_id, "8");
  EXPECT_EQ(reading.orders[1].order_id, "7");
  EXPECT_EQ(reading.sources[2].says, "1 of it among 1 orders");
}

TEST(OkxReading, AnIdThatOkxGaveIsLookedAtFirst) {
  FakeLists lists;
  ReadAsk ask = young;
  ask.order_id = "77";
  lists.answers["trade/orders-pending"] = rows({row("77", "", "live")});
  const order::Reading reading = lists.read(ask);
  EXPECT_EQ(lists.calls.at(1), "/api/v5/trade/order?instId=BTC-USDT&ordId=77");
  EXPECT_EQ(lists.calls.at(2), "/api/v5/trade/order?instId=BTC-USDT&clOrdId=ref1");
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_EQ(reading.orders[0].reference, "") << "OKX does not show that it is ours";
}

TEST(OkxReading, FillsOfAnOrderThatNoListShowsAreNoAbsence) {
  FakeLists lists;
  ReadAsk ask = young;
  ask.order_id = "77";
  EXPECT_TRUE(lists.read(ask).whole) << "no fills either";
  EXPECT_EQ(lists.calls.back(), "/api/v5/trade/fills?instType=SPOT&ordId=77");
  lists.answers["trade/fills"] = rows({R"({"ordId":"77"})", R"({"ordId":"78"})"});
  const order::Reading reading = lists.read(ask);
  EXPECT_FALSE(reading.whole);
  EXPECT_EQ(reading.why_not_whole, "order 77 has fills, though no list shows it");
  EXPECT_EQ(reading.sources.back().found, Found::probable);
  EXPECT_EQ(reading.sources.back().says, "1 fills of order 77");
}

TEST(OkxReading, OneSourceThatCannotBeReadMakesItNotWhole) {
  for (const char* name :
       {"public/time", "trade/order", "trade/orders-pending", "trade/orders-history"}) {
    for (const bool answers : {false, true}) {
      FakeLists lists;
      lists.answers.emplace(
          name, answers
                    ? Result<HttpAnswer>(answered("50026", "[]", 500))
                    : std::unexpected(Error(Code::unavailable, Outcome::unknown, "line is dead")));
      const order::Reading reading = lists.read(young);
      EXPECT_FALSE(reading.whole) << name;
      EXPECT_NE(reading.why_not_whole, "");
      EXPECT_EQ(lists.calls.size(), 4u) << "the others are read all the same";
    }
  }
}

TEST(OkxReading, AnAnswerThatIsNeitherAnOrderNorAbsenceIsNoEvidence) {
  FakeLists lists;
  lists.answers["trade/order"] = rows({});
  EXPECT_FALSE(lists.read(young).whole) << "code 0 without an order";
  lists.answers["trade/order"] = rows({row("7", "other")});
  EXPECT_FALSE(lists.read(young).whole) << "another order than was asked for";
  lists.answers["trade/order"] = rows({R"({"ordId":"7","clOrdId":"ref1"})"});
  EXPECT_FALSE(lists.read(young).whole) << "half a row";
}

TEST(OkxReading, PagesUntilTheEndOfAList) {
  std::vector<std::string> page;
  for (int id = 300; id > 200; --id) page.push_back(row(std::to_string(id), "x"));
  FakeLists lists;
  lists.answers["trade/orders-history"] = rows(page);
  OkxReading reading(young);
  for (int i = 0; i < 4; ++i) reading.heard(lists.answer(*reading.next()), noon);
  ASSERT_TRUE(reading.next());
  EXPECT_NE(reading.next()->path.find("&after=201&limit=100"), std::string::npos);
  reading.heard(rows({row("7", "ref1")}), noon);
  EXPECT_FALSE(reading.next());
  EXPECT_EQ(reading.result().sources.back().says, "1 of it among 101 orders");
}

TEST(OkxReading, AListThatGivesTheSamePageAgainIsNotRead) {
  std::vector<std::string> page;
  for (int id = 300; id > 200; --id) page.push_back(row(std::to_string(id), "x"));
  FakeLists lists;
  lists.answers["trade/orders-pending"] = rows(page);
  const order::Reading reading = lists.read(young);
  EXPECT_EQ(reading.why_not_whole, "trade/orders-pending: the same page twice");
}

TEST(OkxReading, GivesUpAListWithoutAnEnd) {
  OkxReading reading(young);
  FakeLists lists;
  for (int i = 0; i < 2; ++i) reading.heard(lists.answer(*reading.next()), noon);
  int id = 1'000'000;
  int pages = 0;
  while (reading.next()->name == "trade/orders-pending") {
    std::vector<std::string> page;
    for (int i = 0; i < 100; ++i) page.push_back(row(std::to_string(--id), "x"));
    reading.heard(rows(page), noon);
    ASSERT_LE(++pages, 20);
  }
  while (const auto call = reading.next()) reading.heard(lists.answer(*call), noon);
  EXPECT_EQ(reading.result().why_not_whole,
            "trade/orders-pending: more than 2000 orders; its end was not read");
}

TEST(OkxReading, AnIntentThatIsTooOldCannotBeProvenAbsent) {
  FakeLists lists;
  EXPECT_TRUE(lists.read(ask_at(noon - Duration::minutes(104))).whole);
  const order::Reading reading = lists.read(ask_at(noon - Duration::minutes(105)));
  EXPECT_FALSE(reading.whole);
  EXPECT_EQ(reading.why_not_whole,
            "the intent is 105m old, and OKX keeps canceled orders without a fill for 2h");
}

TEST(OkxReading, AnOldIntentIsLookedForInTheArchiveAsWell) {
  FakeLists lists;
  lists.answers["trade/orders-history-archive"] = rows({row("7", "ref1")});
  const order::Reading reading = lists.read(ask_at(noon - Duration::days(20)));
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_FALSE(reading.whole);
  EXPECT_EQ(reading.sources.back().source, "GET /api/v5/trade/orders-history-archive");
}

TEST(OkxReading, TheOlderOfTwoAgesCounts) {
  FakeLists lists;
  lists.venue_time = noon + Duration::hours(3);  // ours is slow
  EXPECT_FALSE(lists.read(young).whole);
  lists.venue_time = noon - Duration::hours(3);  // ours is fast: so was `since`
  EXPECT_TRUE(lists.read(young).whole);
  EXPECT_NE(lists.calls.back().find("begin=1699988270000"), std::string::npos)
      << "by OKX's clock, with a margin: " << lists.calls.back();
}

TEST(OkxReading, AnIntentFromTheFutureHasNoAge) {
  FakeLists lists;
  const order::Reading reading = lists.read(ask_at(noon + Duration::hours(1)));
  EXPECT_FALSE(reading.whole);
  EXPECT_EQ(reading.why_not_whole,
            "the intent is from the future: this machine's clock was set back");
}

TEST(OkxReading, AMarginOrderIsLookedForAmongThose) {
  FakeLists lists;
  ReadAsk ask = young;
  ask.order.trade_mode = "cross";
  EXPECT_TRUE(lists.read(ask).whole);
  EXPECT_NE(lists.calls.back().find("instType=MARGIN"), std::string::npos);
}

}  // namespace
}  // namespace pawl::okx
