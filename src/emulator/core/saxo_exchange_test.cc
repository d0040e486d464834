// Goal: the emulated Saxo answers as facts about Saxo say, faults included, and a test can look
// into it.
// Method: calls by hand against a clock that is moved; what a client sees is compared with what the
// control port tells.
#include "emulator/core/saxo_exchange.h"

#include "emulator/core/saxo_fixture.h"

namespace pawl::emulator {
namespace {

class SaxoExchangeTest : public SaxoFixture {
 protected:
  std::string state_of(std::string_view reference) {
    const json::Value all = exchange_.orders();
    for (const json::Value& row : *all.find("orders")->if_array()) {
      if (text_of(row, "reference") == reference) return text_of(row, "state");
    }
    return "absent";
  }
  std::string accepted(std::string_view reference) {
    return text_of(*exchange_.stats().find("accepted"), reference);
  }
};

TEST_F(SaxoExchangeTest, WithoutATokenTheAnswerIsAnEmpty401) {
  Call bare = call("GET", "/port/v1/orders/me");
  bare.fields.clear();
  const Reply reply = ask(bare);
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.body, "");
}

TEST_F(SaxoExchangeTest, AnOrderIsPlacedUnderEveryPrefix) {
  for (const std::string prefix : {"", "/sim/openapi", "/openapi"}) {
    const Reply reply =
        ask(call("POST", prefix + "/trade/v2/orders", order("r" + std::to_string(prefix.size()))));
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_TRUE(reply.accepted);
    EXPECT_EQ(reply.order_id, text_of(body(reply), "OrderId"));
    EXPECT_EQ(reply.operation, "place");
  }
  EXPECT_EQ(ask(call("GET", "/nowhere")).status, 404);
}

TEST_F(SaxoExchangeTest, EveryAnswerNamesItsCorrelationAndEchoesTheRequestId) {
  const Reply reply = ask(with(call("GET", "/port/v1/orders/me"), "x-request-id", "abc"));
  EXPECT_EQ(told(reply, "X-Request-ID"), "abc");
  EXPECT_NE(told(reply, "X-Correlation"), "");
}

TEST_F(SaxoExchangeTest, TheSecondOrderOfASecondIsRefusedWithTheExhaustedDimension) {
  EXPECT_EQ(place("r1").status, 200);
  now_ = now_ + Duration::milliseconds(999);
  const Reply refused = ask_now(call("POST", "/trade/v2/orders", order("r2")));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(told(refused, "X-RateLimit-SessionOrders-Remaining"), "0");
  EXPECT_EQ(told(refused, "X-RateLimit-SessionOrders-Reset"), "1");
  EXPECT_NE(told(refused, "X-RateLimit-AppDay-Reset"), "0");
  EXPECT_NE(told(refused, "X-RateLimit-Session-Remaining"), "0");
  now_ = now_ + Duration::milliseconds(1);
  EXPECT_EQ(ask_now(call("POST", "/trade/v2/orders", order("r2"))).status, 200);
  EXPECT_EQ(text_of(*exchange_.stats().find("limit_breaches"), "SessionOrders"), "1");
  EXPECT_EQ(text_of(exchange_.stats(), "orders_per_second_max"), "1");
}

TEST_F(SaxoExchangeTest, AMinuteTakes120CallsOfAServiceGroup) {
  for (int i = 0; i < 120; ++i) EXPECT_EQ(ask_now(call("GET", "/port/v1/orders/me")).status, 200);
  EXPECT_EQ(ask_now(call("GET", "/port/v1/orders/me")).status, 429);
  EXPECT_EQ(ask_now(call("GET", "/cs/v1/audit/orderactivities")).status, 200);
  now_ = now_ + Duration::minutes(1);
  EXPECT_EQ(ask_now(call("GET", "/port/v1/orders/me")).status, 200);
}

TEST_F(SaxoExchangeTest, FieldsMayBeMissingOrSayZero) {
  play(R"({"script":[{"do":"headers_missing"},{"when":{"nth":2},"do":"reset_zero"},
                     {"when":{"nth":3},"do":"rate_limited","reset":7}]})");
  EXPECT_EQ(told(place("r1"), "X-RateLimit-Session-Limit"), "");
  EXPECT_EQ(told(place("r2"), "X-RateLimit-SessionOrders-Reset"), "0");
  const Reply storm = place("r3");
  EXPECT_EQ(storm.status, 429);
  EXPECT_EQ(told(storm, "X-RateLimit-SessionOrders-Remaining"), "0");
  EXPECT_EQ(told(storm, "X-RateLimit-SessionOrders-Reset"), "7");
  EXPECT_EQ(state_of("r3"), "absent");
}

