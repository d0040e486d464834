// Goal: what is typed is taken as it was meant, and whoever mistypes is told what is wrong, what
// was probably meant, and where to read on. Method: a small table of its own; each way of typing
// and of mistyping once.
#include "cli/app.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace pawl::cli {
namespace {

int never_run(const Arguments&) {
  return 99;
}

constexpr std::string_view colours[] = {"red", "green"};
constexpr Positional paint_places[] = {
    {.value = {.name = "WALL"}, .help = "Which wall."},
    {.value = {.name = "COLOUR", .choices = colours}, .help = "Which colour.", .required = false},
};
constexpr Option paint_options[] = {
    {.name = "--coats", .value = {.name = "N"}, .help = "How often.", .standard = "2"},
    {.name = "--json", .help = "Print JSON."},
    {.name = "--finish", .value = {.name = "HOW", .choices = colours}, .help = "How it looks."},
};
constexpr Positional walls[] = {{.value = {.name = "WALL", .several = true}, .help = "Which."}};
constexpr Option wash_options[] = {
    {.name = "--with", .letter = 'w', .value = {.name = "WHAT", .several = true}, .help = "What."},
    {.name = "--warmth", .value = {.name = "N"}, .help = "How warm."},
};
constexpr Verb verbs[] = {
    {.path = "wash",
     .summary = "wash walls",
     .description = "Washes.",
     .positionals = walls,
     .options = wash_options,
     .examples = {},
     .run = never_run},
    {.path = "paint",
     .summary = "paint a wall",
     .description = "Paints.",
     .positionals = paint_places,
     .options = paint_options,
     .examples = {},
     .run = never_run},
    {.path = "house build",
     .summary = "build a house",
     .description = "Builds.",
     .examples = {},
     .run = never_run},
    {.path = "house sell",
     .summary = "sell a house",
     .description = "Sells.",
     .examples = {},
     .run = never_run},
};

Result<Parsed> parsed(const std::vector<std::string>& words) {
  return parse(verbs, words);
}

Call call(const std::vector<std::string>& words) {
  const Result<Parsed> result = parsed(words);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::get<Call>(result.value());
}

std::string complaint(const std::vector<std::string>& words) {
  const Result<Parsed> result = parsed(words);
  if (result) return "no complaint";
  EXPECT_EQ(result.error().code, Code::usage);
  return result.error().message;
}

HelpWanted help_wanted(const std::vector<std::string>& words) {
  const Result<Parsed> result = parsed(words);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::get<HelpWanted>(result.value());
}

TEST(Parse, TakesVerbsOfOneWordAndOfTwo) {
  EXPECT_EQ(call({"paint", "north"}).verb->path, "paint");
  EXPECT_EQ(call({"house", "sell"}).verb->path, "house sell");
}

TEST(Parse, TakesOptionsInEveryUsualForm) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"paint", "north", "--coats", "7", "--json"},
        {"paint", "--json", "--coats=7", "north"},
        {"paint", "--coats", "7", "--json", "--", "north"}}) {
    const Call taken = call(words);
    EXPECT_EQ(taken.arguments.value("WALL"), "north");
    EXPECT_EQ(taken.arguments.value("--coats"), "7");
    EXPECT_TRUE(taken.arguments.has("--json"));
    EXPECT_FALSE(taken.arguments.has("COLOUR"));
  }
}

TEST(Parse, FillsInDefaults) {
  const Call taken = call({"paint", "north"});
  EXPECT_EQ(taken.arguments.value("--coats"), "2");
  EXPECT_FALSE(taken.arguments.has("--json"));
  EXPECT_FALSE(taken.arguments.has("--config"));
}

TEST(Parse, TakesWordsThatLookLikeSomethingElse) {
  EXPECT_EQ(call({"paint", "paint"}).arguments.value("WALL"), "paint");
  EXPECT_EQ(call({"paint", "--", "--json"}).arguments.value("WALL"), "--json");
  EXPECT_EQ(call({"paint", "-"}).arguments.value("WALL"), "-");
  EXPECT_EQ(call({"paint", ""}).arguments.value("WALL"), "");
  EXPECT_EQ(call({"paint", "[a,b]", "--config", "{c}"}).arguments.value("WALL"), "[a,b]");
  EXPECT_EQ(call({"paint", "a b", "--config=x=y"}).arguments.value("--config"), "x=y");
}

TEST(Parse, TakesAFlagThatIsGivenTwiceForOne) {
  EXPECT_TRUE(call({"paint", "north", "--json", "--json"}).arguments.has("--json"));
}

TEST(Parse, GivesHelpWhereverItIsAskedFor) {
  EXPECT_EQ(help_wanted({"--help"}).path, "");
  EXPECT_EQ(help_wanted({"-h"}).path, "");
  EXPECT_EQ(help_wanted({"house", "--help"}).path, "house");
  EXPECT_EQ(help_wanted({"house", "sell", "-h"}).path, "house sell");
  EXPECT_EQ(help_wanted({"paint", "--bogus", "--help"}).path, "paint");
  EXPECT_EQ(help_wanted({"paint", "--help"}).path, "paint");
  EXPECT_TRUE(help_wanted({"paint", "--help"}).asked);
}

