// Goal: what a stranger wrote is read in one way or refused. Method: tables.
#include "admin/target.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::admin {
namespace {

TEST(Target, DecodesASegment) {
  EXPECT_EQ(decode("a%2Fb%2fc+d").value(), "a/b/c+d");
  EXPECT_EQ(decode("%C3%A9%25").value(), "\xc3\xa9%");
  EXPECT_EQ(decode("").value(), "");
}

TEST(Target, RefusesWhatIsNoText) {
  for (const char* bad : {"%", "%4", "a%4", "%zz", "%0a", "%00", "%7F", "%ff", "%c0%af", "\x01"}) {
    EXPECT_FALSE(decode(bad).has_value()) << bad;
    EXPECT_FALSE(parse_query("/x?a=" + std::string(bad)).has_value()) << bad;
    EXPECT_FALSE(parse_query("/x?" + std::string(bad) + "=a").has_value()) << bad;
  }
}

TEST(Target, ReadsAQuery) {
  const Query expected = {{"a", "1 2"}, {"b", ""}, {"c", ""}, {"d", "x=y"}};
  EXPECT_EQ(parse_query("/p?a=1+2&b=&c&&d=x=y").value(), expected);
  EXPECT_EQ(parse_query("/p").value(), Query());
  EXPECT_EQ(parse_query("/p?").value(), Query());
}

TEST(Target, RefusesANameGivenTwiceAndTooMany) {
  EXPECT_FALSE(parse_query("/p?a=1&%61=2").has_value());
  std::string target = "/p?";
  for (std::size_t i = 0; i < bounds::admin_parameters_max; ++i) {
    target += "a" + std::to_string(i) + "=1&";
  }
  EXPECT_TRUE(parse_query(target).has_value());
  EXPECT_FALSE(parse_query(target + "more=1").has_value());
}

}  // namespace
}  // namespace pawl::admin
