// Goal: a backfill goes through every list of OKX once, and says what is gone. Method: lists of
// rows, page by page.
#include "venue/okx/okx_history.h"

#include <gtest/gtest.h>

#include "venue/okx/okx_fixture.h"

namespace pawl::okx {
namespace {

constexpr Instant noon = Instant::from_ns(1'700'000'000'000'000'000);
const HistoryAsk week{
    .from = noon - Duration::days(6), .to = noon + Duration::seconds(1), .now = noon};

std::vector<std::string> lists_of(const HistoryAsk& ask) {
  std::vector<std::string> lists;
  std::string page;
  do {
    const HistoryPlace place = parse_place(page, ask).value();
    const std::string path = history_call(ask, place).path;
    lists.push_back(path.substr(std::string_view("/api/v5/trade/").size()));
    page = history_page(ask, place, enveloped("0", "[]")).value().next;
  } while (!page.empty() && lists.size() < 100);
  return lists;
}

TEST(OkxHistory, GoesThroughTheListsOfEveryKind) {
  const std::string range = "&begin=1699481600000&end=1700000001001&limit=100";
  EXPECT_EQ(
      lists_of(week),
      (std::vector<std::string>{
          "orders-pending?limit=100", "orders-history?instType=SPOT" + range,
          "orders-history?instType=MARGIN" + range, "orders-history?instType=SWAP" + range,
          "orders-history?instType=FUTURES" + range, "orders-history?instType=OPTION" + range}));
}

TEST(OkxHistory, GoesThroughTheArchiveWhenTheHistoryIsTooShort) {
  HistoryAsk month = week;
  month.from = noon - Duration::days(30);
  const auto lists = lists_of(month);
  ASSERT_EQ(lists.size(), 11u);
  EXPECT_TRUE(lists[6].starts_with("orders-history-archive?instType=SPOT"));
  EXPECT_TRUE(lists[10].starts_with("orders-history-archive?instType=OPTION"));
}

TEST(OkxHistory, GoesOnBehindTheLastRowOfAFullPage) {
  std::string rows;
  for (int id = 300; id > 200; --id) rows += "," + order_row(std::to_string(id), "", "filled");
  const HttpAnswer full = enveloped("0", "[" + rows.substr(1) + "]");
  const auto page = history_page(week, {.list = 1}, full).value();
  EXPECT_EQ(page.orders.size(), 100u);
  EXPECT_EQ(page.next, "1:201");
  EXPECT_EQ(page.lists_done, 1u) << "the list of pending orders alone";
  EXPECT_EQ(page.lists, 6u);
  const HistoryPlace place = parse_place(page.next, week).value();
  EXPECT_NE(history_call(week, place).path.find("&after=201&"), std::string::npos);
  EXPECT_FALSE(history_page(week, place, full)) << "the same page twice";
}

TEST(OkxHistory, LeavesOutWhatWasNotPlacedThen) {
  HistoryAsk later = week;
  later.from = noon + Duration::milliseconds(1);
  const HttpAnswer one = enveloped("0", "[" + order_row("7", "a", "live") + "]");
  EXPECT_EQ(history_page(week, {}, one).value().orders.size(), 1u);
  EXPECT_TRUE(history_page(later, {}, one).value().orders.empty());
  HistoryAsk earlier = week;
  earlier.to = noon;
  EXPECT_TRUE(history_page(earlier, {}, one).value().orders.empty());
}

TEST(OkxHistory, SaysOnceWhatOkxNoLongerKeeps) {
  const auto first = history_page(week, {}, enveloped("0", "[]")).value();
  EXPECT_EQ(
      first.note,
      "OKX keeps orders that were canceled without a fill for 2h only: older ones are missing "
      "here, and are not counted");
  EXPECT_EQ(history_page(week, {.list = 1}, enveloped("0", "[]")).value().note, "");
  HistoryAsk year = week;
  year.from = noon - Duration::days(365);
  EXPECT_TRUE(history_page(year, {}, enveloped("0", "[]"))
                  .value()
                  .note.ends_with("of what is older than 90d it keeps nothing"));
}

TEST(OkxHistory, RefusesAPageThatIsNoneOfItsOwn) {
  for (const char* page : {"x", "1", ":", "6:", "-1:", "1:x", "1:7&limit=1", "99:"}) {
    EXPECT_FALSE(parse_place(page, week)) << page;
  }
  EXPECT_TRUE(parse_place("5:", week));
}

TEST(OkxHistory, AnErrorIsAnError) {
  EXPECT_EQ(history_page(week, {}, enveloped("50111", "[]", 401)).error().code, Code::refused);
  EXPECT_EQ(history_page(week, {}, enveloped("50011", "[]", 429)).error().retry_after,
            Duration::seconds(2));
}

}  // namespace
}  // namespace pawl::okx
