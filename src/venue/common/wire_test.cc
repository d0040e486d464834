// Goal: what a venue sends is read or passed over, never trusted; what goes on to people is one
//       clean line.
// Method: examples of each helper, hostile ones among them; properties of the texts.
#include "venue/common/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"
#include "base/scrub.h"

namespace pawl::venue {
namespace {

const Instant now = parse_instant("2026-01-25T21:15:00Z").value();

TEST(VenueWire, FindsFieldsAndTheVenuesClock) {
  const HttpAnswer answer{.fields = {{"date", "Sun, 25 Jan 2026 21:15:03 GMT"}, {"x", "1"}}};
  EXPECT_EQ(field_of(answer, "x"), "1");
  EXPECT_EQ(field_of(answer, "y"), "");
  EXPECT_EQ(time_of(answer), now + Duration::seconds(3));
  EXPECT_EQ(time_of({.fields = {{"date", "yesterday"}}}), std::nullopt);
}

TEST(VenueWire, TakesTheWaitFromTheExhaustedDimension) {
  const HttpAnswer from{.status = 429,
                        .fields = {{"x-ratelimit-appday-limit", "10000000"},
                                   {"x-ratelimit-appday-remaining", "9999"},
                                   {"x-ratelimit-appday-reset", "82332"},
                                   {"x-ratelimit-sessionorders-limit", "1"},
                                   {"x-ratelimit-sessionorders-remaining", "0"},
                                   {"x-ratelimit-sessionorders-reset", "1"}}};
  order::Answer answer;
  note_limits(answer, from, now);
  EXPECT_EQ(answer.retry_after, Duration::seconds(1));
  EXPECT_NE(answer.limits.find("remaining 0"), std::string::npos) << answer.limits;
  HttpAnswer good = from;
  good.status = 200;
  order::Answer other;
  note_limits(other, good, now);
  EXPECT_EQ(other.retry_after, Duration());
}

TEST(VenueWire, SaysOfAFailureWhetherItMayBeSentAgain) {
  const auto sent = [](Code code, Outcome outcome) {
    return answer_of(Error(code, outcome, "it broke")).sent;
  };
  EXPECT_EQ(sent(Code::unavailable, Outcome::not_applied), order::Sent::not_sent);
  EXPECT_EQ(sent(Code::unavailable, Outcome::unknown), order::Sent::unknown);
  EXPECT_EQ(sent(Code::invalid, Outcome::not_applied), order::Sent::refused);
  EXPECT_EQ(sent(Code::refused, Outcome::not_applied), order::Sent::refused);
  EXPECT_EQ(sent(Code::refused, Outcome::unknown), order::Sent::unknown);
}

TEST(VenueWire, ReadsNoBodyThatIsNotWholeAndGood) {
  EXPECT_TRUE(body_of({.status = 200, .body = "{}", .complete = true}, "it"));
  EXPECT_FALSE(body_of({.status = 200, .body = "{}", .complete = false}, "it"));
  EXPECT_FALSE(body_of({.status = 200, .body = "<html>", .complete = true}, "it"));
  EXPECT_FALSE(body_of({.status = 200, .body = "7", .complete = true}, "it"));
  EXPECT_FALSE(body_of({.status = 204, .body = "{}", .complete = true}, "it"));
  const auto refused = body_of({.status = 429, .body = "slow\r\ndown", .complete = true}, "it");
  EXPECT_EQ(refused.error().message, "it gave status 429: slow down");
}

TEST(VenueWire, ReadsNumbersExactlyHoweverTheyAreWritten) {
  const auto read = [](const std::string& text) {
    const auto value = json::parse(R"({"n":)" + text + "}").value();
    const auto number = decimal_of(value, "n");
    return number ? to_string(*number) : "none";
  };
  EXPECT_EQ(read("1.10"), "1.10");
  EXPECT_EQ(read("\"0.1\""), "0.1");
  EXPECT_EQ(read("1E-05"), "0.00001");
  EXPECT_EQ(read("1.5e-7"), "0.00000015");
  EXPECT_EQ(read("-2.50e1"), "-25.0");
  EXPECT_EQ(read("12e3"), "12000");
  EXPECT_EQ(read("0e5"), "0");
  EXPECT_EQ(read("1e999999999"), "none");
  EXPECT_EQ(read("1e-99"), "none");
  EXPECT_EQ(read("\"1e\""), "none");
  EXPECT_EQ(read("\"\""), "none");
  EXPECT_EQ(read("\"x\""), "none");
  EXPECT_EQ(read("null"), "none");
  EXPECT_EQ(read("[1]"), "none");
}

TEST(VenueWire, ReadsMembersThatAreThere) {
  const auto value = json::parse(R"({"t":"x","n":12.50,"at":"2026-01-25T21:15:00Z",)"
                                 R"("list":[1],"o":{}})")
                         .value();
  EXPECT_EQ(text_of(value, "t"), "x");
  EXPECT_EQ(text_of(value, "n"), "12.50");
  EXPECT_EQ(text_of(value, "o"), "");
  EXPECT_EQ(text_of(json::Value(7), "t"), "");
  EXPECT_EQ(instant_of(value, "at"), now);
  EXPECT_EQ(instant_of(value, "t"), std::nullopt);
  EXPECT_NE(list_of(value, "list"), nullptr);
  EXPECT_EQ(list_of(value, "o"), nullptr);
}

TEST(VenueWire, NamesAllOrdersOfACall) {
  const std::vector<PlaceAsk> asks = {{.reference = "A", .request_id = "A_1"},
                                      {.reference = "B", .request_id = "B_1"}};
  EXPECT_EQ(ids_of(asks).external_reference, "A,B");
  EXPECT_EQ(ids_of(asks).request_id, "A_1,B_1");
  EXPECT_EQ(ids_of({asks.data(), 1}).external_reference, "A");
}

TEST(VenueWire, WritesAddresses) {
  EXPECT_EQ(query_of({{"$top", "5"}, {"none", ""}, {"key", "a=b&c"}}), "$top=5&key=a%3Db%26c");
  EXPECT_EQ(url_of("https://host/openapi/", "/trade/v2/orders", ""),
            "https://host/openapi/trade/v2/orders");
  EXPECT_EQ(url_of("https://host", "x", "a=1"), "https://host/x?a=1");
}

TEST(VenueWire, TellsPeopleOneCleanLine) {
  EXPECT_EQ(for_people(" The order\r\n\r\nwas \x1b[31mrefused. \xff"),
            "The order was [31mrefused.");
  EXPECT_EQ(for_people("Authorization: Bearer abc.def").find("abc"), std::string::npos);
  EXPECT_EQ(for_people(R"({"refresh_token":"r-secret"})").find("r-secret"), std::string::npos);
}

RC_GTEST_PROP(VenueWire, WhatPeopleReadIsShortAndOfOneLine, (const std::string& text)) {
  const std::string line = for_people(text + text + std::string(text.size() * 40, 'x'));
  RC_ASSERT(line.size() <= bounds::venue_message_bytes_max);
  RC_ASSERT(line.find_first_of("\r\n\x1b") == std::string::npos);
  RC_ASSERT(for_people(line) == line || holds_secret(line));
}

RC_GTEST_PROP(VenueWire, AQueryHoldsNothingThatEndsIt, (const std::string& text)) {
  const std::string query = query_of({{"a", text}});
  RC_ASSERT(query.find_first_of("?# \r\n") == std::string::npos);
}

}  // namespace
}  // namespace pawl::venue
