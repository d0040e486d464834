// Goal: records in Redis, one server and a cluster, behave as the machine says; nothing that a
// server acknowledged and had synced is lost; and what is not as it should be is told plainly.
// Method: the port's conformance suite, by a clock moved by hand and by the server's own; servers
// of the test's own that are killed, paused, filled, flushed and looked into.
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "adapter/redis/record_key.h"
#include "adapter/redis/redis_record_store.h"
#include "adapter/redis/redis_server_fixture.h"
#include "port/record_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using idempotency::Begun;
using idempotency::Record;
using idempotency::Status;
using record_store_suite::Client;
using redis::eventually;
using redis::RedisServer;
using Verdict = Begun::Verdict;
using Store = std::unique_ptr<RedisRecordStore>;

constexpr Duration unit = Duration::seconds(10);

RecordKey key(std::string name) {
  return {.scope = "acme", .key = std::move(name)};
}

std::string redis_key(const RecordKey& of) {
  const std::string name = redis::record_name(of);
  return redis::prefix_of(name) + name;
}

std::string newest_of(const RecordKey& of) {
  return redis::newest_key(redis::prefix_of(redis::record_name(of)));
}

// Of the first so many keys that lie in one group.
std::vector<RecordKey> of_one_group(std::size_t many, const std::string& scope = "acme") {
  std::vector<RecordKey> keys;
  for (int i = 0; keys.size() < many; ++i) {
    RecordKey each{.scope = scope, .key = "k" + std::to_string(i)};
    if (redis_key(each).starts_with("idem:{07}:")) keys.push_back(std::move(each));
  }
  return keys;
}

// So that runs on one server do not meet.
std::string fresh_prefix() {
  static int count = 0;
  return "test " + std::to_string(getpid()) + "." + std::to_string(++count) + " ";
}

const RedisServer::Options synced = {"--appendonly", "yes", "--appendfsync", "always"};

class RedisRecordStoreTest : public ::testing::Test {
 protected:
  Store open(const std::string& url, Clock* time = nullptr,
             Duration deadline = Duration::seconds(30)) {
    Store store;
    EXPECT_TRUE(eventually([&] {
      auto made = RedisRecordStore::open(redis::parse_redis_url(url).value(), clock_,
                                         {.deadline = deadline, .time = time});
      if (made) store = *std::move(made);
      return store != nullptr;
    }));
    return store;
  }
  Store open(const RedisServer& server, Clock* time = nullptr) {
    return open("redis://" + server.address(), time);
  }
  Client client(RedisRecordStore& store) {
    return Client({.store = store, .advance = [](Duration) {}, .unit = unit});
  }
  void expect_conforms_by_hand(const std::string& url) {
    ManualClock time;
    const Store store = open(url, &time);
    const Store beside = open(url, &time);
    expect_record_store_conforms({.store = *store,
                                  .advance = [&](Duration d) { time.advance(d); },
                                  .now = [&] { return time.wall_now(); },
                                  .unit = unit,
                                  .beside = beside.get(),
                                  .prefix = fresh_prefix()});
  }

  redis::RealClock clock_;
};

TEST_F(RedisRecordStoreTest, ConformsOnOneServer) {
  expect_conforms_by_hand(redis::server_of_run("PAWL_TEST_REDIS"));
}

TEST_F(RedisRecordStoreTest, ConformsOnACluster) {
  expect_conforms_by_hand(redis::server_of_run("PAWL_TEST_REDIS_CLUSTER"));
}

TEST_F(RedisRecordStoreTest, ConformsByTheServersOwnClock) {
  const std::string url = redis::server_of_run("PAWL_TEST_REDIS");
  const Store store = open(url);
  const Store beside = open(url);
  expect_record_store_conforms(
      {.store = *store,
       .advance = [](Duration d) { std::this_thread::sleep_for(std::chrono::nanoseconds(d.ns())); },
       .unit = Duration::milliseconds(400),
       .beside = beside.get(),
       .prefix = fresh_prefix()});
}

