// Goal: programs find the members they were promised, and an order in JSON is read back as it was.
// Method: pinned texts.
#include "runtime/placed_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl {
namespace {

using ::testing::HasSubstr;

const Instant monday = parse_instant("2025-12-01T00:00:00Z").value();

Placed placed() {
  return {.as = PlacedAs::confirmed,
          .intent = {.reference = "ref-1",
                     .order = {.venue = "okx"},
                     .progress = {.status = order::Status::confirmed,
                                  .attempts = 2,
                                  .order_id = "77",
                                  .evidence = {{monday, "place attempt 1", "accepted"}}}},
          .quota = {.used = 3, .limit = 5, .week_start = monday}};
}

TEST(PlacedJson, HasTheMembersThatProgramsDependOn) {
  EXPECT_EQ(json::print(json_of(placed())),
            R"({"attempts":2,"evidence":[{"at":"2025-12-01T00:00:00.000Z","says":"accepted",)"
            R"("source":"place attempt 1"}],"external_reference":"ref-1","life":"unknown",)"
            R"("message":"","order_id":"77",)"
            R"("quota":{"limit":5,"used":3,"week_start":"2025-12-01"},"status":"confirmed",)"
            R"("venue":"okx"})");
}

TEST(PlacedJson, CountsNoAttemptOfWhatWasDenied) {
  Placed denied = placed();
  denied.as = PlacedAs::denied;
  denied.message = "Weekly order limit exceeded";
  const json::Value json = json_of(denied);
  EXPECT_EQ(*json.find("message"), json::Value("Weekly order limit exceeded"));
  EXPECT_EQ(*json.find("attempts"), json::Value(0));
  EXPECT_EQ(*json.find("status"), json::Value("denied"));
}

TEST(PlacedJson, TellsHowTheOrderWasLastSeen) {
  Placed filled = placed();
  filled.intent.progress.life = order::Life::filled;
  filled.message = "the venue could not be asked";
  const json::Value json = json_of(filled);
  EXPECT_EQ(*json.find("life"), json::Value("filled"));
  EXPECT_EQ(*json.find("message"), json::Value("the venue could not be asked"));
}

TEST(PlacedJson, TellsWhatIsLeftOfTheWeek) {
  EXPECT_EQ(json::print(whole_json_of({.used = 7, .limit = 5, .week_start = monday})),
            R"({"enabled":true,"limit":5,"next_week":"2025-12-08T00:00:00.000Z","remaining":0,)"
            R"("used":7,"week_start":"2025-12-01"})");
  EXPECT_TRUE(whole_json_of({.week_start = monday, .enabled = false}).at("remaining").is_null());
}

Result<PlaceRequest> read(std::string_view text) {
  return place_request_of_json(json::parse(text).value());
}

TEST(PlacedJson, ReadsAnOrderWithItsReference) {
  const auto request =
      read(R"({"venue":"okx","inst":"BTC-USDT","side":"buy","type":"limit","size":"0.10",)"
           R"("price":"2.15","external_reference":"ref-1"})");
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->reference, "ref-1");
  EXPECT_EQ(to_string(request->order.size), "0.10");
}

TEST(PlacedJson, RefusesWhatIsNoOrder) {
  EXPECT_FALSE(read("[]").has_value());
  EXPECT_FALSE(read(R"({"external_reference":1})").has_value());
  EXPECT_FALSE(read(R"({"external_reference":"a b"})").has_value());
  const auto unknown =
      read(R"({"venue":"okx","inst":"BTC-USDT","side":"buy","type":"market","size":"1",)"
           R"("colour":"red"})");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("colour"));
}

}  // namespace
}  // namespace pawl
