// Goal: an order counts as accepted or refused only when OKX says so without a doubt. Method:
// bodies of every shape that OKX has been seen to give, contradictions, and rubbish.
#include "venue/okx/okx_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace pawl::okx {
namespace {

using order::Answer;
using order::Life;
using order::Sent;

HttpAnswer answered(std::string body, int status = 200) {
  return {.status = status, .body = std::move(body), .complete = true};
}
Answer placed(std::string body, int status = 200) {
  const std::vector<std::string> ids = {"ref1"};
  return place_answers(answered(std::move(body), status), ids).at(0);
}
std::string envelope(std::string_view code, std::string_view data, std::string_view msg = "") {
  return R"({"code":")" + std::string(code) + R"(","msg":")" + std::string(msg) + R"(","data":)" +
         std::string(data) + R"(,"inTime":"1","outTime":"2"})";
}
std::string item(std::string_view order_id, std::string_view code, std::string_view says = "",
                 std::string_view client_id = "ref1") {
  return R"({"clOrdId":")" + std::string(client_id) + R"(","ordId":")" + std::string(order_id) +
         R"(","tag":"","ts":"1","sCode":")" + std::string(code) + R"(","sMsg":")" +
         std::string(says) + R"(","subCode":""})";
}

TEST(OkxAnswer, AnOrderIsAcceptedWithItsId) {
  const Answer answer = placed(envelope("0", "[" + item("77", "0") + "]"));
  EXPECT_EQ(answer.sent, Sent::accepted);
  EXPECT_EQ(answer.order_id, "77");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.code, "0");
}

TEST(OkxAnswer, ARefusalSaysWhyInTheItem) {
  const Answer answer = placed(
      envelope("1", "[" + item("", "51008", "Insufficient balance") + "]", "Operation failed."));
  EXPECT_EQ(answer.sent, Sent::refused);
  EXPECT_EQ(answer.code, "51008");
  EXPECT_EQ(answer.message, "Insufficient balance");
  EXPECT_EQ(answer.order_id, "");
}

TEST(OkxAnswer, ACodeOfZeroWithAnItemThatFailedIsTheItemsWord) {
  EXPECT_EQ(placed(envelope("0", "[" + item("", "51008") + "]")).sent, Sent::refused);
  EXPECT_EQ(placed(envelope("0", "[" + item("", "51149") + "]")).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("0", "[" + item("", "51016") + "]")).sent, Sent::duplicate);
}

TEST(OkxAnswer, ADuplicateIsNeitherAcceptedNorRefused) {
  for (const char* code : {"51016", "50071"}) {
    const Answer answer = placed(envelope("1", "[" + item("", code) + "]"));
    EXPECT_EQ(answer.sent, Sent::duplicate) << code;
    EXPECT_EQ(answer.code, code);
  }
  EXPECT_EQ(placed(envelope("50071", "[]", "clOrdId already exists")).sent, Sent::duplicate);
}

TEST(OkxAnswer, AnIdInARefusalIsALiveOrder) {
  for (const char* code : {"51008", "50011", "50102", "51149"}) {
    const Answer answer = placed(envelope("1", "[" + item("77", code) + "]"));
    EXPECT_EQ(answer.sent, Sent::unknown) << code;
    EXPECT_EQ(answer.order_id, "77");
  }
}

TEST(OkxAnswer, AnswersThatContradictThemselvesAreUnknown) {
  EXPECT_EQ(placed(envelope("0", "[" + item("", "0") + "]")).sent, Sent::unknown) << "no id";
  EXPECT_EQ(placed(envelope("0", "[]")).sent, Sent::unknown) << "no item";
  EXPECT_EQ(placed(envelope("1", "[]", "All operations failed")).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("1", "[" + item("77", "0") + "]")).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("0", "[" + item("77", "0", "", "other") + "]")).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("0", "[" + item("77", "0") + "]"), 500).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("0", "[" + item("77", "0") + "]"), 500).order_id, "77");
  EXPECT_EQ(placed(envelope("50004", "[" + item("77", "0") + "]")).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("51008", "[" + item("77", "", "", "other") + "]")).sent, Sent::unknown);
}

TEST(OkxAnswer, ACallThatIsRefusedAsAWholeHasNoItems) {
  EXPECT_EQ(placed(envelope("51000", "[]", "Parameter sz error"), 400).sent, Sent::refused);
  EXPECT_EQ(placed(envelope("50113", "[]", "Invalid Sign"), 401).sent, Sent::refused);
  EXPECT_EQ(placed(envelope("50102", "[]", "Timestamp request expired"), 401).sent, Sent::not_sent);
  EXPECT_EQ(placed(envelope("50004", "[]", "Endpoint request timeout"), 400).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("50026", "[]", "System error"), 500).sent, Sent::unknown);
  EXPECT_EQ(placed(envelope("50001", "[]"), 503).sent, Sent::unknown);
  EXPECT_EQ(placed(R"({"code":50113,"msg":"a number"})", 401).sent, Sent::refused);
}

