// Goal: identifiers have the published layout, sort by time, and follow from their inputs alone.
// Method: the example of RFC 9562; random times and entropy.
#include "base/id.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

constexpr std::int64_t ns_a_ms = 1'000'000;

TEST(SeedOf, IsTheFirstEightBytes) {
  EXPECT_EQ(seed_of({0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFF}), 0x0123456789ABCDEFu);
}

TEST(UuidV7, IsThatOfTheExampleOfRfc9562) {
  const auto now = parse_instant("2022-02-22T14:22:22-05:00").value();
  // The first six bytes give way to the time; of the seventh and ninth the upper bits do.
  const Entropy16 entropy = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFC, 0xC3,
                             0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F};
  EXPECT_EQ(uuid_v7(now, entropy), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

RC_GTEST_PROP(UuidV7, HasItsVersionVariantAndShape, (std::int64_t ns, const Entropy16& entropy)) {
  const std::string id = uuid_v7(Instant::from_ns(ns), entropy);
  RC_ASSERT(id.size() == 36u);
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const std::string_view allowed = dash ? "-" : "0123456789abcdef";
    RC_ASSERT(allowed.find(id[i]) != std::string_view::npos);
  }
  RC_ASSERT(id[14] == '7');
  RC_ASSERT(std::string_view("89ab").find(id[19]) != std::string_view::npos);
}

RC_GTEST_PROP(UuidV7, SortsByItsMillisecond, (const Entropy16& first, const Entropy16& second)) {
  const auto ms = *rc::gen::inRange<std::int64_t>(0, Instant::max().ns() / ns_a_ms);
  const auto later_ms = *rc::gen::inRange<std::int64_t>(ms + 1, Instant::max().ns() / ns_a_ms + 1);
  RC_ASSERT(uuid_v7(Instant::from_ns(ms * ns_a_ms), first) <
            uuid_v7(Instant::from_ns(later_ms * ns_a_ms), second));
}

TEST(UuidV7, SaysTimeZeroForAClockSetBefore1970) {
  EXPECT_EQ(uuid_v7(Instant::from_ns(-5 * ns_a_ms), {}), "00000000-0000-7000-8000-000000000000");
}

TEST(RequestId, JoinsReferenceOperationTimeAndEightHexadecimalDigits) {
  const Entropy16 entropy = {0xDE, 0xAD, 0x0B, 0xEF, 0x01};
  const auto now = Instant::from_ns(1'769'375'700'123 * ns_a_ms + 999'999);
  EXPECT_EQ(request_id("PAWL-42", "place", now, entropy), "PAWL-42_place_1769375700123_dead0bef");
  EXPECT_EQ(request_id("r", "cancel", Instant::from_ns(-1), {}), "r_cancel_0_00000000");
}

}  // namespace
}  // namespace pawl
