// Goal: JSON says the same as the YAML of `config show`, with numbers as numbers and no secret.
// Method: the defaults, pinned; a configuration with a token.
#include "cli/config_json.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace pawl::cli {
namespace {

TEST(ConfigJson, HoldsEverySetting) {
  EXPECT_EQ(json::print(config_json(config::Config())),
            R"({"audit":{"on_full":"block","sinks":["file:data/audit.jsonl"]},)"
            R"("limits":{"batch":1,"buckets":[{"algorithm":"sliding_window","name":"global",)"
            R"("on_change":"as_is","rate":"100/1m","scope":"tenant","shadow":false}],)"
            R"("calendar_store":"","headers":["ratelimit","legacy"],"on_store_failure":"local",)"
            R"("store":"memory","store_deadline":"50ms"},"log":{"format":"text",)"
            R"("level":"info"},"plans":{},)"
            R"("server":{"admin":{"listen":"127.0.0.1:8081","token":""},"listen":"127.0.0.1:8080",)"
            R"("threads":0,"upstream":"http://127.0.0.1:9000"},)"
            R"("tenants":{"default_plan":"free","header":"X-Tenant-Id","missing":"anonymous",)"
            R"("overrides":{},"plans":{},"trusted_proxies":[]}})");
}

TEST(ConfigJson, HoldsNumbersTruthsAndMapsAsSuch) {
  config::Config config;
  config.limits.buckets = {
      {.name = "slots", .algorithm = config::Algorithm::concurrency, .slots = 3, .shadow = true}};
  config.plans = {{"pro", {{"slots", {9, Duration::minutes(1)}}}}};
  const std::string text = json::print(config_json(config));
  EXPECT_NE(text.find(R"("plans":{"pro":{"slots":"9/1m"}})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("shadow":true,"slots":3)"), std::string::npos) << text;
}

TEST(ConfigJson, HidesSecrets) {
  const auto config = config::load_text(
      "x", "server: {admin: {token: hush}}\n", [](std::string_view) { return std::nullopt; },
      [](std::string_view) { return Zone::utc(); });
  const std::string text = json::print(config_json(config.value()));
  EXPECT_EQ(text.find("hush"), std::string::npos);
  EXPECT_NE(text.find(R"("token":"***")"), std::string::npos);
}

}  // namespace
}  // namespace pawl::cli
