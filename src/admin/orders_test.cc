// Goal: programs place, follow and settle orders over HTTP as people do by hand, and no path leads
//       to another order than the one it names. Method: a desk on stores in memory and a venue that
//       the test holds.
#include "admin/orders.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"
#include "runtime/order_desk_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* an_order =
    R"({"venue":"okx","inst":"BTC-USDT-SWAP","side":"buy","type":"limit","size":"0.1",)"
    R"("price":"50000","external_reference":"ref-1"})";

class OrdersTest : public AdminFixture {
 protected:
  OrdersTest() { context.orders = &desk; }
  ~OrdersTest() override { timers.close(); }

  Heard post(std::string_view target, std::string_view body = "") {
    return ask("POST", target, body);
  }
  static std::string named(std::string_view reference) {
    return R"({"venue":"okx","inst":"A-B","side":"buy","type":"market","size":"1",)"
           R"("external_reference":")" +
           std::string(reference) + "\"}";
  }

  ManualTimers timers{clock};
  CountedEntropy entropy;
  MemoryIntents intents;
  MemoryIntentStore store{intents};
  FakeVenue venue{clock};
  OrderDesk desk{{.limit = {.weekly_max_orders = 2}},
                 {.clock = clock,
                  .timers = timers,
                  .entropy = entropy,
                  .store = store,
                  .counters = counters,
                  .audit = &audit},
                 {{.venue = venue, .pace = {.rate = {1000, Duration::seconds(1)}}}}};
};

TEST_F(OrdersTest, PlacesAnOrderOnceForItsReference) {
  const Heard first = post("/v1/orders", an_order);
  EXPECT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(first.text("status"), "confirmed");
  EXPECT_EQ(first.text("external_reference"), "ref-1");
  EXPECT_EQ(post("/v1/orders", an_order).text("order_id"), first.text("order_id"));
  EXPECT_EQ(venue.sent.size(), 1U);
}

TEST_F(OrdersTest, RefusesAnotherOrderUnderAKnownReference) {
  post("/v1/orders", an_order);
  const Heard other = post("/v1/orders", named("ref-1"));
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(venue.sent.size(), 1U);
}

TEST_F(OrdersTest, DeniesWhatTheWeekHasNoRoomFor) {
  post("/v1/orders", named("a"));
  timers.advance(Duration::seconds(1));
  post("/v1/orders", named("b"));
  timers.advance(Duration::seconds(1));
  const Heard denied = post("/v1/orders", named("c"));
  EXPECT_EQ(denied.status, 429) << denied.body;
  EXPECT_EQ(denied.text("status"), "denied");
  EXPECT_THAT(denied.head, HasSubstr("Retry-After: "));
  EXPECT_THAT(get("/v1/orders/quota").body,
              AllOf(HasSubstr(R"("used":2)"), HasSubstr(R"("remaining":0)")));
}

TEST_F(OrdersTest, TellsWhatTheVenueRejected) {
  venue.script = {{.answer = {.sent = order::Sent::refused, .status = 400, .message = "no money"}}};
  const Heard rejected = post("/v1/orders", an_order);
  EXPECT_EQ(rejected.status, 422) << rejected.body;
  EXPECT_EQ(rejected.text("status"), "rejected");
  EXPECT_EQ(get("/v1/orders/ref-1").text("status"), "rejected");
}

TEST_F(OrdersTest, DoesNothingInADryRun) {
  const Heard dry = post("/v1/orders?dry_run=true", an_order);
  EXPECT_EQ(dry.status, 200) << dry.body;
  EXPECT_EQ(dry.text("would_send"), "true");
  EXPECT_TRUE(venue.sent.empty());
  EXPECT_EQ(get("/v1/orders/ref-1").status, 404);
}

TEST_F(OrdersTest, RefusesWhatIsNoOrder) {
  for (const char* body :
       {"{}", R"({"venue":"okx"})", R"({"venue":"okx","inst":"A","side":"up","type":"market"})",
        R"({"venue":"okx","inst":"A","side":"buy","type":"market","size":1})",
        R"({"venue":"okx","inst":"A","side":"buy","type":"market","size":"1","colour":"red"})",
        R"({"venue":"okx","inst":"A","side":"buy","type":"market","size":"1",)"
        R"("external_reference":"a b"})"}) {
    EXPECT_EQ(post("/v1/orders", body).status, 400) << body;
  }
  EXPECT_TRUE(venue.sent.empty());
}

