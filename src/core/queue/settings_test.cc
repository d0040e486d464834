// Goal: queue.json is read back; what is not it is refused, a newer one by name.
// Method: texts by hand; random settings there and back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/segment.h"

namespace pawl::queue {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_settings(text);
  return parsed ? "" : parsed.error().message;
}

TEST(QueueSettings, AreOneLineOfJson) {
  EXPECT_EQ(write_settings({}), "{\"format\":1,\"kept_seconds\":604800,\"shards\":1}\n");
}

RC_GTEST_PROP(QueueSettings, AreReadBackAsTheyWereWritten, ()) {
  const Settings settings = {
      .shards = *rc::gen::inRange<std::uint32_t>(1, bounds::queue_shards_max + 1),
      .kept = Duration::seconds(
          *rc::gen::inRange<std::int64_t>(0, bounds::task_kept_max.seconds_up() + 1))};
  const auto parsed = parse_settings(write_settings(settings));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == settings);
}

TEST(QueueSettings, ANewerFormatIsNamed) {
  EXPECT_EQ(error_of(R"({"format":2,"colour":"red"})"),
            "queue.json was written by a newer pawl (format 2); this one reads format 1: update "
            "pawl");
}

TEST(QueueSettings, WhatIsMissingUnknownOrOutOfRangeIsNamed) {
  const std::string ending =
      " is missing, unknown or out of range; it should look like "
      "{\"format\":1,\"kept_seconds\":604800,\"shards\":1}";
  EXPECT_EQ(error_of(R"({"format":1,"kept_seconds":1})"),
            "queue.json is damaged: \"shards\"" + ending);
  EXPECT_EQ(error_of(R"({"format":1,"kept_seconds":1,"shards":0})"),
            "queue.json is damaged: \"shards\"" + ending);
  EXPECT_EQ(error_of(R"({"format":1,"kept_seconds":1,"shards":257})"),
            "queue.json is damaged: \"shards\"" + ending);
  EXPECT_EQ(error_of(R"({"format":1,"kept_seconds":-1,"shards":1})"),
            "queue.json is damaged: \"kept_seconds\"" + ending);
  EXPECT_EQ(error_of(R"({"format":0,"kept_seconds":1,"shards":1})"),
            "queue.json is damaged: \"format\"" + ending);
  EXPECT_EQ(error_of(R"({"format":1,"kept_seconds":1,"shards":1,"x":1})"),
            "queue.json is damaged: \"x\"" + ending);
  EXPECT_EQ(error_of("[]"), "queue.json is damaged: it is not an object");
  EXPECT_TRUE(error_of("{").starts_with("queue.json is damaged: "));
}

}  // namespace
}  // namespace pawl::queue
