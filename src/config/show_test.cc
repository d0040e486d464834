// Goal: what is shown reads back as the same configuration, tells no secret, and the reference page
// in docs/ is the one that the table gives. Method: pinned text; a round trip over random valid
// configurations; the file compared byte by
//         byte.
#include "config/show.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sstream>

#include "base/bounds.h"
#include "config/load.h"
#include "config/orders.h"
#include "config/reload.h"
#include "config/schema.h"

namespace pawl::config {
namespace {

const Env no_env = [](std::string_view) { return std::nullopt; };
const Zones utc = [](std::string_view) { return Zone::utc(); };

TEST(Show, WritesEveryFieldInTheOrderOfTheTable) {
  EXPECT_EQ(show(Config()), R"(server:
  listen: 127.0.0.1:8080
  upstream: http://127.0.0.1:9000
  upstream_ca: ""
  threads: 0
  connections: 10000
  connections_per_address: 1000
  requests: 4096
  websocket: false
  health:
    path: ""
    interval: 5s
    timeout: 1s
    unhealthy_after: 2
    healthy_after: 1
  timeouts:
    head: 5s
    idle: 1m
    connect: 5s
    answer: 1m
  tls:
    certificate: ""
    key: ""
  admin:
    listen: 127.0.0.1:8081
    token: ""
    hosts: []
    panel:
      trading: false
      upgrade_text: Upgrade
      upgrade_link: ""

tenants:
  header: X-Tenant-Id
  trusted_proxies: []
  api_keys: []
  missing: anonymous
  ipv6_prefix: 64
  default_plan: free
  plans_file: data/plans.json
  upgrades: {}
  plans: {}
  overrides: {}

plans: {}

limits:
  store: memory
  calendar_store: ""
  store_deadline: 50ms
  on_store_failure: local
  batch: 1
  headers: [ratelimit, legacy]
  buckets:
    - name: global
      scope: tenant
      algorithm: sliding_window
      rate: 100/1m
      shadow: false
      on_change: as_is

idempotency:
  store: sqlite:data/pawl.db
  durability: fsync
  store_deadline: 50ms
  ttl: 1d
  lease: 1m
  header: Idempotency-Key
  methods: [POST, PUT, PATCH, DELETE]
  require: []
  fingerprint: bytes
  store_statuses: [2xx, 4xx]
  body_limit: 1MiB
  on_mismatch: reject
  on_in_flight: conflict
  on_unknown: conflict
  on_store_failure: execute

order_control:
  frequency_limit:
    enabled: true
    weekly_max_orders: 5
    exclude_reduce_only: true

orders:
  database: data/orders.db
  settle: 20s
  patience: 1m
  rate: 1/1s
  burst: 0
  adaptive: true
  retry:
    max_retries: 2
    base_delay: 1s
    max_delay: 10s
    multiplier: 2.0
    jitter: 0.25
    min_delay: 100ms
  timeout: 10s
  poll: 15s
  venues: {}

webhooks:
  database: data/webhooks.db
  endpoints: []

retry:
  policies: {}
  classify: {}
  budget:
    ratio: 0.2
    min_per_second: 10
  breaker:
    failures: 5
    wait_min: 1s
    wait_max: 1m

queue:
  url: dir:data/queue
  shards: 1
  kept: 7d
  lease: 30s
  limits: []
  prices:
    currency: USD
    put_per_1000: 0.005
    get_per_1000: 0.0004
    list_per_1000: 0.005
    delete_per_1000: 0

audit:
  sinks: [file:data/audit.jsonl]
  on_full: block
  rotate: 1GiB
  retry_alert: 60

log:
  level: info
  format: text
)");
}

TEST(Show, HidesASecretAndQuotesWhatYamlWouldMisread) {
  Config config;
  config.server.listen = parse_endpoint("[::1]:80").value();
  config.server.admin.token = Secret<std::string>("hush");
  config.tenants.header = "yes";
  config.audit.sinks = {{.kind = StoreSetting::Kind::file, .path = "a ${b}\"\\"},
                        {.kind = StoreSetting::Kind::file, .path = "c:"}};
  const std::string text = show(config);
  EXPECT_NE(text.find("listen: \"[::1]:80\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("token: \"***\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("header: \"yes\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sinks: [\"file:a $${b}\\\"\\\\\", \"file:c:\"]\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("hush"), std::string::npos) << text;
}

TEST(Show, HidesThePasswordOfAStoreAndNothingElseOfIt) {
  const auto shown_as = [](const std::string& url) {
    Config config;
    config.limits.store = {.kind = StoreSetting::Kind::redis, .url = Secret<std::string>(url)};
    const std::string text = show(config);
    const auto begin = text.find("  store: ") + 9;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(shown_as("redis://me:hu@sh:@127.0.0.1:6379/0"), "\"redis://me:***@127.0.0.1:6379/0\"");
  EXPECT_EQ(shown_as("redis://:hush@h?ca=a@b"), "\"redis://:***@b\"");
  EXPECT_EQ(shown_as("redis://me@127.0.0.1"), "\"redis://me@127.0.0.1\"");
  EXPECT_EQ(shown_as("rediss://127.0.0.1:6379"), "rediss://127.0.0.1:6379");
}

TEST(Show, HidesThePasswordsOfAList) {
  Config config;
  config.audit.sinks.push_back(parse_store("nats://me:hush@127.0.0.1:4222/audit").value());
  const std::string text = show(config);
  EXPECT_NE(text.find("sinks: [file:data/audit.jsonl, \"nats://me:***@127.0.0.1:4222/audit\"]\n"),
            std::string::npos)
      << text;
}

TEST(Show, HidesASecretWithinAListAndKeepsHashes) {
  Config config;
  config.tenants.api_keys = {{.sha256 = std::string(64, 'a'), .tenant = "acme"}};
  config.webhooks.endpoints = {
      {.name = "a", .url = "http://a/", .secret = Secret<std::string>("hush"), .events = {"b.c"}}};
  const std::string text = show(config);
  EXPECT_NE(text.find("\n  api_keys:\n"
                      "    - sha256: " +
                      std::string(64, 'a') +
                      "\n"
                      "      tenant: acme\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  endpoints:\n"
                      "    - name: a\n"
                      "      url: http://a/\n"
                      "      secret: \"***\"\n"
                      "      events: [b.c]\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("hush"), std::string::npos) << text;
}

TEST(Show, WritesSeveralUpstreamsAndWhatABucketMatches) {
  Config config;
  config.server.upstreams = {{.host = "a", .port = 80, .tls = false},
                             {.host = "::1", .port = 443, .tls = true},
                             {.host = "c", .port = 80, .tls = true}};
  config.limits.buckets[0].match = {.path = request::PathPattern::parse("/v1/**").value(),
                                    .methods = {"GET"},
                                    .header = request::HeaderMatch{"X-Kind", "bulk"}};
  const std::string text = show(config);
  EXPECT_NE(text.find("  upstream: [http://a, \"https://[::1]\", https://c:80]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    - name: global\n"
                      "      match: {path: \"/v1/**\", method: GET, header: \"X-Kind: bulk\"}\n"
                      "      scope: tenant\n"),
            std::string::npos)
      << text;
}

TEST(Show, WritesAMapOneKeyALine) {
  Config config;
  config.plans = {{"free", {}}, {"pro", {{"global", {1000, Duration::minutes(1)}}}}};
  config.tenants.plans = {{"acme", "pro"}, {"a ${b}", "no"}};
  const std::string text = show(config);
  EXPECT_NE(text.find("\nplans:\n  free: {}\n  pro: {global: 1000/1m}\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  plans:\n    \"a ${b}\": \"no\"\n    acme: pro\n"), std::string::npos)
      << text;
}

TEST(Show, WritesAListOfMapsBelowAKeyOneALine) {
  Config config;
  config.retry.classify["http"];
  config.retry.classify["shop"] = {
      {.status = StatusRange{500, 599}, .code = "a b", .outcome = Outcome::not_applied},
      {.transport = retry::Transport::timed_out, .names_effect = true, .retryable = true}};
  const std::string text = show(config);
  EXPECT_NE(text.find("\n  classify:\n"
                      "    http: []\n"
                      "    shop:\n"
                      "      - {status: 500-599, code: \"a b\", transport: answered, failure: "
                      "unknown, outcome: not_applied, retryable: false}\n"
                      "      - {transport: timed_out, names_effect: true, failure: unknown, "
                      "outcome: unknown, retryable: true}\n"),
            std::string::npos)
      << text;
}

rc::Gen<std::string> text_of(std::string letters, int least, int most) {
  return rc::gen::mapcat(rc::gen::inRange(least, most + 1),
                         [letters = std::move(letters)](int size) {
                           return rc::gen::container<std::string>(static_cast<std::size_t>(size),
                                                                  rc::gen::elementOf(letters));
                         });
}

IpAddress any_address() {
  const auto bytes = *rc::gen::container<std::array<std::uint8_t, 16>>(
      rc::gen::oneOf(rc::gen::just<std::uint8_t>(0), rc::gen::arbitrary<std::uint8_t>()));
  return *rc::gen::arbitrary<bool>() ? IpAddress::v6(bytes)
                                     : IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
}

Prefix any_prefix() {
  const int length = *rc::gen::inRange(0, 5) * 8;
  Prefix prefix{{}, length};
  auto bytes = any_address().bytes();
  if (IpAddress::v6(bytes).is_v4()) {
    std::fill(bytes.begin() + 12 + length / 8, bytes.end(), std::uint8_t{0});
  } else {
    bytes[0] = 0x20;
    std::fill(bytes.begin() + 1 + length / 8, bytes.end(), std::uint8_t{0});
    prefix.length = length + 8;
  }
  prefix.address = IpAddress::v6(bytes);
  return prefix;
}

std::string any_path() {
  const std::vector<std::string> pieces = {"a", "/", ".", "$",      "{", "}",  "${A}",
                                           ":", "-", " ", "\"",     "'", "\\", "#",
                                           "[", ",", "é", "\u2028", "~", "*"};
  std::string path = "x";
  for (const auto& piece :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
    path += piece;
  }
  return path;
}

request::PathPattern any_pattern() {
  const auto text = *rc::gen::element<std::string>("/", "/**", "/*", "/v1/*/a%2Fb", "/a:b/${C}/**");
  return request::PathPattern::parse(text).value();
}

request::Match any_match() {
  request::Match match;
  const auto given = [] { return *rc::gen::arbitrary<bool>(); };
  if (given()) match.path = any_pattern();
  if (given()) match.methods = {"GET"};
  if (given()) match.methods.emplace_back("M-SEARCH");
  if (given()) {
    match.header = {.name = *text_of("abcABC019-.!#$%&'*+^`|~", 1, 64), .value = {}};
    if (given()) match.header->value = "x" + *text_of("a :,{}\"'$#", 0, 9) + "x";
  }
  return match;
}

Bucket any_bucket() {
  Bucket bucket;
  bucket.name =
      *rc::gen::oneOf(text_of("az09_-", 1, 64),
                      rc::gen::element<std::string>("null", "true", "no", "0", "-", "---"));
  bucket.match = any_match();
  bucket.scope = *rc::gen::element(Scope::tenant, Scope::api_key, Scope::address, Scope::everyone);
  bucket.algorithm =
      *rc::gen::element(Algorithm::sliding_window, Algorithm::sliding_log, Algorithm::token_bucket,
                        Algorithm::concurrency, Algorithm::calendar);
  bucket.shadow = *rc::gen::arbitrary<bool>();
  bucket.on_change = *rc::gen::element(limit::OnChange::as_is, limit::OnChange::proportional,
                                       limit::OnChange::reset);
  const bool more = *rc::gen::arbitrary<bool>();
  const auto number = *rc::gen::inRange<std::int64_t>(1, 1000);
  if (bucket.algorithm == Algorithm::concurrency) {
    bucket.slots = number;
    if (more) bucket.lease = Duration::seconds(number);
  } else if (bucket.algorithm == Algorithm::calendar) {
    bucket.limit = number;
    bucket.every = *rc::gen::element(limit::CalendarUnit::minute, limit::CalendarUnit::month);
    if (more) bucket.zone = "UTC";
    if (more) bucket.anchor = to_civil(Instant() + Duration::minutes(number));
  } else {
    bucket.rate = {number,
                   Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(1000, 1'000'000'000'000))};
    if (more) bucket.burst = *rc::gen::inRange<std::int64_t>(0, 1000);
  }
  return bucket;
}

RetryPolicy any_retry_policy() {
  RetryPolicy policy;
  const auto given = [] { return *rc::gen::arbitrary<bool>(); };
  const auto delay = [] {
    return Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 10'000'000'000));
  };
  if (given()) policy.max_attempts = *rc::gen::inRange(1, bounds::retry_attempts_max + 1);
  if (given()) policy.base_delay = delay();
  if (given()) policy.min_delay = delay();
  if (given()) policy.multiplier_milli = *rc::gen::inRange<std::int64_t>(1000, 10'001);
  if (given()) {
    policy.jitter = {.kind = *rc::gen::element(retry::Jitter::none, retry::Jitter::proportional,
                                               retry::Jitter::full, retry::Jitter::equal)};
    if (policy.jitter->kind == retry::Jitter::proportional) {
      policy.jitter->milli = *rc::gen::inRange<std::int64_t>(0, 1001);
    }
  }
  if (given()) policy.delays = {delay(), delay()};
  if (given()) policy.deadline = delay();
  if (given()) policy.attempt_timeout = Duration::milliseconds(1) + delay();
  if (given()) policy.retryable = {*text_of("aZ9${}*\"'\\:#-", 1, 20)};
  if (given()) policy.non_retryable = std::vector<std::string>();
  return policy;
}

RetryRow any_retry_row() {
  using retry::Failure;
  using retry::Transport;
  RetryRow row;
  const auto given = [] { return *rc::gen::arbitrary<bool>(); };
  row.transport = *rc::gen::element(Transport::answered, Transport::not_sent, Transport::broke_off,
                                    Transport::timed_out, Transport::raised);
  if (row.transport == Transport::answered && given()) {
    const int least = *rc::gen::inRange(100, 1000);
    row.status = {least, *rc::gen::inRange(least, 1000)};
  }
  if (given()) row.code = *text_of("aZ9${}*\"'\\:#-", 1, 20);
  if (given()) row.names_effect = given();
  row.failure = *rc::gen::element(Failure::none, Failure::transient_network, Failure::rate_limited,
                                  Failure::conflict, Failure::trade_not_completed,
                                  Failure::client_error, Failure::server_error, Failure::unknown);
  if (row.failure == Failure::none) {
    row.outcome = Outcome::applied;
  } else {
    row.outcome = *rc::gen::element(Outcome::not_applied, Outcome::unknown);
    row.retryable = given();
  }
  return row;
}

Upstream any_upstream(std::uint16_t port) {
  const bool by_address = *rc::gen::arbitrary<bool>();
  return {.host = by_address ? to_string(any_address()) : *text_of("abc019_", 1, 9) + ".example",
          .port = port,
          .tls = *rc::gen::arbitrary<bool>()};
}

void fill_in_writes(Idempotency& writes) {
  using request::OnMismatch;
  writes.header = *text_of("abcABC019-.!#$%&'*+^`|~", 1, 64);
  writes.methods.resize(*rc::gen::inRange<std::size_t>(1, 5));
  if (*rc::gen::arbitrary<bool>()) writes.require = {any_pattern()};
  writes.on_mismatch =
      *rc::gen::element(OnMismatch::reject, OnMismatch::conflict, OnMismatch::separate);
  writes.body_limit = *rc::gen::inRange<std::int64_t>(1, bounds::record_bytes_max + 1);
  if (*rc::gen::arbitrary<bool>()) {
    const int status = *rc::gen::inRange(200, 400);
    writes.store_statuses.push_back({status, status});
  }
}

// Every field anything it may be; the few that depend on each other are kept apart by their ports.
Config any_config() {
  Config config;
  config.server.listen = {any_address(), *rc::gen::inRange<std::uint16_t>(0, 100)};
  config.server.admin.listen = {any_address(), *rc::gen::inRange<std::uint16_t>(100, 200)};
  config.server.admin.token = Secret<std::string>(*text_of("aZ9${}*\"'\\:#", 1, 20));
  config.server.upstreams = {any_upstream(*rc::gen::inRange<std::uint16_t>(200, 65535))};
  if (*rc::gen::arbitrary<bool>()) config.server.upstreams.push_back(any_upstream(65535));
  config.server.tls = {.certificate = any_path(), .key = any_path()};
  config.tenants.api_keys = {{.sha256 = *text_of("0123456789abcdef", 64, 64),
                              .tenant = *text_of("aZ9${}*\"'\\:#-", 1, 20)}};
  config.server.threads = *rc::gen::inRange(0, bounds::threads_max + 1);
  config.tenants.header = *text_of("abcABC019-.!#$%&'*+^`|~", 1, 64);
  const auto proxies = *rc::gen::inRange(0, 4);
  for (int i = 0; i < proxies; ++i) {
    const Prefix prefix = any_prefix();
    RC_PRE(std::ranges::count(config.tenants.trusted_proxies, prefix) == 0);
    config.tenants.trusted_proxies.push_back(prefix);
  }
  config.tenants.missing = *rc::gen::element(MissingTenant::anonymous, MissingTenant::reject);
  if (*rc::gen::arbitrary<bool>()) config.limits.headers.pop_back();
  config.limits.store = {.kind = StoreSetting::Kind::sqlite, .path = any_path()};
  config.limits.buckets = {any_bucket()};
  config.limits.buckets[0].name += "-1";
  config.limits.buckets.push_back(any_bucket());
  config.limits.buckets[1].name += "-2";
  RC_PRE(config.limits.buckets[1].name.size() <= bounds::config_name_bytes_max);
  RC_PRE(config.limits.buckets[0].name.size() <= bounds::config_name_bytes_max);
  config.plans[*text_of("az09_-", 1, 64)];
  config.tenants.plans[*text_of("aZ9${}*\"'\\:#-", 1, 20)] = "free";
  config.retry.policies["RETRY_KV_GET"] = any_retry_policy();
  config.retry.policies[*text_of("aZ9${}*\"'\\:#-", 1, 20)] = any_retry_policy();
  config.retry.classify["http"] = {any_retry_row()};
  config.retry.classify[*text_of("az09_-", 1, 64)] = {any_retry_row()};
  config.retry.budget.ratio_milli = *rc::gen::inRange<std::int64_t>(0, 10'001);
  config.retry.breaker.failures = *rc::gen::inRange(1, 1001);
  config.idempotency.store = {.kind = StoreSetting::Kind::sqlite, .path = any_path()};
  config.idempotency.durability =
      *rc::gen::element(Durability::none, Durability::process, Durability::fsync);
  config.idempotency.lease = Duration::milliseconds(*rc::gen::inRange(1, 100'000));
  fill_in_writes(config.idempotency);
  RC_PRE(config.idempotency.store.path != config.limits.store.path);
  config.webhooks.endpoints = {
      {.name = "a", .url = "http://a/${b}?\"c", .secret = Secret<std::string>("hush")}};
  config.audit.sinks = {{.kind = StoreSetting::Kind::file, .path = any_path()},
                        {.kind = StoreSetting::Kind::nats,
                         .url = Secret<std::string>("nats://127.0.0.1/a" + *text_of("aZ9", 0, 9))}};
  config.audit.on_full = *rc::gen::element(OnFull::block, OnFull::fail);
  config.audit.rotate = 1024 * *rc::gen::inRange<std::int64_t>(1024, (std::int64_t{1} << 30) + 1);
  config.log.level = *rc::gen::element(LogLevel::trace, LogLevel::debug, LogLevel::info,
                                       LogLevel::warn, LogLevel::error);
  config.log.format = *rc::gen::element(LogFormat::text, LogFormat::json);
  return config;
}

RC_GTEST_PROP(Show, ReadsBackAsTheSameOnceTheSecretIsFilledIn, ()) {
  const Config config = any_config();
  const std::string text = show(config);
  RC_ASSERT(!load_text("pawl.yaml", text, no_env, utc).has_value());

  std::string filled = text;
  for (const std::string key : {"    token: ", "      secret: "}) {
    const auto at = filled.find(key + "\"***\"\n");
    RC_ASSERT(at != std::string::npos);
    filled.replace(at + key.size(), 5, "filled-in-filled-in-filled-in");
  }
  auto again = load_text("pawl.yaml", filled, no_env, utc);
  if (!again) {
    std::string told;
    for (const auto& problem : again.error()) told += to_string(problem) + "\n";
    RC_FAIL(told);
  }
  RC_ASSERT(show(*again) == text);
  again->server.admin.token = config.server.admin.token;
  again->webhooks.endpoints[0].secret = config.webhooks.endpoints[0].secret;
  RC_ASSERT(changes(config, *again).empty());
}

TEST(Show, ReadsBackAsTheSameWhereThereIsNoSecret) {
  const std::string text = show(Config());
  const auto again = load_text("pawl.yaml", text, no_env, utc);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(show(*again), text);
}

TEST(ReferencePage, IsTheOneInTheDocuments) {
  const std::string file = PAWL_SOURCE_DIR "/docs/configuration.md";
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(text.str(), reference_page())
      << file << " is not what the table gives: write it with `pawl config reference`";
}

TEST(ReferencePage, NamesEveryField) {
  const std::string page = reference_page();
  for (const auto& field : config_fields()) {
    EXPECT_NE(page.find("| `" + field.path + "` |"), std::string::npos) << field.path;
  }
  for (const auto& field : bucket_fields()) {
    EXPECT_NE(page.find("| `limits.buckets[]." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : match_fields()) {
    EXPECT_NE(page.find("| `limits.buckets[].match." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : api_key_fields()) {
    EXPECT_NE(page.find("| `tenants.api_keys[]." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : saxo_fields()) {
    EXPECT_NE(page.find("| `orders.venues.saxo." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : okx_fields()) {
    EXPECT_NE(page.find("| `orders.venues.okx." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : webhook_fields()) {
    EXPECT_NE(page.find("| `webhooks.endpoints[]." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : retry_policy_fields()) {
    EXPECT_NE(page.find("| `retry.policies.CATEGORY." + field.path + "` |"), std::string::npos);
  }
  for (const auto& field : retry_row_fields()) {
    EXPECT_NE(page.find("| `retry.classify.TABLE[]." + field.path + "` |"), std::string::npos);
  }
}

}  // namespace
}  // namespace pawl::config
