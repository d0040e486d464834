// Goal: what doctor found is told in a form for people and one for programs, and ends with the
// right code. Method: findings made by hand.
#include "cli/doctor.h"

#include <gtest/gtest.h>
#include <map>

namespace pawl::cli {
namespace {

const std::vector<Finding> mixed = {
    {.check = "configuration", .found = "fine", .advice = ""},
    {.check = "disk", .health = Health::warn, .found = "nearly full", .advice = "make room"},
    {.check = "upstream", .health = Health::fail, .found = "away", .advice = "start it"},
};

TEST(Doctor, AlignsItsTable) {
  EXPECT_EQ(findings_text(mixed, false),
            "ok    configuration  fine\n"
            "warn  disk           nearly full\n"
            "                     -> make room\n"
            "fail  upstream       away\n"
            "                     -> start it\n"
            "\n"
            "1 ok, 1 to look at, 1 failed\n");
}

TEST(Doctor, ColoursTheStatusAlone) {
  EXPECT_EQ(findings_text(std::span(mixed).first(1), true),
            "\033[32mok    \033[0mconfiguration  fine\n\n1 ok, 0 to look at, 0 failed\n");
}

TEST(Doctor, GivesJsonToPrograms) {
  EXPECT_EQ(
      findings_json(std::span(mixed).subspan(1)),
      R"({"checks":[{"advice":"make room","check":"disk","found":"nearly full","status":"warn"},)"
      R"({"advice":"start it","check":"upstream","found":"away","status":"fail"}],)"
      R"("fail":1,"ok":0,"warn":1})"
      "\n");
}

TEST(Doctor, EndsWellUnlessSomethingFailed) {
  EXPECT_EQ(exit_code(std::span(mixed).first(2)), 0);
  EXPECT_EQ(exit_code(mixed), 6);
  std::vector<Finding> invalid = mixed;
  invalid[0].health = Health::fail;
  EXPECT_EQ(exit_code(invalid), 1);
  std::swap(invalid[0], invalid[2]);
  EXPECT_EQ(exit_code(invalid), 1);
}

TEST(Doctor, UsesColourOnATerminalUnlessToldNotTo) {
  const auto with = [](std::map<std::string, std::string, std::less<>> variables) {
    return [variables](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  };
  EXPECT_TRUE(wants_colour(true, with({})));
  EXPECT_TRUE(wants_colour(true, with({{"NO_COLOR", ""}, {"TERM", "xterm"}})));
  EXPECT_FALSE(wants_colour(false, with({})));
  EXPECT_FALSE(wants_colour(true, with({{"NO_COLOR", "1"}})));
  EXPECT_FALSE(wants_colour(true, with({{"TERM", "dumb"}})));
}

}  // namespace
}  // namespace pawl::cli
