// Goal: a reload keeps what is known of the upstreams that stay, and what is wrong can be told in a
// sentence. Method: lists made of configurations.
#include "gateway/upstreams.h"

#include <gtest/gtest.h>

#include "gateway/upstream_fixture.h"

namespace pawl::gateway {
namespace {

UpstreamsPtr made(const std::vector<config::Upstream>& upstreams, const UpstreamsPtr& before) {
  config::Config config;
  config.server.upstreams = upstreams;
  return make_upstreams(*make_settings(config), before, [](const HealthChange&) {}).value();
}

TEST(Upstreams, KeepWhatIsKnownOfThoseThatStay) {
  const UpstreamsPtr before = made({{.host = "a", .port = 1}, {.host = "b", .port = 1}}, nullptr);
  const UpstreamsPtr after = made(
      {{.host = "b", .port = 1}, {.host = "b", .port = 2}, {.host = "a", .port = 1, .tls = true}},
      before);
  EXPECT_EQ(after->all[0], before->all[1]);
  EXPECT_NE(after->all[1], before->all[1]) << "another port is another one";
  EXPECT_NE(after->all[2], before->all[0]) << "and so is another way to speak";
  EXPECT_EQ(before->tls, nullptr);
  EXPECT_NE(after->tls, nullptr);
}

TEST(Upstreams, SayWhichFileOfAuthoritiesIsOfNoUse) {
  config::Config config;
  config.server.upstreams = {{.host = "a", .port = 1, .tls = true}};
  config.server.upstream_ca = "/no/such/file.pem";
  const auto made = make_upstreams(*make_settings(config), nullptr, [](const HealthChange&) {});
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message.find("/no/such/file.pem"), std::string::npos);
}

TEST(Upstreams, TellWhatIsWrong) {
  UpstreamsFixture fixture;
  fixture.health.unhealthy_after = 1;
  const UpstreamsPtr list = fixture.list("ab");
  EXPECT_EQ(list->trouble(), "");
  list->note(*fixture.find('b'), false, "gone");
  EXPECT_EQ(list->trouble(), "upstreams that are not healthy: b.test:80");
  list->note(*fixture.find('a'), false, "gone");
  EXPECT_EQ(list->trouble(), "no upstream is healthy, all are tried: a.test:80, b.test:80");
}

}  // namespace
}  // namespace pawl::gateway
