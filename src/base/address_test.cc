// Goal: an address means one thing however it is spelled, and loose spellings are refused.
// Method: pinned examples and refusals, RFC 5952's own cases, the system's reader as a second
//         opinion, and prefixes checked bit by bit.
#include "base/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

IpAddress ip(std::string_view text) {
  return parse_ip(text).value();
}
Prefix prefix(std::string_view text) {
  return parse_prefix(text).value();
}

TEST(IpAddress, ReadsAndPrintsBothFamilies) {
  EXPECT_EQ(ip("192.0.2.1"), IpAddress::v4({192, 0, 2, 1}));
  EXPECT_EQ(ip("::1"), IpAddress::v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(ip("1:2:3:4:5:6:7:8"), IpAddress::v6({0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}));
  EXPECT_EQ(ip("64:ff9b::192.0.2.33"),
            IpAddress::v6({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 33}));
  EXPECT_EQ(to_string(ip("192.0.2.1")), "192.0.2.1");
  EXPECT_EQ(to_string(IpAddress()), "0.0.0.0");
}

TEST(IpAddress, PrintsAsRfc5952Says) {
  EXPECT_EQ(to_string(ip("2001:0DB8:0:0:0:0:0:1")), "2001:db8::1");
  EXPECT_EQ(to_string(ip("2001:db8:0:1:1:1:1:1")), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(to_string(ip("2001:0:0:1:0:0:0:1")), "2001:0:0:1::1");
  EXPECT_EQ(to_string(ip("2001:db8:0:0:1:0:0:1")), "2001:db8::1:0:0:1");
  EXPECT_EQ(to_string(ip("1:2:3:4:5:6::")), "1:2:3:4:5:6::");
  EXPECT_EQ(to_string(ip("1::")), "1::");
  EXPECT_EQ(to_string(ip("::")), "::");
  EXPECT_EQ(to_string(ip("::1.2.3.4")), "::102:304");
}

TEST(IpAddress, TakesAMappedAddressForTheIpv4AddressItIs) {
  EXPECT_EQ(ip("::ffff:192.0.2.1"), ip("192.0.2.1"));
  EXPECT_EQ(ip("0:0:0:0:0:FFFF:c000:0201"), ip("192.0.2.1"));
  EXPECT_EQ(to_string(ip("::ffff:c000:201")), "192.0.2.1");
  EXPECT_TRUE(ip("::ffff:127.0.0.1").is_loopback());
}

TEST(IpAddress, RefusesLooseSpellings) {
  for (const char* text : {"",
                           "127.1",
                           "127.0.1",
                           "2130706433",
                           "0x7f.0.0.1",
                           "0x7f000001",
                           "010.0.0.1",
                           "127.0.0.01",
                           "127.0.0.1.",
                           ".127.0.0.1",
                           "127..0.1",
                           "1.2.3.4.5",
                           "256.0.0.1",
                           "1.2.3.-4",
                           "1.2.3.+4",
                           " 1.2.3.4",
                           "1.2.3.4 ",
                           "1.2.3.4\n",
                           "1.2.3.4%lo",
                           "localhost",
                           ":",
                           ":::",
                           "1:",
                           ":1",
                           "1::2::3",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7::8",
                           "::1:2:3:4:5:6:7:8",
                           "12345::",
                           "g::",
                           "-1::",
                           "fe80::1%eth0",
                           "[::1]",
                           "1.2.3.4::",
                           "::1.2.3",
                           "::1.2.3.4:5",
                           "1:2:3:4:5:6:7:1.2.3.4",
                           "::1.2.3.04",
                           "::0x1",
                           "1::2:"}) {
    EXPECT_FALSE(parse_ip(text).has_value()) << text;
  }
  EXPECT_EQ(parse_ip("127.1").error().message,
            "'127.1' is not an IP address; write one as in 192.0.2.1 or 2001:db8::1");
}

TEST(IpAddress, KnowsWhatStaysOnThisMachine) {
  for (const char* text : {"127.0.0.1", "127.255.255.254", "::1"}) {
    EXPECT_TRUE(ip(text).is_loopback()) << text;
  }
  for (const char* text : {"0.0.0.0", "::", "126.255.255.255", "128.0.0.1", "::2", "::127.0.0.1"}) {
    EXPECT_FALSE(ip(text).is_loopback()) << text;
  }
  EXPECT_TRUE(ip("0.0.0.0").is_unspecified());
  EXPECT_TRUE(ip("::").is_unspecified());
  EXPECT_FALSE(ip("0.0.0.1").is_unspecified());
}

// Zeros come often, so that gaps of every length and place are seen.
rc::Gen<IpAddress> any_address() {
  const auto byte =
      rc::gen::oneOf(rc::gen::just<std::uint8_t>(0), rc::gen::arbitrary<std::uint8_t>());
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::container<std::array<std::uint8_t, 4>>(byte), &IpAddress::v4),
      rc::gen::map(rc::gen::container<std::array<std::uint8_t, 16>>(byte), &IpAddress::v6));
}

