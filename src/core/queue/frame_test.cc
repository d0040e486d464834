// Goal: damage is noticed and named, and a newer format is told apart from it.
// Method: one frame flipped, cut, and made anew with other words in it.
#include "core/queue/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/crc32c.h"

namespace pawl::queue {
namespace {

constexpr Frame frame = {.letters = "PAWLTEST", .bytes_max = 64};

Result<std::string> finished(std::string_view content) {
  ByteWriter out;
  frame.begin(out);
  out.raw(content);
  return frame.finish(std::move(out));
}

std::string framed(std::string_view content) {
  return finished(content).value();
}

// With another checksum, as if it had been written so.
std::string summed(std::string bytes) {
  bytes.resize(bytes.size() - 4);
  ByteWriter sum;
  sum.fixed32(crc32c(bytes));
  return bytes + sum.text();
}

std::string error_of(std::string_view bytes) {
  const auto opened = frame.open(bytes);
  return opened ? "" : opened.error().message;
}

TEST(Frame, GivesBackItsContent) {
  const std::string bytes = framed("abc");
  auto in = frame.open(bytes).value();
  EXPECT_EQ(in.at(), 20U);
  EXPECT_EQ(in.left(), 3U);
  EXPECT_EQ(in.raw(3), "abc");
  EXPECT_EQ(framed("").size(), 24U);
}

TEST(Frame, EveryFlipIsDamage) {
  const std::string whole = framed("abc");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(error_of(bytes).starts_with("is damaged: ")) << bit;
  }
}

TEST(Frame, SaysWhatIsWrong) {
  const std::string whole = framed("abc");
  EXPECT_EQ(error_of(""), "is damaged: it ends too early at byte 0");
  EXPECT_EQ(error_of(whole.substr(0, 23)), "is damaged: it ends too early at byte 23");
  EXPECT_EQ(error_of(whole.substr(0, 25)), "is damaged: it should have 27 bytes, and has 25");
  EXPECT_EQ(error_of(whole + "x"), "is damaged: it should have 27 bytes, and has 28");
  EXPECT_EQ(error_of(std::string(30, 'x')),
            "is damaged: it does not begin with PAWLTEST at byte 0");
  EXPECT_EQ(error_of(std::string(65, 'x')), "is damaged: it has 65 bytes, and 64 are the most");
  std::string other = whole;
  other[21] = 'x';
  EXPECT_EQ(error_of(other), "is damaged: its checksum does not fit its 27 bytes");
}

TEST(Frame, ANewerFormatIsNewerOnlyWhenItIsWhole) {
  std::string bytes = framed("abc");
  bytes[8] = 2;
  EXPECT_EQ(error_of(summed(bytes)),
            "was written by a newer pawl (format 2); this one reads format 1: update pawl");
  EXPECT_EQ(frame.open(summed(bytes)).error().code, Code::refused);
  EXPECT_EQ(error_of(bytes), "is damaged: its checksum does not fit its 27 bytes");
  EXPECT_EQ(frame.open(bytes).error().code, Code::invalid);
  bytes[8] = 0;
  EXPECT_EQ(error_of(summed(bytes)), "is damaged: there is no format 0");
}

TEST(Frame, WhatCouldNotBeReadIsNotWritten) {
  EXPECT_EQ(framed(std::string(40, 'x')).size(), 64U);
  const auto larger = finished(std::string(41, 'x'));
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().message, "would have 65 bytes, and 64 are the most");
}

}  // namespace
}  // namespace pawl::queue
