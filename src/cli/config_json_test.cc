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
            R"("limits":{"buckets":[{"algorithm":"token_bucket","burst":20,"name":"global",)"
            R"("rate":"100/1m","scope":"tenant"}],)"
            R"("headers":["ratelimit","legacy"],"store":"memory"},)"
            R"("log":{"format":"text","level":"info"},)"
            R"("server":{"admin":{"listen":"127.0.0.1:8081","token":""},"listen":"127.0.0.1:8080",)"
            R"("threads":0,"upstream":"http://127.0.0.1:9000"},)"
            R"("tenants":{"header":"X-Tenant-Id","missing":"anonymous","trusted_proxies":[]}})");
}

TEST(ConfigJson, HidesSecrets) {
  const auto config = config::load_text("x", "server: {admin: {token: hush}}\n",
                                        [](std::string_view) { return std::nullopt; });
  const std::string text = json::print(config_json(config.value()));
  EXPECT_EQ(text.find("hush"), std::string::npos);
  EXPECT_NE(text.find(R"("token":"***")"), std::string::npos);
}

}  // namespace
}  // namespace pawl::cli
