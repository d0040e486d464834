// Goal: the engine retries real clients of real servers, and the log says so in the fields that
//       people search by.
// Method: a NATS of the test's own that is away when the first attempt is made; the test run's
//         Redis and NATS as stores; the audit log read back as text.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "pawl/executor.h"
#include "tests/own_server.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class NatsServer final : public OwnServer {
 public:
  NatsServer() {
    set_command({"nats-server", "-a", "127.0.0.1", "-p", port(), "-js", "-sd", folder().path(),
                 "-l", log_path()});
  }
  std::string store() const { return "nats://" + address() + "/keys"; }
};

ExecuteOptions patiently(int attempts) {
  return {.policy = RetryPolicy{.max_attempts = attempts,
                                .jitter = RetryPolicy::Jitter::none,
                                .delays = {Duration::milliseconds(50)}},
          .harmless = true};
}

std::vector<json::Value> records_of(const std::string& path) {
  std::vector<json::Value> records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) records.push_back(json::parse(line).value());
  return records;
}

std::set<std::string> names_of(const json::Value& record) {
  std::set<std::string> names;
  for (const auto& [name, value] : *record.if_object()) names.insert(name);
  return names;
}

std::string text_of(const json::Value& record, std::string_view name) {
  const json::Value* member = record.find(name);
  return member == nullptr || member->if_string() == nullptr ? "" : *member->if_string();
}

// Opens a store on a server that comes up with the second attempt.
TEST(EngineIntegration, NatsClientRetry) {
  NatsServer server;
  Executor executor = Executor::make({.breaker_failures = 100}).value();
  std::optional<Idempotency> keys;
  const auto connect = [&](const Attempt& attempt) -> Result<std::string> {
    if (attempt.number == 2) server.start();
    keys = PAWL_TRY(Idempotency::make({.store = server.store()}));
    return "connected";
  };
  const auto connected =
      executor.execute_with_retry("RETRY_NATS_CONNECT", "connect", connect, patiently(100));
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_TRUE(keys->record("acme", "k", "v"));
}

TEST(EngineIntegration, KvOperationsRetry) {
  NatsServer server;
  server.start();
  Executor executor = Executor::make({.breaker_failures = 100}).value();
  std::optional<Idempotency> keys;
  ASSERT_TRUE(eventually([&] {
    auto made = Idempotency::make({.store = server.store()});
    if (made) keys = *std::move(made);
    return made.has_value();
  }));
  server.kill();
  int puts = 0;
  const auto put = [&](const Attempt& attempt) -> Result<std::string> {
    ++puts;
    if (attempt.number == 2) server.start();
    Result<void> recorded = keys->record("acme", "k", "value");
    if (recorded || recorded.error().code == Code::refused) return "put";  // refused: it was there
    return std::unexpected(recorded.error());
  };
  const auto done = executor.execute_with_retry("RETRY_KV_PUT", "put", put, patiently(100));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GE(puts, 2);
  const auto get = [&](const Attempt&) -> Result<std::string> {
    return PAWL_TRY(keys->check("acme", "k")).value().result;
  };
  EXPECT_EQ(executor.execute_with_retry("RETRY_KV_GET", "get", get, patiently(3)).value(), "value");
}

TEST(EngineIntegration, ExecutionOperationsRetryOnEveryStore) {
  const TempFolder folder;
  const std::string run = std::to_string(getpid());
  for (const std::string& store :
       {std::string("memory"), "sqlite:" + (folder / "intents.db"),
        server_of_run("PAWL_TEST_REDIS", "redis://127.0.0.1:1/0"),
        server_of_run("PAWL_TEST_NATS", "nats://127.0.0.1:1") + "/engine-" + run}) {
    Executor executor = Executor::make({.store = store}).value();
    int calls = 0;
    const auto intent = [&](const Attempt&) -> Result<std::string> {
      if (++calls == 1) return failure(Code::unavailable, "connection refused");
      return "filled";
    };
    ExecuteOptions how = patiently(2);
    how.harmless = false;
    how.tenant_id = "engine-" + run;
    how.idempotency_key = "intent";
    for (int i = 0; i < 2; ++i) {
      const auto answer =
          executor.execute_with_retry("RETRY_EXECUTION_INTENT", "place", intent, how);
      ASSERT_TRUE(answer) << store.substr(0, 6) << ": " << answer.error().message;
      EXPECT_EQ(*answer, "filled");
    }
    EXPECT_EQ(calls, 2) << "the second time it was known";
    EXPECT_TRUE(executor.idempotency().clear(how.tenant_id, "intent"));
  }
}

