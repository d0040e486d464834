// Goal: a record is one harmless line, and the statistics read the same for people and programs.
// Method: pinned texts.
#include "cli/audit_text.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

TEST(RecordText, IsTimeTypeAndOperationAndThenTheRest) {
  EXPECT_EQ(record_text(R"({"allowed":false,"event_type":"limit","hash":"aa",)"
                        R"("operation":"POST /orders","prev":"bb","seq":7,"tenant_id":"acme",)"
                        R"("timestamp":"2026-01-25T21:15:00.000Z","why":"2 of 2 used"})"),
            "2026-01-25T21:15:00.000Z limit \"POST /orders\" allowed=false seq=7 tenant_id=acme "
            "why=\"2 of 2 used\"");
}

TEST(RecordText, LetsNothingThroughThatDisturbsATerminal) {
  EXPECT_EQ(record_text(R"({"event_type":"limit","a b":"x=\"y\"\u001b[31m","empty":"","n":[1]})"),
            R"( limit "a b"="x=\"y\"\u001b[31m" empty="" n=[1])");
  EXPECT_EQ(record_text("no \x1b record"), R"("no \u001b record")");
}

class StatsPage : public ::testing::Test {
 protected:
  StatsPage() {
    for (const char* line :
         {R"({"event_type":"retry_attempt","retry_category":"A",)"
          R"("timestamp":"2026-01-25T21:15:00.000Z"})",
          R"({"event_type":"retry_succeeded","retry_category":"A","total_attempts":2})",
          R"({"event_type":"retry_exhausted","retry_category":"A","total_attempts":1})",
          R"({"event_type":"idempotency","action":"hit","retry_category":"RETRY_KV_GET"})",
          "half a line"}) {
      stats_.take(line);
    }
  }
  StatsView view(std::uint64_t alert_above) const {
    return {.file = file_,
            .stats = stats_,
            .alert_above = alert_above,
            .now = parse_instant("2026-01-25T21:15:30Z").value()};
  }

  std::string file_ = "audit.jsonl";
  audit::Stats stats_;
};

TEST_F(StatsPage, IsATableForPeople) {
  EXPECT_EQ(stats_text(view(60)),
            "audit.jsonl: 4 records, and 1 lines that are none ('pawl audit verify' shows where)\n"
            "\n"
            "category      ended  attempts  retries  replayed  success  average attempts\n"
            "A                 2         3        1         0    50.0%              1.50\n"
            "RETRY_KV_GET      0         0        0         1        -                 -\n"
            "\n"
            "retries in the last minute: 1, at most 1 a minute (2026-01-25T21:15:00.000Z)\n"
            "alert above 60: no\n");
  EXPECT_NE(stats_text(view(0)).find("alert above 0: yes"), std::string::npos);
}

TEST_F(StatsPage, SaysWhenThereIsNothing) {
  const audit::Stats none;
  EXPECT_EQ(stats_text({.file = file_, .stats = none, .alert_above = 60, .now = {}}),
            "audit.jsonl: 0 records\n\nno operations with retries\n\n"
            "retries in the last minute: 0\nalert above 60: no\n");
}

TEST_F(StatsPage, IsTheSameForPrograms) {
  EXPECT_EQ(stats_json(view(0)),
            R"({"categories":{"A":{"attempts":3,"average_attempts":1.5000,"exhausted":1,)"
            R"("replayed":0,"retries":1,"succeeded":1,"success_rate":0.5000},)"
            R"("RETRY_KV_GET":{"attempts":0,"average_attempts":null,"exhausted":0,"replayed":1,)"
            R"("retries":0,"succeeded":0,"success_rate":null}},"file":"audit.jsonl","records":4,)"
            R"("retry_rate":{"alert":true,"alert_above":0,)"
            R"("highest_at":"2026-01-25T21:15:00.000Z","highest_minute":1,"last_minute":1},)"
            R"("unreadable":1})"
            "\n");
}

}  // namespace
}  // namespace pawl::cli
