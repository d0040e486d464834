// Goal: the table of verbs is sound, so that whatever is made from it is too.
// Method: rules that hold for every row; each example is parsed by the parser itself.
#include "cli/verbs.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "cli/app.h"
#include "cli/help.h"
#include "cli/queue_rows.h"
#include "cli/work_verb.h"

namespace pawl::cli {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::SizeIs;

// Up to where the shell would send the output.
std::vector<std::string> words_of(std::string_view command) {
  std::istringstream stream{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; stream >> word && word != ">" && word != "|";) words.push_back(word);
  return words;
}

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

class EveryVerb : public ::testing::TestWithParam<Verb> {};

TEST_P(EveryVerb, IsWrittenInPlainSentences) {
  const Verb& verb = GetParam();
  EXPECT_TRUE(is_plain(verb.path) && is_plain(verb.summary) && is_plain(verb.description));
  EXPECT_FALSE(verb.summary.ends_with('.'));
  EXPECT_LT(verb.summary.size(), 62U) << "the overview has one line a verb";
  EXPECT_TRUE(verb.description.ends_with('.'));
  for (const Option& option : options_of(verb)) {
    EXPECT_TRUE(is_plain(option.help) && option.help.ends_with('.')) << option.name;
  }
  for (const Positional& positional : verb.positionals) {
    EXPECT_TRUE(is_plain(positional.help) && positional.help.ends_with('.'))
        << positional.value.name;
  }
}

TEST(VerbsOfTheQueue, TellEveryExitCodeThatTheyMayHave) {
  for (const auto rows : {task_rows(), queue_rows(), work_rows()}) {
    for (const Verb& verb : rows) {
      std::set<int> codes;
      for (const ExitCode& each : verb.exit_codes) codes.insert(each.code);
      for (const int code : {0, 1, 2, 3, 6}) EXPECT_TRUE(codes.contains(code)) << verb.path << code;
      // A worker makes its queue, and tells what it does not know to the history.
      EXPECT_TRUE(verb.path == "work" || codes.contains(5)) << verb.path;
    }
  }
}

TEST_P(EveryVerb, HasAPathOfPlainWords) {
  EXPECT_TRUE(std::ranges::all_of(
      GetParam().path, [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == ' '; }));
}

TEST_P(EveryVerb, TakesEachOptionOnce) {
  std::set<std::string_view> seen;
  for (const Option& option : options_of(GetParam())) {
    EXPECT_TRUE(option.name.starts_with("--") && option.name.size() > 2) << option.name;
    EXPECT_TRUE(seen.insert(option.name).second) << option.name;
  }
  EXPECT_THAT(seen, Contains("--help"));
  EXPECT_THAT(seen, Contains("--config"));
}

TEST_P(EveryVerb, AsksForWhatItNeedsFirst) {
  const auto& positionals = GetParam().positionals;
  EXPECT_TRUE(std::ranges::is_partitioned(positionals, &Positional::required));
}

TEST_P(EveryVerb, EndsWithExitCodesOfTheProductAlone) {
  for (const ExitCode& each : GetParam().exit_codes) {
    EXPECT_NE(std::ranges::find(all_exit_codes(), each.code, &ExitCode::code),
              all_exit_codes().end())
        << each.code;
  }
}

TEST_P(EveryVerb, HasExamplesThatTheParserTakes) {
  const Verb& verb = GetParam();
  EXPECT_FALSE(verb.examples.empty());
  for (const Example& example : verb.examples) {
    std::vector<std::string> words = words_of(example.command);
    ASSERT_EQ(words.front(), "pawl");
    words.erase(words.begin());
    const Result<Parsed> parsed = parse(all_verbs(), words);
    ASSERT_TRUE(parsed.has_value()) << example.command << ": " << parsed.error().message;
    const Call* call = std::get_if<Call>(&*parsed);
    ASSERT_NE(call, nullptr) << example.command;
    EXPECT_EQ(call->verb->path, verb.path) << example.command;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryVerb,
                         ::testing::ValuesIn(all_verbs().begin(), all_verbs().end()),
                         [](const auto& verb) {
                           std::string name(verb.param.path);
                           std::ranges::replace_if(
                               name, [](char c) { return c == ' ' || c == '-'; }, '_');
                           return name;
                         });

TEST(Verbs, HaveDifferentPathsNoneOfWhichBeginsAnother) {
  for (const Verb& verb : all_verbs()) {
    EXPECT_EQ(std::ranges::count(all_verbs(), verb.path, &Verb::path), 1) << verb.path;
    EXPECT_THAT(next_words(all_verbs(), verb.path), SizeIs(0)) << verb.path;
  }
}

TEST(Verbs, FollowEachOtherWordByWord) {
  EXPECT_THAT(next_words(all_verbs(), ""), Contains("config"));
  EXPECT_THAT(next_words(all_verbs(), ""), Not(Contains("check")));
  EXPECT_THAT(next_words(all_verbs(), "config"), Contains("check"));
  EXPECT_THAT(next_words(all_verbs(), "conf"), SizeIs(0));
}

TEST(ArgumentsDeathTest, AnswersForNamesOfTheVerbAlone) {
  const Arguments arguments(*find_verb(all_verbs(), "serve"));
  EXPECT_FALSE(arguments.has("--config"));
  EXPECT_DEATH((void)arguments.has("--conifg"), "Assertion");
}

}  // namespace
}  // namespace pawl::cli
