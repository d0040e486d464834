// Goal: a reading is whole only when every source was read to its end, and a local clock that is
//       off hides nothing.
// Method: a fake Saxo that shows, hides, pages and fails.
#include "venue/saxo/saxo_reader.h"

#include <gtest/gtest.h>

#include "base/calendar.h"
#include "venue/common/wire.h"
#include "venue/saxo/saxo_fixture.h"

namespace pawl::saxo {
namespace {

using order::SourceRead;
using Found = SourceRead::Found;

class SaxoReaderTest : public ::testing::Test {
 protected:
  order::Reading read(const std::string& order_id = "") {
    std::optional<order::Reading> reading;
    venue->read({.order = stock_order(),
                 .reference = "ref",
                 .order_id = order_id,
                 .since = saxo.clock.wall_now() - Duration::seconds(20),
                 .now = saxo.clock.wall_now()},
                [&](order::Reading read) { reading = std::move(read); });
    EXPECT_TRUE(reading.has_value());
    return *reading;
  }

  FakeSaxo saxo;
  std::unique_ptr<SaxoVenue> venue = saxo.venue();
};

TEST_F(SaxoReaderTest, EarnsAbsenceFromOpenOrdersAndActivities) {
  const order::Reading reading = read();
  EXPECT_TRUE(reading.whole) << reading.why_not_whole;
  EXPECT_TRUE(reading.orders.empty());
  EXPECT_TRUE(reading.probable.empty());
  ASSERT_EQ(reading.sources.size(), 2u);
  EXPECT_EQ(reading.sources[0].source, "GET /port/v1/orders/me");
  EXPECT_EQ(reading.sources[1].source, "GET /cs/v1/audit/orderactivities");
  for (const SourceRead& source : reading.sources) {
    EXPECT_EQ(source.found, Found::absent);
    EXPECT_EQ(source.at, saxo.clock.wall_now());
    EXPECT_EQ(source.says, "0 rows, none of them ours");
  }
  const auto query = FakeSaxo::query_of(saxo.calls(activities_call).at(0));
  EXPECT_NE(query.find("ClientKey=client"), std::string::npos) << query;
  EXPECT_NE(query.find("FromDateTime=2026-01-24T21%3A14%3A40.000Z"), std::string::npos) << query;
  EXPECT_NE(FakeSaxo::query_of(saxo.calls(open_call).at(0)).find("Status=All"), std::string::npos);
}

TEST_F(SaxoReaderTest, FindsAnOrderThatFilledAtOnce) {
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1", "ref") + "," +
                                 activity_row("1", "FinalFill", "Confirmed", "2", "ref")));
  const order::Reading reading = read();
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_EQ(reading.orders[0].order_id, "1");
  EXPECT_EQ(reading.orders[0].life, order::Life::filled);
  EXPECT_EQ(reading.sources[0].found, Found::absent);
  EXPECT_EQ(reading.sources[1].found, Found::present);
}

TEST_F(SaxoReaderTest, FindsTwoOrdersOfOneReference) {
  saxo.on(open_call, shown(open_row("1", "ref")));
  saxo.on(activities_call, shown(activity_row("2", "Placed", "Confirmed", "2", "ref")));
  EXPECT_EQ(read().orders.size(), 2u);
}

TEST_F(SaxoReaderTest, LooksAtAKnownIdFirst) {
  saxo.answers[activities_call] = [](const HttpRequest& request) {
    const bool by_id = request.url.find("OrderId=7&") != std::string::npos;
    return shown(by_id ? activity_row("7", "Placed", "Rejected", "1") : "");
  };
  const order::Reading reading = read("7");
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_EQ(reading.orders[0].life, order::Life::rejected);
  ASSERT_EQ(reading.sources.size(), 3u);
  EXPECT_EQ(reading.sources[0].source, "GET /cs/v1/audit/orderactivities of order 7");
  EXPECT_TRUE(reading.whole);
}

TEST_F(SaxoReaderTest, IsNotWholeWhenASourceFails) {
  for (const std::string& call : {open_call, activities_call}) {
    for (const HttpAnswer& bad :
         {json_answer(503, ""), json_answer(429, ""), json_answer(200, "<html>"),
          json_answer(200, R"({"Data":7})"), shown(R"({"Status":"Working"})"),
          HttpAnswer{.status = 200, .body = R"({"Data":[]})", .complete = false}}) {
      saxo.answers.clear();
      saxo.on(call, bad);
      const order::Reading reading = read();
      EXPECT_FALSE(reading.whole);
      EXPECT_NE(reading.why_not_whole, "");
    }
  }
  saxo.answers[open_call] = [](const HttpRequest&) {
    return Result<HttpAnswer>(
        std::unexpected(Error(Code::unavailable, Outcome::unknown, "it broke")));
  };
  EXPECT_FALSE(read().whole);
}

