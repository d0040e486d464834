// Goal: variables are filled in as a shell does, and only where they are meant.
// Method: pinned examples and refusals, and a round trip over random text.
#include "config/expand.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::config {
namespace {

const Env env = [](std::string_view name) -> std::optional<std::string> {
  if (name == "A") return "one";
  if (name == "_b2") return "${A}";
  if (name == "EMPTY") return "";
  return std::nullopt;
};

TEST(Expand, FillsInVariablesAndDefaults) {
  EXPECT_EQ(expand("", env), "");
  EXPECT_EQ(expand("plain $ text $A {A}", env), "plain $ text $A {A}");
  EXPECT_EQ(expand("${A}", env), "one");
  EXPECT_EQ(expand("<${A}${A}>", env), "<oneone>");
  EXPECT_EQ(expand("${NONE:-two}", env), "two");
  EXPECT_EQ(expand("${NONE:-}", env), "");
  EXPECT_EQ(expand("${A:-two}", env), "one");
  EXPECT_EQ(expand("${EMPTY:-two}", env), "two");
  EXPECT_EQ(expand("${EMPTY}", env), "");
  EXPECT_EQ(expand("${NONE:-a:-b $x {}", env), "a:-b $x {");
}

TEST(Expand, TakesWhatAVariableHoldsAsItIs) {
  EXPECT_EQ(expand("${_b2}", env), "${A}");
}

TEST(Expand, KeepsTheCharactersThemselvesWhenTheyAreDoubled) {
  EXPECT_EQ(expand("$${A}", env), "${A}");
  EXPECT_EQ(expand("$$${A}", env), "$${A}");
  EXPECT_EQ(expand("$$", env), "$$");
}

TEST(Expand, RefusesAVariableThatIsNotSet) {
  EXPECT_EQ(expand("x${NONE}y", env).error(),
            "found ${NONE}, and the environment has no such variable; set it, or give a default as "
            "in ${NONE:-value}");
}

TEST(Expand, RefusesWhatIsNoVariableWithoutRepeatingIt) {
  for (const char* text :
       {"${", "${A", "${}", "${ A}", "${A }", "${1A}", "${A-x}", "${A:x}", "${A:}", "${:-x}",
        "${a.b}", "${NONE:-${A}}", "${NONE:-${A", "${\xc3\xa4}"}) {
    EXPECT_EQ(expand(text, env).error(),
              "found a ${ that begins neither ${NAME} nor ${NAME:-default}; write $${ for the "
              "characters themselves")
        << text;
  }
}

RC_GTEST_PROP(Expand, GivesBackWhatWasEscaped, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("$$$${{}A:-")));
  RC_ASSERT(expand(escape(text), env).value() == text);
}

}  // namespace
}  // namespace pawl::config
