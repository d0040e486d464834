// Goal: whoever reloads learns every difference, and which of them a running pawl cannot take.
// Method: change one thing at a time, then several.
#include "config/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Reload, SeesNoChangeBetweenEquals) {
  EXPECT_THAT(changes(Config(), Config()), IsEmpty());
}

TEST(Reload, TellsWhatCanChangeWhileRunning) {
  Config next;
  next.limits.buckets[0].rate->count = 101;
  EXPECT_THAT(changes(Config(), next), ElementsAre(Change{"limits.buckets", false}));
}

TEST(Reload, TellsWhatNeedsARestart) {
  Config next;
  next.server.threads = 2;
  EXPECT_THAT(changes(Config(), next), ElementsAre(Change{"server.threads", true}));
}

TEST(Reload, SeesASecretChange) {
  Config running;
  Config next;
  running.server.admin.token = Secret<std::string>("one");
  next.server.admin.token = Secret<std::string>("two");
  EXPECT_THAT(changes(running, next), ElementsAre(Change{"server.admin.token", false}));
}

TEST(Reload, SeesThatOnlyTheSecretOfAWebhookChanged) {
  Config running;
  running.webhooks.endpoints = {{.name = "a", .secret = Secret<std::string>("one")}};
  Config next = running;
  next.webhooks.endpoints[0].secret = Secret<std::string>("two");
  EXPECT_THAT(changes(running, next), ElementsAre(Change{"webhooks.endpoints", false}));
}

TEST(Reload, SeesThatOnlyWhatABucketMatchesChanged) {
  Config next;
  next.limits.buckets[0].match.methods = {"GET"};
  EXPECT_THAT(changes(Config(), next), ElementsAre(Change{"limits.buckets", false}));
}

TEST(Reload, SeesThatOnlyThePasswordOfAStoreChanged) {
  Config running;
  Config next;
  const auto redis = [](const char* url) {
    return StoreSetting{.kind = StoreSetting::Kind::redis, .url = Secret<std::string>(url)};
  };
  running.limits.store = redis("redis://:one@h");
  next.limits.store = redis("redis://:two@h");
  EXPECT_THAT(changes(running, next), ElementsAre(Change{"limits.store", true}));
}

TEST(Reload, TellsEveryChangeInTheOrderOfTheTable) {
  Config next;
  next.log.level = LogLevel::error;
  next.tenants.header = "X-Account";
  next.server.listen.port = 1;
  EXPECT_THAT(changes(Config(), next),
              ElementsAre(Change{"server.listen", true}, Change{"tenants.header", false},
                          Change{"log.level", false}));
}

}  // namespace
}  // namespace pawl::config
