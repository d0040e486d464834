// Goal: no answer of Saxo, whatever its shape, is taken for more than it says.
// Method: a table with every row of what Saxo answers to a placement; the same for changes, cancels
//         and prechecks; then answers made of pieces and of noise, held against what must never be.
#include "venue/saxo/saxo_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::saxo {
namespace {

using order::Answer;
using order::Sent;

const Instant now = parse_instant("2026-01-25T21:15:00Z").value();

HttpAnswer http(int status, std::string body, bool complete = true) {
  return {.status = status, .body = std::move(body), .complete = complete};
}

struct Row {
  std::string name;
  HttpAnswer from;
  Sent sent;
  std::string order_id = {};
  std::string code = {};
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"accepted", http(200, R"({"OrderId":"1"})"), Sent::accepted, "1"},
      {"accepted with 201", http(201, R"({"OrderId":"1"})"), Sent::accepted, "1"},
      {"accepted with our reference", http(200, R"({"OrderId":"1","ExternalReference":"ref"})"),
       Sent::accepted, "1"},
      {"accepted in a list", http(200, R"({"Orders":[{"OrderId":"1"}]})"), Sent::accepted, "1"},
      {"accepted twice in one", http(200, R"({"OrderId":"1","Orders":[{"OrderId":"1"}]})"),
       Sent::accepted, "1"},
      {"accepted with an empty error", http(200, R"({"OrderId":"1","ErrorInfo":null})"),
       Sent::accepted, "1"},
      {"an id that is a number", http(200, R"({"OrderId":55024416})"), Sent::accepted, "55024416"},
      {"two orders", http(200, R"({"Orders":[{"OrderId":"1"},{"OrderId":"2"}]})"), Sent::unknown,
       "1"},
      {"error in a 200", http(200, R"({"ErrorInfo":{"ErrorCode":"NoCash","Message":"m"}})"),
       Sent::refused, "", "NoCash"},
      {"error in a list of a 200",
       http(200, R"({"Orders":[{"ErrorInfo":{"ErrorCode":"NoCash"}}]})"), Sent::refused, "",
       "NoCash"},
      {"top-level error in a 200", http(200, R"({"ErrorCode":"NoCash"})"), Sent::refused, "",
       "NoCash"},
      {"order and error in a 200", http(200, R"({"OrderId":"1","ErrorInfo":{"ErrorCode":"Odd"}})"),
       Sent::unknown, "1", "Odd"},
      {"an error without a code", http(200, R"({"OrderId":"1","ErrorInfo":{}})"), Sent::unknown,
       "1"},
      {"an empty 200", http(200, "{}"), Sent::unknown},
      {"a 200 without a body", http(200, ""), Sent::unknown},
      {"a 200 of HTML", http(200, "<html>ok</html>"), Sent::unknown},
      {"a 200 that is a list", http(200, R"([{"OrderId":"1"}])"), Sent::unknown, "1"},
      {"a 200 cut off", http(200, R"({"OrderId":"1"})", false), Sent::unknown, "1"},
      {"a 200 cut in its body", http(200, R"({"OrderId":"1)", false), Sent::unknown},
      {"a 200 about another order", http(200, R"({"OrderId":"9","ExternalReference":"other"})"),
       Sent::unknown, "", "ForeignAnswer"},
      {"an id that is none", http(200, R"({"OrderId":"../1"})"), Sent::unknown},
      {"a 202", http(202, R"({"OrderId":"1","ErrorInfo":{"ErrorCode":"TradeNotCompleted"}})"),
       Sent::unknown, "1", "TradeNotCompleted"},
      {"a 202 with nothing", http(202, ""), Sent::unknown},
      {"a 204", http(204, ""), Sent::unknown},
      {"undecided in a 200", http(200, R"({"ErrorInfo":{"ErrorCode":"OrderCommandTimeout"}})"),
       Sent::unknown, "", "OrderCommandTimeout"},
      {"undecided in a 400", http(400, R"({"ErrorCode":"OrderCommandPending"})"), Sent::unknown, "",
       "OrderCommandPending"},
      {"not completed in a 400", http(400, R"({"ErrorCode":"TradeNotCompleted"})"), Sent::unknown,
       "", "TradeNotCompleted"},
      {"not completed, by its text", http(400, R"({"Message":"Error: TradeNotCompleted"})"),
       Sent::unknown},
      {"a redirect", http(302, ""), Sent::unknown},
      {"a 400", http(400, R"({"ErrorCode":"InvalidModelState","ModelState":{"OrderId":["no"]}})"),
       Sent::refused, "", "InvalidModelState"},
      {"a 400 without a body", http(400, ""), Sent::refused},
      {"a 400 of HTML", http(400, "<html>bad</html>"), Sent::refused},
      {"a 400 cut off", http(400, R"({"Err)", false), Sent::unknown},
      {"a 400 with a live order",
       http(400, R"({"Orders":[{"OrderId":"1"},{"ErrorInfo":{"ErrorCode":"Related"}}]})"),
       Sent::unknown, "1", "Related"},
      {"half a 400 that names an order", http(400, R"({"Orders":[{"OrderId":"1")"), Sent::unknown},
      {"a 404", http(404, R"({"ErrorCode":"NotFound"})"), Sent::refused, "", "NotFound"},
      {"a 404 with a live order", http(404, R"({"OrderId":"1"})"), Sent::unknown, "1"},
      {"an empty 401", http(401, ""), Sent::not_sent},
      {"a 401 that names an order", http(401, R"({"OrderId":"1"})"), Sent::unknown, "1"},
      {"a 403", http(403, R"({"ErrorCode":"NotAllowed"})"), Sent::refused, "", "NotAllowed"},
      {"a 403 of the edge", http(403, "<html>Access Denied</html>"), Sent::refused},
      {"a 408", http(408, ""), Sent::unknown},
      {"a 409", http(409, R"({"ErrorCode":"DuplicateOperation"})"), Sent::duplicate, "",
       "DuplicateOperation"},
      {"a 409 of anything", http(409, "<html>", false), Sent::duplicate},
      {"a 409 with the order", http(409, R"({"OrderId":"1"})"), Sent::duplicate, "1"},
      {"a 429", http(429, R"({"ErrorCode":"RateLimitExceeded"})"), Sent::rate_limited, "",
       "RateLimitExceeded"},
      {"an empty 429", http(429, ""), Sent::rate_limited},
      {"a 429 with an order", http(429, R"({"OrderId":"1"})"), Sent::unknown, "1"},
      {"a 415", http(415, ""), Sent::refused},
      {"a 500", http(500, R"({"ErrorCode":"InternalServerError"})"), Sent::unknown, "",
       "InternalServerError"},
      {"a 502 of HTML", http(502, "<html>"), Sent::unknown},
      {"a 503 with an order", http(503, R"({"OrderId":"1"})"), Sent::unknown, "1"},
      {"a status that is none", http(0, R"({"OrderId":"1"})"), Sent::unknown, "1"},
  };
  return table;
}

TEST(SaxoAnswer, ToAPlacementIsReadRowByRow) {
  for (const Row& row : rows()) {
    const Answer answer = place_answer(row.from, "ref", now);
    EXPECT_EQ(to_string(answer.sent), to_string(row.sent)) << row.name;
    EXPECT_EQ(answer.order_id, row.order_id) << row.name;
    EXPECT_EQ(answer.code, row.code) << row.name;
    EXPECT_EQ(answer.status, row.from.status) << row.name;
    EXPECT_FALSE(answer.message.empty()) << row.name;
  }
}

TEST(SaxoAnswer, TellsWhatIsWrongInOneLine) {
  const Answer answer = place_answer(
      http(400, R"({"ErrorCode":"InvalidModelState","Message":"One or more\r\nproperties",)"
                R"("ModelState":{"Amount":["too small","odd"],"$":["x"]}})"),
      "ref", now);
  EXPECT_EQ(answer.message,
            "HTTP 400 InvalidModelState: One or more properties: $: x; Amount: too small; Amount: "
            "odd");
}

TEST(SaxoAnswer, KeepsTheCorrelationAndTheLimits) {
  HttpAnswer from = http(429, "");
  from.fields = {{"x-correlation", "abc##1"},
                 {"x-ratelimit-sessionorders-remaining", "0"},
                 {"x-ratelimit-sessionorders-reset", "0"}};
  const Answer answer = place_answer(from, "ref", now);
  EXPECT_EQ(answer.correlation, "abc##1");
  EXPECT_NE(answer.limits.find("remaining 0"), std::string::npos);
  EXPECT_EQ(answer.retry_after, Duration::seconds(1)) << "a reset of 0 is no wait of 0";
}

TEST(SaxoAnswer, ToAChangeKnowsItsOrder) {
  const auto sent = [](int status, const std::string& body) {
    return change_answer(http(status, body), "1", now).sent;
  };
  EXPECT_EQ(sent(200, R"({"OrderId":"1"})"), Sent::accepted);
  EXPECT_EQ(sent(200, R"({"OrderId":"2"})"), Sent::unknown);
  EXPECT_EQ(sent(200, "{}"), Sent::unknown);
  EXPECT_EQ(sent(200, R"({"OrderId":"1","ErrorInfo":{"ErrorCode":"No"}})"), Sent::refused);
  EXPECT_EQ(sent(202, R"({"OrderId":"1"})"), Sent::unknown);
  EXPECT_EQ(sent(400, R"({"OrderId":"1","ErrorInfo":{"ErrorCode":"No"}})"), Sent::refused);
  EXPECT_EQ(sent(400, R"({"ErrorCode":"OrderCommandTimeout"})"), Sent::unknown);
  EXPECT_EQ(sent(404, ""), Sent::refused);
  EXPECT_EQ(sent(409, ""), Sent::duplicate);
  EXPECT_EQ(sent(429, ""), Sent::rate_limited);
  EXPECT_EQ(sent(401, ""), Sent::not_sent);
  EXPECT_EQ(sent(503, ""), Sent::unknown);
  EXPECT_EQ(change_answer(http(503, ""), "1", now).order_id, "1");
}

TEST(SaxoAnswer, ToACancelMayHideAnErrorInA200) {
  const auto answer = [](int status, const std::string& body) {
    return cancel_answer(http(status, body), "1", now);
  };
  EXPECT_EQ(answer(200, R"({"Orders":[{"OrderId":"1"}]})").sent, Sent::accepted);
  const Answer hidden =
      answer(200, R"({"Orders":[{"OrderId":"1","ErrorInfo":{"ErrorCode":"OrderNotFound"}}]})");
  EXPECT_EQ(hidden.sent, Sent::refused);
  EXPECT_EQ(hidden.code, "OrderNotFound");
  EXPECT_EQ(answer(200, R"({"Orders":[]})").sent, Sent::unknown);
  EXPECT_EQ(answer(200, R"({"Orders":[{"OrderId":"2"}]})").sent, Sent::unknown);
  EXPECT_EQ(answer(404, "").code, "OrderNotFound");
  EXPECT_EQ(answer(500, "").sent, Sent::unknown);
}

TEST(SaxoAnswer, ToAPrecheckIsOkOnlyWithoutAnError) {
  const auto good =
      precheck_answer(http(200, R"({"PreCheckResult":"Ok","EstimatedCashRequired":1500.10,)"
                                R"("Costs":{"Long":{"Total":7}},"Currency":"EUR"})"),
                      now);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->ok);
  const std::vector<std::pair<std::string, std::string>> details = {
      {"Costs.Long.Total", "7"}, {"Currency", "EUR"}, {"EstimatedCashRequired", "1500.10"}};
  EXPECT_EQ(good->details, details);
  const auto poor = precheck_answer(
      http(200, R"({"PreCheckResult":"Ok","ErrorInfo":{"ErrorCode":"NoCash","Message":"m"}})"),
      now);
  ASSERT_TRUE(poor);
  EXPECT_FALSE(poor->ok);
  EXPECT_EQ(poor->code, "NoCash");
  const auto disclaimed = precheck_answer(
      http(200, R"({"PreCheckResult":"Ok","PreTradeDisclaimers":{"DisclaimerTokens":["t"]}})"),
      now);
  EXPECT_FALSE(disclaimed->ok);
  EXPECT_EQ(disclaimed->code, "DisclaimersPending");
  const auto invalid = precheck_answer(http(400, R"({"ErrorCode":"InvalidModelState"})"), now);
  EXPECT_FALSE(invalid->ok);
  EXPECT_EQ(precheck_answer(http(409, ""), now).error().code, Code::refused);
  EXPECT_EQ(precheck_answer(http(429, ""), now).error().code, Code::refused);
  EXPECT_EQ(precheck_answer(http(503, ""), now).error().code, Code::unavailable);
  EXPECT_EQ(precheck_answer(http(200, "<html>"), now).error().code, Code::unavailable);
}

