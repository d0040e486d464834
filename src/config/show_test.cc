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
  threads: 0
  admin:
    listen: 127.0.0.1:8081
    token: ""

tenants:
  header: X-Tenant-Id
  trusted_proxies: []
  missing: anonymous
  default_plan: free
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

audit:
  sinks: [file:data/audit.jsonl]
  on_full: block

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
  config.audit.sinks = {{"a ${b}\"\\"}, {"c:"}};
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
    config.limits.store = {
        .kind = LimitStore::Kind::redis, .path = {}, .url = Secret<std::string>(url)};
    const std::string text = show(config);
    const auto begin = text.find("  store: ") + 9;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(shown_as("redis://me:hu@sh:@127.0.0.1:6379/0"), "\"redis://me:***@127.0.0.1:6379/0\"");
  EXPECT_EQ(shown_as("redis://:hush@h?ca=a@b"), "\"redis://:***@b\"");
  EXPECT_EQ(shown_as("redis://me@127.0.0.1"), "\"redis://me@127.0.0.1\"");
  EXPECT_EQ(shown_as("rediss://127.0.0.1:6379"), "rediss://127.0.0.1:6379");
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

Bucket any_bucket() {
  Bucket bucket;
  bucket.name =
      *rc::gen::oneOf(text_of("az09_-", 1, 64),
                      rc::gen::element<std::string>("null", "true", "no", "0", "-", "---"));
  bucket.scope = *rc::gen::element(Scope::tenant, Scope::address, Scope::everyone);
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

// Every field anything it may be; the few that depend on each other are kept apart by their ports.
Config any_config() {
  Config config;
  config.server.listen = {any_address(), *rc::gen::inRange<std::uint16_t>(0, 100)};
  config.server.admin.listen = {any_address(), *rc::gen::inRange<std::uint16_t>(100, 200)};
  config.server.admin.token = Secret<std::string>(*text_of("aZ9${}*\"'\\:#", 1, 20));
  config.server.upstream.host = *rc::gen::arbitrary<bool>()
                                    ? to_string(any_address())
                                    : *text_of("abc019_", 1, 9) + ".example";
  config.server.upstream.port = *rc::gen::inRange<std::uint16_t>(200, 65535);
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
  config.limits.store = {.kind = LimitStore::Kind::sqlite, .path = any_path(), .url = {}};
  config.limits.buckets = {any_bucket()};
  config.limits.buckets[0].name += "-1";
  config.limits.buckets.push_back(any_bucket());
  config.limits.buckets[1].name += "-2";
  RC_PRE(config.limits.buckets[1].name.size() <= bounds::config_name_bytes_max);
  RC_PRE(config.limits.buckets[0].name.size() <= bounds::config_name_bytes_max);
  config.plans[*text_of("az09_-", 1, 64)];
  config.tenants.plans[*text_of("aZ9${}*\"'\\:#-", 1, 20)] = "free";
  config.audit.sinks = {{any_path()}};
  config.audit.on_full = *rc::gen::element(OnFull::block, OnFull::fail);
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
  const std::string hidden = "    token: \"***\"\n";
  RC_ASSERT(filled.find(hidden) != std::string::npos);
  filled.replace(filled.find(hidden), hidden.size(), "    token: filled-in\n");
  auto again = load_text("pawl.yaml", filled, no_env, utc);
  if (!again) {
    std::string told;
    for (const auto& problem : again.error()) told += to_string(problem) + "\n";
    RC_FAIL(told);
  }
  RC_ASSERT(show(*again) == text);
  again->server.admin.token = config.server.admin.token;
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
}

}  // namespace
}  // namespace pawl::config