TEST_F(RedisRecordStoreTest, AServerKilledBetweenBeginAndCompleteIsFoundAgain) {
  RedisServer server(synced);
  const Store store = open(server);
  EXPECT_EQ(store->durability(), Durability::fsync) << store->durability_seen();
  const Client owner = client(*store);
  const Begun begun = owner.begin(key("k"));
  ASSERT_EQ(begun.verdict, Verdict::started);
  server.kill();
  ASSERT_TRUE(eventually([&] { return !store->health().has_value(); }));
  const auto away = owner.complete(key("k"), begun.record.fence, owner.done("answer"));
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_TRUE(away.error().outcome == Outcome::not_applied);

  server.start();
  ASSERT_TRUE(eventually([&] { return owner.get(key("k")).has_value(); })) << server.log();
  EXPECT_EQ(owner.begin(key("k")).verdict, Verdict::in_flight) << "the claim outlived the server";
  ASSERT_TRUE(owner.complete(key("k"), begun.record.fence, owner.done("answer")).has_value());
  server.kill();
  server.start();
  ASSERT_TRUE(eventually([&] { return owner.get(key("k")).has_value(); })) << server.log();
  EXPECT_EQ(owner.begin(key("k")).record.response.body, "answer") << "and so did the result";
  ASSERT_TRUE(owner.clear(key("k")).has_value());
  server.kill();
  server.start();
  ASSERT_TRUE(eventually([&] {
    const auto found = owner.get(key("k"));
    return !found && found.error().code == Code::not_found;
  }));
  EXPECT_GT(owner.begin(key("k")).record.fence, begun.record.fence);
}

// Kills the server in the middle of many begins; each that was acknowledged is there afterwards,
// under its fence, and none is there that was said not to be.
TEST_F(RedisRecordStoreTest, AServerKilledMidwayKeepsWhatItAcknowledgedAndNothingThatFailed) {
  RedisServer server(synced);
  const Store store = open(server);
  const Client owner = client(*store);
  constexpr int many = 3'000;
  std::vector<std::future<Result<Begun>>> asked;
  for (int i = 0; i < many; ++i) {
    asked.push_back(owner.ask_to_begin(key(std::to_string(i)), owner.terms()));
    if (i == many / 2) {
      // Answers come over several connections: each of the first ones is waited for by itself.
      for (int first = 0; first < many / 10; ++first) asked[static_cast<std::size_t>(first)].wait();
      server.kill();
    }
    if (i == many * 9 / 10) {
      ASSERT_TRUE(eventually([&] { return !store->health().has_value(); }));
    }
  }
  std::map<int, std::uint64_t> started;
  std::vector<int> unknown, not_applied;
  for (int i = 0; i < many; ++i) {
    const Result<Begun> begun = asked[static_cast<std::size_t>(i)].get();
    if (begun) {
      EXPECT_EQ(begun->verdict, Verdict::started);
      started[i] = begun->record.fence;
    } else {
      EXPECT_EQ(begun.error().code, Code::unavailable) << begun.error().message;
      (begun.error().outcome == Outcome::unknown ? unknown : not_applied).push_back(i);
    }
  }
  EXPECT_GE(started.size(), static_cast<std::size_t>(many / 10));
  EXPECT_FALSE(not_applied.empty());
  server.start();
  ASSERT_TRUE(eventually([&] {
    const auto looked = owner.get(key("nobody's"));
    return !looked && looked.error().code == Code::not_found;
  })) << server.log();
  for (const auto& [i, fence] : started) {
    const auto found = owner.get(key(std::to_string(i)));
    ASSERT_TRUE(found.has_value()) << i << " was acknowledged";
    ASSERT_EQ(found->fence, fence) << i;
  }
  for (const int i : not_applied) {
    ASSERT_EQ(owner.get(key(std::to_string(i))).error().code, Code::not_found) << i;
  }
  for (const int i : unknown) {
    const Verdict verdict = owner.begin(key(std::to_string(i))).verdict;
    EXPECT_TRUE(verdict == Verdict::started || verdict == Verdict::in_flight);
  }
}

TEST_F(RedisRecordStoreTest, ACallThatGetsNoAnswerEndsAtItsDeadline) {
  RedisServer server;
  const Store store = open("redis://" + server.address(), nullptr, Duration::milliseconds(300));
  const Client owner = client(*store);
  ASSERT_EQ(owner.begin(key("before")).verdict, Verdict::started);
  server.pause();
  const auto begun = owner.try_begin(key("k"), owner.terms());
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, Code::unavailable);
  EXPECT_TRUE(begun.error().outcome == Outcome::unknown);
  const auto looked = owner.get(key("before"));
  ASSERT_FALSE(looked.has_value());
  EXPECT_TRUE(looked.error().outcome == Outcome::not_applied) << "a look changes nothing";
  server.go_on();
  EXPECT_TRUE(eventually([&] {
    const auto again = owner.try_begin(key("k"), owner.terms());
    return again && again->verdict == Verdict::in_flight;
  })) << "it had counted after all";
}