TEST(OkxAnswer, ARateLimitIsWaitedForAWindow) {
  const Answer answer = placed(envelope("50011", "[]", "Too Many Requests"), 429);
  EXPECT_EQ(answer.sent, Sent::rate_limited);
  EXPECT_EQ(answer.retry_after, Duration::seconds(2));
  EXPECT_EQ(placed(envelope("1", "[" + item("", "50061") + "]")).sent, Sent::rate_limited);
  EXPECT_EQ(placed("", 429).sent, Sent::rate_limited);
}

TEST(OkxAnswer, WhatIsNoEnvelopeSaysNoMoreThanItsStatus) {
  EXPECT_EQ(placed("<html>502 Bad Gateway</html>", 502).sent, Sent::unknown);
  EXPECT_EQ(placed("", 200).sent, Sent::unknown);
  EXPECT_EQ(placed("null", 200).sent, Sent::unknown);
  EXPECT_EQ(placed("[]", 200).sent, Sent::unknown);
  EXPECT_EQ(placed("{}", 200).sent, Sent::unknown);
  EXPECT_EQ(placed(R"({"code":{},"data":7})", 200).sent, Sent::unknown);
  EXPECT_EQ(placed(R"({"code":"0","data":[7,"x",null]})", 200).sent, Sent::unknown);
  EXPECT_EQ(placed(R"({"code":"0","code":"1"})", 200).sent, Sent::unknown);
  const std::vector<std::string> ids = {"ref1"};
  HttpAnswer cut = answered(envelope("0", "[" + item("77", "0") + "]"));
  cut.complete = false;
  EXPECT_EQ(place_answers(cut, ids).at(0).sent, Sent::unknown);
}

TEST(OkxAnswer, ABatchIsReadItemByItem) {
  const std::vector<std::string> ids = {"ref1", "ref2", "ref3", "ref4"};
  const auto answers = place_answers(
      answered(envelope("2",
                        "[" + item("", "51008", "no", "ref2") + "," + item("71", "0") + "," +
                            item("", "51016", "", "ref4") + "]",
                        "Bulk operation partially succeeded.")),
      ids);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].sent, Sent::accepted);
  EXPECT_EQ(answers[0].order_id, "71");
  EXPECT_EQ(answers[0].message, "") << "what is said of the others is not said of it";
  EXPECT_EQ(answers[1].sent, Sent::refused);
  EXPECT_EQ(answers[2].sent, Sent::unknown) << "nothing was said about it";
  EXPECT_EQ(answers[3].sent, Sent::duplicate);
}

TEST(OkxAnswer, ItemsWithoutAnIdOfOursAreTakenInTheirOrder) {
  const std::vector<std::string> ids = {"ref1", "ref2"};
  const std::string both = "[" + item("", "51000", "", "") + "," + item("72", "0", "", "") + "]";
  const auto answers = place_answers(answered(envelope("2", both)), ids);
  EXPECT_EQ(answers[0].sent, Sent::refused);
  EXPECT_EQ(answers[1].sent, Sent::accepted);
  const auto fewer =
      place_answers(answered(envelope("2", "[" + item("71", "0", "", "") + "]")), ids);
  EXPECT_EQ(fewer[0].sent, Sent::unknown);
  EXPECT_EQ(fewer[1].sent, Sent::unknown);
}

TEST(OkxAnswer, ABatchThatIsRefusedAsAWholeIsRefusedForEach) {
  const std::vector<std::string> ids = {"ref1", "ref2"};
  for (const Answer& answer : place_answers(answered(envelope("50014", "[]"), 400), ids)) {
    EXPECT_EQ(answer.sent, Sent::refused);
  }
}

TEST(OkxAnswer, AChangeIsDoneOrTheOrderIsOver) {
  const auto changed = [](std::string body, int status = 200) {
    return change_answer(answered(std::move(body), status));
  };
  EXPECT_EQ(changed(envelope("0", "[" + item("77", "0") + "]")).sent, Sent::accepted);
  const Answer over = changed(envelope("1", "[" + item("77", "51400") + "]"));
  EXPECT_EQ(over.sent, Sent::refused);
  EXPECT_EQ(over.code, "51400");
  EXPECT_EQ(changed(envelope("1", "[" + item("", "51603") + "]")).sent, Sent::refused);
  EXPECT_EQ(changed(envelope("0", "[]")).sent, Sent::unknown);
  EXPECT_EQ(changed("<html>", 504).sent, Sent::unknown);
  EXPECT_EQ(changed(envelope("50011", "[]"), 429).sent, Sent::rate_limited);
}

