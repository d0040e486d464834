// Goal: a pen writes what it is given, behind what is there, and never past its room. Method: by
// example.
#include "base/pen.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace pawl {
namespace {

TEST(Pen, WritesBehindWhatIsThere) {
  std::string out = "before ";
  append_with_pen(out, 64, [](Pen& pen) {
    pen.put("a ").put("").number(-7).put(" ").number(1'234'567'890);
    EXPECT_EQ(pen.text(), "a -7 1234567890");
    pen.end_with('!');
  });
  EXPECT_EQ(out, "before a -7 123456789!");
}

TEST(Pen, WritesTheOutermostNumbers) {
  std::string out;
  append_with_pen(out, 2 * digits_room + 1, [](Pen& pen) {
    pen.number(std::numeric_limits<std::int64_t>::min()).put(" ");
    pen.number(std::numeric_limits<std::int64_t>::max());
  });
  EXPECT_EQ(out, "-9223372036854775808 9223372036854775807");
}

// Only the sanitizer sees it.
TEST(Pen, WritesNothingForWordsThatWereNeverSet) {
  std::string out = "before";
  append_with_pen(out, 1, [](Pen& pen) { pen.put({}); });
  EXPECT_EQ(out, "before");
}

TEST(Pen, FillsItsRoomAndNoMore) {
  std::string out;
  append_with_pen(out, 3, [](Pen& pen) { pen.put("abc"); });
  EXPECT_EQ(out, "abc");
  EXPECT_DEATH(append_with_pen(out, 3, [](Pen& pen) { pen.put("abcd"); }), "");
}

}  // namespace
}  // namespace pawl
