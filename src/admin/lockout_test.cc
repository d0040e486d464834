// Goal: guessing is slow, and nobody else suffers for it. Method: a hand-moved time.
#include "admin/lockout.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::admin {
namespace {

SteadyInstant at(int seconds) {
  return SteadyInstant() + Duration::seconds(1'000 + seconds);
}

void fail(Lockout& lockout, const IpAddress& address, int times, SteadyInstant now) {
  for (int i = 0; i < times; ++i) lockout.failed(address, now);
}

const IpAddress& someone() {
  static constexpr IpAddress address = IpAddress::v4({192, 0, 2, 1});
  return address;
}

TEST(Lockout, ShutsOutAfterSoManyFailuresAndOpensAgain) {
  Lockout lockout;
  fail(lockout, someone(), bounds::lockout_failures - 1, at(0));
  EXPECT_EQ(lockout.wait(someone(), at(0)), Duration());
  lockout.failed(someone(), at(30));
  EXPECT_EQ(lockout.wait(someone(), at(30)), bounds::lockout_wait);
  EXPECT_EQ(lockout.wait(someone(), at(89)), Duration::seconds(1));
  EXPECT_EQ(lockout.wait(someone(), at(90)), Duration());
  EXPECT_EQ(lockout.wait(IpAddress::v4({192, 0, 2, 2}), at(30)), Duration()) << "of another";
}

TEST(Lockout, BeginsToCountAnewAfterItsWindowAndAfterASuccess) {
  Lockout lockout;
  fail(lockout, someone(), bounds::lockout_failures - 1, at(0));
  fail(lockout, someone(), bounds::lockout_failures - 1, at(60));
  EXPECT_EQ(lockout.wait(someone(), at(60)), Duration());
  lockout.succeeded(someone());
  EXPECT_EQ(lockout.size(), 0U);
  fail(lockout, someone(), bounds::lockout_failures - 1, at(61));
  EXPECT_EQ(lockout.wait(someone(), at(61)), Duration());
  lockout.failed(someone(), at(61));
  EXPECT_GT(lockout.wait(someone(), at(61)), Duration());
}

TEST(Lockout, TakesTheAddressesOfOneIpv6NetworkForOne) {
  Lockout lockout;
  for (int i = 0; i < bounds::lockout_failures; ++i) {
    lockout.failed(parse_ip("2001:db8::" + std::to_string(i + 1)).value(), at(0));
  }
  EXPECT_GT(lockout.wait(parse_ip("2001:db8::ffff").value(), at(0)), Duration());
  EXPECT_EQ(lockout.wait(parse_ip("2001:db8:0:1::1").value(), at(0)), Duration());
}

TEST(Lockout, ForgetsTheOldestWhereThereAreTooMany) {
  Lockout lockout;
  fail(lockout, someone(), bounds::lockout_failures, at(0));
  for (std::size_t i = 0; i < bounds::lockout_addresses_max; ++i) {
    const auto high = static_cast<std::uint8_t>(i / 256);
    lockout.failed(IpAddress::v4({10, 0, high, static_cast<std::uint8_t>(i % 256)}), at(1));
  }
  EXPECT_EQ(lockout.size(), bounds::lockout_addresses_max);
  EXPECT_EQ(lockout.wait(someone(), at(1)), Duration());
}

}  // namespace
}  // namespace pawl::admin