TEST(OkxAnswer, MessagesAreOneLineAndBounded) {
  const std::string text(100'000, 'x');
  EXPECT_LE(placed(envelope("1", "[" + item("", "51000", text) + "]")).message.size(), 500u);
  EXPECT_LE(placed(text, 502).message.size(), 600u);
  EXPECT_EQ(placed(envelope("1", R"([{"sCode":"51000","sMsg":"two\r\nlines","clOrdId":"ref1"}])"))
                .message,
            "two lines");
}

constexpr std::string_view row_text =
    R"({"instType":"SWAP","instId":"BTC-USDT-SWAP","ordId":"680800019749904384","clOrdId":"ref1",)"
    R"("px":"50000.5","sz":"0.10","ordType":"limit","side":"sell","posSide":"net",)"
    R"("accFillSz":"0.05","avgPx":"50001","state":"partially_filled","reduceOnly":"true",)"
    R"("cTime":"1708587373361","uTime":"1708587373362"})";

TEST(OkxAnswer, ReadsARowOfAnOrder) {
  const auto order = order_of_row(json::parse(row_text).value());
  ASSERT_TRUE(order);
  EXPECT_EQ(order->order_id, "680800019749904384");
  EXPECT_EQ(order->reference, "ref1");
  EXPECT_EQ(order->instrument, "BTC-USDT-SWAP");
  EXPECT_EQ(order->side, order::Side::sell);
  EXPECT_EQ(order->type, "limit");
  EXPECT_EQ(to_string(order->size), "0.10");
  EXPECT_EQ(to_string(order->price.value()), "50000.5");
  EXPECT_EQ(to_string(order->filled), "0.05");
  EXPECT_TRUE(order->reduce_only);
  EXPECT_EQ(order->life, Life::working);
  EXPECT_EQ(order->says, "partially_filled");
  EXPECT_EQ(to_string(order->placed_at), "2024-02-22T07:36:13.361Z");
}

TEST(OkxAnswer, KnowsTheStatesOfAnOrder) {
  const auto life_of = [](std::string_view state) {
    json::Value row = json::parse(row_text).value();
    json::Object members = *row.if_object();
    members["state"] = state;
    return order_of_row(members)->life;
  };
  EXPECT_EQ(life_of("live"), Life::working);
  EXPECT_EQ(life_of("filled"), Life::filled);
  EXPECT_EQ(life_of("canceled"), Life::canceled);
  EXPECT_EQ(life_of("mmp_canceled"), Life::canceled);
  EXPECT_EQ(life_of("frozen"), Life::unknown);
}

TEST(OkxAnswer, AListWithARowThatIsNoOrderIsNotRead) {
  const std::string good(row_text);
  EXPECT_EQ(orders_of(answered(envelope("0", "[" + good + "]")), "pending").value().size(), 1u);
  for (const char* bad : {"7", "{}", R"({"ordId":"1"})"}) {
    const auto orders = orders_of(answered(envelope("0", "[" + good + "," + bad + "]")), "pending");
    ASSERT_FALSE(orders) << bad;
    EXPECT_EQ(orders.error().code, Code::unavailable);
  }
}

TEST(OkxAnswer, AReadingCallSaysWhatWentWrong) {
  const auto wrong = [](std::string body, int status) {
    return data_of(answered(std::move(body), status), "trade/order").error();
  };
  const Error absent = wrong(envelope("51603", "[]", "Order does not exist"), 200);
  EXPECT_EQ(absent.code, Code::not_found);
  EXPECT_EQ(absent.message, "trade/order: 51603: Order does not exist");
  const Error limited = wrong(envelope("50011", "[]", "Too Many Requests"), 429);
  EXPECT_EQ(limited.code, Code::unavailable);
  EXPECT_EQ(limited.retry_after, Duration::seconds(2));
  EXPECT_EQ(wrong(envelope("50111", "[]", "Invalid OK-ACCESS-KEY"), 401).code, Code::refused);
  EXPECT_EQ(wrong("<html>", 502).code, Code::unavailable);
  EXPECT_EQ(wrong(envelope("51603", "[]"), 500).code, Code::unavailable);
}

TEST(OkxAnswer, ReadsTheTimeOfTheVenue) {
  EXPECT_EQ(
      to_string(venue_time_of(answered(envelope("0", R"([{"ts":"1708587373361"}])"))).value()),
      "2024-02-22T07:36:13.361Z");
  for (const char* data : {"[]", "[{}]", R"([{"ts":"soon"}])", R"([{"ts":"-1"}])"}) {
    EXPECT_FALSE(venue_time_of(answered(envelope("0", data)))) << data;
  }
}

RC_GTEST_PROP(OkxAnswer, NeverAcceptsWithoutAnIdWhateverComes, ()) {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{
      R"("code":"0",)", R"("code":"1",)", R"("data":[)", "]", "{", "}", R"("sCode":"0")",
      R"("ordId":"")", R"("clOrdId":"ref1")", ",", "null", R"("ordId":7)"});
  std::string body;
  for (const std::string& text : *rc::gen::container<std::vector<std::string>>(piece)) body += text;
  const int status = *rc::gen::element(200, 400, 401, 429, 500, 503);
  const Answer answer = placed(body, status);
  RC_ASSERT(answer.sent != Sent::accepted || (status == 200 && !answer.order_id.empty()));
}

}  // namespace
}  // namespace pawl::okx
