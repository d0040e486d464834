// Goal: tenants are listed, their usage told and their plans changed while requests go on, and each
// is told once a window that it is near a limit. Method: a store in memory, a hand-moved clock, and
// requests as the proxy makes them.
#include "gateway/tenants.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "adapter/memory/memory_counter_store.h"
#include "log/capture_sink.h"
#include "runtime/manual_clock.h"

namespace pawl::gateway {
namespace {

namespace fs = std::filesystem;
using admin::BucketUsage;
using admin::TenantUsage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Some calls fail, others are answered when the test says so.
class TrickyStore final : public CounterStore {
 public:
  explicit TrickyStore(CounterStore& below) : below_(below) {}
  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override {
    if (!holding) {
      below_.check(counts, cost, std::move(done));
      return;
    }
    Result<limit::Answer> answer = failure(Code::unavailable, "the store is gone");
    if (!failing) below_.check(counts, cost, [&](Result<limit::Answer> given) { answer = given; });
    held.emplace_back([done = std::move(done), answer]() mutable { done(answer); });
  }
  void reserve(Counts, std::int64_t, Duration, Done<Reservation>) override { FAIL(); }
  void settle(Counts, std::uint64_t, Settlement, Done<void>) override { FAIL(); }
  void refund(const Count&, std::int64_t, Done<void>) override { FAIL(); }
  void reset(const Count& count, Done<void> done) override {
    if (failing) {
      done(failure(Code::unavailable, "the store is gone"));
    } else {
      below_.reset(count, std::move(done));
    }
  }
  void close(const Count&, Instant, Done<void>) override { FAIL(); }

  bool holding = false;
  bool failing = false;
  std::vector<std::move_only_function<void()>> held;