RC_GTEST_PROP(IpAddress, EveryPrintedAddressReadsBackTheSame, ()) {
  const auto address = *any_address();
  RC_ASSERT(parse_ip(to_string(address)).value() == address);
}

RC_GTEST_PROP(IpAddress, AgreesWithTheSystemOnWhatItPrints, ()) {
  const auto address = *any_address();
  std::array<std::uint8_t, 16> read{};
  if (address.is_v4()) {
    RC_ASSERT(inet_pton(AF_INET, to_string(address).c_str(), read.data()) == 1);
    RC_ASSERT(IpAddress::v4({read[0], read[1], read[2], read[3]}) == address);
  } else {
    RC_ASSERT(inet_pton(AF_INET6, to_string(address).c_str(), read.data()) == 1);
    RC_ASSERT(IpAddress::v6(read) == address);
  }
}

RC_GTEST_PROP(IpAddress, TakesNothingForAnAddressThatTheSystemRefuses, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123af.::::%x")));
  std::array<std::uint8_t, 16> read{};
  const bool system = inet_pton(AF_INET, text.c_str(), read.data()) == 1 ||
                      inet_pton(AF_INET6, text.c_str(), read.data()) == 1;
  RC_ASSERT(!parse_ip(text).has_value() || system);
}

TEST(Endpoint, ReadsAndPrintsAddressAndPort) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:8080").value(), (Endpoint{ip("127.0.0.1"), 8080}));
  EXPECT_EQ(parse_endpoint("[::1]:8080").value(), (Endpoint{ip("::1"), 8080}));
  EXPECT_EQ(parse_endpoint("0.0.0.0:0").value(), (Endpoint{ip("0.0.0.0"), 0}));
  EXPECT_EQ(to_string(parse_endpoint("[0:0::1]:65535").value()), "[::1]:65535");
  EXPECT_EQ(to_string(parse_endpoint("[::ffff:10.0.0.1]:80").value()), "10.0.0.1:80");
}

TEST(Endpoint, RefusesWhatIsNotOne) {
  for (const char* text : {"",
                           ":",
                           "8080",
                           ":8080",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:65536",
                           "127.0.0.1:-1",
                           "127.0.0.1:080",
                           "127.0.0.1:8080 ",
                           "127.0.0.1:0x50",
                           "127.0.0.1:123456",
                           "localhost:8080",
                           "::1:8080",
                           "[::1]",
                           "[::1]:",
                           "[::1:8080",
                           "::1]:8080",
                           "[127.0.0.1]:8080",
                           "[]:8080",
                           "[:8080",
                           "[[::1]]:8080",
                           "http://127.0.0.1:8080",
                           "*:8080"}) {
    EXPECT_FALSE(parse_endpoint(text).has_value()) << text;
  }
  EXPECT_EQ(parse_endpoint("localhost:8080").error().message,
            "'localhost:8080' is not an address with a port; write one as in 127.0.0.1:8080 or "
            "[::1]:8080");
}

TEST(Prefix, HoldsTheAddressesThatBeginWithItsBits) {
  EXPECT_TRUE(prefix("10.0.0.0/8").contains(ip("10.255.255.255")));
  EXPECT_FALSE(prefix("10.0.0.0/8").contains(ip("11.0.0.0")));
  EXPECT_TRUE(prefix("10.0.0.0/8").contains(ip("::ffff:10.1.2.3")));
  EXPECT_TRUE(prefix("192.0.2.1").contains(ip("192.0.2.1")));
  EXPECT_FALSE(prefix("192.0.2.1").contains(ip("192.0.2.0")));
  EXPECT_TRUE(prefix("2001:db8::/33").contains(ip("2001:db8:7fff::1")));
  EXPECT_FALSE(prefix("2001:db8::/33").contains(ip("2001:db8:8000::1")));
  EXPECT_TRUE(prefix("0.0.0.0/0").contains(ip("255.1.2.3")));
}

