// What the tests of the admin API share: an Admin on stores in memory, and a client that asks it
// over a connection that the test holds both ends of.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/memory/memory_event_sink.h"
#include "adapter/memory/memory_record_store.h"
#include "admin/admin.h"
#include "admin/counted_entropy_fixture.h"
#include "base/text.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"
#include "server/http_server.h"

namespace pawl::admin {

// One bucket, "orders", of 2 a minute for everybody; plans are free and pro.
class FakeTenantBook final : public TenantBook {
 public:
  explicit FakeTenantBook(CounterStore& counters) : counters_(counters) {}

  std::vector<std::string> recent(std::size_t) override { return {"acme", "beta"}; }
  std::vector<TenantSummary> list(std::size_t limit, std::string_view after) override {
    std::vector<TenantSummary> all = {
        {.tenant = "acme", .plan = plan, .last_seen = Instant()},
        {.tenant = "beta", .plan = "free", .last_seen = Instant::from_ns(1'000'000'000)}};
    std::erase_if(all, [&](const TenantSummary& each) { return each.tenant <= after; });
    all.resize(std::min(limit, all.size()));
    return all;
  }
  void usage(std::string_view tenant, Done<TenantUsage> done) override {
    const OwnedCounts counted = counts(tenant, "").value();
    counters_.check(
        counted.counts, 0, [&, name = std::string(tenant)](const Result<limit::Answer>& answer) {
          const limit::Verdict& verdict = answer->bound();
          done(TenantUsage{.tenant = name,
                           .plan = plan,
                           .next_plan = plan == "free" ? "pro" : "",
                           .buckets = {{.bucket = "orders",
                                        .scope = "tenant",
                                        .limit = verdict.limit,
                                        .used = verdict.limit - verdict.remaining,
                                        .remaining = verdict.remaining,
                                        .reset_seconds = verdict.full_after.seconds_up(),
                                        .plan = plan}}});
        });
  }
  void reset(std::string_view tenant, std::string_view bucket, Done<void> done) override {
    const OwnedCounts counted = counts(tenant, bucket).value();
    counters_.reset(counted.counts.front(), std::move(done));
  }
  Result<void> check_plan(std::string_view, std::string_view name) override {
    if (name != "free" && name != "pro") return failure(Code::not_found, "no such plan");
    return {};
  }
  Result<void> set_plan(std::string_view, std::string_view name) override {
    plan = name;
    return {};
  }
  Result<OwnedCounts> counts(std::string_view tenant, std::string_view bucket) override {
    if (!bucket.empty() && bucket != "orders") return failure(Code::not_found, "no such bucket");
    auto key = std::make_shared<const std::string>(tenant);
    return OwnedCounts{.counts = {{.policy = &policy_, .key = *key}}, .owner = key};
  }

  void saw(std::string_view tenant, const OwnedCounts& counted,
           const limit::Answer& answer) override {
    seen.push_back(std::string(tenant) + " " + counted.counts.at(0).policy->name +
                   (answer.allowed ? " allowed" : " refused"));
  }

  std::string plan = "free";
  std::vector<std::string> seen;  // "acme orders allowed"

 private:
  CounterStore& counters_;
  limit::Policy policy_{"orders",
                        limit::SlidingWindow({.count = 2, .period = Duration::minutes(1)})};
};

// A log in memory: one record for each operation that was added.
class FakeTrail final : public AuditTrail {
 public:
  class Check final : public AuditCheck {
   public:
    explicit Check(std::vector<AuditVerdict> verdicts) : verdicts_(std::move(verdicts)) {}
    Result<bool> go_on(std::size_t) override {
      if (read_ < verdicts_.size()) ++read_;
      return read_ < verdicts_.size();
    }
    const AuditVerdict& verdict() const override { return verdicts_.at(read_ - 1); }

   private:
    std::vector<AuditVerdict> verdicts_;
    std::size_t read_ = 0;
  };

  void add(std::string type, std::string correlation_id = "", std::optional<Instant> at = {}) {
    json::Object record{{"event_type", std::move(type)}};
    if (!correlation_id.empty()) record.emplace("correlation_id", std::move(correlation_id));
    if (at) record.emplace("timestamp", to_string(*at));
    add_record(std::move(record));
  }
  void add_record(json::Object record) {
    record.emplace("seq", static_cast<std::int64_t>(lines_.size() + 1));
    lines_.push_back(json::print(record) + "\n");
  }
  Result<Piece> after(std::uint64_t seq, std::size_t) override {
    if (!works) return failure(Code::unavailable, "the disk is gone");
    Piece piece;
    const std::size_t end = std::min(lines_.size(), std::size_t(seq) + at_once);
    for (std::size_t i = seq; i < end; ++i) piece.lines += lines_[i];
    piece.at_end = end >= lines_.size();
    return piece;
  }
  Result<Piece> before(std::uint64_t seq, std::size_t) override {
    if (!works) return failure(Code::unavailable, "the disk is gone");
    Piece piece;
    const std::size_t end =
        std::min(lines_.size(), std::size_t(std::max(seq, std::uint64_t{1}) - 1));
    const std::size_t begin = end - std::min(end, at_once);
    for (std::size_t i = begin; i < end; ++i) piece.lines += lines_[i];
    piece.at_end = begin == 0;
    return piece;
  }
  Result<std::unique_ptr<AuditCheck>> check() override {
    if (!works) return failure(Code::unavailable, "the disk is gone");
    return std::make_unique<Check>(verdicts);
  }

  std::vector<AuditVerdict> verdicts = {{}};  // of a check, one for each piece
  std::size_t at_once = 1'000;
  bool works = true;

 private:
  std::vector<std::string> lines_;
};

struct Heard {
  int status = 0;
  std::string head;
  std::string body;

  json::Value json() const { return json::parse(body).value_or(json::Value()); }
  std::string text(std::string_view member) const {
    const json::Value value = json();
    const json::Value* found = value.find(member);
    return found == nullptr ? "" : found->if_string() ? *found->if_string() : json::print(*found);
  }
  std::string code() const { return text("code"); }
};

class AdminFixture : public ::testing::Test {
 protected:
  AdminFixture() { EXPECT_TRUE(server.listen(Endpoint()).has_value()); }

  // A connection of its own for each.
  std::shared_ptr<net::FakeStream> connect() {
    auto stream = std::make_shared<net::FakeStream>();
    loop.accepted(stream);
    return stream;
  }

  static std::string wire(std::string_view method, std::string_view target, std::string_view body,
                          std::string_view fields) {
    std::string text(method);
    text.append(" ").append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1:8081\r\n").append(fields);
    if (!body.empty())
      text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    return text.append("\r\n").append(body);
  }

  static Heard read(std::string_view text) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) return {};
    return {.status = std::stoi(std::string(text.substr(9, 3))),
            .head = std::string(text.substr(0, end + 2)),
            .body = std::string(text.substr(end + 4))};
  }

  Heard ask(std::string_view method, std::string_view target, std::string_view body = "",
            std::string_view fields = "") {
    const auto stream = connect();
    stream->receive(wire(method, target, body, fields));
    return read(stream->sent);
  }
  Heard get(std::string_view target, std::string_view fields = "") {
    return ask("GET", target, "", fields);
  }

  // The last that was put on record, as one line: "type operation tenant {details}".
  std::string last_event() const {
    const std::vector<audit::Event> events = audit.events();
    if (events.empty()) return "";
    const audit::Event& event = events.back();
    json::Object details;
    for (const auto& [name, value] : event.details) details.emplace(name, value);
    return std::string(to_string(event.type)) + " " + event.operation + " " +
           event.correlation.tenant_id + " " + json::print(details);
  }

  // Nothing more goes on record.
  void fill_audit() {
    while (audit.append({.type = audit::EventType::config,
                         .timestamp = {},
                         .operation = "full",
                         .correlation = {},
                         .details = {}})) {
    }
  }

  ManualClock clock;
  CountedEntropy entropy;
  MemoryCounterStore counters{clock};
  MemoryRecordStore records{clock};
  MemoryEventSink audit{100};
  FakeTenantBook tenants{counters};
  WriteStats writes;
  metrics::Registry metrics;
  FakeTrail trail;
  Result<void> ready;
  std::string degraded;
  int refreshed = 0;
  std::vector<StoreState> stores;
  std::vector<Context::Question> questions;
  server::Response decision{.status = 200, .body = "{\"allowed\":true}", .extra_fields = {}};
  Context context{
      .clock = clock,
      .entropy = entropy,
      .counters = counters,
      .records = records,
      .audit = audit,
      .tenants = tenants,
      .writes = writes,
      .metrics = metrics,
      .trail = &trail,
      .ready = [this] { return ready; },
      .degraded = [this] { return degraded; },
      .refresh = [this] { ++refreshed; },
      .stores = [this] { return stores; },
      .policies = [] { return json::Object{{"retry", json::Array()}}; },
      .authorize =
          [this](Context::Question question, std::move_only_function<void(server::Response)> done) {
            questions.push_back(std::move(question));
            done(decision);
          },
      .resume = [](std::move_only_function<void()> action) { action(); },
      .gate = {},
      .record_ttl = Duration::hours(24)};
  Admin admin{context};
  net::FakeLoop loop;
  server::HttpServer server{loop, clock, {.make_handler = [this](server::Connection& client) {
                              return server::make_responder(
                                  client,
                                  [this](const server::Request& request, server::Reply reply) {
                                    admin.answer(request, std::move(reply));
                                  },
                                  bounds::admin_body_bytes_max);
                            }}};
};

}  // namespace pawl::admin