 private:
  CounterStore& below_;
};

class TenantsTest : public ::testing::Test {
 protected:
  TenantsTest()
      : folder(fs::temp_directory_path() / ("pawl_tenants_test." + std::to_string(getpid()))),
        plans_file(folder / "plans.json"),
        clock(parse_instant("2026-11-15T12:00:00Z").value()),
        memory(clock),
        store(memory) {
    fs::remove_all(folder);
    config.limits.buckets = {
        bucket("global", config::Scope::tenant, 10), bucket("key", config::Scope::api_key, 5),
        bucket("here", config::Scope::address, 10), bucket("all", config::Scope::everyone, 10'000)};
    config.plans = {{"free", {}}, {"pro", {{"global", {100, Duration::minutes(1)}}}}};
    config.tenants.upgrades = {{"free", "pro"}};
  }
  ~TenantsTest() override { fs::remove_all(folder); }

  static config::Bucket bucket(std::string name, config::Scope scope, std::int64_t count) {
    return {.name = std::move(name),
            .scope = scope,
            .algorithm = config::Algorithm::sliding_window,
            .rate = limit::Rate{count, Duration::minutes(1)}};
  }
  Result<std::unique_ptr<Tenants>> open() {
    return Tenants::open({.store = store,
                          .clock = clock,
                          .telemetry = telemetry,
                          .seed = 7,
                          .plans_file = plans_file,
                          .near = [this](const NearLimit& limit) { near.push_back(limit); },
                          .plans_changed = [this] { apply(); }});
  }
  void start() {
    tenants = open().value();
    apply();
  }
  void apply() {
    settings = make_settings(config, tenants->live_plans());
    tenants->use(settings);
  }

  void send(const request::Tenant& tenant, int times) {
    http::RequestHead head;
    head.method = "GET";
    head.target = "/";
    std::vector<limit::Count> counts;
    for (int i = 0; i < times; ++i) {
      fill_counts(counts, *settings, tenant, head);
      const limit::Answer answer = counts.empty() ? limit::Answer() : memory.check_now(counts, 1);
      tenants->saw(tenant, counts, answer, *settings);
    }
  }
  void send(std::string_view name, int times = 1) { send(named(name), times); }
  static request::Tenant named(std::string_view name) {
    return {.name = std::string(name),
            .limit_key = request::tenant_key(name),
            .api_key_key = request::tenant_key(name),
            .address_key = "address:" + std::string(name)};
  }
  request::Tenant with_key(std::string_view key) {
    http::Fields fields;
    EXPECT_TRUE(fields.add({"X-Api-Key", key}));
    request::Tenant tenant;
    EXPECT_EQ(fill_tenant(tenant, settings->tenants, fields, IpAddress()),
              request::TenantFound::yes);
    return tenant;
  }

  TenantUsage usage(std::string_view tenant) {
    std::optional<TenantUsage> found;
    tenants->usage(tenant, [&](Result<TenantUsage> given) { found = given.value(); });
    return found.value();
  }
  static std::string told(const BucketUsage& b) {
    return b.bucket + " " + b.scope + " " + std::to_string(b.used) + "/" + std::to_string(b.limit) +
           " left " + std::to_string(b.remaining) + (b.near ? " near" : "") +
           (b.shadow ? " shadow" : "");
  }
  // Of its own buckets.
  std::vector<std::string> used(std::string_view tenant) {
    std::vector<std::string> out;
    for (const BucketUsage& bucket : usage(tenant).buckets) {
      if (bucket.scope != "everyone") out.push_back(told(bucket));
    }
    return out;
  }
  Result<void> reset(std::string_view tenant, std::string_view bucket) {
    std::optional<Result<void>> result;
    tenants->reset(tenant, bucket, [&](Result<void> given) { result = std::move(given); });
    return result.value();
  }
  std::vector<std::string> listed(std::size_t limit = 100) {
    std::vector<std::string> out;
    for (const admin::TenantSummary& each : tenants->list(limit, "")) {
      out.push_back(each.tenant + " " + each.plan + " " +
                    (each.last_seen == Instant() ? "never" : to_string(each.last_seen)));
    }
    return out;
  }

  fs::path folder;
  fs::path plans_file;
  ManualClock clock;
  MemoryCounterStore memory;
  TrickyStore store;
  config::Config config;
  metrics::Registry registry;
  log::CaptureSink lines;
  log::Output output{clock, lines, {}};
  Telemetry telemetry{registry, log::Logger(output)};
  std::unique_ptr<Tenants> tenants;
  SettingsPtr settings;
  std::vector<NearLimit> near;
};

TEST_F(TenantsTest, AreListedByNameWhetherSeenOrNamed) {
  config.tenants.plans["named"] = "pro";
  config.tenants.api_keys = {{.sha256 = std::string(64, 'a'), .tenant = "keyed", .plan = "pro"}};
  start();
  send("zoe");
  clock.advance(Duration::seconds(5));
  send("bob");
  send(request::Tenant{.name = "", .limit_key = "address:x"}, 1);
  EXPECT_THAT(listed(), ElementsAre("bob free 2026-11-15T12:00:05.000Z", "keyed pro never",
                                    "named pro never", "zoe free 2026-11-15T12:00:00.000Z"));
  EXPECT_THAT(listed(2), ElementsAre("bob free 2026-11-15T12:00:05.000Z", "keyed pro never"));
  EXPECT_THAT(listed(0), IsEmpty());
  send("named");
  EXPECT_EQ(listed()[2], "named pro 2026-11-15T12:00:05.000Z");
}

TEST_F(TenantsTest, AreListedInPagesAndByWhenTheyWereSeen) {
  start();
  EXPECT_THAT(tenants->recent(3), IsEmpty());
  for (const char* name : {"d", "b", "c", "a"}) {
    send(name);
    clock.advance(Duration::seconds(1));
  }
  EXPECT_EQ(tenants->list(1, "a").front().tenant, "b");
  EXPECT_THAT(tenants->list(10, "d"), IsEmpty());
  EXPECT_THAT(tenants->recent(3), ElementsAre("a", "c", "b"));
  EXPECT_THAT(tenants->recent(10), ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(tenants->recent(0), IsEmpty());
}

TEST_F(TenantsTest, AreSeenThoughNoBucketMatches) {
  for (config::Bucket& each : config.limits.buckets) each.match.methods = {"POST"};
  start();
  send("acme");
  EXPECT_THAT(listed(), ElementsAre("acme free 2026-11-15T12:00:00.000Z"));
}

TEST_F(TenantsTest, HaveTheirDecisionsCountedWhoeverAsked) {
  start();
  send("acme", 2);
  const admin::OwnedCounts counts = tenants->counts("prog", "global").value();
  for (int i = 0; i < 11; ++i) {
    tenants->saw("prog", counts, memory.check_now(counts.counts, 1));
  }
  EXPECT_EQ(telemetry.allowed.value(), 12U);
  EXPECT_EQ(telemetry.refused.value(), 1U);
  EXPECT_THAT(listed(), ElementsAre("acme free 2026-11-15T12:00:00.000Z",
                                    "prog free 2026-11-15T12:00:00.000Z"));
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0].tenant, "prog");
  EXPECT_EQ(near[0].next_plan, "pro");
  audit::Event event = to_audit_event(near[0]);
  EXPECT_EQ(to_string(event.type), "limit_near");
  EXPECT_EQ(event.correlation.tenant_id, "prog");
  EXPECT_EQ(event.correlation.correlation_id, near[0].id);
  EXPECT_EQ(event.details.back().first, "next_plan");
  near[0].next_plan.clear();
  EXPECT_EQ(to_audit_event(near[0]).details.back().first, "plan") << "what is empty is left out";
}

TEST_F(TenantsTest, AreLetThroughWhereNoBucketCounts) {
  config.limits.buckets.clear();
  config.plans = {};
  config.tenants.upgrades = {};
  start();
  tenants->saw(named("acme"), {}, {.allowed = true, .verdicts = {}}, *settings);
  EXPECT_EQ(telemetry.allowed.value(), 1U);
  tenants->saw(named("acme"), {}, {}, *settings);
  EXPECT_EQ(telemetry.allowed.value(), 1U) << "nobody decided";
  EXPECT_EQ(telemetry.refused.value(), 0U);
}

TEST_F(TenantsTest, HaveTheUsageOfTheirOwnBuckets) {
  start();
  send("acme", 3);
  EXPECT_THAT(used("acme"), ElementsAre("global tenant 3/10 left 7", "key api_key 3/5 left 2"));
  EXPECT_EQ(usage("acme").buckets[0].reset_seconds, 119);
  EXPECT_EQ(usage("acme").plan, "free");
  EXPECT_EQ(usage("acme").next_plan, "pro");
  EXPECT_THAT(used("acme")[0], "global tenant 3/10 left 7") << "looking costs nothing";
  EXPECT_THAT(used("stranger"),
              ElementsAre("global tenant 0/10 left 10", "key api_key 0/5 left 5"));
}

TEST_F(TenantsTest, AreClientsOfAnAddressWhereTheyHaveNoName) {
  start();
  request::Tenant client;
  fill_tenant(client, settings->tenants, http::Fields(), parse_ip("2001:db8::7").value());
  send(client, 4);
  EXPECT_THAT(listed(), ElementsAre("anonymous@2001:db8::7 free 2026-11-15T12:00:00.000Z"));
  const std::string name = "anonymous@2001:db8::7";
  EXPECT_THAT(used(name), ElementsAre("global tenant 4/10 left 6", "key api_key 4/5 left 1 near"));
  EXPECT_EQ(used("anonymous@2001:db8::9")[0], "global tenant 4/10 left 6") << "of one network";
  EXPECT_EQ(usage(name).next_plan + usage(name).buckets[0].next_plan, "") << "it cannot have one";
  EXPECT_THAT(near, IsEmpty());
  EXPECT_TRUE(reset(name, "key"));
  EXPECT_THAT(used(name), ElementsAre("global tenant 4/10 left 6", "key api_key 0/5 left 5"));
  const admin::OwnedCounts counts = tenants->counts(name, "global").value();
  EXPECT_EQ(counts.counts[0].key.name(), client.limit_key);
  EXPECT_EQ(tenants->set_plan(name, "pro").error().code, Code::invalid);
}

TEST_F(TenantsTest, AreNobodyWhereNoAddressIsNamed) {
  start();
  std::optional<Error> said;
  tenants->usage("anonymous@nowhere", [&](const Result<TenantUsage>& got) { said = got.error(); });
  EXPECT_EQ(said.value().code, Code::invalid);
  EXPECT_THAT(said->message, HasSubstr("anonymous@192.0.2.7"));
  EXPECT_EQ(reset("anonymous@", "").error().code, Code::invalid);
  EXPECT_EQ(tenants->counts("anonymous@x", "").error().code, Code::invalid);
}

TEST_F(TenantsTest, AreTellingOfShadowsAndOfWhatIsNear) {
  config.limits.buckets[0].shadow = true;
  start();
  send("acme", 4);
  EXPECT_THAT(used("acme"),
              ElementsAre("global tenant 4/10 left 6 shadow", "key api_key 4/5 left 1 near"));
}

TEST_F(TenantsTest, HaveTheUsageOfTheKeyThatHasLeastLeft) {
  config.tenants.api_keys = {{.sha256 = to_hex(sha256("one")), .tenant = "acme"},
                             {.sha256 = to_hex(sha256("two")), .tenant = "acme"},
                             {.sha256 = to_hex(sha256("three")), .tenant = "zoe"}};
  start();
  send(with_key("one"), 2);
  send(with_key("two"), 3);
  send(with_key("three"), 4);
  EXPECT_THAT(used("acme"), ElementsAre("global tenant 5/10 left 5", "key api_key 3/5 left 2"));
  EXPECT_TRUE(reset("acme", "key"));
  EXPECT_THAT(used("acme"), ElementsAre("global tenant 5/10 left 5", "key api_key 0/5 left 5"));
  EXPECT_EQ(used("zoe")[1], "key api_key 4/5 left 1 near");
}

TEST_F(TenantsTest, SeeHowMuchIsUsedOfWhatAllShare) {
  start();
  send("acme", 3);
  send("zoe", 2);
  const BucketUsage shared = usage("acme").buckets.back();
  EXPECT_EQ(told(shared), "all everyone 5/10000 left 9995");
  EXPECT_EQ(shared.next_plan, "");
  EXPECT_EQ(told(usage("stranger").buckets.back()), told(shared));
  EXPECT_EQ(reset("acme", "all").error().code, Code::not_found) << "it is not this tenant's";
  EXPECT_TRUE(reset("acme", ""));
  EXPECT_EQ(told(usage("acme").buckets.back()), told(shared));
}

TEST_F(TenantsTest, HaveNoUsageWhereNothingIsTheirs) {
  config.limits.buckets = {bucket("all", config::Scope::everyone, 10)};
  config.plans = {};
  config.tenants.upgrades = {};
  start();
  EXPECT_THAT(used("acme"), IsEmpty());
  EXPECT_EQ(usage("acme").plan, "free");
  EXPECT_EQ(reset("acme", "").error().code, Code::not_found);
  EXPECT_EQ(tenants->counts("acme", "").error().code, Code::not_found);
}

TEST_F(TenantsTest, AnswerOnceWhenTheStoreHasAnsweredAll) {
  start();
  send("acme", 3);
  store.holding = true;
  int answers = 0;
  TenantUsage found;
  tenants->usage("acme", [&](Result<TenantUsage> given) {
    ++answers;
    found = given.value();
  });
  tenants->use(make_settings(config));  // what was asked about stays
  ASSERT_EQ(store.held.size(), 3U);
  store.held[1]();
  store.held[2]();
  EXPECT_EQ(answers, 0);
  store.held[0]();
  EXPECT_EQ(answers, 1);
  ASSERT_EQ(found.buckets.size(), 3U);
  EXPECT_EQ(told(found.buckets[0]), "global tenant 3/10 left 7") << "in the order of the buckets";
}

TEST_F(TenantsTest, TellThatTheStoreIsGone) {
  start();
  store.failing = true;
  store.holding = true;
  std::vector<Error> errors;
  tenants->usage("acme", [&](Result<TenantUsage> given) { errors.push_back(given.error()); });
  for (auto& answer : store.held) answer();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, Code::unavailable);
  EXPECT_EQ(reset("acme", "").error().code, Code::unavailable);
}

TEST_F(TenantsTest, BeginAnewWhereTheyAreReset) {
  start();
  send("acme", 3);
  send("zoe", 3);
  EXPECT_TRUE(reset("acme", "global"));
  EXPECT_THAT(used("acme"), ElementsAre("global tenant 0/10 left 10", "key api_key 3/5 left 2"));
  EXPECT_TRUE(reset("acme", ""));
  EXPECT_EQ(used("acme")[1], "key api_key 0/5 left 5");
  EXPECT_EQ(used("zoe")[0], "global tenant 3/10 left 7");
  const Result<void> unknown = reset("acme", "nope");
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_THAT(unknown.error().message, HasSubstr("global, key, here, all"));
  EXPECT_EQ(reset("acme", "here").error().code, Code::not_found) << "not a tenant's own";
}

TEST_F(TenantsTest, GetAnotherPlanAndKeepWhatTheyUsed) {
  start();
  send("acme", 4);
  EXPECT_TRUE(tenants->set_plan("acme", "pro"));
  EXPECT_EQ(used("acme")[0], "global tenant 4/100 left 96");
  EXPECT_EQ(usage("acme").plan, "pro");
  EXPECT_EQ(usage("acme").next_plan, "");
  send("acme");
  EXPECT_EQ(used("acme")[0], "global tenant 5/100 left 95");
  EXPECT_TRUE(tenants->set_plan("acme", "free"));
  EXPECT_EQ(used("acme")[0], "global tenant 5/10 left 5");
}

TEST_F(TenantsTest, KeepTheirPlansOverARestart) {
  config.tenants.plans["acme"] = "free";
  start();
  EXPECT_TRUE(tenants->set_plan("acme", "pro"));
  EXPECT_TRUE(tenants->set_plan("new", "pro"));
  start();
  EXPECT_THAT(listed(), ElementsAre("acme pro never", "new pro never"));
}

TEST_F(TenantsTest, GetNoPlanThatIsNotThere) {
  start();
  const Result<void> set = tenants->set_plan("acme", "gold");
  EXPECT_EQ(set.error().code, Code::not_found);
  EXPECT_THAT(set.error().message, HasSubstr("free, pro"));
  EXPECT_EQ(tenants->check_plan("acme", "gold").error().code, Code::not_found);
  EXPECT_TRUE(tenants->check_plan("acme", "pro").has_value());
  EXPECT_EQ(tenants->set_plan("a b", "pro").error().code, Code::invalid);
  EXPECT_THAT(tenants->set_plan("anonymous@1.2.3.4", "pro").error().message,
              HasSubstr("anonymous@"));
  EXPECT_THAT(tenants->live_plans(), IsEmpty());
  EXPECT_FALSE(fs::exists(plans_file));
}

TEST_F(TenantsTest, KeepTheOldPlanWhereTheNewOneCannotBeKept) {
  start();
  std::ofstream(folder) << "in the way";
  const Result<void> set = tenants->set_plan("acme", "pro");
  EXPECT_EQ(set.error().code, Code::unavailable);
  EXPECT_EQ(usage("acme").plan, "free");
  EXPECT_THAT(tenants->live_plans(), IsEmpty());
}

TEST_F(TenantsTest, DoNotStartWithPlansThatMakeNoSense) {
  fs::create_directories(folder);
  std::ofstream(plans_file) << "{";
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_THAT(opened.error().message, HasSubstr(plans_file.string()));
}

TEST_F(TenantsTest, AreCountedForOtherProgramsAsForRequests) {
  start();
  send("acme", 2);
  const admin::OwnedCounts all = tenants->counts("acme", "").value();
  tenants->use(make_settings(config));  // what was given stays
  settings = nullptr;
  ASSERT_EQ(all.counts.size(), 2U);
  EXPECT_EQ(memory.check_now(all.counts, 3).verdicts[0].remaining, 5);
  EXPECT_EQ(used("acme")[1], "key api_key 5/5 left 0 near");
  const admin::OwnedCounts one = tenants->counts("acme", "global").value();
  ASSERT_EQ(one.counts.size(), 1U);
  EXPECT_EQ(one.counts[0].policy->name, "global");
  EXPECT_EQ(tenants->counts("acme", "all").value().counts[0].key.name(), "everyone");
  EXPECT_EQ(tenants->counts("acme", "here").error().code, Code::not_found);
  EXPECT_EQ(tenants->counts("acme", "nope").error().code, Code::not_found);
}

TEST_F(TenantsTest, AreToldOnceAWindowThatTheyAreNear) {
  config.limits.buckets[1].rate->count = 1'000;
  start();
  send("acme", 7);
  EXPECT_THAT(near, IsEmpty());
  send("acme", 20);  // refused ones too
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0].tenant, "acme");
  EXPECT_EQ(near[0].bucket, "global");
  EXPECT_EQ(near[0].plan, "free");
  EXPECT_EQ(near[0].next_plan, "pro");
  EXPECT_EQ(
      near[0].usage,
      (limit::Usage{.limit = 10, .used = 8, .remaining = 2, .reset_seconds = 119, .near = true}));
  EXPECT_EQ(near[0].at, clock.wall_now());
  clock.advance(Duration::seconds(59));
  send("acme", 5);
  EXPECT_EQ(near.size(), 1U);
  clock.advance(Duration::seconds(1));
  send("acme", 5);
  ASSERT_EQ(near.size(), 2U);
  EXPECT_NE(near[1].id, near[0].id);
  clock.advance(Duration::minutes(10));
  send("acme", 7);
  EXPECT_EQ(near.size(), 2U);
}

