// Goal: a call leaves once, with the ids it was given; after a 401 the token is renewed before the
//       next turn; every paced answer is heard; no secret is in any answer.
// Method: a fake Saxo, in place of the HTTP client.
#include "venue/saxo/saxo_venue.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "venue/common/wire.h"
#include "venue/saxo/saxo_fixture.h"

namespace pawl::saxo {
namespace {

using order::Answer;
using order::Sent;
using Terms = std::pair<std::string, std::string>;  // amount, price

const std::string cancel_call = "DELETE /openapi/trade/v2/orders/1";
const std::string patch_call = "PATCH /openapi/trade/v2/orders";

Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

// An open order, of this amount at this price.
std::string row_at(std::string_view amount, std::string_view price) {
  std::string row = open_row("1", "ref", amount);
  return row.replace(row.find("150.1"), 5, price);
}

class SaxoVenueTest : public ::testing::Test {
 protected:
  SaxoVenueTest() {
    venue->on_heard(
        [this](int status, const std::vector<limit::Field>& fields, const Correlation& ids) {
          heard_ids.push_back(ids.external_reference + " " + ids.request_id);
          std::string line = std::to_string(status);
          for (const limit::Field& field : fields) line += ' ' + std::string(field.name);
          heard.push_back(line);
        });
    saxo.on(token_call, json_answer(200, R"({"access_token":"access-1","expires_in":1200})"));
  }
  static PlaceAsk ask() {
    return {.order = stock_order(),
            .reference = "ref",
            .request_id = "ref_place_1",
            .timeout = Duration::seconds(10)};
  }
  static ChangeAsk change() {
    return {.order = stock_order(),
            .reference = "ref",
            .order_id = "1",
            .request_id = "ref_change_1",
            .timeout = Duration::seconds(10)};
  }
  Answer place() {
    std::vector<Answer> answers;
    venue->place({ask()}, [&](std::vector<Answer> given) { answers = std::move(given); });
    EXPECT_EQ(answers.size(), 1u);
    return answers.at(0);
  }
  std::optional<Error> ready_error() {
    std::optional<Result<void>> result;
    venue->ready(Leaving::order, [&](Result<void> given) { result = std::move(given); });
    if (result.value()) return std::nullopt;
    return result->error();
  }
  Answer cancel() {
    std::optional<Answer> answer;
    venue->cancel(change(), [&](Answer given) { answer = std::move(given); });
    return answer.value();
  }
  Venue::Prepared prepare(const ChangeAsk& asked) {
    std::optional<Venue::Prepared> ready;
    venue->prepare(asked, [&](Venue::Prepared given) { ready = std::move(given); });
    return ready.value();
  }
  Answer modify(OrderChange wanted, order::Order placed = stock_order()) {
    ChangeAsk asked = change();
    asked.order = std::move(placed);
    asked.change = std::move(wanted);
    const Venue::Prepared ready = prepare(asked);
    if (!ready) return ready.error();
    std::optional<Answer> answer;
    venue->modify(*ready, [&](Answer given) { answer = std::move(given); });
    return answer.value();
  }
  Terms last_change() {
    const json::Value body = json::parse(saxo.calls(patch_call).back().body).value();
    return {venue::text_of(body, "Amount"), venue::text_of(body, "OrderPrice")};
  }
  Result<Precheck> precheck() {
    std::optional<Result<Precheck>> result;
    venue->precheck(ask(), [&](Result<Precheck> given) { result = std::move(given); });
    return result.value();
  }
  // Every call but those with this token gets an empty 401.
  FakeSaxo::Answering only_with(const std::string& token, HttpAnswer answer) {
    return [=](const HttpRequest& request) {
      return field_of(request, "Authorization") == "Bearer " + token ? answer
                                                                     : json_answer(401, "");
    };
  }

