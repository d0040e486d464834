// Goal: the records of retries and keys have exactly the fields that users search by, whole keys,
//       exact delays, and no secret, whatever a failure says.
// Method: whole records, member by member; a canary planted in every text.
#include "core/audit/retry_event.h"

#include <gtest/gtest.h>

#include "core/audit/chain.h"

namespace pawl::audit {
namespace {

RetrySubject subject() {
  return {.category = "RETRY_NATS_PUBLISH",
          .operation = "Publish to exoarmur.audit.append.v1",
          .correlation = {.tenant_id = "tenant-123",
                          .correlation_id = "corr-456",
                          .trace_id = "trace-789"},
          .timestamp = Instant::from_ns(1'769'375'700'000'000'000)};
}

// The record without what the chain adds.
std::string record_of(const Event& event) {
  return draft(event).value().text;
}

TEST(RetryEvents, AnAttemptHasTheseFieldsAndNoOther) {
  EXPECT_EQ(record_of(to_event(RetryAttempt{.subject = subject(),
                                            .attempt_number = 2,
                                            .max_attempts = 3,
                                            .delay = Duration::milliseconds(1050),
                                            .exception_type = "TimeoutError",
                                            .exception_message = "Connection timeout"})),
            R"({"attempt_number":2,"correlation_id":"corr-456","delay_seconds":1.05,)"
            R"("event_type":"retry_attempt","exception_message":"Connection timeout",)"
            R"("exception_type":"TimeoutError","max_attempts":3,)"
            R"("operation":"Publish to exoarmur.audit.append.v1",)"
            R"("retry_category":"RETRY_NATS_PUBLISH","tenant_id":"tenant-123",)"
            R"("timestamp":"2026-01-25T21:15:00.000Z","trace_id":"trace-789"})");
}

TEST(RetryEvents, AnExhaustionHasTheseFieldsAndNoOther) {
  EXPECT_EQ(record_of(to_event(RetryExhausted{.subject = subject(),
                                              .total_attempts = 3,
                                              .final_exception_type = "TimeoutError",
                                              .final_exception_message = "KV operation timeout"})),
            R"({"correlation_id":"corr-456","event_type":"retry_exhausted",)"
            R"("final_exception_message":"KV operation timeout",)"
            R"("final_exception_type":"TimeoutError",)"
            R"("operation":"Publish to exoarmur.audit.append.v1",)"
            R"("retry_category":"RETRY_NATS_PUBLISH","tenant_id":"tenant-123",)"
            R"("timestamp":"2026-01-25T21:15:00.000Z","total_attempts":3,"trace_id":"trace-789"})");
}

TEST(RetryEvents, ASleepNamesItsTask) {
  EXPECT_EQ(record_of(to_event(Slept{.subject = subject(),
                                     .task_id = "00a1",
                                     .attempt_number = 2,
                                     .delay = Duration::minutes(2)})),
            R"({"attempt_number":2,"correlation_id":"corr-456","delay_seconds":120,)"
            R"("event_type":"operation_slept","operation":"Publish to exoarmur.audit.append.v1",)"
            R"("retry_category":"RETRY_NATS_PUBLISH","task_id":"00a1","tenant_id":"tenant-123",)"
            R"("timestamp":"2026-01-25T21:15:00.000Z","trace_id":"trace-789"})");
  EXPECT_EQ(record_of(to_event(Woke{.subject = subject(),
                                    .task_id = "00a1",
                                    .attempt_number = 2,
                                    .slept = Duration::milliseconds(120'500)})),
            R"({"attempt_number":2,"correlation_id":"corr-456",)"
            R"("event_type":"operation_resumed","operation":"Publish to exoarmur.audit.append.v1",)"
            R"("retry_category":"RETRY_NATS_PUBLISH","slept_seconds":120.5,"task_id":"00a1",)"
            R"("tenant_id":"tenant-123","timestamp":"2026-01-25T21:15:00.000Z",)"
            R"("trace_id":"trace-789"})");
}

TEST(RetryEvents, AKeyIsWrittenWhole) {
  const std::string key(64, 'a');
  EXPECT_EQ(
      record_of(to_event(Idempotency{
          .subject = subject(), .idempotency_key = key, .action = IdempotencyAction::record})),
      R"({"action":"record","correlation_id":"corr-456","event_type":"idempotency",)"
      R"("idempotency_key":")" +
          key +
          R"(","operation":"Publish to exoarmur.audit.append.v1",)"
          R"("retry_category":"RETRY_NATS_PUBLISH","tenant_id":"tenant-123",)"
          R"("timestamp":"2026-01-25T21:15:00.000Z","trace_id":"trace-789"})");
}

TEST(RetryEvents, TheOthersHaveTheirOwnFieldsBesideTheSubject) {
  const auto details = [](const Event& event) {
    json::Object fields;
    for (const auto& [name, value] : event.details) fields.emplace(name, value);
    EXPECT_EQ(event.operation, subject().operation);
    EXPECT_EQ(event.correlation.tenant_id, "tenant-123");
    return json::print(fields);
  };
  EXPECT_EQ(details(to_event(RetrySucceeded{.subject = subject(), .total_attempts = 2})),
            R"({"retry_category":"RETRY_NATS_PUBLISH","total_attempts":2})");
  EXPECT_EQ(details(to_event(Breaker{.subject = subject(),
                                     .key = "https://api.example.com",
                                     .state = BreakerState::half_open,
                                     .wait = Duration::seconds(2)})),
            R"({"breaker":"https://api.example.com","delay_seconds":2,)"
            R"("retry_category":"RETRY_NATS_PUBLISH","state":"half_open"})");
  EXPECT_EQ(details(to_event(BudgetRefusal{.subject = subject(), .attempt_number = 1})),
            R"({"attempt_number":1,"retry_category":"RETRY_NATS_PUBLISH"})");
  EXPECT_EQ(details(to_event(Reconciliation{
                .subject = subject(), .attempt_number = 3, .found = Outcome::not_applied})),
            R"({"attempt_number":3,"found":"not_applied","retry_category":"RETRY_NATS_PUBLISH"})");
}

TEST(RetryEvents, ActionsHaveTheNamesThatUsersSearchBy) {
  std::string names;
  for (const IdempotencyAction action : all_idempotency_actions()) {
    names.append(to_string(action)).append(" ");
  }
  EXPECT_EQ(names,
            "hit record in_flight mismatch stale take_over unknown unavailable "
            "not_recorded clear settle ");
}

TEST(RetryEvents, HaveNoCategoryWhereThereIsNone) {
  const Event event = to_event(Idempotency{.subject = {.category = {}, .operation = "clear"},
                                           .idempotency_key = "k",
                                           .action = IdempotencyAction::clear});
  for (const auto& [name, value] : event.details) EXPECT_NE(name, "retry_category");
  EXPECT_EQ(event.details.size(), 2U);
}

TEST(SecondsNumber, IsExact) {
  const auto text = [](std::int64_t ns) {
    return seconds_number(Duration::nanoseconds(ns)).if_number()->text;
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(1), "0.000000001");
  EXPECT_EQ(text(500'000'000), "0.5");
  EXPECT_EQ(text(1'050'000'000), "1.05");
  EXPECT_EQ(text(30'000'000'000), "30");
  EXPECT_EQ(text(-1'500'000'000), "-1.5");
  EXPECT_EQ(text(INT64_MAX), "9223372036.854775807");
  EXPECT_EQ(text(INT64_MIN), "-9223372036.854775808");
}

TEST(RetryEvents, ASecretComesOutOfNoField) {
  const std::string secret = "c4naryS3cret";
  const std::vector<std::string> planted = {
      "Authorization: Bearer " + secret, "https://user:" + secret + "@api.example.com/x",
      "POST /v1?access_token=" + secret + "&a=1", "{\"api_key\":\"" + secret + "\"}"};
  for (const std::string& text : planted) {
    RetrySubject of = {.category = text,
                       .operation = text,
                       .correlation = {.tenant_id = text,
                                       .request_id = text,
                                       .external_reference = text,
                                       .correlation_id = text,
                                       .trace_id = text},
                       .timestamp = {}};
    std::vector<Event> events = {
        to_event(RetryAttempt{
            .subject = of, .delay = {}, .exception_type = text, .exception_message = text}),
        to_event(RetryExhausted{
            .subject = of, .final_exception_type = text, .final_exception_message = text}),
        to_event(RetrySucceeded{.subject = of}),
        to_event(Idempotency{.subject = of, .idempotency_key = text}),
        to_event(Breaker{.subject = of, .key = text, .wait = {}}),
        to_event(BudgetRefusal{.subject = of}),
        to_event(Reconciliation{.subject = of, .found = Outcome::unknown})};
    for (const EventType type : all_event_types()) {
      Event event = {.type = type,
                     .timestamp = {},
                     .operation = text,
                     .correlation = of.correlation,
                     .details = {}};
      event.details.emplace_back("why", text);
      event.details.emplace_back("list", json::Array{text, json::Object{{"in", text}}});
      event.details.emplace_back("map", json::Object{{"password", secret}, {text, 1}});
      events.push_back(std::move(event));
    }
    for (const Event& event : events) {
      const std::string record = record_of(event);
      EXPECT_EQ(record.find(secret), std::string::npos) << record;
      EXPECT_NE(record.find("***"), std::string::npos) << record;
    }
  }
}

}  // namespace
}  // namespace pawl::audit