TEST_F(SaxoExchangeTest, TheSameBodyWithin15SecondsIsARepeatAndTheWindowRolls) {
  EXPECT_EQ(place("r").status, 200);
  now_ = now_ + Duration::seconds(13);
  EXPECT_EQ(place("r").status, 409);
  now_ = now_ + Duration::seconds(13);
  EXPECT_EQ(place("r").status, 409);
  now_ = now_ + Duration::seconds(14);
  EXPECT_EQ(place("r").status, 200);
  EXPECT_EQ(accepted("r"), "2");
}

TEST_F(SaxoExchangeTest, AnotherRequestIdMakesItAnotherOrder) {
  const Call first = with(call("POST", "/trade/v2/orders", order("r")), "x-request-id", "1");
  const Call other = with(call("POST", "/trade/v2/orders", order("r")), "x-request-id", "2");
  EXPECT_EQ(ask(first).status, 200);
  EXPECT_EQ(ask(first).status, 409);
  EXPECT_EQ(ask(other).status, 200);
  play(R"({"settings":{"repeat_request_id":false}})");
  const Call third = with(call("POST", "/trade/v2/orders", order("s")), "x-request-id", "3");
  const Call fourth = with(call("POST", "/trade/v2/orders", order("s")), "x-request-id", "4");
  EXPECT_EQ(ask(third).status, 200);
  EXPECT_EQ(ask(fourth).status, 409);
}

TEST_F(SaxoExchangeTest, WhatIsMissingOrTooLongIsRefusedInSaxosShape) {
  std::string no_manual = order("r");
  no_manual.replace(no_manual.find("\"ManualOrder\":false,"), 20, "");
  const Reply reply = ask(call("POST", "/trade/v2/orders", no_manual));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(error_code(reply), "InvalidModelState");
  EXPECT_NE(body(reply).find("ModelState")->find("ManualOrder"), nullptr);
  EXPECT_EQ(place(std::string(51, 'x')).status, 400);
  EXPECT_EQ(place(std::string(50, 'x')).status, 200);
  EXPECT_EQ(ask(call("POST", "/trade/v2/orders", "{")).status, 400);
  EXPECT_EQ(place("limit without price", "Limit").status, 200);
  std::string no_price = order("p", "Limit");
  no_price.replace(no_price.find("\"OrderPrice\":12.50,"), 19, "");
  EXPECT_EQ(ask(call("POST", "/trade/v2/orders", no_price)).status, 400);
}

