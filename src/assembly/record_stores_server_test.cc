// Goal: a store on a server is opened when it gives what is asked, and is refused, with what to do,
//       when it gives less.
// Method: servers of the test's own, set up as operators might; the run's NATS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/nats/nats_server_fixture.h"
#include "adapter/redis/redis_server_fixture.h"
#include "assembly/audit_sinks.h"
#include "assembly/record_stores.h"
#include "core/audit/sample_event.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class OpenOnServers : public ::testing::Test {
 protected:
  auto open(const std::string& word, Durability at_least) {
    return open_records(parse_store(word).value(), at_least, clock_);
  }
  // One that has just been started takes a moment.
  Result<std::unique_ptr<RecordStore>> open_soon(const std::string& word, Durability at_least) {
    auto opened = open(word, at_least);
    EXPECT_TRUE(eventually([&] {
      if (opened || opened.error().code != Code::unavailable) return true;
      opened = open(word, at_least);
      return false;
    }));
    return opened;
  }

  RealClock clock_;
};

std::string url_of(const redis::RedisServer& server) {
  return "redis://" + server.address();
}

TEST_F(OpenOnServers, ARedisThatSyncsEveryWriteGivesFsync) {
  const redis::RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  const auto store = open_soon(url_of(server), Durability::fsync);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->durability(), Durability::fsync);
}

TEST_F(OpenOnServers, ARedisThatSyncsNowAndThenGivesTheProcessAlone) {
  const redis::RedisServer server({"--appendonly", "yes", "--appendfsync", "everysec"});
  EXPECT_TRUE(open_soon(url_of(server), Durability::process));
  const auto refused = open(url_of(server), Durability::fsync);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("asked for durability 'fsync' and gives "
                                                 "'process': the Redis has appendonly yes"));
  EXPECT_THAT(refused.error().message, HasSubstr("'appendfsync always'"));
}

TEST_F(OpenOnServers, ARedisWithoutAFileGivesNothing) {
  const redis::RedisServer server({"--appendonly", "no"});
  EXPECT_TRUE(open_soon(url_of(server), Durability::none));
  const auto refused = open(url_of(server), Durability::process);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("or ask for 'none'"));
}

TEST_F(OpenOnServers, ANatsGivesTheProcessAtTheMost) {
  const std::string url = to_string(nats::fresh_url("assembly"));
  EXPECT_TRUE(open(url, Durability::process));
  const auto refused = open(url, Durability::fsync);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message,
              HasSubstr("gives 'process': a NATS server does not wait for its disk"));
  EXPECT_THAT(refused.error().message, HasSubstr("name a SQLite file or a Redis"));
}

TEST_F(OpenOnServers, AServerThatIsAwayIsUnavailable) {
  EXPECT_EQ(open("redis://127.0.0.1:1", Durability::none).error().code, Code::unavailable);
  EXPECT_EQ(open("nats://127.0.0.1:1/b", Durability::none).error().code, Code::unavailable);
  const auto sink = open_audit({.sinks = {parse_store("nats://127.0.0.1:1/s").value()}});
  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().code, Code::unavailable);
}

TEST_F(OpenOnServers, AnAuditLogMayBeAStream) {
  const StoreSetting stream = parse_store(to_string(nats::fresh_url("assembly-audit"))).value();
  const auto sink = open_audit({.sinks = {stream}});
  ASSERT_TRUE(sink) << sink.error().message;
  ASSERT_TRUE((*sink)->append(audit::sample_event()));
  EXPECT_TRUE((*sink)->flush());
  EXPECT_EQ((*sink)->lag(), 0U);
}

}  // namespace
}  // namespace pawl