// The fields of the events are those that stand in docs/audit-events.md, and no others.
TEST(EngineIntegration, AuditEventEmission) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  {
    Executor executor = Executor::make({.audit = "file:" + path}).value();
    int calls = 0;
    const auto call = [&](const Attempt&) -> Result<std::string> {
      if (++calls % 2 == 1) return failure(Code::unavailable, "Connection timeout");
      return "done";
    };
    ExecuteOptions how = patiently(3);
    how.idempotency_key = "key-1";
    how.tenant_id = "tenant-123";
    how.correlation_id = "corr-456";
    how.trace_id = "trace-789";
    EXPECT_TRUE(executor.execute_with_retry("RETRY_KV_PUT", "store it", call, how));
    EXPECT_TRUE(executor.execute_with_retry("RETRY_KV_PUT", "store it", call, how));
    const auto failing = [](const Attempt&) -> Result<std::string> {
      return failure(Code::unavailable, "KV operation timeout");
    };
    how.idempotency_key = "key-2";
    EXPECT_FALSE(executor.execute_with_retry("RETRY_KV_GET", "get it", failing, how));
  }
  const std::vector<json::Value> records = records_of(path);
  std::vector<std::string> types;
  for (const json::Value& record : records) {
    types.push_back(text_of(record, "event_type"));
    EXPECT_EQ(text_of(record, "tenant_id"), "tenant-123");
    EXPECT_EQ(text_of(record, "correlation_id"), "corr-456");
    EXPECT_EQ(text_of(record, "trace_id"), "trace-789");
  }
  const std::vector<std::string> expected = {"retry_attempt",   "retry_succeeded", "idempotency",
                                             "idempotency",     "retry_attempt",   "retry_attempt",
                                             "retry_exhausted", "idempotency"};
  ASSERT_EQ(types, expected);
  const std::set<std::string> common = {"event_type", "operation", "retry_category", "tenant_id",
                                        "trace_id",   "timestamp", "correlation_id", "seq",
                                        "prev",       "hash"};
  const auto with = [&](std::set<std::string> more) {
    more.insert(common.begin(), common.end());
    return more;
  };
  EXPECT_EQ(names_of(records[0]), with({"attempt_number", "max_attempts", "delay_seconds",
                                        "exception_type", "exception_message", "decision"}));
  EXPECT_EQ(text_of(records[0], "retry_category"), "RETRY_KV_PUT");
  EXPECT_EQ(text_of(records[0], "exception_message"), "Connection timeout");
  EXPECT_EQ(json::print(*records[0].find("delay_seconds")), "0.05");
  EXPECT_EQ(names_of(records[1]), with({"total_attempts", "decision"}));
  EXPECT_EQ(names_of(records[2]), with({"idempotency_key", "action"}));
  EXPECT_EQ(text_of(records[2], "action"), "record");
  EXPECT_EQ(text_of(records[3], "action"), "hit");
  EXPECT_EQ(text_of(records[3], "idempotency_key"), "key-1") << "whole, not shortened";
  EXPECT_EQ(names_of(records[6]), with({"total_attempts", "final_exception_type",
                                        "final_exception_message", "decision"}));
  EXPECT_EQ(text_of(records[6], "final_exception_message"), "KV operation timeout");
}

}  // namespace
}  // namespace pawl
