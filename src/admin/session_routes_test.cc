// Goal: a browser signs in with the token, goes on with its cookie, changes nothing without the
// CSRF token, and is out when it signs out. Method: the admin API over a connection held by the
// test.
#include "admin/session_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SessionRoutesTest : public AdminFixture {
 protected:
  SessionRoutesTest() { context.gate.token = Secret<std::string>("hush"); }

  // Signs in; the cookie as the browser sends it back.
  std::string cookie() {
    const Heard in = ask("POST", "/v1/session", "", "Authorization: Bearer hush\r\n");
    EXPECT_EQ(in.status, 200);
    csrf = in.text("csrf");
    const std::size_t at = in.head.find("Set-Cookie: ") + 12;
    return "Cookie: " + in.head.substr(at, in.head.find(';', at) - at) + "\r\n";
  }

  std::string csrf;
};

TEST_F(SessionRoutesTest, LetsABrowserInWithItsCookie) {
  EXPECT_EQ(get("/v1/session").status, 401);
  EXPECT_EQ(ask("POST", "/v1/session", "", "Authorization: Bearer wrong\r\n").status, 401);
  const std::string shown = cookie();
  const Heard in = get("/v1/session", shown);
  EXPECT_EQ(in.status, 200);
  EXPECT_EQ(in.text("csrf"), csrf);
  EXPECT_EQ(get("/v1/tenants", shown).status, 200);
}

TEST_F(SessionRoutesTest, NamesTheVenuesThatTakeOrders) {
  const std::string shown = cookie();
  EXPECT_EQ(get("/v1/session", shown).text("venues"), "[]");
  context.panel.venues = {"saxo"};
  EXPECT_EQ(get("/v1/session", shown).text("venues"), R"(["saxo"])");
}

TEST_F(SessionRoutesTest, ChangesNothingWithoutTheTokenOfTheSession) {
  const std::string shown = cookie();
  const std::string body = R"({"bucket":"orders"})";
  const Heard without = ask("POST", "/v1/tenants/acme/reset", body, shown);
  EXPECT_EQ(without.status, 403);
  EXPECT_THAT(without.body, HasSubstr("X-Pawl-Csrf"));
  EXPECT_EQ(ask("POST", "/v1/tenants/acme/reset", body, shown + "X-Pawl-Csrf: guess\r\n").status,
            403);
  EXPECT_EQ(
      ask("POST", "/v1/tenants/acme/reset", body, shown + "X-Pawl-Csrf: " + csrf + "\r\n").status,
      200);
}

TEST_F(SessionRoutesTest, EndsWhenItIsSignedOutOrTheTokenChanges) {
  const std::string shown = cookie();
  const Heard out = ask("DELETE", "/v1/session", "", shown + "X-Pawl-Csrf: " + csrf + "\r\n");
  EXPECT_EQ(out.status, 200);
  EXPECT_THAT(out.head, HasSubstr("Max-Age=0"));
  EXPECT_EQ(get("/v1/tenants", shown).status, 401);

  const std::string other = cookie();
  context.gate.token = Secret<std::string>("new");
  EXPECT_EQ(get("/v1/tenants", other).status, 401);
}

TEST_F(SessionRoutesTest, EndsTheStreamsOfASessionWithIt) {
  const auto listen = [&](std::string_view target, const std::string& fields) {
    auto stream = connect();
    stream->receive(wire("GET", target, "", fields));
    EXPECT_EQ(read(stream->sent).status, 200);
    stream->sent.clear();
    return stream;
  };
  // Chunks: the last has no length.
  const auto has_ended = [&](const std::shared_ptr<net::FakeStream>& stream) {
    trail.add("config");
    clock.advance(Duration::seconds(1));
    admin.sample();
    admin.tick();
    return std::exchange(stream->sent, "") == "0\r\n\r\n";
  };
  for (const std::string_view target : {"/v1/live", "/v1/events"}) {
    const std::string shown = cookie();
    const auto of_session = listen(target, shown);
    const auto of_token = listen(target, "Authorization: Bearer hush\r\n");
    EXPECT_FALSE(has_ended(of_session)) << target;
    ask("DELETE", "/v1/session", "", shown + "X-Pawl-Csrf: " + csrf + "\r\n");
    EXPECT_TRUE(has_ended(of_session)) << target;
    EXPECT_FALSE(has_ended(of_token)) << target;
    context.gate.token = Secret<std::string>("new");
    EXPECT_TRUE(has_ended(of_token)) << target;
    context.gate.token = Secret<std::string>("hush");
  }
}

TEST_F(SessionRoutesTest, KeepsASessionThatAStreamIsOpenOf) {
  const std::string shown = cookie();
  const auto stream = connect();
  stream->receive(wire("GET", "/v1/live", "", shown));
  for (int i = 0; i < 3; ++i) {
    clock.advance(Duration::hours(10));
    admin.sample();
  }
  EXPECT_EQ(get("/v1/tenants", shown).status, 200);
}

TEST_F(SessionRoutesTest, NeedsNoSessionWhereNoTokenIsAskedFor) {
  context.gate.token = {};
  const Heard here = get("/v1/session");
  EXPECT_EQ(here.status, 200);
  EXPECT_THAT(here.body, HasSubstr(R"("csrf":null)"));
  EXPECT_THAT(ask("POST", "/v1/session").head, Not(HasSubstr("Set-Cookie")));
}

TEST_F(SessionRoutesTest, TellsWhatTheSettingsOfThePanelSay) {
  context.gate.token = {};
  EXPECT_THAT(get("/v1/session").body, HasSubstr(R"("upgrade":null)"));
  context.panel = {.upgrade_text = "Upgrade", .upgrade_link = "https://example.org/plans"};
  context.gate.trading = true;
  const Heard here = get("/v1/session");
  EXPECT_THAT(here.body, HasSubstr(R"("link":"https://example.org/plans")"));
  EXPECT_THAT(here.body, HasSubstr(R"("trading":true)"));
  EXPECT_THAT(here.body, HasSubstr(R"("orders":false)"));
}

TEST_F(SessionRoutesTest, TradesFromABrowserOnlyWhereItMay) {
  const std::string browser = cookie() + "X-Pawl-Csrf: " + csrf + "\r\n";
  const std::string program = "Authorization: Bearer hush\r\n";
  const auto cancel = [&](const std::string& fields) {
    return ask("POST", "/v1/orders/ref-1/cancel", "", fields).status;
  };
  EXPECT_EQ(cancel(browser), 403);
  EXPECT_EQ(cancel(program), 404) << "there is no venue; it came through";
  EXPECT_EQ(cancel(program + "Sec-Fetch-Site: same-origin\r\n"), 403);
  context.gate.trading = true;
  EXPECT_EQ(cancel(browser), 404);
}

}  // namespace
}  // namespace pawl::admin