TEST_F(RedisRecordStoreTest, ScriptsThatAServerForgotAreBroughtAgain) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  const std::uint64_t fence = owner.begin(key("k")).record.fence;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(server.cli("SCRIPT FLUSH SYNC"), "OK");
    EXPECT_EQ(owner.begin(key("k")).verdict, Verdict::in_flight);
    EXPECT_TRUE(owner.renew(key("k"), fence, unit).has_value());
  }
}

TEST_F(RedisRecordStoreTest, FencesGrowThoughTheServerHasForgottenEverything) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const Begun begun = owner.begin(key("k"));
    ASSERT_EQ(begun.verdict, Verdict::started);
    EXPECT_GT(begun.record.fence, last);
    last = begun.record.fence;
    ASSERT_EQ(server.cli("FLUSHALL"), "OK");
  }
}

TEST_F(RedisRecordStoreTest, FencesGrowThoughTheClockGoesBack) {
  RedisServer server;
  ManualClock time;
  const Store store = open(server, &time);
  const Client owner = client(*store);
  const std::uint64_t first = owner.begin(key("k")).record.fence;
  ASSERT_TRUE(owner.clear(key("k"), true).has_value());
  time.set_wall(time.wall_now() - Duration::days(365));
  const std::uint64_t second = owner.begin(key("k")).record.fence;
  EXPECT_GT(second, first);
}

TEST_F(RedisRecordStoreTest, WhatIsNoRecordIsNamedAndLeftAlone) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  const auto raw =
      redis::Client::make(redis::parse_redis_url("redis://" + server.address()).value(), clock_)
          .value();
  const std::string at = redis_key(key("k"));
  const auto expect_named = [&](const Error& error) {
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_TRUE(error.outcome == Outcome::not_applied);
    EXPECT_NE(error.message.find(at), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("delete it"), std::string::npos) << error.message;
  };
  const std::string now = "1700000000000000";
  for (const std::string& text : std::vector<std::string>{
           "hello", "pawl-record", "pawl-record 2 done",
           "pawl-record 1 done 7 " + now + " 0 " + now + " 0 0 0 0 0",     // no line feed
           "pawl-record 1 gone 7 " + now + " 0 " + now + " 0 0 0 0 0\n",   // no such status
           "pawl-record 1 done 07 " + now + " 0 " + now + " 0 0 0 0 0\n",  // written otherwise
           "pawl-record 1 done 0 " + now + " 0 " + now + " 0 0 0 0 0\n",   // no fence
           "pawl-record 1 done 7 " + now + " 5 " + now + " 0 0 0 0 0\n",   // ended, with a lease
           "pawl-record 1 done 7 " + now + " 0 " + now + " 0 1 0 0 1\nx",  // a tombstone's body
           "pawl-record 1 done 7 " + now + " 0 " + now + " 0 0 0 0 9\nx",  // cut off
           "pawl-record 1 done 7 " + now + " 0 " + now + " 0 0 0 0 0\nx",  // something behind
           "pawl-record 1 failed 7 " + now + " 0 " + now + " 3 0 0 0 0\n",
           "pawl-record 1 done 9007199254740993 " + now + " 0 " + now + " 0 0 0 0 0\n"}) {
    const std::string_view set[] = {"SET", at, text};
    ASSERT_TRUE(raw->call_and_wait(set, "", unit).has_value());
    const std::string kept = server.cli("GET " + at);
    expect_named(owner.try_begin(key("k"), owner.terms(true)).error());
    expect_named(owner.get(key("k")).error());
    expect_named(owner.complete(key("k"), 7, owner.done("")).error());
    expect_named(owner.renew(key("k"), 7, unit).error());
    expect_named(owner.settle(key("k"), owner.done("")).error());
    expect_named(owner.clear(key("k"), true).error());
    EXPECT_EQ(server.cli("GET " + at), kept);
  }
  server.cli("DEL " + at);
  server.cli("HSET " + at + " field value");
  expect_named(owner.try_begin(key("k"), owner.terms()).error());
  expect_named(owner.clear(key("k"), true).error());
  EXPECT_EQ(server.cli("TYPE " + at), "hash");
  EXPECT_EQ(owner.begin(key("other")).verdict, Verdict::started);
}