TEST_F(SaxoReaderTest, ReadsEveryPageFromItsOwnHost) {
  saxo.answers[activities_call] = [](const HttpRequest& request) {
    if (request.url.find("$skiptoken=2") != std::string::npos) {
      return shown(activity_row("1", "Placed", "Confirmed", "1", "ref"));
    }
    return json_answer(200, R"({"__next":"https://elsewhere.test/y?$skiptoken=2","Data":[]})");
  };
  const order::Reading reading = read();
  EXPECT_EQ(reading.orders.size(), 1u);
  EXPECT_TRUE(reading.whole);
  for (const HttpRequest& request : saxo.http.sent) {
    EXPECT_TRUE(request.url.starts_with("http://saxo.test/openapi/")) << request.url;
  }
}

TEST_F(SaxoReaderTest, IsNotWholeWhenPagesNeverEnd) {
  saxo.on(open_call, json_answer(200, R"({"__next":"/x?again=1","Data":[]})"));
  EXPECT_NE(read().why_not_whole.find("same one again"), std::string::npos);
  int page = 0;
  saxo.answers[open_call] = [&](const HttpRequest&) {
    return json_answer(200, R"({"__next":"/x?page=)" + std::to_string(++page) + R"(","Data":[]})");
  };
  EXPECT_NE(read().why_not_whole.find("more than 50 pages"), std::string::npos);
}

TEST_F(SaxoReaderTest, IsNotWholeWhenAPageMayHaveBeenCut) {
  saxo.on(open_call, json_answer(200, R"({"__count":2,"Data":[)" + open_row("1", "x") + "]}"));
  EXPECT_FALSE(read().whole) << "two are counted, one is shown";
  std::string full;
  for (int i = 0; i < bounds::venue_page_rows; ++i) {
    full += (i == 0 ? "" : ",") + open_row(std::to_string(i + 1), "another");
  }
  saxo.on(open_call, shown(full));
  EXPECT_FALSE(read().whole);
  saxo.on(open_call, json_answer(200, R"({"__count":500,"Data":[)" + full + "]}"));
  EXPECT_TRUE(read().whole);
}

TEST_F(SaxoReaderTest, AsksEventsAndDetailsWhoseAnOrderIs) {
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1")));
  const order::Reading undecided = read();
  EXPECT_EQ(undecided.probable.size(), 1u);
  EXPECT_TRUE(undecided.orders.empty());
  EXPECT_EQ(undecided.sources.size(), 4u) << "events and details were asked";

  saxo.on(events_call, shown(activity_row("1", "Placed", "Confirmed", "1", "ref")));
  const order::Reading ours = read();
  EXPECT_EQ(ours.orders.size(), 1u);
  EXPECT_TRUE(ours.probable.empty());

  saxo.on(events_call, shown(activity_row("1", "Placed", "Confirmed", "1", "another")));
  const order::Reading theirs = read();
  EXPECT_TRUE(theirs.orders.empty());
  EXPECT_TRUE(theirs.probable.empty());
  EXPECT_TRUE(theirs.whole);
  for (const SourceRead& source : theirs.sources) EXPECT_EQ(source.found, Found::absent);

  saxo.on(events_call, json_answer(404, ""));
  saxo.on("GET /openapi/port/v1/orders/1/details", json_answer(200, open_row("1", "ref")));
  const order::Reading detailed = read();
  EXPECT_EQ(detailed.orders.size(), 1u);
  EXPECT_TRUE(detailed.whole) << "what only helps need not answer";
  for (const SourceRead& source : detailed.sources) EXPECT_NE(source.found, Found::unreadable);
}

TEST_F(SaxoReaderTest, LearnsNothingButReferencesFromEvents) {
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1")));
  std::string event = activity_row("1", "FinalFill", "Confirmed", "9", "ref");
  event.replace(event.find(R"("Amount":10)"), 11, R"("Amount":99)");
  event.replace(event.find("\"Buy\""), 5, "\"Sell\"");
  saxo.on(events_call, shown(event));
  const order::Reading reading = read();
  ASSERT_EQ(reading.orders.size(), 1u);
  EXPECT_EQ(reading.orders[0].reference, "ref");
  EXPECT_EQ(to_string(reading.orders[0].size), "10");
  EXPECT_EQ(reading.orders[0].side, order::Side::buy);
  EXPECT_EQ(reading.orders[0].life, order::Life::working);
}

TEST_F(SaxoReaderTest, CountsByTheClockOfSaxo) {
  // Ours is an hour ahead: an order of a moment ago was placed an hour before the intent, it seems.
  HttpAnswer open = shown(open_row("1", ""));
  open.fields = {{"date", http_date(test_now)}};
  saxo.on(open_call, open);
  saxo.clock.set_wall(test_now + Duration::hours(1));
  const order::Reading reading = read();
  EXPECT_EQ(reading.venue_time, test_now);
  EXPECT_EQ(reading.probable.size(), 1u);
  const auto query = FakeSaxo::query_of(saxo.calls(activities_call).at(0));
  EXPECT_NE(query.find("FromDateTime=2026-01-24T21%3A14%3A40.000Z"), std::string::npos) << query;
}

TEST_F(SaxoReaderTest, LooksAtAnOrderInActivitiesThenAmongOpenOnes) {
  const auto look = [&](const std::string& id) {
    std::optional<Result<order::VenueOrder>> looked;
    venue->look({.order = stock_order(), .reference = "ref", .order_id = id, .since = test_now},
                [&](Result<order::VenueOrder> order) { looked = std::move(order); });
    return *looked;
  };
  EXPECT_EQ(look("1").error().code, Code::not_found);
  saxo.on(open_call, shown(open_row("1", "ref")));
  EXPECT_EQ(look("1")->life, order::Life::working);
  EXPECT_EQ(look("")->order_id, "1") << "by its reference";
  saxo.on(activities_call, shown(activity_row("1", "FinalFill", "Confirmed", "1")));
  EXPECT_EQ(look("1")->life, order::Life::filled);
  saxo.on(activities_call, json_answer(503, ""));
  saxo.on(open_call, shown(""));
  EXPECT_EQ(look("1").error().code, Code::unavailable);
}

}  // namespace
}  // namespace pawl::saxo