TEST_F(TenantsTest, AreToldOfEachBucketAndPlan) {
  config.limits.buckets[1].rate->count = 20;
  config.plans["pro"] = {{"global", {11, Duration::minutes(1)}}};
  start();
  send("acme", 9);
  send("zoe", 8);
  ASSERT_EQ(near.size(), 2U);
  EXPECT_TRUE(tenants->set_plan("acme", "pro"));
  send("acme", 1);
  ASSERT_EQ(near.size(), 3U);
  EXPECT_EQ(near[2].plan, "pro");
  EXPECT_EQ(near[2].next_plan, "");
  EXPECT_NE(near[2].id, near[0].id);
}

TEST_F(TenantsTest, AreToldTheSameIdByEveryGateway) {
  start();
  send("acme", 4);
  const std::unique_ptr<Tenants> first = std::move(tenants);
  start();
  send("acme", 1);
  ASSERT_EQ(near.size(), 2U);
  EXPECT_EQ(near[0].id, near[1].id);
  EXPECT_EQ(near[0].bucket, "key");
}

TEST_F(TenantsTest, AreNotToldOfWhatIsNotTheirsNorEnforced) {
  config.limits.buckets[0].shadow = true;
  config.limits.buckets[1].rate->count = 1'000;
  config.limits.buckets[3].rate->count = 10;
  start();
  send("acme", 30);
  send(request::Tenant{.name = "",
                       .limit_key = "address:x",
                       .api_key_key = "address:x",
                       .address_key = "address:x"},
       30);
  EXPECT_THAT(near, IsEmpty());
}

