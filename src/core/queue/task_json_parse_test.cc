// Goal: an export gives back the tasks that went into it, and takes nothing else.
// Method: random tasks there and back; lines that are almost right.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/queue_generators_fixture.h"
#include "core/queue/task_json.h"

namespace pawl::queue {
namespace {

Task some_task() {
  Task task;
  task.id.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  task.terms.type = "call_api";
  task.terms.input = "{}";
  task.reschedule_count = 5;
  task.created_at = parse_instant("2026-01-27T12:00:00Z").value();
  task.available_at = parse_instant("2026-01-27T12:05:00.000000001Z").value();
  task.updated_at = parse_instant("2026-01-27T12:00:30.25Z").value();
  return task;
}

std::string line_with(std::string_view from, std::string_view to) {
  std::string line = export_line({.task = some_task(), .history = {}});
  const auto place = line.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return line.replace(place, from.size(), to);
}

std::string error_of(std::string_view line) {
  const auto parsed = parse_export_line(line);
  return parsed ? "" : parsed.error().message;
}

std::string not_a_task(const std::string& member) {
  return "it is not a task: \"" + member + "\" is missing, unknown, or not what it must be";
}

RC_GTEST_PROP(ExportLine, AnExportGivesBackWhatWentIn, ()) {
  const Exported exported = {.task = *any::task(), .history = *any::maybe(any::history())};
  const std::string line = export_line(exported);
  RC_ASSERT(line.find('\n') == std::string::npos);
  const auto parsed = parse_export_line(line);
  RC_ASSERT((parsed ? "" : parsed.error().message) == "");
  RC_ASSERT(*parsed == exported);
}

TEST(ExportLine, ALongHistoryIsReadBack) {
  Exported exported = {.task = some_task(), .history = History()};
  exported.history->versions.resize(bounds::task_versions_max);
  exported.history->left_out = 12;
  EXPECT_EQ(parse_export_line(export_line(exported)).value(), exported);
}

TEST(ExportLine, AWrongLineNamesWhatIsWrong) {
  EXPECT_EQ(error_of(line_with("\"attempt\":0,", "")), not_a_task("attempt"));
  EXPECT_EQ(error_of(line_with("\"attempt\":0", "\"attempt\":-1")), not_a_task("attempt"));
  EXPECT_EQ(error_of(line_with("\"attempt\":0", "\"attempt\":4294967296")), not_a_task("attempt"));
  EXPECT_EQ(error_of(line_with("\"attempt\":0", "\"attempt\":0,\"colour\":1")),
            not_a_task("colour"));
  EXPECT_EQ(error_of(line_with("\"pending\"", "\"waiting\"")), not_a_task("status"));
  EXPECT_EQ(error_of(line_with("12:05:00", "25:05:00")), not_a_task("available_at"));
  EXPECT_EQ(error_of(line_with("\"000102", "\"00010")), not_a_task("id"));
  EXPECT_EQ(error_of(line_with(":300", ":3e2")), not_a_task("timeout_seconds"));
  EXPECT_EQ(error_of(line_with(":300", ":0.0000000001")), not_a_task("timeout_seconds"));
  EXPECT_EQ(error_of(line_with(":300", ":-1")), not_a_task("timeout_seconds"));
  EXPECT_EQ(error_of(line_with(":300", ":99999999999")), not_a_task("timeout_seconds"));
  EXPECT_EQ(error_of(line_with(":60000", ":\"60000\"")),
            not_a_task("retry_policy.max_interval_ms"));
  EXPECT_EQ(error_of(line_with("\"multiplier\":2", "\"multiplier\":2,\"x\":2")),
            not_a_task("retry_policy.x"));
  EXPECT_EQ(error_of(line_with("\"attempt\":0", "\"attempt\":0,\"history\":[]")),
            not_a_task("history"));
  EXPECT_EQ(error_of(line_with("\"attempt\":0",
                               R"("attempt":0,"history":{"left_out":0,"versions":[{}]})")),
            not_a_task("history.versions.at"));
  EXPECT_EQ(error_of("[]"), "it is not a task: a line of an export is one JSON object");
  EXPECT_NE(error_of("{"), "");
  // What the queue would not take is refused here already.
  EXPECT_EQ(error_of(line_with("\"priority\":0", "\"priority\":-101")),
            "priority is -101: -100 … 100 is allowed");
}

TEST(RetryPolicyJson, HasWhatIsGivenAndTheUsualForTheRest) {
  const auto parsed = [](std::string_view text) {
    return parse_retry_policy(json::parse(text).value());
  };
  EXPECT_EQ(parsed("{}"), RetryRule());
  EXPECT_EQ(parsed(R"({"initial_interval_ms":90000,"multiplier":1.5,"jitter_percent":0})"),
            (RetryRule{.base_delay = Duration::seconds(90),
                       .max_delay = Duration::seconds(90),
                       .multiplier_milli = 1500,
                       .jitter_milli = 0}));
  EXPECT_EQ(parsed(R"({"delays_ms":[1,2.5],"max_interval_ms":5})"),
            (RetryRule{.max_delay = Duration::milliseconds(5),
                       .delays = {Duration::milliseconds(1), Duration::microseconds(2500)}}));
}

TEST(RetryPolicyJson, NamesWhatIsNone) {
  for (const char* text : {R"({"multiplier":"2"})", R"({"multiplier":-2})",
                           R"({"multiplier":2.0001})", R"({"delays_ms":1})", R"({"steps":1})"}) {
    const auto rule = parse_retry_policy(json::parse(text).value());
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().message.rfind("it is not a retry policy: \"retry_policy.", 0), 0u)
        << text;
  }
  EXPECT_FALSE(parse_retry_policy(json::Value(1)));
}

}  // namespace
}  // namespace pawl::queue
