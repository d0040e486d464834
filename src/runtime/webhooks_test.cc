// Goal: every event that was taken reaches each endpoint that wants it, at the pace that endpoint
//       allows, and never again once that is on record.
// Method: memory stores, timers moved by hand, endpoints that are functions; then a walk at random
//         through answers, crashes at every step and restarts, which asks at each message whether
//         it may still be sent.
#include "runtime/webhooks.h"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

#include "core/webhook/signature.h"
#include "runtime/webhooks_fixture.h"

namespace pawl {
namespace {

using webhook::Delivery;
using webhook::State;

class WebhooksTest : public ::testing::Test {
 protected:
  ~WebhooksTest() override {
    if (webhooks) end();
  }
  Webhooks& start(std::vector<webhook::Endpoint> endpoints) {
    timers = std::make_unique<ManualTimers>(clock);
    webhooks = std::make_unique<Webhooks>(
        Webhooks::Options{}, Webhooks::Ports{clock, *timers, *used, http, &records, &audit});
    EXPECT_TRUE(webhooks->set_endpoints(std::move(endpoints)).has_value());
    webhooks->start();
    return *webhooks;
  }
  Webhooks& start() { return start({endpoint_named("billing")}); }
  void end() {
    webhooks->stop(Duration());
    timers->close();
    webhooks.reset();
  }

  Result<bool> try_emit(const webhook::Event& event) {
    std::optional<Result<bool>> said;
    webhooks->emit(event, [&](Result<bool> taken) { said = std::move(taken); });
    EXPECT_TRUE(said.has_value());
    return said.value_or(failure(Code::internal, "silence"));
  }
  bool emit(const std::string& id, const std::string& type = "invoice.paid") {
    const Result<bool> taken = try_emit(event_with(id, type));
    EXPECT_TRUE(taken.has_value());
    return taken.value_or(false);
  }
  std::vector<Delivery> list() {
    std::vector<Delivery> all;
    outbox.list(1'000, std::nullopt, [&](const Result<std::vector<Delivery>>& found) {
      for (const Delivery& one : found.value()) all.push_back(one);
    });
    return all;
  }
  Delivery only() {
    const std::vector<Delivery> all = list();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Delivery() : all.front();
  }
  void answer_with(int status, std::vector<HttpField> fields = {}) {
    http.answer = [=](const HttpRequest&) { return status_answer(status, fields); };
  }

