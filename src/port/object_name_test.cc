// Goal: no name leads out of its folder, and every store takes the same ones.
// Method: names at their bounds and hostile ones.
#include "port/object_name.h"

#include <gtest/gtest.h>
#include <string>

#include "base/bounds_queue.h"

namespace pawl {
namespace {

TEST(ObjectName, IsAPathOfPlainParts) {
  const std::string part(bounds::object_part_bytes_max, 'p');
  std::string longest = part + "/" + part + "/" + part + "/" + part;
  longest += "/";
  ASSERT_EQ(longest.size(), bounds::object_key_bytes_max);
  for (const std::string& name :
       {std::string("a"), std::string("log/0/00000000000000000001"), std::string("queue.json"),
        std::string("A-z_9."), part, longest.substr(0, longest.size() - 1)}) {
    EXPECT_TRUE(check_object_name(name)) << name;
    EXPECT_TRUE(check_object_prefix(name)) << name;
  }
}

TEST(ObjectName, RefusesWhatCouldLeadElsewhere) {
  const std::string part(bounds::object_part_bytes_max + 1, 'p');
  for (const std::string& name :
       {std::string("../x"), std::string("a/../x"), std::string("."), std::string(".."),
        std::string(".tmp/x"), std::string("a/.b"), std::string("/a"), std::string("a//b"),
        std::string("a\0b", 3), std::string("a b"), std::string("a\nb"), std::string("ä"),
        std::string("a\\b"), std::string("a?b"), std::string("a%2fb"), part, "a/" + part,
        std::string(bounds::object_key_bytes_max + 1, 'a')}) {
    for (const auto& checked : {check_object_name(name), check_object_prefix(name)}) {
      ASSERT_FALSE(checked) << name;
      EXPECT_EQ(checked.error().code, Code::invalid);
      EXPECT_EQ(checked.error().outcome, Outcome::not_applied);
    }
  }
  EXPECT_EQ(check_object_name("a//b").error().message,
            "the object name 'a//b' cannot be used: it has an empty part");
  EXPECT_EQ(check_object_name("a/../x\x1b").error().message,
            "the object name 'a/../x?' cannot be used: only letters, digits and . _ - / may stand "
            "in one");
}

TEST(ObjectName, APrefixMayEndAnywhere) {
  for (const char* prefix : {"", "a/", "log/0/00"}) {
    EXPECT_TRUE(check_object_prefix(prefix)) << prefix;
  }
  for (const char* name : {"", "a/"}) EXPECT_FALSE(check_object_name(name)) << name;
}

}  // namespace
}  // namespace pawl
