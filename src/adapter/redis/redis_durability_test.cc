// Goal: nobody is promised more than the server gives. Method: settings as a server tells them.
#include "adapter/redis/redis_durability.h"

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

Settings syncing() {
  return {{"appendonly", "yes"},
          {"appendfsync", "always"},
          {"no-appendfsync-on-rewrite", "no"},
          {"maxmemory", "0"},
          {"maxmemory-policy", "noeviction"}};
}

Durability with(const std::string& name, const std::string& value) {
  Settings settings = syncing();
  settings[name] = value;
  return durability_of(settings).durability;
}

Durability without(const std::string& name) {
  Settings settings = syncing();
  settings.erase(name);
  return durability_of(settings).durability;
}

TEST(RedisDurability, IsAsTheServerSyncs) {
  EXPECT_EQ(durability_of(syncing()).durability, Durability::fsync);
  EXPECT_EQ(with("appendfsync", "everysec"), Durability::process);
  EXPECT_EQ(with("appendfsync", "no"), Durability::process);
  EXPECT_EQ(with("no-appendfsync-on-rewrite", "yes"), Durability::process);
  EXPECT_EQ(with("appendonly", "no"), Durability::none);
}

TEST(RedisDurability, IsNoneWhereKeysAreDropped) {
  EXPECT_EQ(with("maxmemory-policy", "volatile-ttl"), Durability::fsync) << "memory has no bound";
  Settings bounded = syncing();
  bounded["maxmemory"] = "1000000";
  EXPECT_EQ(durability_of(bounded).durability, Durability::fsync);
  bounded["maxmemory-policy"] = "volatile-ttl";
  EXPECT_EQ(durability_of(bounded).durability, Durability::none);
  bounded.erase("maxmemory-policy");
  EXPECT_EQ(durability_of(bounded).durability, Durability::none);
}

TEST(RedisDurability, IsTheLeastThatWhatCannotBeSeenAllows) {
  EXPECT_EQ(without("appendfsync"), Durability::process);
  EXPECT_EQ(without("no-appendfsync-on-rewrite"), Durability::process);
  EXPECT_EQ(without("appendonly"), Durability::none);
  const FoundDurability nothing = durability_of({});
  EXPECT_EQ(nothing.durability, Durability::none);
  EXPECT_EQ(nothing.seen,
            "appendonly unseen, appendfsync unseen, no-appendfsync-on-rewrite unseen, "
            "maxmemory-policy unseen");
}

}  // namespace
}  // namespace pawl::redis