  ManualClock clock;
  std::unique_ptr<ManualTimers> timers;
  MemoryOutbox outbox{clock};
  Outbox* used = &outbox;
  MemoryRecordStore records{clock};
  MemoryEventSink audit;
  FakeEndpoints http;
  std::unique_ptr<Webhooks> webhooks;
};

TEST_F(WebhooksTest, SendASignedMessageOnce) {
  start();
  EXPECT_TRUE(emit("evt_1"));
  ASSERT_EQ(http.sent.size(), 1u);
  const HttpRequest& request = http.sent[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://billing.example.com/in");
  EXPECT_EQ(field_of(request, "content-type"), "application/json");
  EXPECT_EQ(field_of(request, "webhook-id"), "evt_1");
  EXPECT_EQ(request.body, *webhook::body_of(event_with("evt_1")));
  const auto key = webhook::key_of(endpoint_named("billing").secret);
  EXPECT_TRUE(webhook::verify(
      *key,
      {.id = "evt_1", .timestamp = field_of(request, "webhook-timestamp"), .body = request.body},
      field_of(request, "webhook-signature"), {.now = clock.wall_now()}));
  EXPECT_FALSE(request.may_connect(*parse_ip("127.0.0.1")));
  EXPECT_TRUE(request.may_connect(*parse_ip("8.8.8.8")));
  EXPECT_EQ(only().state, State::acknowledged);
  EXPECT_EQ(only().attempts, 1);
  EXPECT_EQ(only().last_status, 200);
  EXPECT_FALSE(emit("evt_1")) << "it is known";
  timers->advance(Duration::days(4));
  EXPECT_EQ(http.sent.size(), 1u);
  const WebhookCounts counts = webhooks->counts();
  EXPECT_EQ(counts.emitted, 2u);
  EXPECT_EQ(counts.duplicates, 1u);
  EXPECT_EQ(counts.attempts, 1u);
  EXPECT_EQ(counts.acknowledged, 1u);
  EXPECT_EQ(counts.pending, 0u);
}

TEST_F(WebhooksTest, TellThoseWhoWantToKnow) {
  start({endpoint_named("billing", {"invoice.paid"}), endpoint_named("all")});
  EXPECT_TRUE(emit("evt_1", "limit.near"));
  ASSERT_EQ(http.sent.size(), 1u);
  EXPECT_EQ(http.sent[0].url, "https://all.example.com/in");
  EXPECT_TRUE(emit("evt_2", "invoice.paid"));
  EXPECT_EQ(http.sent.size(), 3u);
  ASSERT_TRUE(webhooks->set_endpoints({endpoint_named("billing", {"invoice.paid"})}).has_value());
  EXPECT_TRUE(emit("evt_3", "limit.near")) << "nobody wants it";
  EXPECT_EQ(http.sent.size(), 3u);
  EXPECT_EQ(list().size(), 3u);
}

TEST_F(WebhooksTest, RefuseWhatIsNoEvent) {
  start();
  webhook::Event bad = event_with("evt.1");
  EXPECT_EQ(try_emit(bad).error().code, Code::invalid);
  bad = event_with("evt_1");
  bad.data = std::string(bounds::webhook_body_bytes_max, 'x');
  EXPECT_EQ(try_emit(bad).error().code, Code::invalid);
  EXPECT_TRUE(list().empty());
}

TEST_F(WebhooksTest, TryAgainForThreeDaysThenGiveUp) {
  std::vector<Instant> times;
  http.answer = [&](const HttpRequest&) {
    times.push_back(clock.wall_now());
    return status_answer(503);
  };
  start();
  emit("evt_1");
  timers->advance(Duration::days(5));
  const std::vector<Duration> delays = webhook::delivery_policy().delays;
  ASSERT_EQ(times.size(), delays.size() + 1);
  for (std::size_t i = 0; i < delays.size(); ++i) {
    const Duration waited = times[i + 1] - times[i];
    EXPECT_GE(waited.ns(), delays[i].ns() / 10 * 9) << i;
    EXPECT_LE(waited.ns(), delays[i].ns() / 10 * 11 + Duration::milliseconds(1).ns()) << i;
  }
  EXPECT_EQ(only().state, State::given_up);
  EXPECT_EQ(only().attempts, 10);
  EXPECT_EQ(only().last_status, 503);
  EXPECT_EQ(only().last_error, "the endpoint answered 503");
  EXPECT_EQ(webhooks->counts().given_up, 1u);
  EXPECT_EQ(webhooks->counts().postponed, 9u);
}

TEST_F(WebhooksTest, HoldNothingInMemoryBetweenAttempts) {
  answer_with(500);
  start();
  for (int i = 0; i < 100; ++i) emit("evt_" + std::to_string(i));
  timers->advance(Duration::minutes(4));
  EXPECT_EQ(timers->waiting(), 1u) << "the one that looks for what is due";
}

TEST_F(WebhooksTest, SendWhatMayHaveArrivedAgainUnderItsId) {
  int calls = 0;
  http.answer = [&](const HttpRequest&) -> FakeEndpoints::Reply {
    return ++calls < 3 ? FakeEndpoints::Reply(no_answer(Outcome::unknown)) : status_answer(204);
  };
  start();
  emit("evt_1");
  timers->advance(Duration::hours(1));
  ASSERT_EQ(http.sent.size(), 3u);
  EXPECT_EQ(field_of(http.sent[2], "webhook-id"), "evt_1");
  EXPECT_EQ(http.sent[2].body, http.sent[0].body);
  EXPECT_NE(field_of(http.sent[2], "webhook-timestamp"),
            field_of(http.sent[0], "webhook-timestamp"))
      << "a receiver takes no old message";
  EXPECT_EQ(only().state, State::acknowledged);
  EXPECT_EQ(only().attempts, 3);
}

TEST_F(WebhooksTest, GiveUpWhatWillNeverBeTaken) {
  for (const int status : {410, 400, 404, 409}) {
    answer_with(status);
    start();
    const std::string id = "evt_" + std::to_string(status);
    emit(id);
    timers->advance(Duration::days(4));
    end();
  }
  EXPECT_EQ(http.sent.size(), 4u);
  for (const Delivery& one : list()) {
    EXPECT_EQ(one.state, State::given_up);
    EXPECT_EQ(one.event_id, "evt_" + std::to_string(one.last_status));
  }
}

TEST_F(WebhooksTest, WaitForWhatTheEndpointSaid) {
  answer_with(429, {{"retry-after", "7200"}});
  start();
  emit("evt_1");
  answer_with(200);
  timers->advance(Duration::seconds(7'199));
  EXPECT_EQ(http.sent.size(), 1u);
  timers->advance(Duration::seconds(1));
  EXPECT_EQ(http.sent.size(), 2u);
  EXPECT_EQ(only().state, State::acknowledged);
}

TEST_F(WebhooksTest, GoOnAfterASilentAttempt) {
  http.answer = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  start();
  emit("evt_1");
  timers->advance(Duration::seconds(20));
  EXPECT_EQ(only().attempts, 1);
  EXPECT_EQ(only().state, State::pending);
  answer_with(200);
  timers->advance(Duration::seconds(6));
  EXPECT_EQ(http.sent.size(), 2u);
  EXPECT_EQ(only().state, State::acknowledged);
  http.release(0, status_answer(200));  // and nobody cares
  EXPECT_EQ(only().attempts, 2);
}

TEST_F(WebhooksTest, SendFewAtOnceToEachEndpoint) {
  http.answer = [](const HttpRequest& request) -> FakeEndpoints::Reply {
    if (request.url.find("slow") != std::string::npos) return {};
    return status_answer(200);
  };
  start({endpoint_named("slow"), endpoint_named("quick")});
  for (int i = 0; i < 10; ++i) emit("evt_" + std::to_string(i));
  EXPECT_EQ(http.held.size(), bounds::webhook_lane);
  EXPECT_EQ(http.sent.size(), bounds::webhook_lane + 10) << "the quick one waits for nobody";
  http.release(0, status_answer(200));
  EXPECT_EQ(http.held.size(), bounds::webhook_lane + 1);
  for (std::size_t i = 1; i < http.held.size(); ++i) http.release(i, status_answer(200));
  EXPECT_EQ(http.held.size(), 10u);
  EXPECT_EQ(webhooks->counts().acknowledged, 20u);
}

TEST_F(WebhooksTest, LeaveAnEndpointThatIsAwayAlone) {
  answer_with(500);
  start();
  for (int i = 0; i < 50; ++i) emit("evt_" + std::to_string(i));
  EXPECT_EQ(http.sent.size(), 5u) << "then its breaker opens";
  timers->advance(Duration::minutes(2));
  EXPECT_LE(http.sent.size(), 15u) << "one probe at a time, at growing distances";
  answer_with(200);
  timers->advance(Duration::minutes(10));
  for (const Delivery& one : list()) EXPECT_EQ(one.state, State::acknowledged) << one.event_id;
}

TEST_F(WebhooksTest, KeepWhatWaitsForAnEndpointThatIsNotNamedAnyMore) {
  answer_with(503);
  start();
  emit("evt_1");
  answer_with(200);
  ASSERT_TRUE(webhooks->set_endpoints({endpoint_named("other")}).has_value());
  timers->advance(Duration::days(1));
  EXPECT_EQ(http.sent.size(), 1u);
  EXPECT_EQ(only().state, State::pending);
  ASSERT_TRUE(webhooks->set_endpoints({endpoint_named("billing")}).has_value());
  EXPECT_EQ(http.sent.size(), 2u);
  EXPECT_EQ(only().state, State::acknowledged);
}

TEST_F(WebhooksTest, TakeNewEndpointsAllOrNone) {
  start();
  webhook::Endpoint bad = endpoint_named("bad");
  bad.secret = Secret<std::string>("short");
  EXPECT_FALSE(webhooks->set_endpoints({endpoint_named("other"), bad}));
  EXPECT_FALSE(webhooks->set_endpoints({endpoint_named("a"), endpoint_named("a")}));
  EXPECT_FALSE(webhooks->set_endpoints(
      std::vector<webhook::Endpoint>(bounds::webhook_endpoints_max + 1, endpoint_named("a"))));
  emit("evt_1");
  ASSERT_EQ(http.sent.size(), 1u);
  EXPECT_EQ(http.sent[0].url, "https://billing.example.com/in");
}

TEST_F(WebhooksTest, GoOnAfterARestartWhereTheyWere) {
  answer_with(503);
  start();
  emit("evt_1");
  timers->advance(Duration::seconds(6));
  EXPECT_EQ(only().attempts, 2);
  end();
  clock.advance(Duration::minutes(10));
  start();
  EXPECT_EQ(http.sent.size(), 3u);
  EXPECT_EQ(only().attempts, 3);
  EXPECT_GE(only().next_at - clock.wall_now(), Duration::minutes(27)) << "its third wait";
}

TEST_F(WebhooksTest, OfSeveralGatewaysSendAnEventOnce) {
  MemoryOutbox other_outbox(clock);
  start();
  emit("evt_1");
  end();
  used = &other_outbox;
  start();
  EXPECT_TRUE(emit("evt_1")) << "this one does not know it";
  EXPECT_EQ(http.sent.size(), 1u) << "but their store does";
  other_outbox.list(10, std::nullopt, [](const Result<std::vector<Delivery>>& found) {
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ((*found)[0].state, State::acknowledged);
    EXPECT_EQ((*found)[0].last_status, 200);
  });
}

TEST_F(WebhooksTest, WaitForTheClaimOfAnotherToEnd) {
  const RecordKey key{.scope = "acme", .key = "webhook billing evt_1"};
  records.begin(key, {.lease = Duration::seconds(30), .ttl = Duration::days(1)},
                [](const Result<idempotency::Begun>& begun) { ASSERT_TRUE(begun.has_value()); });
  start();
  emit("evt_1");
  timers->advance(Duration::seconds(29));
  EXPECT_TRUE(http.sent.empty());
  timers->advance(Duration::seconds(2));
  EXPECT_EQ(http.sent.size(), 1u);
  EXPECT_EQ(only().state, State::acknowledged);
}

// Says no to save() for as long as it is told to.
class StubbornOutbox final : public Outbox {
 public:
  explicit StubbornOutbox(Outbox& below) : below_(below) {}

  void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) override {
    below_.add(std::move(deliveries), std::move(done));
  }
  void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) override {
    below_.due(endpoint, limit, std::move(done));
  }
  void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
            Done<void> done) override {
    if (refuses) return done(failure(Code::unavailable, "the disk is full"));
    below_.save(endpoint, event_id, std::move(step), std::move(done));
  }
  void list(std::size_t limit, std::optional<State> state,
            Done<std::vector<Delivery>> done) override {
    below_.list(limit, state, std::move(done));
  }

  bool refuses = true;

 private:
  Outbox& below_;
};

TEST_F(WebhooksTest, DoNotForgetAnAcknowledgementThatTheDiskDidNotTake) {
  StubbornOutbox stubborn(outbox);
  used = &stubborn;
  start();
  emit("evt_1");
  timers->advance(Duration::minutes(1));
  EXPECT_EQ(http.sent.size(), 1u);
  EXPECT_EQ(only().state, State::pending);
  stubborn.refuses = false;
  timers->advance(Duration::seconds(1));
  EXPECT_EQ(only().state, State::acknowledged);
  EXPECT_EQ(http.sent.size(), 1u);
  end();
}

TEST_F(WebhooksTest, LeaveTheirDecisionsInTheAuditLog) {
  int calls = 0;
  http.answer = [&](const HttpRequest&) { return status_answer(++calls == 1 ? 503 : 200); };
  start();
  emit("evt_1");
  timers->advance(Duration::seconds(6));
  std::map<audit::EventType, int> seen;
  for (const audit::Event& event : audit.events()) {
    ++seen[event.type];
    EXPECT_EQ(event.operation, "webhook");
    EXPECT_EQ(event.correlation.tenant_id, "acme");
    EXPECT_EQ(event.correlation.correlation_id, "evt_1");
  }
  EXPECT_EQ(seen[audit::EventType::retry_attempt], 1);
  EXPECT_EQ(seen[audit::EventType::retry_succeeded], 1);
}

TEST_F(WebhooksTest, WithoutRecordsStillSendOnce) {
  timers = std::make_unique<ManualTimers>(clock);
  webhooks = std::make_unique<Webhooks>(Webhooks::Options{},
                                        Webhooks::Ports{clock, *timers, outbox, http});
  ASSERT_TRUE(webhooks->set_endpoints({endpoint_named("billing")}).has_value());
  webhooks->start();
  emit("evt_1");
  emit("evt_1");
  timers->advance(Duration::days(1));
  EXPECT_EQ(http.sent.size(), 1u);
}

TEST_F(WebhooksTest, BeginNothingOnceTheyStop) {
  http.answer = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  start();
  emit("evt_1");
  webhooks->stop(Duration::milliseconds(1));
  emit("evt_2");
  EXPECT_EQ(http.sent.size(), 1u);
  timers->close();
  webhooks.reset();
  EXPECT_EQ(list().size(), 2u) << "both go on after the next start";
  for (const Delivery& one : list()) EXPECT_EQ(one.state, State::pending);
}

}  // namespace
}  // namespace pawl
