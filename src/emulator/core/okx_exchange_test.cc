// Goal: the emulated OKX takes, refuses, amends and cancels orders as the venue does, under every
// rule that can be set, and fails as it is told to.
// Method: signed calls against the exchange, with a clock moved by hand.
#include "emulator/core/okx_exchange.h"

#include <gtest/gtest.h>

#include "emulator/core/okx_fixture.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view order_path = "/api/v5/trade/order";
constexpr std::string_view batch_path = "/api/v5/trade/batch-orders";
constexpr std::string_view cancel_path = "/api/v5/trade/cancel-order";
constexpr std::string_view amend_path = "/api/v5/trade/amend-order";

using Okx = OkxFixture;

// Taking orders.

TEST_F(Okx, TakesAnOrderAndShowsIt) {
  const OkxTold placed = place(limit_order("pawl0001", R"(,"tag":"t")"));
  EXPECT_EQ(placed.status, 200);
  EXPECT_EQ(placed.code, "0");
  EXPECT_EQ(placed.s_code, "0");
  EXPECT_EQ(placed.at("clOrdId"), "pawl0001");
  EXPECT_EQ(placed.at("tag"), "t");
  EXPECT_EQ(placed.at("ts"), "1769342400000");
  EXPECT_EQ(member_of(placed.body, "inTime"), "1769342400000000");
  EXPECT_TRUE(last.accepted);
  EXPECT_EQ(last.order_id, placed.order_id);
  EXPECT_EQ(last.operation, "place");
  EXPECT_EQ(last.reference, "pawl0001");

  const OkxTold shown = find("pawl0001");
  EXPECT_EQ(shown.at("ordId"), placed.order_id);
  EXPECT_EQ(shown.at("state"), "live");
  EXPECT_EQ(shown.at("px"), "2.15");
  EXPECT_EQ(shown.at("sz"), "2");
  EXPECT_EQ(shown.at("reduceOnly"), "false");
  EXPECT_EQ(shown.at("cTime"), "1769342400000");
}

TEST_F(Okx, FillsAMarketOrderAtOnce) {
  place(swap_order("buy", "0.1", R"(,"clOrdId":"m1")"));
  const OkxTold shown = get("/api/v5/trade/order?instId=BTC-USDT-SWAP&clOrdId=m1");
  EXPECT_EQ(shown.at("state"), "filled");
  EXPECT_EQ(shown.at("accFillSz"), "0.1");
  EXPECT_EQ(Decimal(*parse_decimal(shown.at("avgPx"))), *parse_decimal("50000"));
}

TEST_F(Okx, TakesTheSizeOfASpotMarketBuyInQuoteCurrency) {
  place(R"({"instId":"BTC-USDT","tdMode":"cash","side":"buy","ordType":"market","sz":"100",)"
        R"("clOrdId":"q"})");
  EXPECT_EQ(find("q").at("accFillSz"), "0.00200000");
  place(R"({"instId":"BTC-USDT","tdMode":"cash","side":"buy","ordType":"market","sz":"1",)"
        R"("tgtCcy":"base_ccy","clOrdId":"b"})");
  EXPECT_EQ(find("b").at("accFillSz"), "1");
}

TEST_F(Okx, FillsALimitOrderOnlyWhereThePriceAllows) {
  const auto state_of = [&](std::string_view type, std::string_view price) {
    static int count = 0;
    const std::string id = "t" + std::to_string(++count);
    place(R"({"instId":"BTC-USDT","tdMode":"cash","side":"sell","sz":"1","ordType":")" +
          std::string(type) + R"(","px":")" + std::string(price) + R"(","clOrdId":")" + id + "\"}");
    return find(id).at("state");
  };
  EXPECT_EQ(state_of("limit", "60000"), "live");
  EXPECT_EQ(state_of("limit", "40000"), "filled");
  EXPECT_EQ(state_of("ioc", "60000"), "canceled");
  EXPECT_EQ(state_of("ioc", "50000"), "filled");
  EXPECT_EQ(state_of("fok", "60000"), "canceled");
  EXPECT_EQ(state_of("post_only", "60000"), "live");
  EXPECT_EQ(state_of("post_only", "50000"), "canceled");
}

