// Goal: the same intent has the same key on every machine, and no other intent has it. Method: the
// vectors of docs/formats.md, two of them pinned here as well; pairs that a careless joining of the
// parts would make alike; random intents whose parts are cut at another place.
#include "core/idempotency/key.h"

#include <fstream>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <sstream>
#include <vector>

#include "base/bounds.h"

namespace pawl::idempotency {
namespace {

std::string key_of(const Intent& intent) {
  return compute_key(intent).value();
}

std::string key_of(const char* params) {
  return key_of({.operation = "op", .params = json::parse(params).value()});
}

std::optional<std::string_view> text_or_none(const json::Value& value) {
  if (value.is_null()) return std::nullopt;
  return *value.if_string();
}

TEST(IdempotencyKey, IsPinned) {
  EXPECT_EQ(key_of({.operation = "place_order"}),
            "84a6b6ffcaebe8ac299d751ccf33bc5f495ed18dad9337f98fdd8f40207cbcfd");
  EXPECT_EQ(key_of({.operation = "place_order",
                    .tenant_id = "acme",
                    .correlation_id = "c-1",
                    .params = json::parse(R"({"b":2,"a":{"y":[1,2],"x":null}})").value()}),
            "10c24c4f0c98b733d984202834ed135e3a187b46677b595a05230968f53584c9");
  EXPECT_EQ(fingerprint("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(IdempotencyKey, IsThatOfEveryVectorInTheDocument) {
  std::ifstream file(PAWL_SOURCE_DIR "/docs/formats.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::size_t start = all.find("Vectors, each a key and its text:\n\n```\n");
  ASSERT_NE(start, std::string::npos);
  std::istringstream lines(all.substr(all.find("```\n", start) + 4));
  int vectors = 0;
  for (std::string line; std::getline(lines, line) && line != "```"; ++vectors) {
    const json::Value value = json::parse(std::string_view(line).substr(65)).value();
    const Intent intent{.operation = *value.find("operation")->if_string(),
                        .tenant_id = text_or_none(*value.find("tenant_id")),
                        .correlation_id = text_or_none(*value.find("correlation_id")),
                        .params = *value.find("params")};
    EXPECT_EQ(key_of(intent), line.substr(0, 64)) << line;
  }
  EXPECT_EQ(vectors, 6);
}

TEST(IdempotencyKey, DoesNotHangOnTheOrderOfMembersAtAnyDepthNorOnTheFormOfANumber) {
  EXPECT_EQ(key_of(R"({"a":{"x":1,"y":[{"p":1,"q":2}]},"b":2})"),
            key_of(R"({"b":2,"a":{"y":[{"q":2,"p":1}],"x":1}})"));
  EXPECT_NE(key_of("[1,2]"), key_of("[2,1]"));
  const std::string one = key_of("1");
  for (const char* same : {"1.0", "1e0", "1.00E+0", "10e-1", "0.1e1", "100e-02"}) {
    EXPECT_EQ(key_of(same), one) << same;
  }
  EXPECT_EQ(key_of("0"), key_of("-0.0e99999999999999999999"));
  EXPECT_EQ(key_of("1e300"), key_of("0.001e303"));
}

TEST(IdempotencyKey, TellsApartWhatJoiningMakesAlike) {
  const std::vector<Intent> intents = {{.operation = "a", .tenant_id = "b"},
                                       {.operation = "ab", .tenant_id = ""},
                                       {.operation = "ab"},
                                       {.operation = "", .tenant_id = "ab"},
                                       {.operation = "a", .correlation_id = "b"},
                                       {.operation = "a", .params = "b"},
                                       {.operation = "a", .params = json::Object()},
                                       {.operation = "a", .params = json::Array()},
                                       {.operation = "a", .params = 0},
                                       {.operation = "a", .params = "0"},
                                       {.operation = "a", .params = false},
                                       {.operation = "a", .params = ""},
                                       {.operation = "a", .tenant_id = "null"},
                                       {.operation = "a"},
                                       {.operation = R"(a","params":null)"},
                                       {.operation = "é"},
                                       {.operation = "e\u0301"},
                                       {.operation = std::string_view("a\0", 2)}};
  std::set<std::string> keys;
  for (const Intent& intent : intents) keys.insert(key_of(intent));
  EXPECT_EQ(keys.size(), intents.size());
}

TEST(IdempotencyKey, RefusesWhatTheCanonicalFormWouldMakeAlike) {
  for (const char* number : {"9007199254740993", "0.1000000000000000055", "4.9e-324", "1e400",
                             "12345678901234567890", "0.30000000000000000001", "1e-400"}) {
    const auto key = compute_key({.operation = "op", .params = json::parse(number).value()});
    ASSERT_FALSE(key.has_value()) << number;
    EXPECT_EQ(key.error().code, Code::invalid);
    EXPECT_NE(key.error().message.find(number), std::string::npos);
  }
  for (const char* number : {"9007199254740992", "0.1", "1.7976931348623157e308", "5e-324",
                             "-12.50", "1234567890123456800000"}) {
    EXPECT_TRUE(compute_key({.operation = "op", .params = json::parse(number).value()}).has_value())
        << number;
  }
  json::Object wrong_name;
  wrong_name["\xff"] = 1;
  for (const Intent& intent :
       {Intent{.operation = "\xff"}, Intent{.operation = "", .tenant_id = "\xc0\x80"},
        Intent{.operation = "", .correlation_id = "\xed\xa0\x80"},
        Intent{.operation = "", .params = json::Array{"\xfe"}},
        Intent{.operation = "", .params = wrong_name}}) {
    ASSERT_FALSE(compute_key(intent).has_value());
    EXPECT_EQ(compute_key(intent).error().code, Code::invalid);
  }
}

TEST(IdempotencyKey, RefusesParamsThatNestTooDeep) {
  json::Value deep = "leaf";
  for (std::size_t i = 0; i < bounds::json_depth_max; ++i) {
    json::Array outer;
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_TRUE(compute_key({.operation = "", .params = deep}).has_value());
  EXPECT_FALSE(compute_key({.operation = "", .params = json::Array{deep}}).has_value());
}

RC_GTEST_PROP(IdempotencyKey, OfTheSameTextCutElsewhereIsAnother, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', '"', ',', '\\', ':'));
  const auto place = [&] { return *rc::gen::inRange<std::size_t>(0, text.size() + 1); };
  const auto cut = [&](std::size_t a, std::size_t b) {
    const std::string_view all = text;
    return key_of({.operation = all.substr(0, std::min(a, b)),
                   .tenant_id = all.substr(std::min(a, b), std::max(a, b) - std::min(a, b)),
                   .params = all.substr(std::max(a, b))});
  };
  const std::size_t a = place(), b = place(), c = place(), d = place();
  const bool same = std::minmax(a, b) == std::minmax(c, d);
  RC_ASSERT((cut(a, b) == cut(c, d)) == same);
}

}  // namespace
}  // namespace pawl::idempotency
