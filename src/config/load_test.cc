// Goal: a good file gives exactly what it says, and a bad one is told everything that is wrong with
// it, word for word as users will read it. Method: pinned good texts; every file of
// tests/config/broken against the .expected beside it;
//         faults that fit into no file (missing, too large) made on the spot.
#include "config/load.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "base/bounds.h"
#include "config/reload.h"
#include "core/webhook/endpoint.h"

namespace pawl::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

const Env no_env = [](std::string_view) { return std::nullopt; };

// A world of two zones.
const Zones two_zones = [](std::string_view name) -> Result<Zone> {
  if (name == "UTC") return Zone::utc();
  if (name == "Europe/Zurich") return Zone("Europe/Zurich", Duration::hours(1));
  return failure(Code::invalid, "unknown time zone '" + std::string(name) +
                                    "'; use a name like Europe/Zurich; needs the tzdata package");
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// What the command line prints: a line a problem.
std::string lines(const Loaded& loaded) {
  if (loaded) return "no problem\n";
  std::string out;
  for (const Problem& problem : loaded.error()) out += to_string(problem) + "\n";
  return out;
}

std::string problems_of(std::string_view text, const Env& env = no_env) {
  return lines(load_text("pawl.yaml", text, env, two_zones));
}

Config loaded(std::string_view text, const Env& env = no_env) {
  auto config = load_text("pawl.yaml", text, env, two_zones);
  EXPECT_TRUE(config.has_value()) << lines(config);
  return config.value_or(Config());
}

// Which answers are kept.
std::string statuses(const Config& config) {
  std::string out;
  for (const StatusRange& each : config.idempotency.store_statuses) {
    out += std::to_string(each.least) + "-" + std::to_string(each.most) + " ";
  }
  return out;
}

class Broken : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Broken, IsToldExactlyWhatIsExpected) {
  const auto file = GetParam();
  const auto expected = std::filesystem::path(file).replace_extension(".expected");
  const std::string told =
      lines(load_text(file.filename().string(), contents(file), no_env, two_zones));
  EXPECT_EQ(told, contents(expected)) << expected;
  // Whatever stood in the file, a problem is one line of text.
  EXPECT_TRUE(std::ranges::none_of(told, [](char c) { return c != '\n' && c >= 0 && c < 0x20; }));
}

