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
  upstream: http://shop.internal:9001
  threads: 3
  admin:
    listen: "[2001:db8::1]:8443"
    token: hush
tenants:
  header: X-Account
  trusted_proxies: [10.0.0.0/8, "2001:db8::/32", 192.0.2.7]
  missing: reject
  default_plan: pro
  plans: {acme: free, "a$b:c": pro}
  overrides: {acme: {all-of_it-2: 500/1m}}
plans:
  pro: {all-of_it-2: 50/1s, slots: 9/30s, month: 7/30d}
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
    - {name: window, scope: everyone, rate: 1/1s}
    - {name: log, scope: address, algorithm: sliding_log, rate: 10000/1s, on_change: reset}
    - {name: slots, algorithm: concurrency, slots: 3, lease: 90s}
    - name: month
      algorithm: calendar
      limit: 10000
      every: month
      zone: Europe/Zurich
      anchor: 2026-01-31T06:30
audit:
  sinks:
    - file:/var/log/pawl/with a blank.jsonl
  on_full: fail
log: {level: trace, format: json}
)");
  EXPECT_EQ(to_string(config.server.listen), "0.0.0.0:80");
  EXPECT_EQ(config.server.upstream.host, "shop.internal");
  EXPECT_EQ(config.server.upstream.port, 9001);
  EXPECT_EQ(config.server.threads, 3);
  EXPECT_EQ(to_string(config.server.admin.listen), "[2001:db8::1]:8443");
  EXPECT_EQ(config.server.admin.token.reveal(), "hush");
  EXPECT_EQ(config.tenants.header, "X-Account");
  EXPECT_THAT(config.tenants.trusted_proxies,
              ElementsAre(parse_prefix("10.0.0.0/8").value(), parse_prefix("2001:db8::/32").value(),
                          parse_prefix("192.0.2.7").value()));
  EXPECT_EQ(config.tenants.missing, MissingTenant::reject);
  EXPECT_EQ(config.tenants.default_plan, "pro");
  EXPECT_THAT(config.tenants.plans, ElementsAre(Pair("a$b:c", "pro"), Pair("acme", "free")));
  EXPECT_EQ(config.tenants.overrides.at("acme").at("all-of_it-2"),
            (limit::Rate{500, Duration::minutes(1)}));
  EXPECT_EQ(config.plans.at("pro").at("slots"), (limit::Rate{9, Duration::seconds(30)}));
  EXPECT_TRUE(config.plans.at("free").empty());
  EXPECT_EQ(config.limits.store.kind, LimitStore::Kind::redis);
  EXPECT_EQ(config.limits.store.url.reveal(), "redis://me:hush@127.0.0.1:6379/0");
  EXPECT_EQ(config.limits.calendar_store.path, "data/counts.db");
  EXPECT_EQ(config.limits.store_deadline, Duration::milliseconds(250));
  EXPECT_EQ(config.limits.on_store_failure, OnStoreFailure::deny);
  EXPECT_THAT(config.limits.headers, ElementsAre(LimitHeader::legacy, LimitHeader::draft7));
  ASSERT_EQ(config.limits.buckets.size(), 5U);
  EXPECT_EQ(config.limits.buckets[0].name, "all-of_it-2");
  EXPECT_EQ(config.limits.buckets[0].scope, Scope::tenant);
  EXPECT_EQ(config.limits.buckets[0].algorithm, Algorithm::token_bucket);
  EXPECT_EQ(config.limits.buckets[0].rate, (limit::Rate{5, Duration::milliseconds(500)}));
  EXPECT_EQ(config.limits.buckets[0].burst, 7);
  EXPECT_TRUE(config.limits.buckets[0].shadow);
  EXPECT_EQ(config.limits.buckets[0].on_change, limit::OnChange::proportional);
  EXPECT_EQ(config.limits.buckets[1].scope, Scope::everyone);
  EXPECT_EQ(config.limits.buckets[1].algorithm, Algorithm::sliding_window);
  EXPECT_EQ(config.limits.buckets[2].scope, Scope::address);
  EXPECT_EQ(config.limits.buckets[2].algorithm, Algorithm::sliding_log);
  EXPECT_EQ(config.limits.buckets[3].slots, 3);
  EXPECT_EQ(config.limits.buckets[3].lease, Duration::seconds(90));
  EXPECT_EQ(config.limits.buckets[4].limit, 10000);
  EXPECT_EQ(config.limits.buckets[4].every, limit::CalendarUnit::month);
  EXPECT_EQ(config.limits.buckets[4].zone, "Europe/Zurich");
  EXPECT_EQ(config.limits.buckets[4].zone_rules, two_zones("Europe/Zurich").value());
  EXPECT_EQ(from_civil(config.limits.buckets[4].anchor.value()),
            parse_instant("2026-01-31T06:30:00Z").value());
  ASSERT_EQ(config.audit.sinks.size(), 1U);
  EXPECT_EQ(config.audit.sinks[0].path, "/var/log/pawl/with a blank.jsonl");
  EXPECT_EQ(config.audit.on_full, OnFull::fail);
  EXPECT_EQ(config.log.level, LogLevel::trace);
  EXPECT_EQ(config.log.format, LogFormat::json);
}

TEST(Load, LeavesWhatTheFileDoesNotNameAtItsDefault) {
  const Config config = loaded("limits:\n  buckets: [{name: one, rate: 1/1s}]\n");
  EXPECT_FALSE(config.limits.buckets[0].burst.has_value());
  EXPECT_EQ(config.limits.headers.size(), 2U);
  EXPECT_THAT(changes(Config(), config), ElementsAre(Change{"limits.buckets", false}));
}

TEST(Load, TakesAnUpstreamInEveryFormOfAHost) {
  const auto upstream = [](const std::string& url) {
    return loaded("server:\n  upstream: \"" + url + "\"\n").server.upstream;
  };
  EXPECT_EQ(upstream("http://example.org").host, "example.org");
  EXPECT_EQ(upstream("http://example.org").port, 80);
  EXPECT_EQ(upstream("http://3f2a_web-1:9000").host, "3f2a_web-1");
  EXPECT_EQ(upstream("http://192.0.2.1:1").host, "192.0.2.1");
  EXPECT_EQ(upstream("http://[2001:DB8::1]:65535").host, "2001:db8::1");
  EXPECT_EQ(upstream("http://[2001:DB8::1]:65535").port, 65535);
}

TEST(Load, RefusesAnUpstreamThatIsNoPlainOrigin) {
  for (const char* url :
       {"http://",          "http:///",       "http://a/",    "http://a?b",
        "http://a#b",       "http://a b",     "http://a:",    "http://a:65536",
        "http://a:1:2",     "http://-a",      "http://a-",    "http://a..b",
        "http://a.",        "http://.a",      "http://127.1", "http://1.2.3.4.5",
        "http://256.1.1.1", "http://a.0x1",   "http://[::1",  "http://[127.0.0.1]",
        "http://[::1]x",    "http://::1",     "HTTP://a",     "a:80",
        "ftp://a",          "http://\xc3\xa4"}) {
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
            "pawl.yaml:1: \"${log}\": unknown key; allowed: server, tenants, plans, limits, audit, "
            "log\n");
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