TEST_F(OrdersTest, LeadsToAnOrderOfAnyNameByThePathOfItsStatus) {
  post("/v1/orders", named("quota"));
  EXPECT_EQ(get("/v1/orders/quota").text("used"), "1");
  EXPECT_EQ(get("/v1/orders/quota/status").text("external_reference"), "quota");
  EXPECT_EQ(get("/v1/orders/nobody").status, 404);
}

TEST_F(OrdersTest, TellsOfAnOrderWhatItIsHoweverManyAreNewer) {
  post("/v1/orders", an_order);
  const Heard told = get("/v1/orders/ref-1/status");
  EXPECT_THAT(told.text("order"), HasSubstr(R"("side":"buy")"));
  EXPECT_EQ(told.text("created_at"), to_string(clock.wall_now()));
  EXPECT_EQ(told.text("counts"), "true");
  EXPECT_THAT(told.text("evidence"), HasSubstr("place attempt 1"));
}

TEST_F(OrdersTest, IsOnRecordAsAPartOfItsCallersOperation) {
  const auto joins = [&] {
    std::string found;
    for (const audit::Event& event : audit.events()) {
      if (event.operation != "order place") continue;
      found += event.correlation.correlation_id + " " + event.correlation.external_reference + ";";
    }
    return found;
  };
  ask("POST", "/v1/orders?dry_run=true", an_order, "X-Correlation-Id: checkout-7\r\n");
  EXPECT_EQ(joins(), "") << "nothing is done";
  ask("POST", "/v1/orders", an_order, "X-Correlation-Id: checkout-7\r\n");
  EXPECT_EQ(joins(), "checkout-7 ref-1;");
  ask("POST", "/v1/order-batches", "{\"orders\":[" + std::string(an_order) + "]}",
      "X-Correlation-Id: checkout-8\r\n");
  EXPECT_EQ(joins(), "checkout-7 ref-1;checkout-8 ref-1;");
}

TEST_F(OrdersTest, ListsOrders) {
  post("/v1/orders", an_order);
  EXPECT_THAT(get("/v1/orders?status=confirmed").body, HasSubstr("ref-1"));
  EXPECT_EQ(get("/v1/orders?unresolved=true").body, "{\"orders\":[]}\n");
  EXPECT_EQ(get("/v1/orders?status=lost").status, 400);
}

TEST_F(OrdersTest, CancelsAndModifies) {
  post("/v1/orders", an_order);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(post("/v1/orders/ref-1/modify", "{}").status, 400);
  EXPECT_EQ(post("/v1/orders/ref-1/modify", R"({"price":"50100"})").status, 200);
  timers.advance(Duration::seconds(1));
  venue.changes = {{.sent = order::Sent::refused, .status = 400, .message = "too late"}};
  const Heard refused = post("/v1/orders/ref-1/cancel");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.text("detail"), HasSubstr("too late"));
  timers.advance(Duration::seconds(1));
  const Heard canceled = post("/v1/orders/ref-1/cancel");
  EXPECT_EQ(canceled.status, 200) << canceled.body;
  EXPECT_EQ(post("/v1/orders/nobody/cancel").status, 404);
}

TEST_F(OrdersTest, FindsOutAndLetsAPersonSettle) {
  EXPECT_EQ(post("/v1/order-reconciliations").body, "{\"orders\":[]}\n");
  EXPECT_EQ(post("/v1/orders/nobody/reconcile").status, 404);
  EXPECT_EQ(post("/v1/orders/ref-1/resolve", R"({"as":"placed","reason":"seen"})").status, 400);
  EXPECT_EQ(post("/v1/orders/ref-1/resolve", R"({"as":"absent"})").status, 400);
  EXPECT_EQ(post("/v1/orders/ref-1/resolve", R"({"as":"absent","reason":"asked"})").status, 404);
}

TEST_F(OrdersTest, PlacesABatchAndAsksTheVenueFirst) {
  const Heard batch =
      post("/v1/order-batches", "{\"orders\":[" + named("a") + "," + named("b") + "]}");
  EXPECT_EQ(batch.status, 0) << "it waits for its pace";
  EXPECT_EQ(post("/v1/order-batches", R"({"orders":[]})").status, 400);
  EXPECT_EQ(post("/v1/order-prechecks",
                 R"({"venue":"okx","inst":"A-B","side":"buy","type":"market","size":"1"})")
                .text("ok"),
            "true");
}

TEST_F(OrdersTest, SaysThatNoVenueIsConfigured) {
  context.orders = nullptr;
  EXPECT_THAT(post("/v1/orders", an_order).text("detail"), HasSubstr("orders.venues"));
  EXPECT_EQ(get("/v1/orders").status, 404);
  EXPECT_EQ(get("/v1/orders/quota").status, 404);
}

}  // namespace
}  // namespace pawl::admin
