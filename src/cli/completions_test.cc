// Goal: each shell is told of every verb, option and choice.
// Method: the scripts are searched for every row. tests/e2e runs them in the shells themselves.
#include "cli/completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.h"

namespace pawl::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr std::string_view tones[] = {"loud", "soft"};
constexpr Positional places[] = {{.value = {.name = "TONE", .choices = tones}, .help = "How."}};
constexpr Option options[] = {
    {.name = "--pitch",
     .letter = 'p',
     .value = {.name = "A:B", .choices = tones},
     .help = "It's [high]: 'yes'. More."},
};
constexpr Verb singing[] = {{.path = "choir sing",
                             .summary = "don't stop: sing",
                             .description = "Sings.",
                             .positionals = places,
                             .options = options,
                             .examples = {},
                             .run = nullptr}};

TEST(Completions, NameEveryVerbAndOption) {
  const std::string bash = bash_completions(all_verbs());
  const std::string zsh = zsh_completions(all_verbs());
  const std::string fish = fish_completions(all_verbs());
  for (const Verb& verb : all_verbs()) {
    const std::string path(verb.path);
    const std::string quoted = "'" + path + "'";
    EXPECT_THAT(bash, HasSubstr("\n    " + quoted + ") "));
    EXPECT_THAT(zsh, HasSubstr("\n    " + quoted + ")\n"));
    EXPECT_THAT(fish, HasSubstr("'__pawl_at \\'" + path + "\\''"));
    const std::string bash_branch = bash.substr(bash.find("\n    " + quoted + ") ") + 1);
    const std::string zsh_branch = zsh.substr(zsh.find("\n    " + quoted + ")\n"));
    for (const Option& option : options_of(verb)) {
      const std::string name(option.name);
      EXPECT_THAT(bash_branch.substr(0, bash_branch.find('\n')), HasSubstr(name));
      EXPECT_THAT(zsh_branch.substr(0, zsh_branch.find(";;")), HasSubstr(name));
      EXPECT_THAT(fish, HasSubstr("'__pawl_at \\'" + path + "\\'' -l " + name.substr(2)));
    }
  }
}

TEST(Completions, OfBashOfferChoicesAndValues) {
  const std::string script = bash_completions(singing);
  EXPECT_THAT(script, HasSubstr("' choir' | 'choir sing')"));
  EXPECT_THAT(script, HasSubstr("'choir') _pawl_reply words 'sing --help'"));
  EXPECT_THAT(
      script,
      HasSubstr(
          "'choir sing --pitch' | 'choir sing -p') _pawl_reply words 'loud soft'; return ;;"));
  EXPECT_THAT(script, HasSubstr("'choir sing --config') _pawl_reply files ''; return ;;"));
  EXPECT_THAT(script,
              HasSubstr("'choir sing') _pawl_reply words 'loud soft --pitch --config --help'"));
}

TEST(Completions, OfZshKeepSpecialCharactersOutOfTheSpecifications) {
  const std::string script = zsh_completions(singing);
  EXPECT_THAT(
      script,
      HasSubstr(R"('(-p --pitch)--pitch=[It'\''s \[high\]\: '\''yes'\'']:A\:B:(loud soft)')"));
  EXPECT_THAT(script,
              HasSubstr(R"(--pitch)-p+[It'\''s \[high\]\: '\''yes'\'']:A\:B:(loud soft)')"));
  EXPECT_THAT(script, HasSubstr("'1:TONE:(loud soft)'"));
  EXPECT_THAT(script, HasSubstr(R"('sing:don'\''t stop\: sing')"));
}

TEST(Completions, OfFishQuoteWhatTheySay) {
  const std::string script = fish_completions(singing);
  EXPECT_THAT(script, HasSubstr(R"(-l pitch -s p -x -a 'loud soft' -d 'It\'s [high]: \'yes\'')"));
  EXPECT_THAT(script, HasSubstr(R"(-a sing -d 'don\'t stop: sing')"));
  EXPECT_THAT(script, HasSubstr("-l config -r -F"));
}

constexpr Positional songs[] = {
    {.value = {.name = "SONG", .several = true, .asks = "song list"}, .help = "Which."}};
constexpr Verb humming[] = {{.path = "hum",
                             .summary = "hum",
                             .description = "Hums.",
                             .positionals = songs,
                             .examples = {},
                             .run = nullptr}};

TEST(Completions, AskPawlForWhatOnlyItKnows) {
  EXPECT_THAT(bash_completions(humming), HasSubstr("'hum') _pawl_reply words '--config --help' "
                                                   "\"$(_pawl_ask song list)\""));
  EXPECT_THAT(zsh_completions(humming),
              HasSubstr(R"zsh('*:SONG:(${(f)"$(_pawl_ask song list)"})')zsh"));
  EXPECT_THAT(fish_completions(humming), HasSubstr("-a '(_pawl_ask song list)'"));
}

constexpr Positional begun[] = {
    {.value = {.name = "SONG", .several = true, .asks = "song list --from TYPED"},
     .help = "Which."}};
constexpr Verb whistling[] = {{.path = "whistle",
                               .summary = "whistle",
                               .description = "Whistles.",
                               .positionals = begun,
                               .examples = {},
                               .run = nullptr}};

TEST(Completions, TellPawlWhatWasTyped) {
  EXPECT_THAT(bash_completions(whistling), HasSubstr("_pawl_ask song list --from \"$cur\")"));
  EXPECT_THAT(zsh_completions(whistling), HasSubstr("_pawl_ask song list --from \"$PREFIX\")"));
  EXPECT_THAT(fish_completions(whistling), HasSubstr("--from (commandline -ct"));
}

}  // namespace
}  // namespace pawl::cli
