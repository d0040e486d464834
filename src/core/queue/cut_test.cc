// Goal: no text passes its bound, what was cut says so, and no character is torn.
// Method: texts around the bound, of one and of three bytes a character.
#include "core/queue/cut.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace pawl::queue {
namespace {

TEST(Cut, LeavesWhatFits) {
  EXPECT_EQ(cut("", 64), "");
  EXPECT_EQ(cut(std::string(64, 'x'), 64), std::string(64, 'x'));
}

TEST(Cut, SaysHowMuchThereWas) {
  EXPECT_EQ(cut(std::string(65, 'x'), 64), std::string(64 - 27, 'x') + " … (cut: it had 65 bytes)");
}

TEST(Cut, SaysHowMuchThereWasOfATextThatWasCutBefore) {
  EXPECT_EQ(cut("abc", 64, 9'000), "abc … (cut: it had 9000 bytes)");
  EXPECT_EQ(cut("abc", 64, 3), "abc");
  EXPECT_LE(cut(std::string(64, 'x'), 64, 9'000).size(), 64U);
}

TEST(Cut, TearsNoCharacter) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "€";
  for (std::size_t most = 64; most < 80; ++most) {
    const std::string shorter = cut(text, most);
    EXPECT_LE(shorter.size(), most);
    EXPECT_TRUE(is_printable(shorter)) << shorter;
  }
}

}  // namespace
}  // namespace pawl::queue