// Refusing them.

TEST_F(Okx, RefusesParametersThatAreWrong) {
  const std::pair<std::string_view, std::string_view> spoilt[] = {
      {R"("clOrdId":"with-hyphen")", "51000"},
      {R"("clOrdId":"under_score")", "51000"},
      {R"("clOrdId":"a23456789012345678901234567890123")", "51000"},
      {R"("tag":"seventeen45678901")", "51000"},
      {R"("sz":"0")", "51000"},
      {R"("sz":"-1")", "51000"},
      {R"("sz":1)", "51000"},
      {R"("sz":"1e3")", "51000"},
      {R"("sz":"")", "50014"},
      {R"("px":"")", "50014"},
      {R"("side":"hold")", "51000"},
      {R"("ordType":"twap")", "51000"},
      {R"("tdMode":"margin")", "51000"},
      {R"("posSide":"long")", "51000"},
      {R"("reduceOnly":"perhaps")", "51000"},
  };
  for (const auto& [member, code] : spoilt) {
    // Behind a good one of that name, which is taken out: no two members have one name.
    json::Object order = *json::parse(limit_order("a"))->if_object();
    const json::Value change = *json::parse("{" + std::string(member) + "}");
    for (const auto& [name, value] : *change.if_object()) order[name] = value;
    const OkxTold answer = place(json::print(json::Value(order)));
    EXPECT_EQ(answer.code, code) << member;
    EXPECT_EQ(answer.status, 400) << member;
    EXPECT_FALSE(last.accepted);
  }
  EXPECT_TRUE(get("/api/v5/trade/orders-pending").data().empty());
}

