// Goal: the panel's files come as the browser takes them, with the fields that keep it safe.
// Method: assets of the test's own, and the real ones.
#include "admin/panel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PanelTest : public AdminFixture {
 protected:
  PanelTest() { context.gate.token = Secret<std::string>("hush"); }
};

TEST_F(PanelTest, NeedsNoTokenForItsFiles) {
  for (const PanelAsset& asset : panel_assets()) {
    const Heard heard = get("/panel/" + std::string(asset.name));
    EXPECT_EQ(heard.status, 200) << asset.name;
    EXPECT_THAT(heard.head, HasSubstr("Content-Type: " + std::string(asset.type)));
    EXPECT_EQ(heard.body, asset.plain);
  }
  EXPECT_EQ(get("/panel/").body, get("/panel/index.html").body);
  EXPECT_EQ(get("/panel/?x=1").status, 200);
  EXPECT_EQ(get("/panel/none.js").status, 404);
  EXPECT_EQ(get("/panel/../v1/tenants").status, 404);
  EXPECT_EQ(get("/panel").status, 308);
}

TEST_F(PanelTest, RunsNothingButItsOwnFiles) {
  const Heard page = get("/panel/");
  EXPECT_THAT(page.head, AllOf(HasSubstr("default-src 'none'; script-src 'self'"),
                               HasSubstr("frame-ancestors 'none'"),
                               HasSubstr("require-trusted-types-for 'script'"),
                               Not(HasSubstr("unsafe")), Not(HasSubstr("no-store"))));
  EXPECT_THAT(page.body, Not(HasSubstr("<style")));
  EXPECT_THAT(page.body, Not(HasSubstr("onload")));
  EXPECT_THAT(page.head, HasSubstr("X-Content-Type-Options: nosniff"));
}

TEST_F(PanelTest, SendsWhatTheBrowserTakes) {
  const PanelAsset& script = *std::ranges::find(panel_assets(), "app.js", &PanelAsset::name);
  const auto with = [&](const std::string& accepted) {
    return get("/panel/app.js", "Accept-Encoding: " + accepted + "\r\n");
  };
  EXPECT_EQ(with("gzip, deflate, br").body, script.brotli);
  EXPECT_THAT(with("gzip, br;q=0").head, HasSubstr("Content-Encoding: gzip"));
  EXPECT_EQ(with("GZIP").body, script.gzip);
  EXPECT_EQ(with("identity").body, script.plain);
  EXPECT_LT(script.brotli.size(), script.plain.size());
}

TEST_F(PanelTest, IsAskedAgainAndNotSentAgain) {
  const Heard first = get("/panel/app.css");
  const std::size_t at = first.head.find("ETag: ") + 6;
  const std::string tag = first.head.substr(at, first.head.find('\r', at) - at);
  const Heard again = get("/panel/app.css", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

}  // namespace
}  // namespace pawl::admin
