// Goal: what was written is read back, in the bytes that the header names, and nothing else is.
// Method: bytes by hand; random records there and back; records that were cut or are almost right.
#include "base/wire.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();

std::string varint_of(std::uint64_t value) {
  ByteWriter out;
  out.varint(value);
  return out.take();
}

std::string zigzag_of(std::int64_t value) {
  ByteWriter out;
  out.zigzag(value);
  return out.take();
}

std::string error_of_varint(std::string_view bytes) {
  ByteReader in(bytes);
  EXPECT_EQ(in.varint(), 0U);
  EXPECT_EQ(in.left(), 0U);
  return in.error();
}

TEST(Wire, NumbersHaveTheBytesOfTheHeader) {
  EXPECT_EQ(varint_of(0), std::string(1, '\0'));
  EXPECT_EQ(varint_of(127), "\x7f");
  EXPECT_EQ(varint_of(128), "\x80\x01");
  EXPECT_EQ(varint_of(300), "\xac\x02");
  EXPECT_EQ(varint_of(most), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(zigzag_of(0), std::string(1, '\0'));
  EXPECT_EQ(zigzag_of(-1), "\x01");
  EXPECT_EQ(zigzag_of(1), "\x02");
  EXPECT_EQ(zigzag_of(std::numeric_limits<std::int64_t>::min()), varint_of(most));
  EXPECT_EQ(zigzag_of(std::numeric_limits<std::int64_t>::max()), varint_of(most - 1));

  ByteWriter out;
  out.u8(0xfe);
  out.fixed32(0x04030201);
  out.fixed64(0x0807060504030201);
  out.bytes("ab");
  out.raw("c");
  EXPECT_EQ(out.text(),
            "\xfe\x01\x02\x03\x04\x01\x02\x03\x04\x05\x06\x07\x08\x02"
            "abc");
  EXPECT_EQ(out.size(), out.text().size());
}

TEST(Wire, ANumberHasOneFormOnly) {
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of_varint("\x80\x00"sv), "a number has a superfluous byte at byte 0");
  EXPECT_EQ(error_of_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"sv),
            "a number has a superfluous byte at byte 0");
  EXPECT_EQ(error_of_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv),
            "a number is larger than 64 bits at byte 0");
  EXPECT_EQ(error_of_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01"sv),
            "a number is larger than 64 bits at byte 0");
  EXPECT_EQ(error_of_varint("\x80"sv), "a number ends too early at byte 0");
  EXPECT_EQ(error_of_varint(""sv), "a number ends too early at byte 0");
}

TEST(Wire, ATextIsNeitherLongerThanAllowedNorThanWhatIsThere) {
  ByteReader longer(
      "\x03"
      "abc");
  EXPECT_EQ(longer.bytes(2), "");
  EXPECT_EQ(longer.error(), "a text is longer than it may be at byte 0");

  ByteReader past(
      "\x01"
      "a"
      "\x04"
      "abc");
  EXPECT_EQ(past.bytes(9), "a");
  EXPECT_EQ(past.bytes(9), "");
  EXPECT_EQ(past.error(), "a text goes past the end at byte 2");

  // A length that would wrap when it is added to the place.
  const std::string wraps = varint_of(most);
  ByteReader huge(wraps);
  EXPECT_EQ(huge.bytes(most), "");
  EXPECT_EQ(huge.error(), "a text goes past the end at byte 0");
}

TEST(Wire, TheFirstMistakeEndsTheReading) {
  ByteReader in(
      "\x05"
      "abcdefgh");
  EXPECT_EQ(in.u8(), 5);
  in.fail("the colour is unknown");
  EXPECT_FALSE(in.good());
  EXPECT_EQ(in.left(), 0U);
  EXPECT_EQ(in.u8(), 0);
  EXPECT_EQ(in.varint(), 0U);
  EXPECT_EQ(in.zigzag(), 0);
  EXPECT_EQ(in.fixed32(), 0U);
  EXPECT_EQ(in.fixed64(), 0U);
  EXPECT_EQ(in.bytes(9), "");
  EXPECT_EQ(in.raw(1), "");
  in.fail("another one");
  in.fail("a third one", 0);
  EXPECT_EQ(in.error(), "the colour is unknown at byte 1");
  EXPECT_EQ(in.at(), 1U);
}

RC_GTEST_PROP(Wire, ReadsBackWhatWasWrittenAndNoticesACutAnywhere,
              (std::uint8_t small, std::uint64_t number, std::int64_t sign, const std::string& text,
               const std::string& tail)) {
  ByteWriter out;
  const unsigned shift = *rc::gen::inRange(0U, 64U);  // numbers of every length
  out.u8(small);
  out.varint(number >> shift);
  out.zigzag(sign);
  out.fixed32(static_cast<std::uint32_t>(number));
  out.fixed64(number);
  out.bytes(text);
  out.raw(tail);
  const auto read_all = [&](ByteReader& in) {
    return in.u8() == small && in.varint() == number >> shift && in.zigzag() == sign &&
           in.fixed32() == static_cast<std::uint32_t>(number) && in.fixed64() == number &&
           in.bytes(text.size()) == text && in.raw(tail.size()) == tail && in.good();
  };
  ByteReader in(out.text());
  RC_ASSERT(read_all(in));
  RC_ASSERT(in.left() == 0U);
  RC_ASSERT(in.at() == out.size());

  ByteReader cut(
      std::string_view(out.text()).substr(0, *rc::gen::inRange(std::size_t{0}, out.size())));
  RC_ASSERT(!read_all(cut));
  RC_ASSERT(!cut.good());
}

}  // namespace
}  // namespace pawl