std::vector<std::filesystem::path> broken_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(PAWL_SOURCE_DIR "/tests/config/broken")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, Broken, ::testing::ValuesIn(broken_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(Load, FindsTheBrokenFiles) {
  EXPECT_GE(broken_files().size(), 34U);
}

TEST(Load, TakesAnEmptyFileForTheDefaults) {
  for (const char* text : {"", "\n", "# nothing but words\n", "---\n", "{}\n", "\xef\xbb\xbf",
                           "server:\n  # listen: 127.0.0.1:1\n", "server: {}\nlog:\n"}) {
    EXPECT_THAT(changes(Config(), loaded(text)), IsEmpty()) << text;
  }
}

TEST(Load, ReadsEveryField) {
  const Config config = loaded(R"(
server:
  listen: 0.0.0.0:80
  upstream: [http://shop.internal:9001, https://192.0.2.1]
  upstream_ca: ca of ours.pem
  threads: 3
  connections: 20
  connections_per_address: 10
  requests: 30
  websocket: true
  health:
    path: /ready?deep=1
    interval: 500ms
    timeout: 200ms
    unhealthy_after: 3
    healthy_after: 4
  timeouts: {head: 1s, idle: 2s, connect: 3s, answer: 4s}
  tls: {certificate: tls/cert.pem, key: tls/key.pem}
  admin:
    listen: "[2001:db8::1]:8443"
    token: hush
    hosts: [panel.example.org, "[2001:db8::1]"]
tenants:
  header: X-Account
  api_keys:
    - sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
      tenant: acme
      plan: pro
    - {tenant: "a$b:c", sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752}
  ipv6_prefix: 56
  plans_file: /var/lib/pawl/plans.json
  upgrades: {free: pro}
  trusted_proxies: [10.0.0.0/8, "2001:db8::/32", 192.0.2.7]
  missing: reject
  default_plan: pro
  plans: {acme: free, "a$b:c": pro}
  overrides: {acme: {all-of_it-2: 500/1m}}
plans:
  pro: {all-of_it-2: 50/1s, slots: 9/30s, month: 7/30d, key: 2/1s}
  free: {}
limits:
  store: redis://me:hush@127.0.0.1:6379/0
  calendar_store: sqlite:data/counts.db
  store_deadline: 250ms
  on_store_failure: deny
  headers: [legacy, draft7]
  buckets:
    - name: all-of_it-2
      scope: tenant
      algorithm: token_bucket
      rate: 5/500ms
      burst: 7
      shadow: true
      on_change: proportional
    - {name: window, scope: everyone, rate: 1/1s, match: {path: /v1/*/items, method: POST}}
    - name: key
      scope: api_key
      rate: 1/1s
      match:
        method: [GET, HEAD]
        header: "X-Kind:  bulk, or more "
    - name: log
      match: {header: X-Kind}
      scope: address
      algorithm: sliding_log
      rate: 10000/1s
      on_change: reset
    - {name: slots, algorithm: concurrency, slots: 3, lease: 90s}
    - name: month
      algorithm: calendar
      limit: 10000
      every: month
      zone: Europe/Zurich
      anchor: 2026-01-31T06:30
idempotency:
  store: nats://127.0.0.1/pawl
  durability: process
  store_deadline: 70ms
  ttl: 7d
  lease: 90s
  header: X-Request-Key
  methods: [POST]
  require: [/v1/orders/**, /pay]
  fingerprint: json
  on_mismatch: separate
  on_in_flight: wait
  on_unknown: execute
  on_store_failure: reject
  store_statuses: [201, 4xx, 3xx]
  body_limit: 64KiB
webhooks:
  database: data/hooks.db
  endpoints:
    - name: shop
      url: https://shop.example.org:8443/hooks?from=pawl
      secret: hush-hush-hush-hush-hush-
      events: [limit.near, idempotency.unknown]
    - {name: ops, url: "http://[::1]:9000", secret: whsec_aHVzaC1odXNoLWh1c2gtaHVzaC1odXNoLWh1c2g=}
retry:
  policies:
    RETRY_API_REQUEST:
      max_attempts: 7
      base_delay: 250ms
      max_delay: 1m
      min_delay: 10ms
      multiplier: 1.5
      jitter: 0.125
      deadline: 5m
      attempt_timeout: 2s
      retryable: [rate_limited, "std::timeout"]
      non_retryable: [client_error]
    my.own: {jitter: full, delays: [1s, 1s, 5s]}
  budget: {ratio: 0.5, min_per_second: 0}
  breaker: {failures: 9, wait_min: 2s, wait_max: 3m}
audit:
  sinks:
    - file:/var/log/pawl/with a blank.jsonl
    - nats://me:hush@127.0.0.1:4222/audit
  on_full: fail
  rotate: 64MiB
  retry_alert: 7
log: {level: trace, format: json}
)");
  EXPECT_EQ(to_string(config.server.listen), "0.0.0.0:80");
  EXPECT_THAT(config.server.upstreams,
              ElementsAre(Upstream{.host = "shop.internal", .port = 9001, .tls = false},
                          Upstream{.host = "192.0.2.1", .port = 443, .tls = true}));
  EXPECT_EQ(config.server.upstream_ca, "ca of ours.pem");
  EXPECT_EQ(config.server.threads, 3);
  EXPECT_EQ(config.server.connections, 20);
  EXPECT_EQ(config.server.connections_per_address, 10);
  EXPECT_EQ(config.server.requests, 30);
  EXPECT_TRUE(config.server.websocket);
  EXPECT_EQ(config.server.health.path, "/ready?deep=1");
  EXPECT_EQ(config.server.health.interval, Duration::milliseconds(500));
  EXPECT_EQ(config.server.health.timeout, Duration::milliseconds(200));
  EXPECT_EQ(config.server.health.unhealthy_after, 3);
  EXPECT_EQ(config.server.health.healthy_after, 4);
  EXPECT_EQ(config.server.timeouts.head, Duration::seconds(1));
  EXPECT_EQ(config.server.timeouts.idle, Duration::seconds(2));
  EXPECT_EQ(config.server.timeouts.connect, Duration::seconds(3));
  EXPECT_EQ(config.server.timeouts.answer, Duration::seconds(4));
  EXPECT_EQ(config.server.tls.certificate, "tls/cert.pem");
  EXPECT_EQ(config.server.tls.key, "tls/key.pem");
  EXPECT_THAT(config.server.admin.hosts, ElementsAre("panel.example.org", "[2001:db8::1]"));
  EXPECT_EQ(to_string(config.server.admin.listen), "[2001:db8::1]:8443");
  EXPECT_EQ(config.server.admin.token.reveal(), "hush");
  EXPECT_EQ(config.tenants.header, "X-Account");
  EXPECT_THAT(config.tenants.trusted_proxies,
              ElementsAre(parse_prefix("10.0.0.0/8").value(), parse_prefix("2001:db8::/32").value(),
                          parse_prefix("192.0.2.7").value()));
  ASSERT_EQ(config.tenants.api_keys.size(), 2U);
  EXPECT_EQ(config.tenants.api_keys[0].sha256,
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  EXPECT_EQ(config.tenants.api_keys[0].tenant, "acme");
  EXPECT_EQ(config.tenants.api_keys[0].plan, "pro");
  EXPECT_EQ(config.tenants.api_keys[1].tenant, "a$b:c");
  EXPECT_EQ(config.tenants.api_keys[1].plan, "");
  EXPECT_EQ(config.tenants.ipv6_prefix, 56);
  EXPECT_EQ(config.tenants.plans_file, "/var/lib/pawl/plans.json");
  EXPECT_THAT(config.tenants.upgrades, ElementsAre(Pair("free", "pro")));
  EXPECT_EQ(config.tenants.missing, MissingTenant::reject);
  EXPECT_EQ(config.tenants.default_plan, "pro");
  EXPECT_THAT(config.tenants.plans, ElementsAre(Pair("a$b:c", "pro"), Pair("acme", "free")));
  EXPECT_EQ(config.tenants.overrides.at("acme").at("all-of_it-2"),
            (limit::Rate{500, Duration::minutes(1)}));
  EXPECT_EQ(config.plans.at("pro").at("slots"), (limit::Rate{9, Duration::seconds(30)}));
  EXPECT_TRUE(config.plans.at("free").empty());
  EXPECT_EQ(config.limits.store.kind, StoreSetting::Kind::redis);
  EXPECT_EQ(config.limits.store.url.reveal(), "redis://me:hush@127.0.0.1:6379/0");
  EXPECT_EQ(config.limits.calendar_store.path, "data/counts.db");
  EXPECT_EQ(config.limits.store_deadline, Duration::milliseconds(250));
  EXPECT_EQ(config.limits.on_store_failure, OnStoreFailure::deny);
  EXPECT_THAT(config.limits.headers, ElementsAre(LimitHeader::legacy, LimitHeader::draft7));
  ASSERT_EQ(config.limits.buckets.size(), 6U);
  EXPECT_EQ(config.limits.buckets[0].match, request::Match());
  EXPECT_EQ(config.limits.buckets[0].name, "all-of_it-2");
  EXPECT_EQ(config.limits.buckets[0].scope, Scope::tenant);
  EXPECT_EQ(config.limits.buckets[0].algorithm, Algorithm::token_bucket);
  EXPECT_EQ(config.limits.buckets[0].rate, (limit::Rate{5, Duration::milliseconds(500)}));
  EXPECT_EQ(config.limits.buckets[0].burst, 7);
  EXPECT_TRUE(config.limits.buckets[0].shadow);
  EXPECT_EQ(config.limits.buckets[0].on_change, limit::OnChange::proportional);
  EXPECT_EQ(config.limits.buckets[1].scope, Scope::everyone);
  EXPECT_EQ(config.limits.buckets[1].algorithm, Algorithm::sliding_window);
  EXPECT_EQ(config.limits.buckets[1].match.path.value().text(), "/v1/*/items");
  EXPECT_THAT(config.limits.buckets[1].match.methods, ElementsAre("POST"));
  EXPECT_FALSE(config.limits.buckets[1].match.header.has_value());
  EXPECT_EQ(config.limits.buckets[2].scope, Scope::api_key);
  EXPECT_FALSE(config.limits.buckets[2].match.path.has_value());
  EXPECT_THAT(config.limits.buckets[2].match.methods, ElementsAre("GET", "HEAD"));
  EXPECT_EQ(config.limits.buckets[2].match.header,
            (request::HeaderMatch{.name = "X-Kind", .value = "bulk, or more"}));
  EXPECT_EQ(config.limits.buckets[3].scope, Scope::address);
  EXPECT_EQ(config.limits.buckets[3].algorithm, Algorithm::sliding_log);
  EXPECT_EQ(config.limits.buckets[3].match.header,
            (request::HeaderMatch{.name = "X-Kind", .value = ""}));
  EXPECT_EQ(config.limits.buckets[4].slots, 3);
  EXPECT_EQ(config.limits.buckets[4].lease, Duration::seconds(90));
  EXPECT_EQ(config.limits.buckets[5].limit, 10000);
  EXPECT_EQ(config.limits.buckets[5].every, limit::CalendarUnit::month);
  EXPECT_EQ(config.limits.buckets[5].zone, "Europe/Zurich");
  EXPECT_EQ(config.limits.buckets[5].zone_rules, two_zones("Europe/Zurich").value());
  EXPECT_EQ(from_civil(config.limits.buckets[5].anchor.value()),
            parse_instant("2026-01-31T06:30:00Z").value());
  const RetryPolicy& api = config.retry.policies.at("RETRY_API_REQUEST");
  EXPECT_EQ(api.max_attempts, 7);
  EXPECT_EQ(api.base_delay, Duration::milliseconds(250));
  EXPECT_EQ(api.max_delay, Duration::minutes(1));
  EXPECT_EQ(api.min_delay, Duration::milliseconds(10));
  EXPECT_EQ(api.multiplier_milli, 1500);
  EXPECT_EQ(api.jitter.value().kind, retry::Jitter::proportional);
  EXPECT_EQ(api.jitter.value().milli, 125);
  EXPECT_EQ(api.deadline, Duration::minutes(5));
  EXPECT_EQ(api.attempt_timeout, Duration::seconds(2));
  EXPECT_THAT(api.retryable.value(), ElementsAre("rate_limited", "std::timeout"));
  EXPECT_THAT(api.non_retryable.value(), ElementsAre("client_error"));
  EXPECT_FALSE(api.delays.has_value());
  const RetryPolicy& own = config.retry.policies.at("my.own");
  EXPECT_EQ(own.jitter.value().kind, retry::Jitter::full);
  EXPECT_THAT(own.delays.value(),
              ElementsAre(Duration::seconds(1), Duration::seconds(1), Duration::seconds(5)));
  EXPECT_EQ(config.retry.budget, (retry::BudgetRule{.ratio_milli = 500, .min_per_second = 0}));
  EXPECT_EQ(config.retry.breaker, (retry::BreakerRule{.failures = 9,
                                                      .wait_min = Duration::seconds(2),
                                                      .wait_max = Duration::minutes(3)}));
  EXPECT_EQ(config.idempotency.store.kind, StoreSetting::Kind::nats);
  EXPECT_EQ(config.idempotency.durability, Durability::process);
  EXPECT_EQ(config.idempotency.ttl, Duration::days(7));
  EXPECT_EQ(config.idempotency.lease, Duration::seconds(90));
  EXPECT_EQ(config.idempotency.store_deadline, Duration::milliseconds(70));
  EXPECT_EQ(config.idempotency.header, "X-Request-Key");
  EXPECT_THAT(config.idempotency.methods, ElementsAre("POST"));
  ASSERT_EQ(config.idempotency.require.size(), 2U);
  EXPECT_EQ(config.idempotency.require[0].text(), "/v1/orders/**");
  EXPECT_EQ(config.idempotency.require[1].text(), "/pay");
  EXPECT_EQ(config.idempotency.fingerprint, request::Fingerprint::json);
  EXPECT_EQ(config.idempotency.on_mismatch, request::OnMismatch::separate);
  EXPECT_EQ(config.idempotency.on_in_flight, request::OnInFlight::wait);
  EXPECT_EQ(config.idempotency.on_unknown, request::OnUnknown::execute);
  EXPECT_EQ(config.idempotency.on_store_failure, request::OnRecordFailure::reject);
  EXPECT_EQ(statuses(config), "201-201 400-407 410-424 426-428 430-499 300-399 ");
  EXPECT_EQ(config.idempotency.body_limit, 64 * 1024);
  EXPECT_EQ(config.webhooks.database, "data/hooks.db");
  ASSERT_EQ(config.webhooks.endpoints.size(), 2U);
  EXPECT_EQ(config.webhooks.endpoints[0].name, "shop");
  EXPECT_EQ(config.webhooks.endpoints[0].url, "https://shop.example.org:8443/hooks?from=pawl");
  EXPECT_EQ(config.webhooks.endpoints[0].secret.reveal(), "hush-hush-hush-hush-hush-");
  EXPECT_THAT(config.webhooks.endpoints[0].events,
              ElementsAre("limit.near", "idempotency.unknown"));
  EXPECT_THAT(config.webhooks.endpoints[1].events, IsEmpty());
  ASSERT_EQ(config.audit.sinks.size(), 2U);
  EXPECT_EQ(config.audit.sinks[0].path, "/var/log/pawl/with a blank.jsonl");
  EXPECT_EQ(config.audit.sinks[1].url.reveal(), "nats://me:hush@127.0.0.1:4222/audit");
  EXPECT_EQ(config.audit.on_full, OnFull::fail);
  EXPECT_EQ(config.audit.rotate, 64 * 1024 * 1024);
  EXPECT_EQ(config.audit.retry_alert, 7);
  EXPECT_EQ(config.log.level, LogLevel::trace);
  EXPECT_EQ(config.log.format, LogFormat::json);
}

TEST(Load, ReadsWhatThePanelMayDoAndOffers) {
  const config::Panel panel =
      loaded(
          "server:\n  admin:\n    panel:\n      trading: true\n      upgrade_text: More room\n"
          "      upgrade_link: https://example.org/plans?from=panel\n")
          .server.admin.panel;
  EXPECT_TRUE(panel.trading);
  EXPECT_EQ(panel.upgrade_text, "More room");
  EXPECT_EQ(panel.upgrade_link, "https://example.org/plans?from=panel");
}

TEST(Load, LeadsToNoScriptFromThePanel) {
  for (const char* link : {"javascript:alert(1)", "data:text/html,x", "//example.org", "plans"}) {
    EXPECT_THAT(problems_of("server:\n  admin:\n    panel:\n      upgrade_link: '" +
                            std::string(link) + "'\n"),
                ::testing::Not(::testing::IsEmpty()))
        << link;
  }
}

TEST(Load, ReadsRowsOfClassificationTables) {
  const Config config = loaded(R"(
retry:
  classify:
    shop:
      - status: 500-599
        code: TooBusy
        names_effect: false
        failure: rate_limited
        outcome: not_applied
        retryable: true
      - {transport: raised, code: "std::bad_alloc", failure: client_error, outcome: unknown}
    http: []
)");
  const auto& classify = config.retry.classify;
  EXPECT_TRUE(classify.at("http").empty());
  ASSERT_EQ(classify.at("shop").size(), 2U);
  const RetryRow& busy = classify.at("shop")[0];
  EXPECT_EQ(busy.status.value().least, 500);
  EXPECT_EQ(busy.status.value().most, 599);
  EXPECT_EQ(busy.code, "TooBusy");
  EXPECT_EQ(busy.transport, retry::Transport::answered);
  EXPECT_EQ(busy.names_effect, false);
  EXPECT_EQ(busy.failure, retry::Failure::rate_limited);
  EXPECT_EQ(busy.outcome, Outcome::not_applied);
  EXPECT_TRUE(busy.retryable);
  const RetryRow& raised = classify.at("shop")[1];
  EXPECT_FALSE(raised.status.has_value());
  EXPECT_EQ(raised.transport, retry::Transport::raised);
  EXPECT_FALSE(raised.names_effect.has_value());
  EXPECT_FALSE(raised.retryable);
}

TEST(Load, TakesSoManyRowsOfATableAndNoMore) {
  std::string text = "retry:\n  classify:\n    http:\n";
  for (std::size_t i = 0; i < bounds::retry_rows_max; ++i) {
    text += "      - {status: " + std::to_string(100 + i) + ", failure: none, outcome: applied}\n";
  }
  loaded(text);
  text += "      - {status: 999, failure: none, outcome: applied}\n";
  EXPECT_EQ(problems_of(text),
            "pawl.yaml:3: retry.classify.http: found a list of 101; allowed: a list of up to 100 "
            "rows\n");
}

TEST(Load, LeavesWhatTheFileDoesNotNameAtItsDefault) {
  const Config config = loaded("limits:\n  buckets: [{name: one, rate: 1/1s}]\n");
  EXPECT_FALSE(config.limits.buckets[0].burst.has_value());
  EXPECT_EQ(config.limits.headers.size(), 2U);
  EXPECT_THAT(changes(Config(), config), ElementsAre(Change{"limits.buckets", false}));
}

TEST(Load, TakesAnUpstreamInEveryFormOfAHost) {
  const auto upstream = [](const std::string& url) {
    return loaded("server:\n  upstream: \"" + url + "\"\n").server.upstreams.at(0);
  };
  EXPECT_EQ(upstream("http://example.org").host, "example.org");
  EXPECT_EQ(upstream("http://example.org").port, 80);
  EXPECT_EQ(upstream("http://3f2a_web-1:9000").host, "3f2a_web-1");
  EXPECT_EQ(upstream("http://192.0.2.1:1").host, "192.0.2.1");
  EXPECT_EQ(upstream("http://[2001:DB8::1]:65535").host, "2001:db8::1");
  EXPECT_EQ(upstream("http://[2001:DB8::1]:65535").port, 65535);
  EXPECT_FALSE(upstream("http://example.org").tls);
  EXPECT_TRUE(upstream("https://example.org").tls);
  EXPECT_EQ(upstream("https://example.org").port, 443);
  EXPECT_EQ(upstream("https://example.org:80").port, 80);
}

TEST(Load, TakesOneUpstreamForAListOfOne) {
  const Config alone = loaded("server:\n  upstream: http://a\n");
  const Config listed = loaded("server:\n  upstream: [http://a:80]\n");
  EXPECT_THAT(changes(alone, listed), IsEmpty());
}

TEST(Load, RefusesAnUpstreamThatIsNoPlainOrigin) {
  for (const char* url :
       {"http://",          "http:///",        "http://a/",    "http://a?b",
        "http://a#b",       "http://a b",      "http://a:",    "http://a:65536",
        "http://a:1:2",     "http://-a",       "http://a-",    "http://a..b",
        "http://a.",        "http://.a",       "http://127.1", "http://1.2.3.4.5",
        "http://256.1.1.1", "http://a.0x1",    "http://[::1",  "http://[127.0.0.1]",
        "http://[::1]x",    "http://::1",      "HTTP://a",     "a:80",
        "ftp://a",          "http://\xc3\xa4", "https://",     "https://a/"}) {
    EXPECT_NE(problems_of("server:\n  upstream: \"" + std::string(url) + "\"\n"), "no problem\n")
        << url;
  }
}

TEST(Load, FillsInVariablesInValuesAlone) {
  const std::map<std::string, std::string, std::less<>> variables = {
      {"TOKEN", "abc"}, {"EMPTY", ""}, {"LIST", "[a, b]\nlog: {level: error}"}, {"log", "server"}};
  const Env env = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(loaded("server: {admin: {token: 'x${TOKEN}y'}}\n", env).server.admin.token.reveal(),
            "xabcy");
  EXPECT_EQ(loaded("server:\n  admin:\n    token: ${NONE:-}\n", env).server.admin.token.reveal(),
            "");
  EXPECT_EQ(problems_of("limits:\n  headers: ${LIST}\n", env),
            "pawl.yaml:2: limits.headers: found \"${LIST}\"; allowed: a list of at most one of "
            "ratelimit, draft7 and draft6, and legacy or not\n");
  EXPECT_EQ(problems_of("limits:\n  headers: ['${LIST}']\n", env),
            "pawl.yaml:2: limits.headers[0]: found \"[a, b]\\nlog: {level: error}\", from "
            "\"${LIST}\"; allowed: ratelimit, draft7, draft6 or legacy\n");
  EXPECT_EQ(problems_of("${log}:\n  threads: 1\n", env),
            "pawl.yaml:1: \"${log}\": unknown key; allowed: server, tenants, plans, limits, "
            "idempotency, order_control, orders, webhooks, retry, queue, audit, log\n");
}

TEST(Load, NeverTellsASecret) {
  const Env env = [](std::string_view) { return "hush hush"; };
  for (const char* token : {"hush hush", "${TOKEN}", "'hush${hush'", "[hush]", "{hush: hush}"}) {
    const std::string told =
        problems_of("server:\n  admin:\n    token: " + std::string(token) + "\n", env);
    EXPECT_NE(told, "no problem\n");
    EXPECT_EQ(told.find("hush"), std::string::npos) << told;
  }
}

// Whoever mistakes the key for its hash must not find it in a log.
TEST(Load, NeverTellsWhatMayBeAKeyOrASecret) {
  for (const char* text : {"tenants:\n  api_keys: [{sha256: hush, tenant: a}]\n",
                           "webhooks:\n  endpoints: [{name: a, url: http://a, secret: hush}]\n"}) {
    const std::string told = problems_of(text);
    EXPECT_THAT(told, ::testing::HasSubstr("found a value that is not shown here; allowed: "));
    EXPECT_EQ(told.find("hush"), std::string::npos) << told;
  }
}

// Else a configuration that was checked would be refused by what it is for.
TEST(Load, TakesNoWebhookThatCannotBeSentTo) {
  for (const char* url :
       {"http://a", "https://a.b-c.example:1/", "http://[::1]:9000/?x", "https://192.0.2.1?a=b"}) {
    const Config config = loaded("webhooks:\n  endpoints: [{name: a, url: \"" + std::string(url) +
                                 "\", secret: hush-hush-hush-hush-hush}]\n");
    ASSERT_EQ(config.webhooks.endpoints.size(), 1U) << url;
    const Webhook& hook = config.webhooks.endpoints[0];
    EXPECT_TRUE(webhook::check({hook.name, hook.url, hook.secret, hook.events})) << url;
  }
  for (const char* url : {"http://", "https:///a", "http://a_b/", "http://me@a/", "http://a b/",
                          "http://a/#b", "http://a:0/", "a", "HTTP://a/", "http://127.1/"}) {
    EXPECT_NE(problems_of("webhooks:\n  endpoints: [{name: a, url: \"" + std::string(url) +
                          "\", secret: hush-hush-hush-hush-hush}]\n"),
              "no problem\n")
        << url;
  }
}

TEST(Load, TakesASizeInEveryUnit) {
  const auto body_limit = [](const std::string& text) {
    return loaded("idempotency:\n  body_limit: " + text + "\n").idempotency.body_limit;
  };
  EXPECT_EQ(body_limit("1"), 1);
  EXPECT_EQ(body_limit("100"), 100);
  EXPECT_EQ(body_limit("64KiB"), 64 * 1024);
  EXPECT_EQ(body_limit("4MiB"), 4 * 1024 * 1024);
  EXPECT_EQ(body_limit("4194304"), 4 * 1024 * 1024);
  for (const char* text :
       {"4194305", "5MiB", "1.5MiB", "1 MiB", "1MB", "-1", "0KiB", "MiB", "01"}) {
    EXPECT_NE(problems_of("idempotency:\n  body_limit: " + std::string(text) + "\n"),
              "no problem\n")
        << text;
  }
}

TEST(Load, LeavesOutOfAClassWhatIsNeverStored) {
  EXPECT_EQ(statuses(Config()), "200-299 400-407 410-424 426-428 430-499 ");
  EXPECT_EQ(statuses(loaded("idempotency:\n  store_statuses: [404, 2xx]\n")), "404-404 200-299 ");
}

TEST(Load, LetsTheStoresOfLimitsShareAFile) {
  const Config config = loaded("limits:\n  store: sqlite:a.db\n  calendar_store: sqlite:a.db\n");
  EXPECT_EQ(config.limits.store.path, "a.db");
  EXPECT_EQ(config.limits.calendar_store.path, "a.db");
}

TEST(Load, TakesAsManyApiKeysAsThereMayBe) {
  std::string text = "tenants:\n  api_keys:\n";
  for (std::size_t i = 0; i < bounds::config_api_keys_max; ++i) {
    std::string digits = std::to_string(i);
    digits.insert(0, 64 - digits.size(), '0');
    text += "  - {sha256: '" + digits + "', tenant: t" + std::to_string(i) + "}\n";
  }
  EXPECT_EQ(loaded(text).tenants.api_keys.size(), bounds::config_api_keys_max);
  text += "  - {sha256: a, tenant: a}\n";
  EXPECT_EQ(problems_of(text),
            "pawl.yaml:2: tenants.api_keys: found a list of 10001; allowed: a list of up to 10000 "
            "keys, as in [{sha256: HEX, tenant: acme, plan: pro}]\n");
}

TEST(Load, NeverTellsThePasswordOfAUrl) {
  const std::string told = problems_of("limits:\n  store: memcached://me:hu@sh@127.0.0.1:6379/0\n");
  EXPECT_THAT(told, StartsWith("pawl.yaml:2: limits.store: found "
                               "\"memcached://***@127.0.0.1:6379/0\"; allowed: memory, "));
}

TEST(Load, RefusesAPasswordThatWasCopiedFromWhatIsShown) {
  EXPECT_THAT(problems_of("limits:\n  store: redis://me:***@127.0.0.1\n"),
              StartsWith("pawl.yaml:2: limits.store: found \"redis://***@127.0.0.1\"; allowed: "));
}

TEST(Load, TakesEveryFormOfAStore) {
  for (const char* store : {"memory", "sqlite:data/counts.db", "redis://h", "rediss://h:6380",
                            "redis+cluster://a:1,b:2", "rediss+cluster://u:p@a:1,b:2?ca=x.pem"}) {
    loaded("limits:\n  store: " + std::string(store) + "\n");
  }
  for (const char* store : {"Memory", "sqlite:", "redis://", "redis:/h", "redis://a b", "\"\"",
                            "file:counts.db", "valkey://h"}) {
    EXPECT_NE(problems_of("limits:\n  store: " + std::string(store) + "\n"), "no problem\n")
        << store;
  }
}

TEST(Load, LetsAnUpstreamElsewhereHaveThePortOfAListener) {
  loaded("server:\n  listen: 0.0.0.0:9000\n  upstream: http://192.0.2.1:9000\n");
  loaded("server:\n  listen: 127.0.0.1:0\n  admin:\n    listen: 127.0.0.1:0\n");
  loaded("server:\n  listen: 192.0.2.1:8081\n");
  loaded("server:\n  listen: 192.0.2.1:9000\n  upstream: http://127.0.0.1:9000\n");
}

TEST(Load, KnowsThatTheUnspecifiedAddressLeadsBackToThisMachine) {
  EXPECT_EQ(problems_of("server:\n  upstream: http://0.0.0.0:8080\n"),
            "pawl.yaml:2: server.upstream: found 0.0.0.0:8080, which collides with server.listen "
            "(127.0.0.1:8080); pawl must not send traffic to itself\n");
}

// What was refused keeps its default for the time being; that default must not be blamed.
TEST(Load, ComparesOnlyFieldsThatWereRead) {
  for (const char* text : {"server:\n  admin: {listen: 0.0.0.0:1, token: 'a b'}\n",
                           "server:\n  listen: 127.0.0.1:8081\n  admin: {listen: nowhere}\n",
                           "server:\n  listen: nowhere\n  admin: {listen: 127.0.0.1:8080}\n",
                           "server:\n  listen: nowhere\n  upstream: http://127.0.0.1:8080\n",
                           "server:\n  listen: 127.0.0.1:9000\n  upstream: nowhere\n",
                           "server:\n  upstream: [nowhere, http://127.0.0.1:8080]\n",
                           "server:\n  tls: {certificate: [], key: a}\n",
                           "idempotency: {methods: [a], require: [/a]}\n",
                           "webhooks: {database: ''}\nidempotency: {store: 'sqlite:a'}\n",
                           "limits:\n  buckets: [{name: a, rate: never, burst: 1000000000}]\n"}) {
    const auto result = load_text("pawl.yaml", text, no_env, two_zones);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().size(), 1U) << lines(result);
  }
}

TEST(Load, CountsLinesWithCarriageReturnsAndWideCharactersToo) {
  EXPECT_EQ(problems_of("# é\r\nlog:\r\n  level: \"ü\"\r\n"),
            "pawl.yaml:3: log.level: found \"ü\"; allowed: trace, debug, info, warn or error\n");
  EXPECT_EQ(problems_of("\xef\xbb\xbf# é\nlog: {level: info}\naudit:\n  on_full: 'x\n"),
            "pawl.yaml:4: found a quote that is never closed; close it on the same line\n");
  EXPECT_EQ(problems_of("log:\n  level: \"info\\\"\n"),
            "pawl.yaml:2: found a quote that is never closed; close it on the same line\n");
  EXPECT_EQ(problems_of("log:\r  level: info\r"),
            "pawl.yaml:1: found the control character 13; remove it\n");
}

TEST(Load, TakesATabWhereItIsNoIndentation) {
  EXPECT_EQ(loaded("log:\n  level:\tdebug\t# words\n").log.level, LogLevel::debug);
}

TEST(Load, TellsTheFirstHundredProblemsAndCountsTheRest) {
  std::string text = "limits:\n";
  for (int i = 0; i < 150; ++i) text += "  key" + std::to_string(i) + ": 1\n";
  const auto result = load_text("pawl.yaml", text, no_env, two_zones);
  ASSERT_FALSE(result.has_value());
  ASSERT_EQ(result.error().size(), bounds::config_problems_max + 1);
  EXPECT_EQ(to_string(result.error().back()), "pawl.yaml: and 50 more problems like these");
}

TEST(Load, RefusesAFileThatIsTooLarge) {
  std::string text(bounds::config_bytes_max, '#');
  EXPECT_EQ(problems_of(text), "no problem\n");
  text += '#';
  EXPECT_EQ(problems_of(text),
            "pawl.yaml: larger than 4194304 bytes; a configuration is shorter than that\n");
}

TEST(Load, StandsDeepAndWideTexts) {
  for (const char* piece : {"[", "{", "- ", "? ", "{a: ", "a:\n "}) {
    std::string text;
    while (text.size() < 20'000) text += piece;
    EXPECT_NE(problems_of(text), "no problem\n") << piece;
  }
}

// A folder of the test's own, gone when it ends.
class LoadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "pawl_config_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(LoadFile, ReadsWhatStandsThere) {
  const std::string file = (folder_ / "pawl.yaml").string();
  std::ofstream(file) << "log: {level: warn}\n";
  const auto config = load(file, no_env, two_zones);
  ASSERT_TRUE(config.has_value()) << lines(config);
  EXPECT_EQ(config->log.level, LogLevel::warn);
  std::ofstream(file) << "log: {level: loud}\n";
  EXPECT_EQ(lines(load(file, no_env, two_zones)),
            file + ":1: log.level: found \"loud\"; allowed: trace, debug, info, warn or error\n");
}

TEST_F(LoadFile, SaysWhatToDoWhenItCannotBeRead) {
  const std::string advice =
      "; name a file that is there and may be read, or none for the defaults\n";
  const std::string missing = (folder_ / "missing.yaml").string();
  EXPECT_EQ(lines(load(missing, no_env, two_zones)),
            missing + ": cannot be read (No such file or directory)" + advice);
  EXPECT_EQ(lines(load(folder_.string(), no_env, two_zones)),
            folder_.string() + ": cannot be read (Is a directory)" + advice);
}

TEST_F(LoadFile, RefusesOneThatIsTooLargeWithoutReadingItAll) {
  const std::string file = (folder_ / "large.yaml").string();
  std::ofstream(file) << "#";
  std::filesystem::resize_file(file, bounds::config_bytes_max * 1000);
  EXPECT_EQ(lines(load(file, no_env, two_zones)),
            file + ": larger than 4194304 bytes; a configuration is shorter than that\n");
}

}  // namespace
}  // namespace pawl::config