TEST(SaxoAnswer, SurvivesABodyThatIsDeepOrHuge) {
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += R"({"Orders":[)";
  const Answer lost = place_answer(http(200, deep), "ref", now);
  EXPECT_EQ(lost.sent, Sent::unknown);
  const std::string huge = R"({"ErrorCode":")" + std::string(1'000'000, 'x') + R"("})";
  const Answer refused = place_answer(http(400, huge), "ref", now);
  EXPECT_EQ(refused.sent, Sent::refused);
  EXPECT_LE(refused.message.size(), bounds::venue_message_bytes_max);
  EXPECT_LE(refused.code.size(), bounds::venue_message_bytes_max);
}

std::string any_body() {
  std::string text;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    text += *rc::gen::element<std::string>(
        "{", "}", "[", "]", ",", ":", R"("OrderId":)", R"("1")", R"("ErrorInfo":)",
        R"("ErrorCode":"X")", R"("Orders":)", "null", "7", R"("ExternalReference":"ref")",
        R"({"OrderId":"1"})", R"({"ErrorCode":"No"})", R"("TradeNotCompleted")", "\xff", "\r\n");
  }
  return text;
}

RC_GTEST_PROP(SaxoAnswer, IsNeverTakenForMoreThanItSays, ()) {
  const int status =
      *rc::gen::element(0, 200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 429, 500, 502, 503);
  const std::string body = any_body();
  const bool complete = *rc::gen::arbitrary<bool>();
  const Answer answer = place_answer(http(status, body, complete), "ref", now);
  const bool names_order = body.find("OrderId") != std::string::npos;
  if (answer.sent == Sent::accepted) {
    RC_ASSERT((status == 200 || status == 201) && complete && !answer.order_id.empty());
    RC_ASSERT(body.find("ErrorCode") == std::string::npos);
  }
  if (answer.sent == Sent::refused && !answer.order_id.empty()) RC_FAIL("a live order is refused");
  if (status >= 500 || status == 202) RC_ASSERT(answer.sent == Sent::unknown);
  if (answer.sent == Sent::refused && status >= 400 && status != 403) {
    RC_ASSERT(complete);
    RC_ASSERT(!names_order || json::parse(body).has_value());
  }
}

RC_GTEST_PROP(SaxoAnswer, TakesNoiseForUnknownOrRefused, (const std::string& noise)) {
  RC_ASSERT(place_answer(http(200, noise), "ref", now).sent != Sent::accepted);
  (void)cancel_answer(http(200, noise), "1", now);
  (void)precheck_answer(http(200, noise), now);
}

}  // namespace
}  // namespace pawl::saxo
