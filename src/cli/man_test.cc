// Goal: the manual page tells what the table knows, and none of it can be taken for a request to
// roff. Method: the page is searched for every row; a table full of special characters shows what
// is
//         escaped. tests/e2e lets mandoc judge the whole.
#include "cli/man.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string as_roff(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

TEST(ManPage, NamesEveryVerbOptionAndExample) {
  const std::string page = man_page(all_verbs());
  for (const Verb& verb : all_verbs()) {
    EXPECT_THAT(page, HasSubstr("\n.Ss pawl " + as_roff(verb.path) + " "));
    for (const Option& option : options_of(verb)) {
      EXPECT_THAT(page, HasSubstr("Fl " + as_roff(option.name.substr(1))));
    }
    for (const Positional& positional : verb.positionals) {
      EXPECT_THAT(page, HasSubstr("\n.It Ar " + as_roff(positional.value.name)));
    }
    for (const Example& example : verb.examples) {
      EXPECT_THAT(page, HasSubstr("\n.Dl " + as_roff(example.command) + "\n"));
    }
  }
}

TEST(ManPage, HasTheUsualSections) {
  const std::string page = man_page(all_verbs());
  std::size_t before = 0;
  for (const char* section :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES"}) {
    const std::size_t here = page.find("\n.Sh " + std::string(section) + "\n");
    ASSERT_NE(here, std::string::npos) << section;
    EXPECT_GT(here, before) << section;
    before = here;
  }
}

TEST(ManPage, LetsNoTextBecomeARequest) {
  const Example examples[] = {{"pawl x\\y", "'quoted"}};
  const Verb verbs[] = {{.path = "x",
                         .summary = ".so secret",
                         .description = "One. .Two. 'Three. a\\b.",
                         .examples = examples,
                         .run = nullptr}};
  const std::string page = man_page(verbs);
  EXPECT_THAT(page, HasSubstr("\n\\&.so secret.\nOne.\n\\&.Two.\n\\&'Three.\na\\eb.\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&'quoted:\n.Dl pawl x\\ey\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n.so")));
}

}  // namespace
}  // namespace pawl::cli
