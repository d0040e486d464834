// Goal: JSON says the same as the YAML of `config show`, with numbers as numbers and no secret.
// Method: the defaults, pinned; a configuration with a token.
#include "cli/config_json.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace pawl::cli {
namespace {

TEST(ConfigJson, HoldsEverySetting) {
  EXPECT_EQ(
      json::print(config_json(config::Config())),
      R"({"audit":{"on_full":"block","retry_alert":60,"rotate":"1GiB",)"
      R"("sinks":["file:data/audit.jsonl"]},)"
      R"("idempotency":{"body_limit":"1MiB","durability":"fsync","fingerprint":"bytes",)"
      R"("header":"Idempotency-Key","lease":"1m","methods":["POST","PUT","PATCH","DELETE"],)"
      R"("on_in_flight":"conflict","on_mismatch":"reject","on_store_failure":"execute",)"
      R"("on_unknown":"conflict","require":[],"store":"sqlite:data/pawl.db",)"
      R"("store_deadline":"50ms","store_statuses":["2xx","4xx"],"ttl":"1d"},)"
      R"("limits":{"batch":1,"buckets":[{"algorithm":"sliding_window","name":"global",)"
      R"("on_change":"as_is","rate":"100/1m","scope":"tenant","shadow":false}],)"
      R"("calendar_store":"","headers":["ratelimit","legacy"],"on_store_failure":"local",)"
      R"("store":"memory","store_deadline":"50ms"},"log":{"format":"text",)"
      R"("level":"info"},"order_control":{"frequency_limit":{"enabled":true,)"
      R"("exclude_reduce_only":true,"weekly_max_orders":5}},)"
      R"("orders":{"adaptive":true,"burst":0,"database":"data/orders.db",)"
      R"("patience":"1m","poll":"15s","rate":"1/1s","retry":{"base_delay":"1s",)"
      R"("jitter":0.25,"max_delay":"10s","max_retries":2,"min_delay":"100ms",)"
      R"("multiplier":2.0},"settle":"20s","timeout":"10s","venues":{}},)"
      R"("plans":{},"queue":{"kept":"7d","lease":"30s","limits":[],"prices":{"currency":"USD",)"
      R"("delete_per_1000":0,"get_per_1000":0.0004,"list_per_1000":0.005,)"
      R"("put_per_1000":0.005},"shards":1,"url":"dir:data/queue"},)"
      R"("retry":{"breaker":{"failures":5,"wait_max":"1m",)"
      R"("wait_min":"1s"},"budget":{"min_per_second":10,"ratio":0.2},"classify":{},)"
      R"("policies":{}},)"
      R"("server":{"admin":{"hosts":[],"listen":"127.0.0.1:8081",)"
      R"("panel":{"trading":false,"upgrade_link":"","upgrade_text":"Upgrade"},"token":""},)"
      R"("connections":10000,"connections_per_address":1000,)"
      R"("health":{"healthy_after":1,"interval":"5s","path":"","timeout":"1s",)"
      R"("unhealthy_after":2},"listen":"127.0.0.1:8080","requests":4096,"threads":0,)"
      R"("timeouts":{"answer":"1m","connect":"5s","head":"5s","idle":"1m"},)"
      R"("tls":{"certificate":"","key":""},"upstream":"http://127.0.0.1:9000",)"
      R"("upstream_ca":"","websocket":false},)"
      R"("tenants":{"api_keys":[],"default_plan":"free","header":"X-Tenant-Id",)"
      R"("ipv6_prefix":64,"missing":"anonymous","overrides":{},"plans":{},)"
      R"("plans_file":"data/plans.json","trusted_proxies":[],"upgrades":{}},)"
      R"("webhooks":{"database":"data/webhooks.db","endpoints":[]}})");
}

TEST(ConfigJson, HoldsNumbersTruthsAndMapsAsSuch) {
  config::Config config;
  config.limits.buckets = {
      {.name = "slots",
       .match = {.methods = {"GET", "POST"}, .header = request::HeaderMatch{"X-Kind", "bulk"}},
       .algorithm = config::Algorithm::concurrency,
       .slots = 3,
       .shadow = true}};
  config.server.upstreams.push_back({.host = "b", .port = 443, .tls = true});
  config.plans = {{"pro", {{"slots", {9, Duration::minutes(1)}}}}};
  config.retry.policies["mine"] = {
      .max_attempts = 2, .multiplier_milli = 1500, .delays = std::vector{Duration::seconds(1)}};
  config.retry.classify["shop"] = {{.status = config::StatusRange{503, 503},
                                    .names_effect = false,
                                    .failure = retry::Failure::rate_limited,
                                    .outcome = Outcome::not_applied,
                                    .retryable = true}};
  const std::string text = json::print(config_json(config));
  EXPECT_NE(text.find(R"("classify":{"shop":[{"failure":"rate_limited","names_effect":false,)"
                      R"("outcome":"not_applied","retryable":true,"status":"503",)"
                      R"("transport":"answered"}]})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("policies":{"mine":{"delays":["1s"],"max_attempts":2,"multiplier":1.5}})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("plans":{"pro":{"slots":"9/1m"}})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("shadow":true,"slots":3)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("match":{"header":"X-Kind: bulk","method":["GET","POST"]})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("upstream":["http://127.0.0.1:9000","https://b"])"), std::string::npos)
      << text;
}

TEST(ConfigJson, HidesSecrets) {
  const auto config = config::load_text(
      "x",
      "server: {admin: {token: hush}}\n"
      "webhooks: {endpoints: [{name: a, url: 'http://a/', secret: hush-hush-hush-hush-hush}]}\n",
      [](std::string_view) { return std::nullopt; }, [](std::string_view) { return Zone::utc(); });
  const std::string text = json::print(config_json(config.value()));
  EXPECT_EQ(text.find("hush"), std::string::npos);
  EXPECT_NE(text.find(R"("token":"***")"), std::string::npos);
  EXPECT_NE(text.find(R"({"events":[],"name":"a","secret":"***","url":"http://a/"})"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace pawl::cli
