// Goal: an operator sees every member of a record, and nothing in it can disturb a terminal.
// Method: records made by hand, with whatever a caller may put into one.
#include "cli/idempotency_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

using idempotency::Record;
using idempotency::Status;
using ::testing::HasSubstr;
using ::testing::Not;

Instant at(const char* text) {
  return parse_instant(text).value();
}

KeptRecord done_record() {
  Record record{.status = Status::done,
                .fence = 7,
                .fingerprint = "f1",
                .created_at = at("2026-01-02T03:04:05Z"),
                .expires_at = at("2026-01-03T03:04:05Z"),
                .response = {.body = "{\"id\":1}"},
                .replays = 3};
  return {.key = {.scope = "acme", .key = "order-1"}, .record = std::move(record)};
}

TEST(IdempotencyText, ListsALineARecord) {
  KeptRecord odd = done_record();
  odd.key = {.scope = "", .key = "a b\x1b[31m"};
  odd.record.status = Status::unknown;
  const KeptRecord records[] = {done_record(), odd};
  const std::string text = records_text(records);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, HasSubstr("order-1"));
  EXPECT_THAT(text, HasSubstr("acme     done  2026-01-02T03:04:05.000Z"));
  EXPECT_THAT(text, HasSubstr("\"a b\\u001b[31m\"")) << "what moves a cursor is escaped";
  EXPECT_THAT(text, HasSubstr("\"\"  unknown")) << "the empty tenant is written as it is typed";
}

TEST(IdempotencyText, ShowsAllOfOne) {
  EXPECT_EQ(record_text(done_record()),
            "tenant: acme\nkey: order-1\nstatus: done\nfence: 7\nfingerprint: f1\n"
            "created_at: 2026-01-02T03:04:05.000Z\nexpires_at: 2026-01-03T03:04:05.000Z\n"
            "replays: 3\nresult: \"{\\\"id\\\":1}\"\n");
  EXPECT_EQ(record_json(done_record()),
            R"({"created_at":"2026-01-02T03:04:05.000Z","expires_at":"2026-01-03T03:04:05.000Z",)"
            R"("fence":7,"fingerprint":"f1","key":"order-1","lease_until":null,"metadata":"",)"
            R"("replays":3,"result":"{\"id\":1}","result_bytes":8,"status":"done",)"
            R"("tenant":"acme","tombstone":false})"
            "\n");
}

TEST(IdempotencyText, TellsALeaseAndWhyOneFailed) {
  KeptRecord kept = done_record();
  kept.record.status = Status::in_flight;
  kept.record.lease_until = at("2026-01-02T03:05:05Z");
  EXPECT_THAT(record_text(kept), HasSubstr("lease_until: 2026-01-02T03:05:05.000Z\n"));
  EXPECT_THAT(record_text(kept), Not(HasSubstr("result:")));
  EXPECT_THAT(records_json({&kept, 1}), HasSubstr(R"("lease_until":"2026-01-02T03:05:05.000Z")"));
  kept.record.status = Status::failed;
  kept.record.response = {.metadata = "{\"reason\":\"no\"}"};
  EXPECT_THAT(record_text(kept), HasSubstr("metadata: \"{\\\"reason\\\":\\\"no\\\"}\"\n"));
}

TEST(IdempotencyText, TellsAResultThatIsNoTextByItsSize) {
  KeptRecord kept = done_record();
  kept.record.response.body = "\xff\xfe";
  EXPECT_THAT(record_text(kept), HasSubstr("result: 2 bytes, not text\n"));
  EXPECT_THAT(record_json(kept), HasSubstr(R"("result":null,"result_bytes":2)"));
  kept.record.response = {.tombstone = true};
  EXPECT_THAT(record_text(kept), HasSubstr("result: was too large to be kept\n"));
}

TEST(IdempotencyText, NamesAKeyAndWhoseItIs) {
  EXPECT_EQ(name_of({.scope = "acme", .key = "k"}), "k of tenant acme");
  EXPECT_EQ(name_of({.scope = "", .key = "a b"}), "\"a b\" of no tenant");
}

}  // namespace
}  // namespace pawl::cli
