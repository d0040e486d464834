// Goal: what others chose to call something cannot disturb a terminal, and lengths of time read
//       easily. Method: pinned texts.
#include "cli/words.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

TEST(Words, AreShownAsTheyAreOrQuoted) {
  EXPECT_EQ(word("acme"), "acme");
  EXPECT_EQ(word(""), "-");
  EXPECT_EQ(word("a b"), "\"a b\"");
  EXPECT_EQ(word("\033[2J"), "\"\\u001b[2J\"");
  EXPECT_EQ(sentence("it is\nover"), "it is\\nover");
}

TEST(Words, AreNamesAsTheyAreWhereALineHoldsThem) {
  EXPECT_EQ(name_line("weird \"type\""), "weird \"type\"\n");
  EXPECT_EQ(name_line("größe"), "größe\n");
  EXPECT_EQ(name_line("two\nlines"), "");
  EXPECT_EQ(name_line("\033[2J"), "");
  EXPECT_EQ(name_line("\x7f"), "");
}

TEST(Words, MayBeTypedAgain) {
  EXPECT_EQ(shell_word("dir/pawl-1.yaml"), "dir/pawl-1.yaml");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Words, ArePaintedWhereColourIsWanted) {
  EXPECT_EQ(painted("no", red, true), "\033[31mno\033[0m");
  EXPECT_EQ(painted("no", red, false), "no");
  EXPECT_EQ(painted("no", "", true), "no");
}

TEST(Words, AreCountedAndCutByCharacters) {
  EXPECT_EQ(width_of("Grüße…"), 6u);
  EXPECT_EQ(shortened("Grüße…", 6), "Grüße…");
  EXPECT_EQ(shortened("üüüüüüü", 6), "üüü...");
  EXPECT_EQ(shortened("plain text", 6), "pla...");
}

TEST(Words, DrawABar) {
  EXPECT_EQ(bar(0, 10), "[....................]");
  EXPECT_EQ(bar(5, 10), "[##########..........]");
  EXPECT_EQ(bar(10, 10), "[####################]");
  EXPECT_EQ(bar(11, 10), "[####################]");
  EXPECT_EQ(bar(0, 0), "[####################]");
}

TEST(Words, TellATimeInItsTwoLargestUnits) {
  EXPECT_EQ(about(Duration::milliseconds(250)), "250ms");
  EXPECT_EQ(about(Duration::seconds(59)), "59s");
  EXPECT_EQ(about(Duration::seconds(312)), "5m12s");
  EXPECT_EQ(about(Duration::minutes(5)), "5m");
  EXPECT_EQ(about(Duration::minutes(5) - Duration::milliseconds(2)), "5m");
  EXPECT_EQ(about(Duration::hours(25)), "1d1h");
  EXPECT_EQ(about(Duration::hours(24) + Duration::minutes(3)), "1d");
  EXPECT_EQ(about(-Duration::seconds(3)), "-3s");
}

}  // namespace
}  // namespace pawl::cli