  FakeSaxo saxo;
  std::unique_ptr<SaxoVenue> venue = saxo.venue();
  std::vector<std::string> heard;
  std::vector<std::string> heard_ids;
};

TEST_F(SaxoVenueTest, PlacesAnOrderOnce) {
  HttpAnswer good = json_answer(200, R"({"OrderId":"1"})");
  good.fields = {{"x-correlation", "c-1"},
                 {"x-ratelimit-sessionorders-limit", "1"},
                 {"x-ratelimit-sessionorders-remaining", "0"},
                 {"x-ratelimit-sessionorders-reset", "1"}};
  saxo.on(place_call, good);
  const Answer answer = place();
  EXPECT_EQ(answer.sent, Sent::accepted);
  EXPECT_EQ(answer.order_id, "1");
  EXPECT_EQ(answer.correlation, "c-1");
  EXPECT_NE(answer.limits, "");
  ASSERT_EQ(saxo.http.sent.size(), 1u);
  const HttpRequest& sent = saxo.http.sent[0];
  EXPECT_EQ(sent.url, "http://saxo.test/openapi/trade/v2/orders");
  EXPECT_EQ(field_of(sent, "x-request-id"), "ref_place_1");
  EXPECT_EQ(field_of(sent, "Authorization"), "Bearer access-0");
  EXPECT_EQ(field_of(sent, "Content-Type"), "application/json");
  EXPECT_EQ(sent.deadline, Duration::seconds(10));
  EXPECT_NE(sent.body.find(R"("ManualOrder":false)"), std::string::npos);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(heard[0].starts_with("200 x-correlation x-ratelimit-")) << heard[0];
}

TEST_F(SaxoVenueTest, EndsACallInItsTurnWithThe401AndRenewsBeforeTheNextTurn) {
  saxo.answers[place_call] = only_with("access-1", json_answer(200, R"({"OrderId":"1"})"));
  const Answer answer = place();
  EXPECT_EQ(answer.sent, Sent::not_sent);
  EXPECT_TRUE(answer.turned_away) << "it left";
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(saxo.http.sent.size(), 1u) << "nothing is renewed or sent again in its turn";
  EXPECT_EQ(heard.size(), 1u);
  EXPECT_FALSE(ready_error());
  EXPECT_EQ(saxo.calls(token_call).size(), 1u);
  EXPECT_EQ(place().sent, Sent::accepted);
  EXPECT_FALSE(ready_error());
  EXPECT_EQ(saxo.calls(token_call).size(), 1u) << "once";
}

TEST_F(SaxoVenueTest, EndsACancelAndAChangeWithThe401) {
  saxo.answers[cancel_call] = only_with("another", {});
  saxo.answers[patch_call] = only_with("another", {});
  saxo.on(open_call, shown(row_at("10", "150.1")));
  EXPECT_TRUE(cancel().turned_away);
  EXPECT_EQ(saxo.calls(cancel_call).size(), 1u);
  EXPECT_FALSE(ready_error());
  EXPECT_TRUE(modify({.size = decimal("12")}).turned_away);
  EXPECT_EQ(saxo.calls(patch_call).size(), 1u);
}

TEST_F(SaxoVenueTest, SendsAReadOnceMoreWithANewToken) {
  saxo.answers[open_call] = only_with("access-1", shown(open_row("1", "ref")));
  saxo.answers[activities_call] = only_with("access-1", shown(""));
  saxo.answers[events_call] = only_with("access-1", shown(""));
  std::optional<order::Reading> reading;
  venue->read({.order = stock_order(), .reference = "ref", .since = test_now, .now = test_now},
              [&](order::Reading given) { reading = std::move(given); });
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->orders.size(), 1u);
  EXPECT_EQ(saxo.calls(open_call).size(), 2u);
  EXPECT_EQ(saxo.calls(token_call).size(), 1u);
}

TEST_F(SaxoVenueTest, RenewsNoTokenInTheTurnOfACall) {
  saxo.answers[place_call] = only_with("access-1", json_answer(200, R"({"OrderId":"1"})"));
  EXPECT_EQ(place().sent, Sent::not_sent);
  EXPECT_FALSE(ready_error()) << "and has a token that ends in 1,200 s";
  saxo.clock.advance(Duration::seconds(1'199));
  saxo.http.sent.clear();
  EXPECT_EQ(place().sent, Sent::accepted) << "near its end it is good";
  EXPECT_EQ(saxo.http.sent.size(), 1u);
  saxo.clock.advance(Duration::seconds(1));
  EXPECT_EQ(place().sent, Sent::not_sent);
  EXPECT_EQ(cancel().sent, Sent::not_sent);
  EXPECT_FALSE(cancel().turned_away) << "it never left";
  EXPECT_EQ(saxo.http.sent.size(), 1u) << "what would have to be renewed first stays";
  EXPECT_FALSE(ready_error());
  EXPECT_EQ(saxo.calls(token_call).size(), 1u);
  EXPECT_EQ(place().sent, Sent::accepted);
}

TEST_F(SaxoVenueTest, SaysWhyThereIsNoToken) {
  saxo.answers[place_call] = only_with("access-1", {});
  saxo.on(token_call, json_answer(503, "<html>"));
  EXPECT_TRUE(place().turned_away);
  EXPECT_FALSE(ready_error()) << "another attempt may fare better";
  const Answer answer = place();
  EXPECT_EQ(answer.sent, Sent::not_sent);
  EXPECT_FALSE(answer.turned_away);
  EXPECT_NE(answer.message.find("HTTP 503"), std::string::npos) << answer.message;
  EXPECT_EQ(saxo.calls(place_call).size(), 1u);
}

TEST_F(SaxoVenueTest, IsNotReadyOnceAPersonMustLogIn) {
  saxo.answers[place_call] = only_with("access-1", {});
  saxo.on(token_call, json_answer(400, R"({"error":"invalid_grant"})"));
  EXPECT_TRUE(place().turned_away);
  const auto error = ready_error();
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("log in again"), std::string::npos) << error->message;
  EXPECT_NE(place().message.find("log in again"), std::string::npos);
  EXPECT_EQ(saxo.calls(place_call).size(), 1u);
}

TEST_F(SaxoVenueTest, TriesATokenAgainThatNobodyCanRenew) {
  SaxoOptions settings = FakeSaxo::options();
  settings.refresh_token = {};
  venue = saxo.venue(settings);
  saxo.on(place_call, json_answer(401, ""));
  EXPECT_TRUE(place().turned_away);
  EXPECT_FALSE(ready_error());
  saxo.on(place_call, json_answer(200, R"({"OrderId":"1"})"));
  EXPECT_EQ(place().sent, Sent::accepted);
}

TEST_F(SaxoVenueTest, SendsNothingAgainWhenA401NamesAnOrder) {
  saxo.on(place_call, json_answer(401, R"({"OrderId":"1"})"));
  const Answer answer = place();
  EXPECT_EQ(answer.sent, Sent::unknown);
  EXPECT_EQ(answer.order_id, "1");
  EXPECT_EQ(saxo.http.sent.size(), 1u);
}

TEST_F(SaxoVenueTest, SaysWhetherAnythingLeft) {
  const auto fails = [&](Outcome outcome) {
    saxo.answers[place_call] = [=](const HttpRequest&) {
      return Result<HttpAnswer>(std::unexpected(Error(Code::unavailable, outcome, "it broke")));
    };
    return place();
  };
  EXPECT_EQ(fails(Outcome::not_applied).sent, Sent::not_sent);
  EXPECT_EQ(fails(Outcome::unknown).sent, Sent::unknown);
  EXPECT_TRUE(heard.empty()) << "nobody answered";
  EXPECT_EQ(saxo.calls(place_call).size(), 2u);
}

TEST_F(SaxoVenueTest, RefusesBeforeSendingWhatSaxoDoesNotTake) {
  std::vector<Answer> answers;
  PlaceAsk bad = ask();
  bad.order.type = order::Type::post_only;
  EXPECT_FALSE(venue->check(bad.order, bad.reference));
  venue->place({bad}, [&](std::vector<Answer> given) { answers = std::move(given); });
  EXPECT_EQ(answers.at(0).sent, Sent::refused);
  EXPECT_TRUE(saxo.http.sent.empty());
  EXPECT_FALSE(venue->enforces_reduce_only(stock_order()));
}

TEST_F(SaxoVenueTest, PrechecksAndIsHeard) {
  saxo.on(place_call + "/precheck", json_answer(200, R"({"PreCheckResult":"Ok"})"));
  EXPECT_TRUE(precheck()->ok);
  EXPECT_EQ(heard.size(), 1u);
  saxo.on(place_call + "/precheck", json_answer(503, ""));
  EXPECT_EQ(precheck().error().code, Code::unavailable);
}

TEST_F(SaxoVenueTest, ChangesByPatch) {
  saxo.on(open_call, shown(open_row("1", "ref")));
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  EXPECT_EQ(modify({.price = decimal("151")}).sent, Sent::accepted);
  EXPECT_EQ(last_change(), Terms("10", "151"));
  EXPECT_EQ(field_of(saxo.calls(patch_call).at(0), "x-request-id"), "ref_change_1");
  EXPECT_EQ(heard.size(), 1u);
}

TEST_F(SaxoVenueTest, ChangesWhatEarlierChangesMadeOfTheOrder) {
  order::Order placed = stock_order();
  placed.price = decimal("100");
  std::string book = row_at("10", "100");
  saxo.answers[open_call] = [&](const HttpRequest&) { return shown(book); };
  // Activities lag behind: they show it as it was placed.
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1", "ref")));
  saxo.answers[patch_call] = [&](const HttpRequest& request) {
    const json::Value body = json::parse(request.body).value();
    book = row_at(venue::text_of(body, "Amount"), venue::text_of(body, "OrderPrice"));
    return json_answer(200, R"({"OrderId":"1"})");
  };
  EXPECT_EQ(modify({.price = decimal("90")}, placed).sent, Sent::accepted);
  EXPECT_EQ(last_change(), Terms("10", "90"));
  EXPECT_EQ(modify({.size = decimal("20")}, placed).sent, Sent::accepted);
  EXPECT_EQ(last_change(), Terms("20", "90"));
  EXPECT_EQ(modify({.price = decimal("80")}, placed).sent, Sent::accepted);
  EXPECT_EQ(last_change(), Terms("20", "80"));
}

TEST_F(SaxoVenueTest, TakesTheTermsFromActivitiesWhereNoOpenOrderIsShown) {
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  std::string changed = activity_row("1", "Changed", "Confirmed", "2");
  changed.replace(changed.find("150.1"), 5, "90");
  std::string refused = activity_row("1", "Changed", "Rejected", "3");
  refused.replace(refused.find("150.1"), 5, "70");
  const std::string placed = activity_row("1", "Placed", "Confirmed", "1");
  for (const std::string& rows :
       {placed + ',' + changed + ',' + refused, refused + ',' + changed + ',' + placed}) {
    saxo.on(activities_call, shown(rows));
    EXPECT_EQ(modify({.size = decimal("20")}).sent, Sent::accepted);
    EXPECT_EQ(last_change(), Terms("20", "90")) << rows;
  }
}

TEST_F(SaxoVenueTest, SendsNoChangeOfAnOrderThatItCannotSee) {
  const auto unseen = [&] {
    const Answer answer = modify({.size = decimal("20")});
    EXPECT_EQ(answer.sent, Sent::not_sent);
    EXPECT_NE(answer.message.find("nothing was sent"), std::string::npos) << answer.message;
  };
  unseen();
  saxo.on(open_call, shown(R"({"OrderId":"1","Status":"Working"})"));
  unseen();
  // Activities may lag behind: where open orders cannot be read, they prove nothing.
  saxo.on(open_call, json_answer(503, ""));
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1", "ref")));
  unseen();
  EXPECT_TRUE(saxo.calls(patch_call).empty());
}

TEST_F(SaxoVenueTest, NeedsEveryPriceToChangeAStopOrder) {
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  saxo.on(open_call, shown(row_at("30", "140")));
  order::Order stop = stock_order();
  stop.type = order::Type::stop;
  stop.price.reset();
  stop.stop_price = decimal("140");
  order::Order stop_limit = stock_order();
  stop_limit.type = order::Type::stop_limit;
  stop_limit.stop_price = decimal("140");
  for (const Answer& answer :
       {modify({.size = decimal("20")}, stop), modify({.size = decimal("20")}, stop_limit),
        modify({.price = decimal("139")}, stop_limit),
        modify({.stop_price = decimal("141")}, stop_limit)}) {
    EXPECT_EQ(answer.sent, Sent::refused);
    EXPECT_EQ(answer.code, "stop_price_needed");
  }
  EXPECT_TRUE(saxo.http.sent.empty());
  EXPECT_EQ(modify({.stop_price = decimal("141")}, stop).sent, Sent::accepted);
  EXPECT_EQ(last_change(), Terms("30", "141"));
  EXPECT_EQ(modify({.price = decimal("139"), .stop_price = decimal("142")}, stop_limit).sent,
            Sent::accepted);
  EXPECT_EQ(last_change(), Terms("30", "142"));
}

TEST_F(SaxoVenueTest, RefusesAPriceThatTheOrderDoesNotHave) {
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  saxo.on(open_call, shown(row_at("30", "140")));
  order::Order market = stock_order();
  market.type = order::Type::market;
  market.price.reset();
  order::Order stop = market;
  stop.type = order::Type::stop;
  stop.stop_price = decimal("140");
  for (const Answer& answer :
       {modify({.stop_price = decimal("141")}),
        modify({.price = decimal("139"), .stop_price = decimal("141")}),
        modify({.price = decimal("139")}, market), modify({.stop_price = decimal("139")}, market),
        modify({.price = decimal("139"), .stop_price = decimal("141")}, stop),
        modify({.size = decimal("0")}), modify({.price = decimal("-1")})}) {
    EXPECT_EQ(answer.sent, Sent::refused);
    EXPECT_EQ(answer.code, "invalid");
  }
  EXPECT_TRUE(saxo.http.sent.empty());
  EXPECT_NE(modify({.stop_price = decimal("141")}).message.find("a limit order has none"),
            std::string::npos);
}

TEST_F(SaxoVenueTest, ReadsBeforeTheTurnAndSendsNothingButTheChangeInIt) {
  saxo.on(open_call, shown(row_at("30", "140")));
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  ChangeAsk asked = change();
  asked.change = {.size = decimal("20")};
  const Venue::Prepared ready = prepare(asked);
  EXPECT_TRUE(saxo.calls(patch_call).empty());
  const std::size_t before = saxo.http.sent.size();
  venue->modify(ready.value(), [](const Answer&) {});
  EXPECT_EQ(saxo.http.sent.size(), before + 1);
  EXPECT_EQ(last_change(), Terms("20", "140"));
}

TEST_F(SaxoVenueTest, TellsThePacerWhoseAnswerItIs) {
  saxo.on(open_call, shown(row_at("30", "140")));
  saxo.on(patch_call, json_answer(200, R"({"OrderId":"1"})"));
  place();
  modify({.size = decimal("20")});
  cancel();
  EXPECT_EQ(heard_ids,
            (std::vector<std::string>{"ref ref_place_1", "ref ref_change_1", "ref ref_change_1"}));
}

TEST_F(SaxoVenueTest, SendsNoChangeThatWouldUndoThoseBeforeIt) {
  ChangeAsk asked = change();
  asked.change = {.size = decimal("20")};
  std::optional<Answer> answer;
  venue->modify(asked, [&](Answer given) { answer = std::move(given); });
  EXPECT_EQ(answer.value().sent, Sent::refused);
  EXPECT_TRUE(saxo.http.sent.empty());
}

TEST_F(SaxoVenueTest, CancelsWithItsAccount) {
  saxo.on(cancel_call, json_answer(200, R"({"Orders":[{"OrderId":"1"}]})"));
  EXPECT_EQ(cancel().sent, Sent::accepted);
  EXPECT_EQ(FakeSaxo::query_of(saxo.http.sent[0]), "AccountKey=account");
  EXPECT_EQ(heard.size(), 1u);
}

TEST_F(SaxoVenueTest, TakesACancelOfAnOrderThatIsOverForDone) {
  saxo.on(cancel_call,
          json_answer(200,
                      R"({"Orders":[{"OrderId":"1","ErrorInfo":{"ErrorCode":"OrderNotFound"}}]})"));
  const Answer refused = cancel();
  EXPECT_EQ(refused.sent, Sent::refused);
  EXPECT_EQ(refused.code, "OrderNotFound");
  saxo.on(activities_call, shown(activity_row("1", "FinalFill", "Confirmed", "1")));
  const Answer over = cancel();
  EXPECT_EQ(over.sent, Sent::accepted);
  EXPECT_NE(over.message.find("filled"), std::string::npos);
  saxo.on(activities_call, shown(activity_row("1", "Working", "Confirmed", "1")));
  EXPECT_EQ(cancel().sent, Sent::refused);
}

TEST_F(SaxoVenueTest, SendsNoIdThatIsNone) {
  ChangeAsk asked = change();
  asked.order_id = "../accounts";
  std::vector<Sent> sent;
  venue->cancel(asked, [&](const Answer& answer) { sent.push_back(answer.sent); });
  asked.order_id = "";
  venue->modify(asked, [&](const Answer& answer) { sent.push_back(answer.sent); });
  EXPECT_EQ(sent, std::vector<Sent>(2, Sent::refused));
  EXPECT_TRUE(saxo.http.sent.empty());
}

TEST_F(SaxoVenueTest, BackfillsFromOrderActivities) {
  saxo.on(activities_call, shown(activity_row("1", "Placed", "Confirmed", "1", "ref")));
  std::optional<Result<HistoryPage>> page;
  const Instant from = test_now - Duration::days(7);
  venue->history(from, test_now, "", [&](Result<HistoryPage> given) { page = std::move(given); });
  ASSERT_TRUE(page->has_value());
  ASSERT_EQ((*page)->orders.size(), 1u);
  EXPECT_EQ((*page)->orders[0].reference, "ref");
  EXPECT_EQ((*page)->next, "");
  const std::string query = FakeSaxo::query_of(saxo.http.sent[0]);
  EXPECT_NE(query.find("ToDateTime="), std::string::npos);
  saxo.on(activities_call, json_answer(503, ""));
  venue->history(from, test_now, "", [&](Result<HistoryPage> given) { page = std::move(given); });
  EXPECT_EQ(page->error().code, Code::unavailable);
}

TEST_F(SaxoVenueTest, ProbesCredentialsAndAccount) {
  const auto probe = [&] {
    std::optional<Result<std::string>> said;
    venue->probe([&](Result<std::string> given) { said = std::move(given); });
    return said.value();
  };
  const std::string accounts = "GET /openapi/port/v1/accounts/me";
  saxo.on(accounts, shown(R"({"AccountKey":"account","ClientKey":"client","AccountId":"9"})"));
  EXPECT_EQ(probe().value(), "Saxo answers, and the account is there (9)");
  saxo.on(accounts, shown(R"({"AccountKey":"account","ClientKey":"another"})"));
  EXPECT_EQ(probe().error().code, Code::invalid);
  saxo.on(accounts, shown(""));
  EXPECT_EQ(probe().error().code, Code::invalid);
  saxo.on(accounts, json_answer(503, ""));
  EXPECT_EQ(probe().error().code, Code::unavailable);
}

TEST_F(SaxoVenueTest, SaysWhichSettingIsMissing) {
  const auto problem = [&](auto spoil) {
    SaxoOptions settings = FakeSaxo::options();
    spoil(settings);
    const auto opened = SaxoVenue::open(settings, {saxo.http, saxo.clock, saxo.timers});
    return opened ? "" : opened.error().message;
  };
  EXPECT_EQ(problem([](SaxoOptions&) {}), "");
  EXPECT_NE(problem([](SaxoOptions& o) { o.base_url = "saxo"; }).find("base_url"),
            std::string::npos);
  EXPECT_NE(problem([](SaxoOptions& o) { o.account_key = ""; }).find("account_key"),
            std::string::npos);
  EXPECT_NE(problem([](SaxoOptions& o) { o.token_url = ""; }).find("token_url"), std::string::npos);
  const std::string said =
      problem([](SaxoOptions& o) { o.access_token = Secret<std::string>("bad token"); });
  EXPECT_NE(said.find("access_token"), std::string::npos);
  EXPECT_EQ(said.find("bad token"), std::string::npos);
}

TEST_F(SaxoVenueTest, NamesItsSessionByLoginNotByToken) {
  EXPECT_EQ(venue->traits().name, "saxo");
  EXPECT_TRUE(venue->traits().session.starts_with("saxo-"));
  SaxoOptions settings = FakeSaxo::options();
  settings.access_token = Secret<std::string>("access-9");
  EXPECT_EQ(saxo.venue(settings)->traits().session, venue->traits().session);
  settings.client_key = "another";
  EXPECT_NE(saxo.venue(settings)->traits().session, venue->traits().session);
}

TEST_F(SaxoVenueTest, PutsNoSecretIntoWhatItSays) {
  saxo.answers[place_call] = [](const HttpRequest& request) {
    return Result<HttpAnswer>(
        std::unexpected(Error(Code::unavailable, Outcome::unknown,
                              "failed: Authorization: " + field_of(request, "Authorization"))));
  };
  std::string told = place().message;
  saxo.answers[place_call] = [](const HttpRequest& request) {
    return json_answer(500,
                       R"({"Message":"you sent )" + field_of(request, "Authorization") + R"("})");
  };
  told += place().message;
  saxo.on(open_call, json_answer(500, "Bearer access-0"));
  venue->read({.order = stock_order(), .reference = "ref"}, [&](const order::Reading& reading) {
    told += reading.why_not_whole;
    for (const auto& source : reading.sources) told += source.source + source.says;
  });
  for (const std::string& note : saxo.notes) told += note;
  EXPECT_EQ(told.find("access-0"), std::string::npos) << told;
  EXPECT_EQ(told.find("account_key"), std::string::npos) << told;
}

}  // namespace
}  // namespace pawl::saxo
