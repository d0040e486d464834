// Goal: whoever mistypes a word is told the one that was meant, and nobody is told nonsense.
// Method: one word for each kind of slip; words too far away; a property: one slip is always near.
#include "base/similar.h"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>

#include "base/bounds.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 4> verbs = {"serve", "config", "doctor", "completions"};

TEST(Similar, SeesThroughOneSlipOfEachKind) {
  EXPECT_EQ(nearest("serv", verbs), "serve");
  EXPECT_EQ(nearest("servee", verbs), "serve");
  EXPECT_EQ(nearest("sarve", verbs), "serve");
  EXPECT_EQ(nearest("sevre", verbs), "serve");
  EXPECT_EQ(nearest("completion", verbs), "completions");
}

TEST(Similar, AllowsMoreSlipsInALongerWord) {
  EXPECT_EQ(nearest("compeltoins", verbs), "completions");
  EXPECT_EQ(nearest("docter", verbs), "doctor");
  EXPECT_EQ(nearest("srv", verbs), "");
}

TEST(Similar, FindsNothingNearAStrangeWord) {
  for (const char* word : {"", "x", "verify", "--json", "servant girl"}) {
    EXPECT_EQ(nearest(word, verbs), "") << word;
  }
  EXPECT_EQ(nearest("serve", {}), "");
}

TEST(Similar, TakesTheFirstOfTwoThatAreEquallyNear) {
  constexpr std::array<std::string_view, 2> two = {"bat", "cat"};
  EXPECT_EQ(nearest("rat", two), "bat");
}

TEST(Similar, LooksAtNoWordBeyondTheBound) {
  const std::string longest(bounds::similar_bytes_max, 'a');
  const std::string longer = longest + "a";
  const std::array<std::string_view, 1> known = {longest};
  EXPECT_EQ(nearest(longest, known), longest);
  EXPECT_EQ(nearest(longer, known), "");
}

RC_GTEST_PROP(Similar, FindsAWordWithOneLetterLeftOut, (std::string word)) {
  RC_PRE(!word.empty() && word.size() < bounds::similar_bytes_max);
  std::string slipped = word;
  slipped.erase(*rc::gen::inRange<std::size_t>(0, word.size()), 1);
  const std::array<std::string_view, 1> known = {word};
  RC_ASSERT(nearest(slipped, known) == word);
}

}  // namespace
}  // namespace pawl