TEST_F(RedisRecordStoreTest, AGroupWhoseOwnKeysAreSpoiltStartsNothing) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  const std::string prefix = redis::prefix_of(redis::record_name(key("k")));
  for (const auto& [at, command] : std::map<std::string, std::string>{
           {prefix + "fence", "SET " + prefix + "fence high"},
           {prefix + "newest", "SET " + prefix + "newest something"}}) {
    ASSERT_EQ(server.cli(command), "OK");
    const auto begun = owner.try_begin(key("k"), owner.terms());
    ASSERT_FALSE(begun.has_value());
    EXPECT_EQ(begun.error().code, Code::invalid) << begun.error().message;
    EXPECT_TRUE(begun.error().outcome == Outcome::not_applied);
    EXPECT_NE(begun.error().message.find(at), std::string::npos) << begun.error().message;
    EXPECT_EQ(owner.get(key("k")).error().code, Code::not_found);
    server.cli("DEL " + at);
  }
  EXPECT_EQ(owner.begin(key("k")).verdict, Verdict::started);
  server.cli("SET " + prefix + "fence 9007199254740992");
  ASSERT_TRUE(owner.clear(key("k"), true).has_value());
  EXPECT_EQ(owner.try_begin(key("k"), owner.terms()).error().code, Code::invalid)
      << "there is no greater fence";
}

TEST_F(RedisRecordStoreTest, AFullServerStartsNothingAndStillReplays) {
  RedisServer server({"--maxmemory-policy", "noeviction"});
  const Store store = open(server);
  const Client owner = client(*store);
  const std::uint64_t fence = owner.begin(key("done")).record.fence;
  ASSERT_TRUE(owner.complete(key("done"), fence, owner.done("answer")).has_value());
  const std::uint64_t flying = owner.begin(key("flying")).record.fence;
  ASSERT_EQ(server.cli("CONFIG SET maxmemory 1"), "OK");
  const auto refused = owner.try_begin(key("new"), owner.terms());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unavailable) << refused.error().message;
  EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
  EXPECT_NE(refused.error().message.find("maxmemory"), std::string::npos);
  const auto kept_out = owner.complete(key("flying"), flying, owner.done("answer"));
  ASSERT_FALSE(kept_out.has_value());
  EXPECT_EQ(kept_out.error().code, Code::unavailable);
  EXPECT_TRUE(kept_out.error().outcome == Outcome::not_applied);
  EXPECT_EQ(owner.begin(key("done")).verdict, Verdict::replay);
  EXPECT_TRUE(owner.clear(key("done")).has_value()) << "which makes room";
  ASSERT_EQ(server.cli("CONFIG SET maxmemory 0"), "OK");
  EXPECT_TRUE(owner.complete(key("flying"), flying, owner.done("answer")).has_value());
  EXPECT_EQ(owner.begin(key("new")).verdict, Verdict::started);
}

TEST_F(RedisRecordStoreTest, ReplaysAreCountedAlsoWhenTheirNumberGetsLonger) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  const std::uint64_t fence = owner.begin(key("k")).record.fence;
  const std::string body("binary\0\n\xff", 9);
  ASSERT_TRUE(owner.complete(key("k"), fence, owner.done(body)).has_value());
  const Record before = owner.get(key("k")).value();
  for (std::uint64_t i = 1; i <= 101; ++i) {
    const Begun begun = owner.begin(key("k"));
    ASSERT_EQ(begun.verdict, Verdict::replay);
    ASSERT_EQ(begun.record.replays, i);
  }
  Record after = owner.get(key("k")).value();
  EXPECT_EQ(after.replays, 101u);
  after.replays = 0;
  EXPECT_EQ(after, before);
}

