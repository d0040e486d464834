// Goal: deliveries are told, and an event is taken once, on record first. Method: webhooks on an
// outbox in memory that nobody takes anything out of.
#include "admin/webhooks.h"

#include <gmock/gmock.h>

#include "adapter/memory/memory_outbox.h"
#include "admin/admin_fixture.h"
#include "core/audit/retry_event.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct NoTimers final : Timers {
  Id after(Duration, Call) override { return {}; }
  void cancel(Id) override {}
};

struct NoClient final : HttpClient {
  void send(HttpRequest, Done) override { ADD_FAILURE() << "nothing was started"; }
};

class WebhooksTest : public AdminFixture {
 protected:
  WebhooksTest() {
    const auto set = webhooks.set_endpoints(
        {{.name = "billing",
          .url = "https://hooks.example.com/pawl",
          .secret = Secret<std::string>("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
          .events = {"order.placed"}}});
    EXPECT_TRUE(set.has_value()) << set.error().message;
    context.webhooks = &webhooks;
  }
  Heard emit(std::string_view body) { return ask("POST", "/v1/webhooks/events", body); }

  NoTimers timers;
  NoClient client;
  MemoryOutbox outbox{clock};
  Webhooks webhooks{{}, {.clock = clock, .timers = timers, .outbox = outbox, .http = client}};
};

TEST_F(WebhooksTest, TakesAnEventOnceAndTellsOfItsDelivery) {
  const char* event = R"({"id":"e1","type":"order.placed","tenant":"acme","data":{"n":1}})";
  EXPECT_EQ(emit(event).body, "{\"accepted\":true}\n");
  EXPECT_EQ(last_event(), R"(config webhook emit acme {"peer":"192.0.2.7",)"
                          R"("webhook_event_id":"e1","webhook_event_type":"order.placed"})");
  EXPECT_EQ(emit(event).body, "{\"accepted\":false}\n");
  const Heard listed = get("/v1/webhooks/deliveries?state=pending");
  EXPECT_THAT(listed.body,
              AllOf(HasSubstr(R"("event_id":"e1")"), HasSubstr(R"("endpoint":"billing")"),
                    HasSubstr(R"("state":"pending")"), HasSubstr(R"("ended_at":null)")));
  EXPECT_EQ(listed.json().find("deliveries")->if_array()->size(), 1U);
  EXPECT_EQ(get("/v1/webhooks/deliveries?state=acknowledged").body, "{\"deliveries\":[]}\n");
}

TEST_F(WebhooksTest, NeedsNobodyForTheBreakerOfAnEndpointThatIsGone) {
  RetryTally tally(audit);
  context.retries = &tally;
  ASSERT_TRUE(tally.append(to_event(audit::Breaker{
      .subject = {.category = "RETRY_API_REQUEST", .operation = "send", .timestamp = {}},
      .key = "webhook billing",
      .state = audit::BreakerState::open})));
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("name":"webhook billing")"));
  ASSERT_TRUE(webhooks.set_endpoints({}));
  admin.sample();
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("breakers":[])"));
}

TEST_F(WebhooksTest, RefusesAnEventThatCannotBe) {
  for (const char* body : {"{}", R"({"id":"e.1","type":"order.placed"})",
                           R"({"id":"e1","type":"order..placed"})", R"({"id":"","type":"a"})"}) {
    EXPECT_EQ(emit(body).status, 400) << body;
  }
  EXPECT_EQ(last_event(), "");
}

TEST_F(WebhooksTest, SaysThatThereIsNoEndpoint) {
  context.webhooks = nullptr;
  EXPECT_EQ(get("/v1/webhooks/deliveries").status, 404);
  EXPECT_THAT(emit(R"({"id":"e1","type":"a"})").text("detail"), HasSubstr("webhooks.endpoints"));
  context.webhooks = &webhooks;
  EXPECT_EQ(get("/v1/webhooks/deliveries").status, 200);
  ASSERT_TRUE(webhooks.set_endpoints({}).has_value());
  EXPECT_EQ(get("/v1/webhooks/deliveries").status, 404) << "after a reload as after a start";
}

}  // namespace
}  // namespace pawl::admin
