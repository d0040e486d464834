// Goal: an event that is sent can be told from every other, reads back as it was, and fits.
// Method: examples of each rule; ids of parts that could be mistaken for one another.
#include "core/webhook/event.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::webhook {
namespace {

constexpr Instant noon = Instant::from_ns(1'700'000'000'000'000'000);

Event sample() {
  return {.id = "evt_1",
          .type = "invoice.paid",
          .tenant = "acme",
          .time = noon,
          .data = *json::parse(R"({"amount":10.10,"big":12345678901234567890})")};
}

TEST(WebhookEvent, IsOneLineOfJsonThatKeepsEveryDigit) {
  EXPECT_EQ(*body_of(sample()),
            R"({"data":{"amount":10.10,"big":12345678901234567890},"id":"evt_1","tenant":"acme",)"
            R"("timestamp":"2023-11-14T22:13:20.000Z","type":"invoice.paid"})");
  Event nobodys = sample();
  nobodys.tenant = "";
  EXPECT_NE(body_of(nobodys)->find(R"("tenant":null)"), std::string::npos);
}

TEST(WebhookEvent, ThatIsTooLargeIsRefused) {
  Event large = sample();
  large.data = std::string(bounds::webhook_body_bytes_max, 'x');
  ASSERT_FALSE(body_of(large));
  EXPECT_EQ(body_of(large).error().code, Code::invalid);
}

TEST(WebhookEvent, HasAnIdThatCannotBeMistakenInWhatIsSigned) {
  EXPECT_TRUE(check(sample()));
  for (const std::string& id :
       {std::string(), std::string("a.b"), std::string("a b"), std::string("a\nb"),
        std::string("\xc3\xa9"), std::string(bounds::webhook_id_bytes_max + 1, 'x')}) {
    Event event = sample();
    event.id = id;
    EXPECT_FALSE(check(event)) << id;
  }
}

TEST(WebhookEvent, HasATypeOfPartsWithDotsBetween) {
  for (const char* good : {"a", "limit.near", "A_1-b.c.d"}) EXPECT_TRUE(check_type(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("."), std::string("a."), std::string(".a"), std::string("a..b"),
        std::string("a b"), std::string("a/b"), std::string(65, 'a')}) {
    EXPECT_FALSE(check_type(bad)) << bad;
  }
  Event event = sample();
  event.type = "a b";
  EXPECT_FALSE(check(event));
  event = sample();
  event.tenant = std::string(bounds::tenant_bytes_max + 1, 't');
  EXPECT_FALSE(check(event));
}

TEST(WebhookEvent, HasTheSameIdForTheSamePartsAlone) {
  EXPECT_EQ(event_id({"a", "b"}), event_id({"a", "b"}));
  EXPECT_NE(event_id({"a", "b"}), event_id({"ab", ""}));
  EXPECT_NE(event_id({"a", "b"}), event_id({"b", "a"}));
  EXPECT_NE(event_id({"a", ""}), event_id({"a"}));
}

TEST(WebhookEvent, OfALimitIsOneAWindow) {
  const NearLimit near{.tenant = "acme",
                       .bucket = "global",
                       .limit = 100,
                       .used = 80,
                       .resets_at = noon + Duration::minutes(1),
                       .plan = "free",
                       .next_plan = "pro"};
  const Event event = to_event(near, noon);
  EXPECT_TRUE(check(event));
  EXPECT_EQ(event.type, "limit.near");
  EXPECT_EQ(event.tenant, "acme");
  EXPECT_EQ(json::print(event.data),
            R"({"bucket":"global","limit":100,"next_plan":"pro","plan":"free",)"
            R"("resets_at":"2023-11-14T22:14:20.000Z","used":80})");
  NearLimit later = near;
  later.used = 90;
  EXPECT_EQ(to_event(later, noon + Duration::seconds(1)).id, event.id);
  later.resets_at = noon + Duration::minutes(2);
  EXPECT_NE(to_event(later, noon).id, event.id);
}

TEST(WebhookEvent, OfAnUnknownWriteIsOneATry) {
  const UnknownWrite write{
      .tenant = "acme", .method = "POST", .path = "/orders", .key = "k1", .request_id = "r1"};
  const Event event = to_event(write, noon);
  EXPECT_TRUE(check(event));
  EXPECT_EQ(event.type, "idempotency.unknown");
  EXPECT_EQ(json::print(event.data),
            R"({"idempotency_key":"k1","method":"POST","path":"/orders","request_id":"r1"})");
  UnknownWrite again = write;
  EXPECT_EQ(to_event(again, noon).id, event.id);
  again.request_id = "r2";
  EXPECT_NE(to_event(again, noon).id, event.id);
  EXPECT_NE(to_event(write, noon + Duration::seconds(1)).id, event.id) << "clients choose ids";
}

}  // namespace
}  // namespace pawl::webhook