TEST_F(RedisRecordStoreTest, KeysGoByThemselvesAndTheirNamesAreForgotten) {
  RedisServer server;
  const Store store = open(server);
  const Client owner = client(*store);
  idempotency::Begin brief = owner.terms();
  brief.lease = brief.ttl = Duration::milliseconds(1);
  const std::vector<RecordKey> keys = of_one_group(400);
  for (std::size_t i = 0; i < 300; ++i) owner.begin(keys[i], brief);
  const auto gone = [&] { return server.cli("EXISTS " + redis_key(keys[299])) == "0"; };
  ASSERT_TRUE(eventually(gone));
  for (std::size_t i = 300; i < 400; ++i) owner.begin(keys[i], owner.terms());
  const int names = std::stoi(server.cli("ZCARD " + newest_of(keys[0])));
  EXPECT_GE(names, 100);
  EXPECT_LT(names, 300) << "every start forgets some";
  EXPECT_EQ(owner.list("", 1'000).size(), 100u);
  EXPECT_EQ(server.cli("ZCARD " + newest_of(keys[0])), "100") << "a listing forgets the rest";
  EXPECT_EQ(server.cli("DBSIZE"), "102") << "the records, the fence and the list";
  ASSERT_TRUE(owner.clear(keys[398], true).has_value());
  EXPECT_EQ(server.cli("ZCARD " + newest_of(keys[0])), "99") << "with its record";
  const long long left = std::stoll(server.cli("PTTL " + redis_key(keys[399])));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, (unit * 6).milliseconds_up() + 3);
}

TEST_F(RedisRecordStoreTest, ListsPageByPage) {
  RedisServer server;
  ManualClock time;
  const Store store = open(server, &time);
  const Client owner = client(*store);
  // Behind more names of others than a page looks at, larger than one, some begun at one time.
  const std::vector<RecordKey> own = of_one_group(40);
  const std::vector<RecordKey> others = of_one_group(1'100, "other");
  const std::string said(bounds::record_metadata_bytes_max - 2, ' ');
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i % 4 == 0) time.advance(Duration::microseconds(1));
    const std::uint64_t fence = owner.begin(own[i]).record.fence;
    const auto how = owner.as(Status::done, {.body = "body", .metadata = "{" + said + "}"});
    ASSERT_TRUE(owner.complete(own[i], fence, how).has_value());
  }
  time.advance(Duration::microseconds(1));
  for (const RecordKey& each : others) {
    if (each == others.back()) time.advance(Duration::microseconds(1));
    owner.begin(each);
  }
  const std::vector<KeptRecord> listed = owner.list("acme", 1'000);
  ASSERT_EQ(listed.size(), own.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    EXPECT_EQ(listed[i].key, own[own.size() - 1 - i]) << i;
    EXPECT_EQ(listed[i].record.response.metadata.size(), bounds::record_metadata_bytes_max);
    EXPECT_EQ(listed[i].record.response.body, "");
  }
  EXPECT_EQ(owner.list("", 1'000).size(), 1'000u);
  EXPECT_EQ(owner.list("other", 3).front().key, others.back());
  EXPECT_EQ(owner.list("", 0).size(), 0u);
}

TEST_F(RedisRecordStoreTest, ListsTheNewestOfAllGroups) {
  RedisServer server;
  ManualClock time;
  const Store store = open(server, &time);
  const Client owner = client(*store);
  for (int i = 0; i < 600; ++i) {
    owner.begin(key(std::to_string(i)));
    time.advance(Duration::microseconds(1));
  }
  const std::vector<KeptRecord> listed = owner.list("", 250);
  ASSERT_EQ(listed.size(), 250u);
  for (int i = 0; i < 250; ++i) {
    ASSERT_EQ(listed[static_cast<std::size_t>(i)].key, key(std::to_string(599 - i)));
  }
}

TEST_F(RedisRecordStoreTest, FindsWhatTheServerGives) {
  const auto found = [&](const RedisServer::Options& options) {
    const RedisServer server(options);
    const Store store = open(server);
    return std::string(to_string(store->durability())) + ": " + store->durability_seen();
  };
  const std::string rest = ", no-appendfsync-on-rewrite no, maxmemory-policy noeviction";
  EXPECT_EQ(found({}), "none: appendonly no, appendfsync everysec" + rest);
  EXPECT_EQ(found({"--appendonly", "yes"}), "process: appendonly yes, appendfsync everysec" + rest);
  EXPECT_EQ(found(synced), "fsync: appendonly yes, appendfsync always" + rest);
  RedisServer::Options evicting = synced;
  evicting.insert(evicting.end(), {"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"});
  EXPECT_EQ(found(evicting).substr(0, 5), "none:");
  RedisServer::Options silent = synced;
  silent.insert(silent.end(), {"--rename-command", "CONFIG", ""});
  EXPECT_EQ(found(silent),
            "process: appendonly yes, appendfsync unseen, no-appendfsync-on-rewrite unseen, "
            "maxmemory-policy noeviction");
  silent.insert(silent.end(), {"--rename-command", "INFO", ""});
  EXPECT_EQ(found(silent).substr(0, 24), "none: appendonly unseen,");
}

TEST_F(RedisRecordStoreTest, AClusterGivesWhatItsWeakestNodeGives) {
  redis::RedisCluster cluster(synced);
  ASSERT_TRUE(cluster.meet());
  EXPECT_EQ(open(cluster.url())->durability(), Durability::fsync);
  ASSERT_EQ(cluster.node(1).cli("CONFIG SET appendfsync everysec"), "OK");
  const Store store = open(cluster.url());
  EXPECT_EQ(store->durability(), Durability::process) << store->durability_seen();
}

TEST_F(RedisRecordStoreTest, IsNotOpenedWhereNoServerAnswers) {
  const auto none = RedisRecordStore::open(
      redis::parse_redis_url("redis://127.0.0.1:" + std::to_string(free_port())).value(), clock_,
      {.deadline = Duration::seconds(30)});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::unavailable);
}

}  // namespace
}  // namespace pawl
