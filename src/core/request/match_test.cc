// Goal: a request is counted where it belongs, however its path is spelt. Method: tables of paths
// and patterns, and a property: what a path is built from decides, not how it is written.
#include "core/request/match.h"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::request {
namespace {

std::string normal(std::string_view path) {
  std::string room;
  return std::string(normal_path(path, room));
}

bool matches(std::string_view pattern, std::string_view path) {
  return PathPattern::parse(pattern).value().matches(path);
}

TEST(NormalPath, IsOneForAllSpellings) {
  struct Case {
    std::string_view path;
    std::string_view normal;
  };
  for (const Case& c : {
           Case{"/", "/"},
           {"", "/"},
           {"*", "/"},
           {"/a/b", "/a/b"},
           {"/a/b/", "/a/b/"},
           {"//a///b//", "/a/b/"},
           {"/%61/%7Eb%2dc", "/a/~b-c"},
           {"/v1/messages%3asend%40", "/v1/messages:send@"},
           {"/a%2fb", "/a%2Fb"},
           {"/a%2Fb", "/a%2Fb"},
           {"/%c3%a4", "/%C3%A4"},
           {"/a%3fb%23c%20", "/a%3Fb%23c%20"},
           {"/./a/./b/.", "/a/b/"},
           {"/a/../b", "/b"},
           {"/a/b/..", "/a/"},
           {"/a/b/../..", "/"},
           {"/../../a", "/a"},
           {"/a/%2e%2E/b", "/b"},
           {"/a/.%2e/b", "/b"},
           {"/a//../b", "/b"},
           {"/...", "/..."},
           {"/.a/..b", "/.a/..b"},
           {"/a%", "/a%25"},
           {"/a%zz", "/a%25zz"},
           {"/%%361", "/%2561"},
           {"/%252e%252e/a", "/%252e%252e/a"},
       }) {
    EXPECT_EQ(normal(c.path), c.normal) << c.path;
    EXPECT_EQ(normal(c.normal), c.normal) << c.path;
  }
}

TEST(NormalPath, TakesNoRoomForAPathThatIsNormal) {
  for (const std::string_view path : {"/v1/orders/42", "/", "/a%2Fb/..c", "/a/"}) {
    std::string room = "untouched";
    EXPECT_EQ(normal_path(path, room).data(), path.data());
    EXPECT_EQ(room, "untouched");
  }
}

RC_GTEST_PROP(NormalPath, DependsOnWhatIsMeantNotOnHowItIsSpelt, ()) {
  const auto segments = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab-~@:!;.")))));
  std::string plain;
  std::string spelt;
  for (const std::string& segment : segments) {
    if (segment == "." || segment == "..") continue;
    plain += "/" + segment;
    spelt += *rc::gen::element<std::string>("/", "//", "/./", "/x/../", "/%2e/", "/x/%2E./");
    for (const char c : segment) {
      char escape[4];
      const std::array<const char*, 3> forms = {"%c", "%%%02x", "%%%02X"};
      const auto form = *rc::gen::inRange<std::size_t>(0, forms.size());
      std::snprintf(escape, sizeof(escape), forms[form], c);
      spelt += escape;
    }
  }
  RC_ASSERT(normal(spelt) == normal(plain));
}

TEST(PathPattern, MatchesSegmentBySegment) {
  struct Case {
    std::string_view pattern;
    std::string_view path;
    bool matches;
  };
  for (const Case& c : {
           Case{"/**", "/", true},
           {"/**", "/a/b", true},
           {"/**", "*", true},
           {"/", "/", true},
           {"/", "/a", false},
           {"/login", "/login", true},
           {"/login", "/login/", true},
           {"/login/", "/login", true},
           {"/login", "//login", true},
           {"/login", "/x/../log%69n", true},
           {"/login", "/login%2F", false},
           {"/login", "/login/now", false},
           {"/login", "/logins", false},
           {"/login", "/Login", false},
           {"/v1/**", "/v1", true},
           {"/v1/**", "/v1/", true},
           {"/v1/**", "/v1/a/b", true},
           {"/v1/**", "/v12", false},
           {"/v1/**", "/v1/../v2", false},
           {"/v1/*", "/v1/a", true},
           {"/v1/*", "/v1", false},
           {"/v1/*", "/v1/", false},
           {"/v1/*", "/v1/a/b", false},
           {"/v1/*/items", "/v1/7/items", true},
           {"/v1/*/items", "/v1/7/8/items", false},
           {"/v1/*/items", "/v1//items", false},
           {"/*/**", "/", false},
           {"/*/**", "/a", true},
           {"/v1/m%3Asend", "/v1/m:send", true},
           {"/v1/m:send", "/v1/m%3asend", true},
           {"/a%2Fb", "/a%2fb", true},
           {"/a%2Fb", "/a/b", false},
           {"/a/%2A", "/a/*", true},
           {"/a/%2A", "/a/b", false},
       }) {
    EXPECT_EQ(matches(c.pattern, c.path), c.matches) << c.pattern << " " << c.path;
  }
}

TEST(PathPattern, SaysWhatItLooksLikeWhenItIsNone) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("*"), std::string("/a*"), std::string("/**/a"),
        std::string("/**/**"), std::string("/***"), std::string("/a?b"), std::string("/a b"),
        std::string("/a#b"), std::string("/\xc3\xa4"), std::string("/a/../b"),
        std::string("/%2e/a"), "/" + std::string(bounds::http_request_line_bytes_max, 'a')}) {
    const Result<PathPattern> pattern = PathPattern::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, Code::invalid);
    EXPECT_NE(pattern.error().message.find("/v1/*/items"), std::string::npos);
    EXPECT_LT(pattern.error().message.size(), 400u);
  }
}

TEST(PathPattern, KeepsItsTextAsWritten) {
  EXPECT_EQ(PathPattern::parse("/a/%7Eb/**").value().text(), "/a/%7Eb/**");
}

http::RequestHead head_of(std::string_view method, std::string_view target) {
  http::RequestHead head;
  head.method = method;
  head.target = target;
  EXPECT_TRUE(head.fields.add({"X-Kind", "bulk"}));
  EXPECT_TRUE(head.fields.add({"x-kind", "test"}));
  return head;
}

TEST(Match, OfNothingAgreesWithEverything) {
  EXPECT_TRUE(Match().matches(head_of("OPTIONS", "*")));
}

TEST(Match, AsksForAllThatIsThere) {
  const Match match{.path = PathPattern::parse("/v1/**").value(),
                    .methods = {"POST", "PUT"},
                    .header = HeaderMatch{.name = "X-KIND", .value = "test"}};
  EXPECT_TRUE(match.matches(head_of("PUT", "/v1/a?/v2")));
  EXPECT_FALSE(match.matches(head_of("GET", "/v1/a")));
  EXPECT_FALSE(match.matches(head_of("put", "/v1/a")));
  EXPECT_FALSE(match.matches(head_of("PUT", "/v2/a")));
  Match other = match;
  other.header->value = "Test";
  EXPECT_FALSE(other.matches(head_of("PUT", "/v1/a")));
  other.header->value.clear();
  EXPECT_TRUE(other.matches(head_of("PUT", "/v1/a")));
  other.header->name = "X-Kin";
  EXPECT_FALSE(other.matches(head_of("PUT", "/v1/a")));
}

}  // namespace
}  // namespace pawl::request
