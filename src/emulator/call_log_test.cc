// Goal: the log tells what a test needs of a call, and nothing secret.
// Method: calls with secrets in every place that has some.
#include "emulator/call_log.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

TEST(CallLog, HasARowForEveryCall) {
  CallLog log(std::nullopt);
  const Call call{.number = 3,
                  .method = "POST",
                  .path = "/p",
                  .query = "a=1",
                  .fields = {{.name = "x-request-id", .value = "id"}},
                  .body = "{}"};
  const Reply reply{.status = 202,
                    .wire = Wire::half,
                    .operation = "place",
                    .reference = "r",
                    .order_id = "7",
                    .accepted = true,
                    .fault = "half_answer"};
  EXPECT_TRUE(log.add(call, reply, Instant::from_ns(1'790'000'000'123'456'789)));
  EXPECT_TRUE(log.add(call, reply, Instant()));
  const json::Value all = json::parse(log.all()).value();
  const json::Array& rows = *all.find("log")->if_array();
  ASSERT_EQ(rows.size(), 2U);
  const std::pair<std::string_view, std::string_view> expected[] = {{"number", "3"},
                                                                    {"method", "POST"},
                                                                    {"path", "/p"},
                                                                    {"query", "a=1"},
                                                                    {"request_id", "id"},
                                                                    {"body", "{}"},
                                                                    {"status", "202"},
                                                                    {"operation", "place"},
                                                                    {"reference", "r"},
                                                                    {"order_id", "7"},
                                                                    {"wire", "half"},
                                                                    {"fault", "half_answer"},
                                                                    {"time_ms", "1790000000123"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(text_of(rows[0], name), value) << name;
  EXPECT_TRUE(*rows[0].find("accepted")->if_bool());
  log.clear();
  EXPECT_EQ(log.all(), "{\"log\":[]}\n");
}

TEST(CallLog, TellsNothingSecret) {
  CallLog log(std::nullopt);
  Call call{.body = "refresh_token=hush"};
  for (const char* name :
       {"authorization", "ok-access-key", "ok-access-sign", "ok-access-passphrase", "cookie"}) {
    call.fields.push_back({.name = name, .value = "hush"});
  }
  EXPECT_TRUE(log.add(call, {.operation = "token"}, Instant()));
  EXPECT_EQ(log.all().find("hush"), std::string::npos);
}

}  // namespace
}  // namespace pawl::emulator
