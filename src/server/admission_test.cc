// Goal: no more connections than allowed, in all and from one client, and places come back. Method:
// addresses that come and go by hand; two threads at once.
#include "server/admission.h"

#include <gtest/gtest.h>
#include <thread>

namespace pawl::server {
namespace {

class AdmissionTest : public ::testing::Test {
 protected:
  bool enter(const char* address) {
    auto place = admission.enter(parse_ip(address).value());
    if (place) places.push_back(*std::move(place));
    return place.has_value();
  }

  Admission admission{{.connections = 4,
                       .per_address = 2,
                       .excepted = {parse_prefix("192.0.2.0/24").value()},
                       .ipv6_prefix = 64}};
  std::vector<Admission::Place> places;
};

TEST_F(AdmissionTest, BoundsTheConnectionsOfAnAddress) {
  EXPECT_TRUE(enter("198.51.100.1"));
  EXPECT_TRUE(enter("198.51.100.1"));
  EXPECT_FALSE(enter("198.51.100.1"));
  EXPECT_TRUE(enter("198.51.100.2"));
  EXPECT_EQ(admission.turned_away(), 1u);
  EXPECT_EQ(admission.connections(), 3);
}

TEST_F(AdmissionTest, BoundsThemAllTogether) {
  for (const char* address : {"198.51.100.1", "198.51.100.2", "198.51.100.3", "192.0.2.1"}) {
    EXPECT_TRUE(enter(address));
  }
  EXPECT_FALSE(enter("198.51.100.5"));
  EXPECT_FALSE(enter("192.0.2.1")) << "an exception is none from the whole";
}

TEST_F(AdmissionTest, PlacesComeBack) {
  enter("198.51.100.1");
  enter("198.51.100.1");
  places.pop_back();
  EXPECT_TRUE(enter("198.51.100.1"));
  places.clear();
  EXPECT_EQ(admission.connections(), 0);
}

TEST_F(AdmissionTest, AProxyThatSpeaksForManyIsExcepted) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(enter("192.0.2.7"));
}

TEST_F(AdmissionTest, ANetworkOfTheNewKindIsOneClient) {
  EXPECT_TRUE(enter("2001:db8:0:1::1"));
  EXPECT_TRUE(enter("2001:db8:0:1::2"));
  EXPECT_FALSE(enter("2001:db8:0:1:ffff::3"));
  EXPECT_TRUE(enter("2001:db8:0:2::1"));
}

TEST_F(AdmissionTest, AChangeCountsForThoseThatCome) {
  enter("2001:db8::1");
  enter("2001:db8::2");
  admission.change({.connections = 4, .per_address = 1, .excepted = {}, .ipv6_prefix = 128});
  EXPECT_EQ(admission.connections(), 2) << "nobody is sent away";
  EXPECT_TRUE(enter("2001:db8::1")) << "now a client of its own";
  EXPECT_FALSE(enter("2001:db8::1"));
  places.clear();
  EXPECT_EQ(admission.connections(), 0);
}

TEST(Admission, IsSharedByThreads) {
  Admission admission({.connections = 100, .per_address = 50, .excepted = {}, .ipv6_prefix = 64});
  const auto come_and_go = [&admission] {
    for (int i = 0; i < 10'000; ++i) {
      const auto place = admission.enter(IpAddress::v4({198, 51, 100, 1}));
      EXPECT_TRUE(place.has_value());
    }
  };
  std::thread other(come_and_go);
  come_and_go();
  other.join();
  EXPECT_EQ(admission.connections(), 0);
}

}  // namespace
}  // namespace pawl::server
