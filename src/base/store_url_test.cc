// Goal: what all URLs of stores have in common is read alike, whichever store asks. Method: the
// parts of one URL, and the bounds a form sets; the tests of each kind of URL have the rest.
#include "base/store_url.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

constexpr StoreUrlForm form = {.kind = "Store", .default_port = 7, .servers_max = 2};

TEST(StoreUrl, TakesAUrlApart) {
  const auto url = parse_store_url("u%3A:p:w@a:1,[::1]/some/path?x=%20y", form);
  ASSERT_TRUE(url.has_value()) << url.error().message;
  EXPECT_EQ(url->user, "u:");
  EXPECT_EQ(url->password.reveal(), "p:w");
  EXPECT_EQ(url->servers, (std::vector<Target>{{"a", 1}, {"::1", 7}}));
  EXPECT_EQ(to_string(url->servers), "a:1,[::1]:7");
  EXPECT_EQ(url->path, "some/path");
  EXPECT_EQ(parse_url_option(url->query, "x", form).value(), " y");
}

TEST(StoreUrl, HoldsToTheBoundsOfTheForm) {
  EXPECT_TRUE(parse_store_url("a,b", form).has_value());
  EXPECT_EQ(parse_store_url("a,b,c", form).error().message, "not a Store URL: too many servers");
}

}  // namespace
}  // namespace pawl
