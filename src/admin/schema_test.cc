// Goal: what does not fit a schema is told by name, what fits is let be. Method: tables.
#include "admin/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;

Schema example() {
  return schema::object({{"as", schema::word({"done", "failed"})},
                         {"reason", schema::text(1, 5)},
                         {"limit", schema::whole(1, 10), false},
                         {"force", schema::truth(), false},
                         {"tags", schema::list_of(schema::text()), false},
                         {"counts", schema::map_of(schema::count()), false},
                         {"plan", schema::or_null(schema::word({"pro"})), false},
                         {"data", schema::anything(), false}});
}

std::string flaw_of(std::string_view text) {
  return flaw(example(), json::parse(text).value(), "the body");
}

TEST(Schema, LetsBeWhatFits) {
  EXPECT_EQ(flaw_of(R"({"as":"done","reason":"x"})"), "");
  EXPECT_EQ(flaw_of(R"({"as":"failed","reason":"12345","limit":10,"force":false,"tags":["a"],
                       "counts":{"a":0},"plan":null,"data":[1,{"x":null}]})"),
            "");
  EXPECT_EQ(flaw_of(R"({"as":"done","reason":"x","plan":"pro"})"), "");
}

TEST(Schema, NamesWhatDoesNot) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "the body: found a value of type array"},
      {R"({"as":"done"})", "reason: found nothing"},
      {R"({"as":"gone","reason":"x"})", "as: found another word; allowed: done, failed"},
      {R"({"as":null,"reason":"x"})", "as: found a value of type null"},
      {R"({"as":"done","reason":""})", "reason: found 0 bytes"},
      {R"({"as":"done","reason":"123456"})", "from 1 to 5"},
      {R"({"as":"done","reason":"x","limit":0})", "limit: found 0; allowed: a whole number from 1"},
      {R"({"as":"done","reason":"x","limit":11})", "to 10"},
      {R"({"as":"done","reason":"x","limit":1.5})", "limit: found a value of type number"},
      {R"({"as":"done","reason":"x","limit":99999999999999999999})", "type number"},
      {R"({"as":"done","reason":"x","force":"true"})", "force: found a value of type string"},
      {R"({"as":"done","reason":"x","tags":["a",1]})", "tags: found a value of type integer"},
      {R"({"as":"done","reason":"x","counts":{"a":-1}})", "a: found -1"},
      {R"({"as":"done","reason":"x","plan":"free"})", "plan: found another word"},
      {R"({"as":"done","reason":"x","other":1})", "a member that is not known; allowed: as, count"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(flaw_of(text), HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace pawl::admin
