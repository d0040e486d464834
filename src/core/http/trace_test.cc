// Goal: a valid trace context is known as such, and what is made here is valid. Method: the forms
// of the recommendation and the ways to miss them.
#include "core/http/trace.h"

#include <gtest/gtest.h>
#include <string>

namespace pawl::http {
namespace {

constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

TEST(Traceparent, GivesTheTraceOfAValidOne) {
  EXPECT_EQ(trace_id_of(good), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(trace_id_of("cc" + std::string(good.substr(2)) + "-what-comes-later"),
            "0af7651916cd43dd8448eb211c80319c")
      << "a later version may be longer";
}

TEST(Traceparent, IsNotValidWhenAnythingIsOff) {
  const std::string text(good);
  const auto with = [&text](std::size_t at, char c) {
    std::string changed = text;
    changed[at] = c;
    return changed;
  };
  const std::string cases[] = {
      "",
      text.substr(0, 54),
      text + "-more",
      text + "0",
      "cc" + text.substr(2) + "0",
      "ff" + text.substr(2),
      with(0, 'g'),
      with(2, '_'),
      with(3, 'A'),
      with(35, '0'),
      with(36, 'x'),
      with(52, '0'),
      with(54, ' '),
      "00-00000000000000000000000000000000-b7ad6b7169203331-00",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-00",
  };
  for (const std::string& bad : cases) EXPECT_EQ(trace_id_of(bad), "") << bad;
}

TEST(Traceparent, IsMadeOfTheBytesGiven) {
  const std::uint8_t bytes[16] = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
                                  0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
  const Traceparent made(std::span<const std::uint8_t, 16>(bytes),
                         std::span<const std::uint8_t, 8>(bytes, 8));
  EXPECT_EQ(made.text(), "00-0af7651916cd43dd8448eb211c80319c-0af7651916cd43dd-01");
}

TEST(Traceparent, IsValidEvenOfZeros) {
  const std::uint8_t zeros[16] = {};
  const Traceparent made(std::span<const std::uint8_t, 16>(zeros),
                         std::span<const std::uint8_t, 8>(zeros, 8));
  EXPECT_EQ(trace_id_of(made.text()), "00000000000000000000000000000001");
}

}  // namespace
}  // namespace pawl::http