TEST_F(SaxoExchangeTest, AMarketOrderFillsAtOnceAndIsInNoListOfOpenOrders) {
  place("m");
  place("l", "StopLimit");
  const json::Array open = data(get("/port/v1/orders/me?Status=All"));
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(text_of(open[0], "ExternalReference"), "l");
  EXPECT_EQ(text_of(open[0], "StopLimitPrice"), "12.60");
  EXPECT_EQ(text_of(open[0], "Price"), "12.50");
  const json::Array rows = data(get("/cs/v1/audit/orderactivities"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(text_of(rows[1], "Status"), "FinalFill");
  EXPECT_EQ(text_of(rows[1], "ExternalReference"), "m");
  EXPECT_EQ(text_of(rows[1], "FilledAmount"), "10");
}

TEST_F(SaxoExchangeTest, AnOrderThatIsNotOpenIsAnEmptyList) {
  const Reply placed = place("m");
  EXPECT_TRUE(data(get("/port/v1/orders/client/" + placed.order_id)).empty());
  EXPECT_EQ(ask(call("GET", "/port/v1/orders/" + placed.order_id + "/details")).status, 404);
  const Reply limit = place("l", "Limit");
  EXPECT_EQ(data(get("/port/v1/orders/client/" + limit.order_id)).size(), 1U);
  EXPECT_EQ(text_of(get("/port/v1/orders/" + limit.order_id + "/details"), "ExternalReference"),
            "l");
}

TEST_F(SaxoExchangeTest, ActivitiesAreFilteredAndNeedNotNameTheReference) {
  const Reply first = place("a");
  place("b");
  const auto rows = data(get("/cs/v1/audit/orderactivities?OrderId=" + first.order_id));
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_EQ(data(get("/cs/v1/audit/orderactivities?EntryType=Last")).size(), 2U);
  EXPECT_EQ(data(get("/cs/v1/audit/orderactivities?Status=FinalFill")).size(), 2U);
  EXPECT_TRUE(data(get("/cs/v1/audit/orderactivities?FromDateTime=2099-01-01T00:00:00Z")).empty());
  play(R"({"settings":{"activities_reference":false}})");
  EXPECT_EQ(text_of(data(get("/cs/v1/audit/orderactivities"))[0], "ExternalReference"), "");
  EXPECT_EQ(text_of(data(get("/ens/v1/activities"))[0], "ExternalReference"), "a");
}

TEST_F(SaxoExchangeTest, ListsComeInPages) {
  for (const char* reference : {"a", "b", "c"}) place(reference, "Limit");
  const json::Value first = get("/port/v1/orders/me?$top=2");
  EXPECT_EQ(data(first).size(), 2U);
  EXPECT_EQ(text_of(first, "__count"), "3");
  EXPECT_EQ(text_of(first, "__next"), "http://saxo/port/v1/orders/me?$top=2&$skip=2");
  const json::Value second = get("/port/v1/orders/me?$top=2&$skip=2");
  ASSERT_EQ(data(second).size(), 1U);
  EXPECT_EQ(second.find("__next"), nullptr);
  EXPECT_EQ(text_of(data(second)[0], "ExternalReference"), "c");
  const json::Value rows = get("/cs/v1/audit/orderactivities?$top=5");
  EXPECT_NE(text_of(rows, "__next").find("$skiptoken=5"), std::string::npos);
}

TEST_F(SaxoExchangeTest, AnOrderMayBeInvisibleForAWhile) {
  play(R"({"script":[{"do":"lag","lag":"5s"}]})");
  EXPECT_EQ(place("r", "Limit").status, 200);
  EXPECT_TRUE(data(get("/port/v1/orders/me")).empty());
  EXPECT_TRUE(data(get("/cs/v1/audit/orderactivities")).empty());
  now_ = now_ + Duration::seconds(5);
  EXPECT_EQ(data(get("/port/v1/orders/me")).size(), 1U);
}

TEST_F(SaxoExchangeTest, TradeNotCompletedBecomesWhatTheScriptSays) {
  const std::pair<std::string, std::string> ends[] = {
      {"FinalFill", "filled"}, {"Working", "working"}, {"Rejected", "rejected"}};
  for (const auto& [resolves, state] : ends) {
    play(R"({"script":[{"do":"trade_not_completed","after":"5s","resolves":")" + resolves +
         R"("}]})");
    const Reply reply = place(resolves);
    EXPECT_EQ(reply.status, 202);
    EXPECT_NE(text_of(body(reply), "OrderId"), "");
    EXPECT_EQ(text_of(*body(reply).find("ErrorInfo"), "ErrorCode"), "TradeNotCompleted");
    EXPECT_EQ(reply.accepted, resolves != "Rejected");
    EXPECT_EQ(state_of(resolves), "pending");
    now_ = now_ + Duration::seconds(5);
    exchange_.tick(now_);
    EXPECT_EQ(state_of(resolves), state);
    const auto rows = data(get("/cs/v1/audit/orderactivities?OrderId=" + reply.order_id));
    const std::string last =
        text_of(rows.back(), "Status") + "/" + text_of(rows.back(), "SubStatus");
    EXPECT_EQ(last, resolves == "Rejected" ? "Placed/Rejected" : resolves + "/Confirmed");
  }
}

TEST_F(SaxoExchangeTest, AnswersLieInBothDirections) {
  play(R"({"script":[{"do":"error_in_200"},{"when":{"nth":2},"do":"order_id_in_400"},
                     {"when":{"nth":3},"do":"error_before","status":503,"code":"Busy"},
                     {"when":{"nth":4},"do":"error_after"}]})");
  const Reply refused = place("a");
  EXPECT_EQ(refused.status, 200);
  EXPECT_NE(body(refused).find("ErrorInfo"), nullptr);
  EXPECT_EQ(state_of("a"), "absent");
  const Reply lives = place("b");
  EXPECT_EQ(lives.status, 400);
  EXPECT_TRUE(lives.accepted);
  EXPECT_NE(lives.body.find(lives.order_id), std::string::npos);
  EXPECT_EQ(state_of("b"), "filled");
  const Reply before = place("c");
  EXPECT_EQ(before.status, 503);
  EXPECT_EQ(error_code(before), "Busy");
  EXPECT_EQ(state_of("c"), "absent");
  const Reply after = place("d");
  EXPECT_EQ(after.status, 500);
  EXPECT_TRUE(after.accepted);
  EXPECT_EQ(state_of("d"), "filled");
}