TEST_F(TenantsTest, AreNotToldOfWhatNobodyCounted) {
  start();
  http::RequestHead head;
  head.method = "GET";
  head.target = "/";
  std::vector<limit::Count> counts;
  const request::Tenant tenant = named("acme");
  fill_counts(counts, *settings, tenant, head);
  limit::Answer answer = memory.check_now(counts, 5);
  answer.counted_by = limit::CountedBy::nobody;
  tenants->saw(tenant, counts, answer, *settings);
  EXPECT_THAT(near, IsEmpty());
}

TEST_F(TenantsTest, AreToldOnceHoweverManyThreadsNotice) {
  config.limits.buckets[1].rate->count = 10;
  std::atomic<int> times = 0;
  tenants = Tenants::open({.store = store,
                           .clock = clock,
                           .telemetry = telemetry,
                           .seed = 7,
                           .plans_file = plans_file,
                           .near = [&](const NearLimit&) { ++times; },
                           .plans_changed = [] {}})
                .value();
  apply();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([this] {
        for (int i = 0; i < 20; ++i) send("tenant-" + std::to_string(i), 10);
      });
    }
    for (int i = 0; i < 20; ++i) {
      (void)tenants->list(10, "");
      tenants->use(settings);
      EXPECT_TRUE(tenants->set_plan("other", i % 2 == 0 ? "pro" : "free"));
    }
  }
  EXPECT_EQ(times, 40);  // two buckets each
  EXPECT_EQ(tenants->list(100, "").size(), 20U);
}

}  // namespace
}  // namespace pawl::gateway