TEST_F(Okx, TellsAWrongParameterInTheItemIfSetSo) {
  play(R"({"settings": {"parameter_error": "item"}})");
  const OkxTold answer = place(limit_order("with-hyphen"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.code, "1");
  EXPECT_EQ(answer.s_code, "51000");
}

TEST_F(Okx, RefusesAnOrderInAnItemOfA200) {
  const OkxTold unknown =
      place(R"({"instId":"DOGE-USDT","tdMode":"cash","side":"buy","ordType":"market","sz":"1"})");
  EXPECT_EQ(unknown.status, 200);
  EXPECT_EQ(unknown.code, "1");
  EXPECT_EQ(unknown.s_code, "51001");
  EXPECT_EQ(unknown.order_id, "");
  EXPECT_EQ(place(swap_order("buy", "0.001")).s_code, "51121") << "no multiple of its lot";
}

TEST_F(Okx, RefusesABodyThatIsNone) {
  EXPECT_EQ(place("").code, "50000");
  EXPECT_EQ(place("{").code, "50002");
  EXPECT_EQ(place("[]").code, "50002");
  EXPECT_EQ(post(batch_path, "{}").code, "50002");
  EXPECT_EQ(post("/api/v5/trade/nothing", "{}").status, 404);
}

// One clOrdId, several orders.

TEST_F(Okx, KeepsAClientIdForEverByDefault) {
  place(limit_order("once"));
  now = now + Duration::days(400);
  const OkxTold again = place(limit_order("once"));
  EXPECT_EQ(again.code, "1");
  EXPECT_EQ(again.s_code, "51016");
  EXPECT_FALSE(last.accepted);
}

TEST_F(Okx, KeepsAClientIdWhileItsOrderIsLiveIfSetSo) {
  play(R"({"settings": {"dedup": "while_live", "duplicate_code": "50071"}})");
  const OkxTold first = place(limit_order("id"));
  EXPECT_EQ(place(limit_order("id")).s_code, "50071");
  post(cancel_path, R"({"instId":"BTC-USDT","clOrdId":"id"})");
  const OkxTold second = place(limit_order("id"));
  EXPECT_EQ(second.s_code, "0");
  EXPECT_EQ(find("id").at("ordId"), second.order_id) << "the latest of the two";
  EXPECT_NE(first.order_id, second.order_id);
  const json::Value stats = exchange.stats();
  EXPECT_EQ(stats.find("accepted")->find("id")->if_number()->text, "2");
}

TEST_F(Okx, KeepsAClientIdForATimeIfSetSo) {
  play(R"({"settings": {"dedup": "10s"}})");
  place(limit_order("id"));
  now = now + Duration::milliseconds(9'999);
  EXPECT_EQ(place(limit_order("id")).s_code, "51016");
  now = now + Duration::milliseconds(1);
  EXPECT_EQ(place(limit_order("id")).s_code, "0");
}

// expTime.

TEST_F(Okx, DoesNotProcessWhatComesBehindItsExpTime) {
  const auto place_until = [&](std::string_view path, std::string_view body, Instant until) {
    Call made = call("POST", path, body);
    made.fields.push_back({.name = "exptime", .value = std::to_string(until.ns() / 1'000'000)});
    return told(exchange.answer(made, now));
  };
  const Instant just_before = now - Duration::milliseconds(1);
  EXPECT_EQ(place_until(order_path, limit_order("a"), now).s_code, "0");
  const OkxTold late = place_until(order_path, limit_order("b"), just_before);
  EXPECT_EQ(late.status, 200);
  EXPECT_EQ(late.code, "1");
  EXPECT_EQ(late.s_code, "50036");
  EXPECT_EQ(find("b").code, "51603");
  EXPECT_EQ(place_until(batch_path, "[" + limit_order("c") + "]", just_before).s_code, "50036");
  EXPECT_EQ(
      place_until(amend_path, R"({"instId":"BTC-USDT","clOrdId":"a","newSz":"1"})", just_before)
          .s_code,
      "50036");
  EXPECT_EQ(place_until(cancel_path, R"({"instId":"BTC-USDT","clOrdId":"a"})", just_before).s_code,
            "0")
      << "a cancel has none";
  play(R"({"settings": {"expired_code": "50037"}})");
  EXPECT_EQ(place_until(order_path, limit_order("d"), just_before).s_code, "50037");
}

TEST_F(Okx, JudgesExpTimeWhenACallThatWasHeldComesAgain) {
  play(R"({"script": [{"when": {"call": "place"}, "do": "delay_before_accept", "delay": "5s"}]})");
  Call made = call("POST", order_path, limit_order("held"));
  made.fields.push_back(
      {.name = "exptime", .value = std::to_string((now + Duration::seconds(2)).ns() / 1'000'000)});
  const Reply waits = exchange.answer(made, now);
  EXPECT_EQ(waits.hold, Duration::seconds(5));
  made.held = true;
  now = now + waits.hold;
  EXPECT_EQ(told(exchange.answer(made, now)).s_code, "50036");
  EXPECT_EQ(find("held").code, "51603");
}

// Several at once.

TEST_F(Okx, TellsOfABatchItemByItem) {
  const std::string good = limit_order("good");
  const std::string bad = limit_order("bad-id");
  const OkxTold mixed = post(batch_path, "[" + good + "," + bad + "]");
  EXPECT_EQ(mixed.status, 200);
  EXPECT_EQ(mixed.code, "2");
  ASSERT_EQ(mixed.data().size(), 2U);
  EXPECT_EQ(member_of(mixed.data()[0], "sCode"), "0");
  EXPECT_EQ(member_of(mixed.data()[1], "sCode"), "51000");
  EXPECT_EQ(last.reference, "good,bad-id");
  EXPECT_EQ(post(batch_path, "[" + bad + "]").code, "1");
  EXPECT_EQ(post(batch_path, "[" + limit_order("another") + "]").code, "0");

  std::string many = limit_order("x0");
  for (int i = 1; i <= 20; ++i) many += "," + limit_order("x" + std::to_string(i));
  EXPECT_EQ(post(batch_path, "[" + many + "]").code, "50025");
}

TEST_F(Okx, CancelsSeveralAtOnce) {
  place(limit_order("a"));
  const OkxTold answer =
      post("/api/v5/trade/cancel-batch-orders", R"([{"instId":"BTC-USDT","clOrdId":"a"},)"
                                                R"({"instId":"BTC-USDT","clOrdId":"none"}])");
  EXPECT_EQ(answer.code, "2");
  EXPECT_EQ(member_of(answer.data()[1], "sCode"), "51400");
}

// Changing them.

TEST_F(Okx, CancelsAnOrderThatIsOpen) {
  const OkxTold placed = place(limit_order("a"));
  const std::string body =
      R"({"instId":"BTC-USDT","clOrdId":"other","ordId":")" + placed.order_id + "\"}";
  EXPECT_EQ(post(cancel_path, body).s_code, "0") << "ordId wins";
  EXPECT_EQ(find("a").at("state"), "canceled");
  EXPECT_EQ(find("a").at("cancelSource"), "1");
  const OkxTold again = post(cancel_path, body);
  EXPECT_EQ(again.code, "1");
  EXPECT_EQ(again.s_code, "51400");
}

TEST_F(Okx, CancelsByTheInstrumentThatTheOrderHas) {
  place(limit_order("a"));
  EXPECT_EQ(post(cancel_path, R"({"instId":"ETH-USDT","clOrdId":"a"})").s_code, "51400");
  EXPECT_EQ(post(cancel_path, R"({"clOrdId":"a"})").code, "50014");
  EXPECT_EQ(post(cancel_path, R"({"instId":"BTC-USDT"})").code, "50015");
}

TEST_F(Okx, AmendsPriceAndSize) {
  place(limit_order("a"));
  now = now + Duration::seconds(1);
  const OkxTold answer = post(
      amend_path, R"({"instId":"BTC-USDT","clOrdId":"a","newSz":"3","newPx":"2.5","reqId":"r"})");
  EXPECT_EQ(answer.s_code, "0");
  EXPECT_EQ(answer.at("reqId"), "r");
  EXPECT_EQ(find("a").at("sz"), "3");
  EXPECT_EQ(find("a").at("px"), "2.5");
  EXPECT_EQ(find("a").at("uTime"), "1769342401000");
  EXPECT_EQ(post(amend_path, R"({"instId":"BTC-USDT","clOrdId":"a"})").s_code, "51500");
  EXPECT_EQ(post(amend_path, R"({"instId":"BTC-USDT","clOrdId":"b","newSz":"1"})").s_code, "51503");
  post(amend_path, R"({"instId":"BTC-USDT","clOrdId":"a","newPx":"60000"})");
  EXPECT_EQ(find("a").at("state"), "filled") << "its new price is one to trade at";
}

// Reduce-only and positions.

TEST_F(Okx, ReducesOnlyWhatIsThereWhenPositionsAreNet) {
  const std::string reduce = R"(,"reduceOnly":true)";
  EXPECT_EQ(place(swap_order("sell", "1", reduce)).s_code, "51169") << "no position";
  place(swap_order("buy", "2"));
  EXPECT_EQ(place(swap_order("buy", "1", reduce)).s_code, "51170") << "the same direction";
  EXPECT_EQ(place(swap_order("sell", "3", reduce)).s_code, "51148") << "more than there is";
  EXPECT_EQ(place(swap_order("sell", "2", reduce)).s_code, "0");
  EXPECT_TRUE(get("/api/v5/account/positions").data().empty());
  EXPECT_EQ(place(limit_order("spot", reduce)).s_code, "51205") << "spot has none";
}

TEST_F(Okx, ClosesASideWhenPositionsAreLongAndShort) {
  play(R"({"settings": {"positions": "long_short"}})");
  EXPECT_EQ(place(swap_order("buy", "1")).code, "51000") << "posSide is needed";
  EXPECT_EQ(place(swap_order("buy", "1", R"(,"posSide":"long")")).s_code, "0");
  EXPECT_EQ(place(swap_order("sell", "2", R"(,"posSide":"short")")).s_code, "0");
  const json::Array rows = get("/api/v5/account/positions").data();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(member_of(rows[0], "posSide") + member_of(rows[0], "pos"), "long1");
  EXPECT_EQ(member_of(rows[1], "posSide") + member_of(rows[1], "pos"), "short2");
  const OkxTold too_much = place(swap_order("buy", "3", R"(,"posSide":"short","reduceOnly":true)"));
  EXPECT_EQ(too_much.s_code, "51169");
  EXPECT_EQ(
      place(swap_order("buy", "3", R"(,"posSide":"long","reduceOnly":true,"clOrdId":"o")")).s_code,
      "0")
      << "the flag is not looked at";
  EXPECT_EQ(get("/api/v5/trade/order?instId=BTC-USDT-SWAP&clOrdId=o").at("reduceOnly"), "false");
  EXPECT_EQ(get("/api/v5/account/config").at("posMode"), "long_short_mode");
}

// Limits.

TEST_F(Okx, TakesSixtyOrdersOfAnInstrumentInTwoSeconds) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(place(limit_order("a" + std::to_string(i))).s_code, "0");
  }
  now = now + Duration::milliseconds(1'999);
  const OkxTold refused = place(limit_order("late"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code, "50011");
  EXPECT_FALSE(last.accepted);
  EXPECT_EQ(place(R"({"instId":"ETH-USDT","tdMode":"cash","side":"buy","ordType":"market",)"
                  R"("sz":"100"})")
                .s_code,
            "0")
      << "another instrument";
  EXPECT_EQ(post(cancel_path, R"({"instId":"BTC-USDT","clOrdId":"a0"})").s_code, "0")
      << "a cancel has a limit of its own";
  now = now + Duration::milliseconds(1);
  EXPECT_EQ(place(limit_order("late")).s_code, "0");
  EXPECT_EQ(exchange.stats().find("limit_breaches")->find("50011")->if_number()->text, "1");
}

TEST_F(Okx, CountsTheOrdersOfABatchAndOneAloneAsASingleOrder) {
  play(R"({"settings": {"limits": {"place": 1, "batch": 3}}})");
  const auto batch_of = [](std::initializer_list<std::string_view> names) {
    std::string items;
    for (const std::string_view name : names)
      items += (items.empty() ? "" : ",") + limit_order(name);
    return "[" + items + "]";
  };
  EXPECT_EQ(post(batch_path, batch_of({"a", "b"})).code, "0");
  EXPECT_EQ(post(batch_path, batch_of({"c", "d"})).code, "50011") << "four within two seconds";
  EXPECT_EQ(post(batch_path, batch_of({"e"})).code, "0");
  EXPECT_EQ(place(limit_order("f")).code, "50011") << "the one alone was a single order";
}

TEST_F(Okx, CountsNewOrdersOfTheAccount) {
  play(R"({"settings": {"limits": {"account": 3}}})");
  const std::string two = "[" + swap_order("buy", "1") + "," + swap_order("buy", "1") + "]";
  EXPECT_EQ(post(batch_path, two).code, "0");
  const OkxTold refused = post(batch_path, two);
  EXPECT_EQ(refused.code, "50061");
  EXPECT_EQ(refused.status, 200);
  EXPECT_EQ(place(limit_order("spot")).s_code, "0") << "spot does not count";
  play(R"({"settings": {"limits": {"account": 1}, "account_limit_status": 429}})");
  place(swap_order("buy", "1"));
  EXPECT_EQ(place(swap_order("buy", "1")).status, 429);
}

// Faults.

TEST_F(Okx, FailsBeforeOrAfterTheOrderIsTaken) {
  for (const std::string_view code :
       {"50001", "50004", "50005", "50013", "50026", "51054", "51149"}) {
    exchange.reset();
    play(R"({"script": [{"do": "error_before", "code": ")" + std::string(code) + R"("},
                        {"when": {"nth": 2}, "do": "error_after", "code": ")" +
         std::string(code) + "\"}]}");
    const OkxTold before = place(limit_order("before"));
    EXPECT_EQ(before.code, code);
    EXPECT_GE(before.status, 400);
    EXPECT_FALSE(last.accepted);
    const OkxTold after = place(limit_order("after"));
    EXPECT_EQ(after.code, code);
    EXPECT_EQ(after.status, before.status);
    EXPECT_TRUE(last.accepted);
    EXPECT_EQ(last.fault, "error_after");
    EXPECT_EQ(find("before").code, "51603");
    EXPECT_EQ(find("after").code, "0");
  }
}

TEST_F(Okx, FailsWithAnotherStatusIfToldSo) {
  play(R"({"script": [{"do": "error_after", "code": "50004", "status": 200}]})");
  const OkxTold answer = place(limit_order("a"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.code, "50004");
  EXPECT_EQ(find("a").code, "0");
}

TEST_F(Okx, RefusesWithTheCodeOfAScript) {
  play(R"({"script": [{"do": "error_before", "code": "51008"}]})");
  const OkxTold answer = place(limit_order("a"));
  EXPECT_EQ(answer.code, "1");
  EXPECT_EQ(answer.s_code, "51008");
  EXPECT_EQ(answer.at("clOrdId"), "a");
}

TEST_F(Okx, SaysZeroAndRefusesAllTheSame) {
  play(R"({"script": [{"do": "s_code_in_0"}]})");
  const OkxTold answer = place(limit_order("a"));
  EXPECT_EQ(answer.code, "0");
  EXPECT_EQ(answer.s_code, "51008");
  EXPECT_EQ(answer.order_id, "");
  EXPECT_EQ(find("a").code, "51603");
}

TEST_F(Okx, RefusesAsIfALimitWereUsedUp) {
  play(R"({"script": [{"when": {"call": "place", "times": 2}, "do": "rate_limited"}]})");
  EXPECT_EQ(place(limit_order("a")).status, 429);
  EXPECT_EQ(place(limit_order("a")).code, "50011");
  EXPECT_EQ(place(limit_order("a")).s_code, "0");
}

TEST_F(Okx, HidesAnOrderForAWhile) {
  play(R"({"script": [{"do": "lag", "lag": "500ms"}]})");
  EXPECT_EQ(place(swap_order("buy", "1", R"(,"clOrdId":"a")")).s_code, "0");
  const auto is_seen = [&] {
    const bool as_order = get("/api/v5/trade/order?instId=BTC-USDT-SWAP&clOrdId=a").code == "0";
    const bool as_past = !get("/api/v5/trade/orders-history?instType=SWAP").data().empty();
    const bool as_fill = !get("/api/v5/trade/fills").data().empty();
    EXPECT_EQ(as_order, as_past);
    EXPECT_EQ(as_order, as_fill);
    return as_order;
  };
  now = now + Duration::milliseconds(499);
  EXPECT_FALSE(is_seen());
  now = now + Duration::milliseconds(1);
  EXPECT_TRUE(is_seen());
}

TEST_F(Okx, DoesNotKnowFaultsOfSaxo) {
  const Result<Script> script = parse_script(R"({"script": [{"do": "order_id_in_400"}]})");
  ASSERT_TRUE(script.has_value());
  EXPECT_FALSE(exchange.play(*script).has_value());
}

// Pushes.

TEST_F(Okx, PushesEveryChangeOfAnOrder) {
  place(swap_order("buy", "1", R"(,"clOrdId":"a")"));
  const std::vector<Push> pushes = exchange.take_pushes();
  ASSERT_EQ(pushes.size(), 2U);
  EXPECT_EQ(pushes[0].channel, okx_orders_push);
  EXPECT_EQ(member_of(*json::parse(pushes[0].text), "state"), "live");
  EXPECT_EQ(member_of(*json::parse(pushes[1].text), "state"), "filled");
  EXPECT_FALSE(pushes[0].before_reply);
  EXPECT_TRUE(exchange.take_pushes().empty());
}

TEST_F(Okx, PushesEarlyOrNotAtAllOrCloses) {
  play(R"({"script": [{"do": "push_before_reply"},
                      {"when": {"nth": 2}, "do": "push_silence"},
                      {"when": {"nth": 3}, "do": "push_close"}]})");
  place(limit_order("a"));
  const std::vector<Push> early = exchange.take_pushes();
  ASSERT_EQ(early.size(), 1U);
  EXPECT_TRUE(early[0].before_reply);
  place(limit_order("b"));
  EXPECT_TRUE(exchange.take_pushes().empty());
  place(limit_order("c"));
  const std::vector<Push> closing = exchange.take_pushes();
  ASSERT_EQ(closing.size(), 2U);
  EXPECT_EQ(closing[1].channel, okx_close_push);
}

// The control port.

TEST_F(Okx, FillsAndEndsOrdersFromOutside) {
  const std::string id = place(limit_order("a")).order_id;
  ASSERT_TRUE(exchange.act(id, "fill_half", now).has_value());
  EXPECT_EQ(find("a").at("state"), "partially_filled");
  EXPECT_EQ(*parse_decimal(find("a").at("accFillSz")), *parse_decimal("1"));
  ASSERT_TRUE(exchange.act(id, "fill", now).has_value());
  EXPECT_EQ(find("a").at("state"), "filled");
  EXPECT_EQ(*parse_decimal(find("a").at("avgPx")), *parse_decimal("2.15"));
  EXPECT_EQ(exchange.act(id, "cancel", now).error().code, Code::refused);
  EXPECT_EQ(exchange.act("1", "cancel", now).error().code, Code::not_found);
  EXPECT_EQ(exchange.act(id, "burn", now).error().code, Code::usage);
  const std::string other = place(limit_order("b")).order_id;
  ASSERT_TRUE(exchange.act(other, "expire", now).has_value());
  EXPECT_EQ(find("b").at("state"), "canceled");
}

TEST_F(Okx, IsTheSameAfterARestart) {
  place(limit_order("a"));
  place(swap_order("buy", "2"));
  place(swap_order("sell", "0.5", R"(,"reduceOnly":true)"));
  const std::string id = place(limit_order("b")).order_id;
  ASSERT_TRUE(exchange.act(id, "fill_half", now).has_value());
  const std::vector<std::string> lines = exchange.take_changes();
  OkxExchange again;
  for (const std::string& line : lines) {
    const Result<void> restored = again.restore(line);
    ASSERT_TRUE(restored.has_value()) << restored.error().message;
  }
  EXPECT_EQ(json::print(again.orders()), json::print(exchange.orders()));
  for (const std::string_view target :
       {"/api/v5/account/positions", "/api/v5/trade/fills", "/api/v5/trade/orders-pending"}) {
    EXPECT_EQ(again.answer(call("GET", target), now).body,
              exchange.answer(call("GET", target), now).body);
  }
  EXPECT_EQ(told(again.answer(call("POST", order_path, limit_order("a")), now)).s_code, "51016");
  const OkxTold next = told(again.answer(call("POST", order_path, limit_order("c")), now));
  EXPECT_GT(std::stoull(next.order_id), std::stoull(id));
}

TEST_F(Okx, IsEmptyAfterAReset) {
  place(limit_order("a"));
  exchange.reset();
  EXPECT_EQ(find("a").code, "51603");
  EXPECT_EQ(exchange.take_changes(), std::vector<std::string>{R"({"reset":true})"});
  EXPECT_EQ(place(limit_order("a")).s_code, "0");
}

TEST_F(Okx, RefusesADamagedLineOfItsBook) {
  EXPECT_FALSE(exchange.restore("{").has_value());
  EXPECT_FALSE(exchange.restore(R"({"order":{}})").has_value());
  EXPECT_FALSE(exchange.restore(R"({"something":1})").has_value());
  EXPECT_TRUE(exchange.restore(R"({"reset":true})").has_value());
}

}  // namespace
}  // namespace pawl::emulator