TEST(Parse, SaysWhatThereIsWhenTooLittleIsTyped) {
  EXPECT_FALSE(help_wanted({}).asked);
  EXPECT_FALSE(help_wanted({"house"}).asked);
  EXPECT_EQ(help_wanted({"house"}).path, "house");
}

TEST(Parse, KnowsTheVersionOption) {
  EXPECT_TRUE(std::holds_alternative<VersionWanted>(parsed({"--version"}).value()));
}

TEST(Parse, NamesTheVerbThatWasMeant) {
  EXPECT_EQ(complaint({"pain"}),
            "unknown verb \"pain\"; did you mean \"paint\"?\nRun 'pawl --help'");
  EXPECT_EQ(complaint({"house", "biuld"}),
            "unknown verb \"house biuld\"; did you mean \"house build\"?\nRun 'pawl house --help'");
  EXPECT_EQ(complaint({"sell"}),
            "unknown verb \"sell\"; did you mean \"house sell\"?\nRun 'pawl --help'");
  EXPECT_EQ(complaint({"xyzzy"}), "unknown verb \"xyzzy\"\nRun 'pawl --help'");
  EXPECT_EQ(complaint({"house sell"}), "unknown verb \"house sell\"\nRun 'pawl --help'");
}

TEST(Parse, KnowsHelpAndVersionWithoutTheirDashes) {
  EXPECT_EQ(complaint({"help"}),
            "unknown verb \"help\"; did you mean \"--help\"?\nRun 'pawl --help'");
  EXPECT_EQ(complaint({"version"}),
            "unknown verb \"version\"; did you mean \"--version\"?\nRun 'pawl --help'");
  EXPECT_EQ(complaint({"house", "version"}),
            "unknown verb \"house version\"\nRun 'pawl house --help'");
}

TEST(Parse, NamesTheOptionThatWasMeant) {
  EXPECT_EQ(complaint({"paint", "north", "--coat", "3"}),
            "unknown option \"--coat\"; did you mean \"--coats\"?\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "--jsno=1"}),
            "unknown option \"--jsno\"; did you mean \"--json\"?\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "-x"}), "unknown option \"-x\"\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"--verison"}),
            "unknown option \"--verison\"; did you mean \"--version\"?\nRun 'pawl --help'");
}

TEST(Parse, SaysThatOptionsComeAfterTheVerb) {
  EXPECT_EQ(complaint({"--json", "paint"}),
            "option \"--json\" stands before the verb; put it after\nRun 'pawl --help'");
}

TEST(Parse, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(complaint({"paint"}), "WALL is missing\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "red", "twice"}),
            "unexpected argument \"twice\"\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "--coats"}),
            "--coats needs a value: --coats N\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "--coats="}),
            "--coats needs a value: --coats N\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"wash", "north", "-w"}),
            "--with needs a value: --with WHAT\nRun 'pawl wash --help'");
  EXPECT_EQ(complaint({"paint", "north", "--json=yes"}),
            "--json takes no value; give it alone\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "--coats", "1", "--coats", "2"}),
            "--coats is given more than once; give it once\nRun 'pawl paint --help'");
}

TEST(Parse, TakesSeveralWhereSeveralMayBe) {
  using Words = std::vector<std::string>;
  const Call taken =
      call({"wash", "north", "-w", "water", "south", "--warmth", "-5", "--with=soap", "east"});
  EXPECT_EQ(taken.arguments.values("WALL"), (Words{"north", "south", "east"}));
  EXPECT_EQ(taken.arguments.values("--with"), (Words{"water", "soap"}));
  EXPECT_EQ(taken.arguments.value("WALL"), "north");
  EXPECT_EQ(taken.arguments.value("--warmth"), "-5");
  EXPECT_TRUE(call({"wash", "north"}).arguments.values("--with").empty());
  EXPECT_FALSE(call({"wash", "north"}).arguments.has("--with"));
  EXPECT_EQ(complaint({"wash"}), "WALL is missing\nRun 'pawl wash --help'");
}

TEST(Parse, SaysWhatIsAllowed) {
  EXPECT_EQ(complaint({"paint", "north", "blue"}),
            "COLOUR is \"blue\"; allowed: red, green\nRun 'pawl paint --help'");
  EXPECT_EQ(complaint({"paint", "north", "--finish=matt"}),
            "--finish is \"matt\"; allowed: red, green\nRun 'pawl paint --help'");
  EXPECT_EQ(call({"paint", "north", "green"}).arguments.value("COLOUR"), "green");
}

TEST(Parse, ComplainsOnTwoLinesWhateverWasTyped) {
  EXPECT_EQ(complaint({"a\nb\033[31m"}), "unknown verb \"a\\nb\\u001b[31m\"\nRun 'pawl --help'");
}

}  // namespace
}  // namespace pawl::cli