TEST_F(SaxoExchangeTest, AListMayLeaveTheReferenceOut) {
  play(R"({"script":[{"do":"reference_missing"}]})");
  place("r", "Limit");
  EXPECT_EQ(text_of(data(get("/port/v1/orders/me"))[0], "ExternalReference"), "");
}

TEST_F(SaxoExchangeTest, APrecheckMayBeOkAndCarryAnError) {
  const Reply fine = ask(call("POST", "/trade/v2/orders/precheck", order("r")));
  EXPECT_EQ(text_of(body(fine), "PreCheckResult"), "Ok");
  EXPECT_EQ(state_of("r"), "absent");
  EXPECT_EQ(ask(call("POST", "/trade/v2/orders/precheck", order("r"))).status, 409);
  play(R"({"script":[{"do":"error_in_200"}]})");
  const Reply odd = ask(call("POST", "/trade/v2/orders/precheck", order("s")));
  EXPECT_EQ(text_of(body(odd), "PreCheckResult"), "Ok");
  EXPECT_NE(body(odd).find("ErrorInfo"), nullptr);
}

TEST_F(SaxoExchangeTest, PrechecksAndCancelsUseTheLimitOfOrdersWhereTheyAreSaidTo) {
  const auto precheck = [&](const char* reference) {
    return ask_now(call("POST", "/trade/v2/orders/precheck", order(reference))).status;
  };
  place("a", "Limit");
  EXPECT_EQ(precheck("b"), 200);
  play(R"({"settings":{"orders_calls":["place","modify","precheck","cancel"]}})");
  const Reply placed = place("c", "Limit");
  EXPECT_EQ(placed.status, 200);
  EXPECT_EQ(precheck("d"), 429);
  const std::string path = "/trade/v2/orders/" + placed.order_id + "?AccountKey=a";
  EXPECT_EQ(ask_now(call("DELETE", path)).status, 429);
  EXPECT_EQ(ask(call("DELETE", path)).status, 200);
}

TEST_F(SaxoExchangeTest, AnOrderIsChangedAndCancelledWhileItIsOpen) {
  const Reply placed = place("r", "Limit");
  const std::string change = R"({"OrderId":")" + placed.order_id + R"(","OrderPrice":13.75})";
  const Reply changed = ask(call("PATCH", "/trade/v2/orders", change));
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.reference, "r");
  EXPECT_EQ(text_of(data(get("/port/v1/orders/me"))[0], "Price"), "13.75");
  const std::string both = placed.order_id + ",12345678";
  const Reply cancelled = ask(call("DELETE", "/trade/v2/orders/" + both + "?AccountKey=a"));
  EXPECT_EQ(cancelled.status, 200);
  const json::Array rows = *body(cancelled).find("Orders")->if_array();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].find("ErrorInfo"), nullptr);
  EXPECT_NE(rows[1].find("ErrorInfo"), nullptr);
  EXPECT_EQ(state_of("r"), "cancelled");
  now_ = now_ + Duration::seconds(20);
  EXPECT_EQ(ask(call("PATCH", "/trade/v2/orders", change)).status, 404);
  EXPECT_EQ(ask(call("DELETE", "/trade/v2/orders/1")).status, 400);
}

TEST_F(SaxoExchangeTest, AllOrdersOfAnInstrumentAreCancelledTogether) {
  place("a", "Limit");
  place("b", "Limit");
  EXPECT_EQ(ask(call("DELETE", "/trade/v2/orders?AccountKey=a&AssetType=Stock&Uic=211")).status,
            200);
  EXPECT_EQ(state_of("a"), "cancelled");
  EXPECT_EQ(state_of("b"), "cancelled");
}

TEST_F(SaxoExchangeTest, RelatedOrdersComeWithTheirParent) {
  std::string parent = order("p", "Limit");
  parent.back() = ',';
  parent += R"("Orders":[)" + order("c", "Stop") + "]}";
  const Reply reply = ask(call("POST", "/trade/v2/orders", parent));
  EXPECT_EQ(body(reply).find("Orders")->if_array()->size(), 1U);
  EXPECT_EQ(state_of("c"), "not_working");
  EXPECT_EQ(data(get("/port/v1/orders/me")).size(), 1U);
  EXPECT_EQ(data(get("/port/v1/orders/me?Status=All")).size(), 2U);
}

