// Goal: the command line ends with the right code and the right words, whatever a verb does.
// Method: verbs made for it: one that returns, one that throws, one that throws no exception.
#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/output.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Verb verb(std::string_view path, int (*action)(const Arguments&)) {
  return {.path = path, .summary = "s", .description = "D.", .examples = {}, .run = action};
}
constexpr Verb verbs[] = {
    verb("seven", [](const Arguments&) { return 7; }),
    verb("say",
         [](const Arguments&) {
           print("data\n");
           return fail(Error(Code::refused, Outcome::not_applied, "no; ask again"));
         }),
    verb("throw", [](const Arguments&) -> int { throw std::runtime_error("the roof is gone"); }),
    verb("throw-int", [](const Arguments&) -> int { throw 1; }),
};

struct Ended {
  int code;
  std::string out;
  std::string err;
};

Ended ended(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run(verbs, words);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(Run, GivesTheCodeOfTheVerb) {
  EXPECT_EQ(ended({"seven"}).code, 7);
}

TEST(Run, KeepsDataAndComplaintsApart) {
  const Ended said = ended({"say"});
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.out, "data\n");
  EXPECT_EQ(said.err, "pawl: no; ask again\n");
}

TEST(Run, CallsWhatNobodyExpectedAnInternalError) {
  const Ended thrown = ended({"throw"});
  EXPECT_EQ(thrown.code, 70);
  EXPECT_THAT(thrown.err, StartsWith("pawl: internal error: the roof is gone; "));
  const Ended odd = ended({"throw-int"});
  EXPECT_EQ(odd.code, 70);
  EXPECT_THAT(odd.err, StartsWith("pawl: internal error: "));
}

TEST(Run, PrintsHelpWhereItIsWanted) {
  const Ended asked = ended({"--help"});
  EXPECT_EQ(asked.code, 0);
  EXPECT_THAT(asked.out, HasSubstr("Usage: pawl VERB"));
  EXPECT_EQ(asked.err, "");
  const Ended nothing = ended({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_EQ(nothing.err, asked.out);
}

TEST(Run, PrintsTheVersion) {
  const Ended version = ended({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "pawl " PAWL_VERSION "\n");
}

TEST(Run, ComplainsOfWrongWords) {
  const Ended wrong = ended({"sven"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "pawl: unknown verb \"sven\"; did you mean \"seven\"?\nRun 'pawl --help'\n");
}

}  // namespace
}  // namespace pawl::cli
