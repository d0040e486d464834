// Goal: --help tells everything that the table knows, on a terminal of the usual width.
// Method: every verb's help is searched for what its row holds.
#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "cli/verbs.h"
#include "pawl/result.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Line ends and indentation do not matter to what a text says.
std::string flat(const std::string& text) {
  std::istringstream stream(text);
  std::string out;
  for (std::string word; stream >> word;) out += " " + word;
  return out;
}

// Without the backslashes behind which a long command goes on.
std::string unbroken(std::string text) {
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at)) {
    text.erase(at, 2);
  }
  return text;
}

TEST(Help, OfAVerbHoldsAllOfItsRow) {
  for (const Verb& verb : all_verbs()) {
    const std::string text = help(all_verbs(), verb.path);
    EXPECT_THAT(text, HasSubstr("\nUsage: pawl " + std::string(verb.path) + " [OPTIONS]"));
    EXPECT_THAT(flat(text), HasSubstr(flat(std::string(verb.summary))));
    EXPECT_THAT(flat(text), HasSubstr(flat(std::string(verb.description))));
    for (const Option& option : options_of(verb)) {
      EXPECT_THAT(text, HasSubstr("  " + option_usage(option) + " "));
      EXPECT_THAT(flat(text), HasSubstr(flat(std::string(option.help))));
      EXPECT_THAT(flat(text), HasSubstr(flat(one_of(option.value))));
      if (!option.standard.empty()) {
        EXPECT_THAT(flat(text), HasSubstr("Default: " + std::string(option.standard)));
      }
    }
    for (const Positional& positional : verb.positionals) {
      EXPECT_THAT(flat(text), HasSubstr(flat(std::string(positional.help))));
    }
    for (const ExitCode& exit : verb.exit_codes) {
      EXPECT_THAT(flat(text),
                  HasSubstr(" " + std::to_string(exit.code) + flat(std::string(exit.meaning))));
    }
    EXPECT_THAT(text, HasSubstr("\nExamples:\n  pawl " + std::string(verb.path)));
    for (const Example& example : verb.examples) {
      EXPECT_THAT(flat(unbroken(text)), HasSubstr(flat(std::string(example.command))));
    }
  }
}

TEST(Help, OfTheWholeNamesEveryVerbAndExitCode) {
  const std::string text = help(all_verbs(), "");
  EXPECT_THAT(text, HasSubstr("\nUsage: pawl VERB [OPTIONS]\n"));
  for (const Verb& verb : all_verbs())
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(verb.path) + " "));
  for (const ExitCode& exit : all_exit_codes()) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::to_string(exit.code) + " "));
  }
}

TEST(Help, OfAFirstWordNamesTheVerbsBelowIt) {
  const std::string text = help(all_verbs(), "config");
  EXPECT_THAT(text, HasSubstr("Usage: pawl config VERB"));
  EXPECT_THAT(text, HasSubstr("\n  config check "));
  EXPECT_THAT(text, Not(HasSubstr("\n  serve ")));
}

TEST(Help, FitsOnATerminal) {
  for (const Verb& verb : all_verbs()) {
    std::istringstream lines(help(all_verbs(), verb.path) + help(all_verbs(), ""));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Help, NamesTheWordsThatMayStandSomewhere) {
  const std::string text = flat(help(all_verbs(), "order place"));
  EXPECT_THAT(text, HasSubstr("--type TYPE Of the order. One of: market, limit, stop, stop_limit, "
                              "post_only."));
  EXPECT_THAT(flat(help(all_verbs(), "completions")), HasSubstr("One of: bash, "));
  EXPECT_EQ(one_of({.name = "FILE"}), "");
}

TEST(Help, MarksWhatMayBeLeftOut) {
  EXPECT_EQ(usage(*find_verb(all_verbs(), "audit verify")), "pawl audit verify [OPTIONS] [FILE]");
  EXPECT_EQ(usage(*find_verb(all_verbs(), "completions")), "pawl completions [OPTIONS] SHELL");
}

TEST(Help, ListsTheExitCodesOfErrors) {
  std::vector<int> codes;
  for (const ExitCode& exit : all_exit_codes()) codes.push_back(exit.code);
  const std::vector<int> expected = {0,
                                     int(Code::invalid),
                                     int(Code::usage),
                                     int(Code::refused),
                                     int(Code::unresolved),
                                     int(Code::not_found),
                                     int(Code::unavailable),
                                     int(Code::internal)};
  EXPECT_EQ(codes, expected);
}

}  // namespace
}  // namespace pawl::cli
