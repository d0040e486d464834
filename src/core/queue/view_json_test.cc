// Goal: what is asked about a queue has the members that docs/formats.md names. Method: pinned
//       lines.
#include "core/queue/view_json.h"

#include <gtest/gtest.h>

namespace pawl::queue {
namespace {

const Instant noon = parse_instant("2026-03-04T12:00:00Z").value();

TEST(ViewJson, SaysWhyATaskDoesNotRun) {
  EXPECT_EQ(json::print(to_json(
                Why{.hold = Hold::closed, .scope = Scope::key, .name = "acme", .until = noon})),
            R"({"ahead":0,"hold":"closed","name":"acme","scope":"key",)"
            R"("until":"2026-03-04T12:00:00.000Z","worker":null})");
  EXPECT_EQ(json::print(to_json(Why{.hold = Hold::waits, .ahead = 7, .worker = "w"})),
            R"({"ahead":7,"hold":"waits","name":null,"scope":null,"until":null,"worker":"w"})");
}

TEST(ViewJson, HasEveryCountOfStats) {
  const Stats stats{.types = {{.type = "t", .pending = 5, .due = 2, .oldest_due = noon}},
                    .totals = {.submitted = 9}};
  EXPECT_EQ(json::print(to_json(stats)),
            R"({"totals":{"cancelled":0,"claimed":0,"completed":0,"expired":0,"failed":0,)"
            R"("refused":0,"rescheduled":0,"retried":0,"submitted":9,"timed_out":0},)"
            R"("types":[{"cancelled":0,"completed":0,"due":2,"expired":0,"failed":0,)"
            R"("oldest_due":"2026-03-04T12:00:00.000Z","pending":5,"running":0,)"
            R"("task_type":"t"}]})");
}

TEST(ViewJson, WritesLimitsAsASettingDoes) {
  EXPECT_EQ(
      json::print(to_json(SetLimit{
          .limited = Limited::each_key, .rate = 10, .period = Duration::seconds(1), .running = 3})),
      R"({"name":null,"rate":"10/1s","running":3,"scope":"each_key"})");
  EXPECT_EQ(json::print(to_json(Closing{.scope = Scope::type, .name = "t", .until = noon})),
            R"({"name":"t","scope":"type","until":"2026-03-04T12:00:00.000Z"})");
}

TEST(ViewJson, ShowsAScheduleWithItsTask) {
  const Schedule schedule{
      .set = {.name = "nightly", .cron = "0 3 * * *", .terms = {.type = "t", .input = "{}"}},
      .next = noon};
  const json::Value shown = to_json(schedule);
  EXPECT_EQ(*shown.find("zone")->if_string(), "UTC");
  EXPECT_EQ(*shown.find("task_type")->if_string(), "t");
  EXPECT_EQ(*shown.find("next")->if_string(), "2026-03-04T12:00:00.000Z");
  EXPECT_TRUE(shown.find("last")->is_null());
  EXPECT_EQ(shown.find("id"), nullptr);
}

}  // namespace
}  // namespace pawl::queue