TEST(Prefix, KeepsTheFamiliesApart) {
  EXPECT_FALSE(prefix("::/0").contains(ip("192.0.2.1")));
  EXPECT_TRUE(prefix("::/0").contains(ip("2001:db8::1")));
  EXPECT_FALSE(prefix("0.0.0.0/0").contains(ip("::1")));
  EXPECT_EQ(prefix("::ffff:10.0.0.0/104"), prefix("10.0.0.0/8"));
  EXPECT_EQ(prefix("::ffff:0:0/96"), prefix("0.0.0.0/0"));
}

TEST(Prefix, PrintsAnAddressAloneWhenItHoldsOne) {
  EXPECT_EQ(to_string(prefix("192.0.2.1/32")), "192.0.2.1");
  EXPECT_EQ(to_string(prefix("::1/128")), "::1");
  EXPECT_EQ(to_string(prefix("2001:DB8:0::/32")), "2001:db8::/32");
  EXPECT_EQ(to_string(prefix("0.0.0.0/0")), "0.0.0.0/0");
}

TEST(Prefix, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "10/8",
        "::/129", "10.0.0.0/255.0.0.0", "10.0.0.0 /8", "::ffff:0:0/95", "example.org/8"}) {
    EXPECT_FALSE(parse_prefix(text).has_value()) << text;
  }
  EXPECT_EQ(parse_prefix("10/8").error().message,
            "'10/8' is not an address or prefix; write one as in 10.0.0.0/8, 2001:db8::/32 or "
            "192.0.2.1");
  EXPECT_EQ(parse_prefix("10.0.0.1/8").error().message,
            "'10.0.0.1/8' has bits set after its length; write 10.0.0.1 for the one address or "
            "zeros there for the whole prefix");
}

RC_GTEST_PROP(Prefix, AgreesWithItsBitsOneByOne, ()) {
  const auto address = *any_address();
  const int offset = address.is_v4() ? 96 : 0;
  const int length = *rc::gen::inRange(0, 128 - offset + 1);
  auto other = address.bytes();
  const int flipped = *rc::gen::inRange(offset, 128);
  other[static_cast<std::size_t>(flipped / 8)] ^= static_cast<std::uint8_t>(0x80 >> flipped % 8);
  auto base = address.bytes();
  for (int bit = offset + length; bit < 128; ++bit) {
    base[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  }
  // Flipping or clearing may lead from one family into the other.
  RC_PRE(IpAddress::v6(base).is_v4() == address.is_v4());
  RC_PRE(IpAddress::v6(other).is_v4() == address.is_v4());
  const Prefix tested{IpAddress::v6(base), length};
  RC_ASSERT(tested.contains(address));
  RC_ASSERT(tested.contains(IpAddress::v6(other)) == (flipped >= offset + length));
  RC_ASSERT(parse_prefix(to_string(tested)).value() == tested);
}

TEST(Prefix, HoldsTheAddressItWasMadeOf) {
  EXPECT_EQ(prefix_of(ip("2001:db8:1:2:3:4:5:6"), 64), prefix("2001:db8:1:2::/64"));
  EXPECT_EQ(prefix_of(ip("2001:db8:1:2ff:3::"), 56), prefix("2001:db8:1:200::/56"));
  EXPECT_EQ(prefix_of(ip("192.0.2.77"), 24), prefix("192.0.2.0/24"));
  EXPECT_EQ(prefix_of(ip("192.0.2.77"), 32), prefix("192.0.2.77"));
}

TEST(Prefix, IsAppendedToWhatStandsThere) {
  std::string text = "from:";
  append_text(text, prefix("::/0"));
  append_text(text, ip("1::"));
  append_text(text, prefix("192.0.2.0/24"));
  EXPECT_EQ(text, "from:::/01::192.0.2.0/24");
}

}  // namespace
}  // namespace pawl