TEST_F(SaxoExchangeTest, ARefreshRotatesBothTokens) {
  play(R"({"settings":{"auth":"issued","app_key":"k","app_secret":"s"}})");
  const auto refresh = [&](const std::string& token) {
    return ask(call("POST", "/token",
                    "grant_type=refresh_token&client_id=k&client_secret=s&refresh_token=" + token));
  };
  const auto read = [&](const std::string& token) {
    Call made = call("GET", "/port/v1/users/me");
    made.fields = {{.name = "authorization", .value = "Bearer " + token}};
    return ask(made).status;
  };
  EXPECT_EQ(read("access-1"), 200);
  const Reply first = refresh("refresh-1");
  ASSERT_EQ(first.status, 200) << first.body;
  const std::string access = text_of(body(first), "access_token");
  EXPECT_EQ(read("access-1"), 401);
  EXPECT_EQ(read(access), 200);
  EXPECT_EQ(refresh("refresh-1").status, 400);
  now_ = now_ + Duration::minutes(20);
  EXPECT_EQ(read(access), 401);
  EXPECT_EQ(refresh(text_of(body(first), "refresh_token")).status, 200);
  EXPECT_EQ(ask(call("POST", "/token", "grant_type=refresh_token&refresh_token=x")).status, 401);
}

TEST_F(SaxoExchangeTest, ItsLinesBringBackOrdersAndTokens) {
  play(R"({"script":[{"when":{"call":"place","nth":3},"do":"trade_not_completed"}]})");
  place("a", "Limit");
  place("b");
  place("c");
  ask(call("POST", "/token", "grant_type=refresh_token&refresh_token=refresh-1"));
  SaxoExchange other;
  for (const std::string& line : exchange_.take_changes()) {
    const Result<void> restored = other.restore(line);
    EXPECT_TRUE(restored) << restored.error().message;
  }
  EXPECT_EQ(json::print(other.orders()), json::print(exchange_.orders()));
  EXPECT_TRUE(exchange_.take_changes().empty());
  now_ = now_ + Duration::seconds(5);
  other.tick(now_);
  EXPECT_EQ(other.take_changes().size(), 1U);  // what was pending has been resolved
  const Reply next = other.answer(call("POST", "/trade/v2/orders", order("d")), now_);
  EXPECT_EQ(next.order_id, "55000004");
  EXPECT_FALSE(other.restore("{}"));
  EXPECT_FALSE(other.restore(R"({"order":{"order_id":"x"}})"));
}

TEST_F(SaxoExchangeTest, ARestartForgetsWindowsAndAResetForgetsOrders) {
  place("r");
  exchange_.forget();
  EXPECT_EQ(ask_now(call("POST", "/trade/v2/orders", order("r"))).status, 200);
  exchange_.reset();
  EXPECT_TRUE(exchange_.orders().find("orders")->if_array()->empty());
  EXPECT_EQ(exchange_.take_changes(), std::vector<std::string>{R"({"reset":true})"});
}

TEST_F(SaxoExchangeTest, ATestFillsCancelsAndExpiresOrders) {
  const std::string id = place("r", "Limit").order_id;
  EXPECT_TRUE(exchange_.act(id, "fill", now_));
  EXPECT_EQ(state_of("r"), "filled");
  EXPECT_EQ(exchange_.act(id, "cancel", now_).error().code, Code::refused);
  EXPECT_EQ(exchange_.act("1", "fill", now_).error().code, Code::not_found);
  EXPECT_EQ(exchange_.act(id, "sing", now_).error().code, Code::usage);
  EXPECT_TRUE(exchange_.act(place("s", "Limit").order_id, "expire", now_));
  EXPECT_EQ(state_of("s"), "expired");
}

TEST_F(SaxoExchangeTest, AFaultOfTheOtherVenueIsRefused) {
  const Result<Script> script = parse_script(R"({"script":[{"do":"push_silence"}]})");
  EXPECT_FALSE(exchange_.play(*script));
}

TEST_F(SaxoExchangeTest, ASettingThatIsNotKnownIsRefused) {
  const Result<Script> script = parse_script(R"({"settings":{"repeat_windw":"1s"}})");
  const Result<void> played = exchange_.play(*script);
  ASSERT_FALSE(played);
  EXPECT_NE(played.error().message.find("repeat_window"), std::string::npos);
}

}  // namespace
}  // namespace pawl::emulator
