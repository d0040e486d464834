// Goal: a session is good for who opened it, while the token stands and it is used. Method:
// requests made by hand, a hand-moved time.
#include "admin/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/counted_entropy_fixture.h"
#include "base/bounds_panel.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionsTest : public ::testing::Test {
 protected:
  static server::Request showing(const std::string& cookies) {
    return {.method = "GET",
            .target = "/",
            .headers = {{"Host", "127.0.0.1:8081"}, {"Cookie", cookies}},
            .body = {}};
  }
  std::string csrf(const std::string& id) {
    return sessions.csrf_of(showing("a=b; pawl_session_8081=" + id + "; c=d"), token, now);
  }

  CountedEntropy entropy;
  Secret<std::string> token{"hush"};
  SteadyInstant now;
  Sessions sessions;
};

TEST_F(SessionsTest, KnowsWhoeverShowsItsCookie) {
  const Sessions::Opened opened = sessions.open(entropy, token, now);
  EXPECT_EQ(opened.id.size(), 64U);
  EXPECT_NE(opened.id, opened.csrf);
  EXPECT_EQ(csrf(opened.id), opened.csrf);
  EXPECT_THAT(csrf("0" + opened.id.substr(1)), IsEmpty());
  EXPECT_THAT(csrf(""), IsEmpty());
  EXPECT_THAT(sessions.csrf_of(showing("pawl_session_9=" + opened.id), token, now), IsEmpty())
      << "the cookie of a pawl at another port";
}

TEST_F(SessionsTest, EndWithTheTokenWithUseAndByHand) {
  const std::string changed = sessions.open(entropy, token, now).id;
  EXPECT_THAT(
      sessions.csrf_of(showing("pawl_session_8081=" + changed), Secret<std::string>("other"), now),
      IsEmpty());
  EXPECT_THAT(csrf(changed), IsEmpty()) << "it is gone for good";

  const std::string idle = sessions.open(entropy, token, now).id;
  now = now + bounds::panel_session_idle;
  EXPECT_FALSE(csrf(idle).empty());
  now = now + bounds::panel_session_idle + Duration::seconds(1);
  EXPECT_THAT(csrf(idle), IsEmpty());

  const std::string closed = sessions.open(entropy, token, now).id;
  sessions.close(showing("pawl_session_8081=" + closed));
  EXPECT_THAT(csrf(closed), IsEmpty());
  EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionsTest, EndAfterThirtyDaysHoweverMuchTheyAreUsed) {
  const std::string id = sessions.open(entropy, token, now).id;
  const SteadyInstant end = now + Duration::days(30);
  for (; now < end; now = now + Duration::hours(10)) EXPECT_FALSE(csrf(id).empty());
  now = end;
  EXPECT_FALSE(csrf(id).empty());
  now = end + Duration::seconds(1);
  EXPECT_THAT(csrf(id), IsEmpty());
  EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionsTest, LetTheOneGoThatWasNotUsedForLongest) {
  const std::string first = sessions.open(entropy, token, now).id;
  now = now + Duration::seconds(1);
  const std::string second = sessions.open(entropy, token, now).id;
  now = now + Duration::seconds(1);
  EXPECT_FALSE(csrf(first).empty());
  for (std::size_t i = 1; i < bounds::panel_sessions_max; ++i) sessions.open(entropy, token, now);
  EXPECT_EQ(sessions.size(), bounds::panel_sessions_max);
  EXPECT_FALSE(csrf(first).empty());
  EXPECT_THAT(csrf(second), IsEmpty());
}

TEST(SessionCookie, IsOutOfReachOfScriptsAndOtherSites) {
  const server::Request request{
      .method = "POST", .target = "/", .headers = {{"Host", "[::1]:81"}}, .body = {}};
  const std::string field = cookie_field(request, "abc");
  EXPECT_THAT(field, HasSubstr("Set-Cookie: pawl_session_81=abc; "));
  EXPECT_THAT(field, HasSubstr("HttpOnly; SameSite=Strict; Max-Age=2592000\r\n"));
  EXPECT_THAT(cookie_field(request, ""), HasSubstr("pawl_session_81=; "));
  EXPECT_THAT(cookie_field(request, ""), HasSubstr("Max-Age=0\r\n"));
  for (const char* host : {"localhost", "[::1]", "a:b", "a:1;2"}) {
    EXPECT_EQ(
        cookie_name({.method = "GET", .target = "/", .headers = {{"Host", host}}, .body = {}}),
        "pawl_session")
        << host;
  }
}

}  // namespace
}  // namespace pawl::admin
