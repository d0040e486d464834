// Goal: no two keys meet in Redis, none can be mistaken for a group's own, and each can be read
// back. Method: vectors that the documents pin, and every byte in every place.
#include "adapter/redis/record_key.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

#include "adapter/redis/slots.h"

namespace pawl::redis {
namespace {

TEST(RecordKey, HasTheNameThatTheDocumentsTell) {
  EXPECT_EQ(record_name({.scope = "acme", .key = "order-7"}), "acme:order-7");
  EXPECT_EQ(record_name({.scope = "", .key = "a:b%{}"}), ":a%3ab%25%7b%7d");
  EXPECT_EQ(record_name({.scope = "a b", .key = std::string("\0\xff\x7f", 3)}), "a%20b:%00%ff%7f");
  EXPECT_EQ(scope_prefix("acme"), "acme:");
  EXPECT_EQ(group_prefix(7), "idem:{07}:");
  EXPECT_EQ(fence_key(group_prefix(63)), "idem:{63}:fence");
  EXPECT_EQ(newest_key(group_prefix(0)), "idem:{00}:newest");
  EXPECT_EQ(prefix_of("acme:order-7"), "idem:{33}:");
}

TEST(RecordKey, IsReadBackWhateverItsBytes) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    for (const RecordKey& key :
         {RecordKey{.scope = text, .key = "k"}, RecordKey{.scope = "", .key = text},
          RecordKey{.scope = "k", .key = text + ":" + text}}) {
      const std::string name = record_name(key);
      names.insert(name);
      ++count;
      const auto found = parse_record_name(name);
      ASSERT_TRUE(found.has_value()) << name;
      EXPECT_EQ(*found, key);
      EXPECT_EQ(name.find_first_of("{} \n"), name.npos);
      EXPECT_NE(name.find(':'), name.npos) << "else it could be a group's own key";
    }
  }
  EXPECT_EQ(names.size(), count);
}

TEST(RecordKey, IsOneNameAlone) {
  for (const char* name : {"", "fence", "newest", "acme:", "acme:a:b", "acme:%", "acme:%3", "a:%3A",
                           "a:%41", "a:{b}", "a: b", "a:\n"}) {
    EXPECT_FALSE(parse_record_name(name).has_value()) << name;
  }
}

TEST(RecordKey, GroupsAreSpreadOverKeysAndSlots) {
  std::set<std::string> groups;
  for (int i = 0; i < 2'000; ++i)
    groups.insert(prefix_of(record_name({"acme", std::to_string(i)})));
  EXPECT_EQ(groups.size(), 64u);
  int thirds[3] = {};
  for (int group = 0; group < record_groups; ++group) {
    ++thirds[key_slot(group_prefix(group)) * 3 / slots_count];
  }
  for (const int third : thirds) EXPECT_GT(third, 64 / 6) << "a node of three has its part";
}

}  // namespace
}  // namespace pawl::redis
