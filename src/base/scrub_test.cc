// Goal: what announces itself as a secret is masked wherever it stands, and nothing else is
//       touched.
// Method: a canary in every form in which failures quote requests; texts of every day; any text
//         at random.
#include "base/scrub.h"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

constexpr std::string_view canary = "c4naryS3cret";

TEST(Scrub, MasksACanaryInEveryFormThatAnnouncesIt) {
  for (const std::string_view form : {
           "password=?",
           "Password = ?",
           "PASSWORD: ?",
           "pwd='?'",
           "db_passwd=\"?\"",
           "https://api.example.com/v1?access_token=?&page=2",
           "GET /orders?page=2&X-Amz-Signature=? failed",
           "{\"refresh_token\":\"?\",\"expires\":3600}",
           "{\\\"client_secret\\\":\\\"?\\\"}",
           "secret_key => ?, next",
           "token == '?'",
           "Authorization: Bearer ?",
           "authorization: OAuth oauth_nonce=7 ?",
           "sent Bearer ? and got 401",
           "bearer   ?",
           "auth Basic ?==",
           "X-Api-Key: ?",
           "OK-ACCESS-SIGN: ?",
           "OK-ACCESS-PASSPHRASE=?;",
           "Cookie: session=?; theme=dark",
           "Set-Cookie: id=1; also=?",
           "redis://:?@db.example.com:6379/0",
           "cannot reach https://user:?@host/path, giving up",
           "https://?@host",
           "AWS.Security.Token=?",
           "password=a-first&password=?",
       }) {
    std::string text(form);
    const std::size_t at = text.rfind('?');
    text.replace(at, 1, canary);
    EXPECT_TRUE(holds_secret(text)) << text;
    const std::string clean = scrubbed(text);
    EXPECT_EQ(clean.find(canary), std::string::npos) << clean;
    EXPECT_NE(clean.find("***"), std::string::npos) << clean;
    EXPECT_FALSE(holds_secret(clean)) << clean;
  }
}

TEST(Scrub, KeepsWhatStandsAroundASecret) {
  EXPECT_EQ(scrubbed("POST https://u:p@host/x?token=abc&page=2 said 401"),
            "POST https://***@host/x?token=***&page=2 said 401");
  EXPECT_EQ(scrubbed("{\"api_key\":\"a b\",\"size\":1}"), "{\"api_key\":\"***\",\"size\":1}");
  EXPECT_EQ(scrubbed("Authorization: Basic dXNlcjpw\nHost: example.com"),
            "Authorization: ***\nHost: example.com");
  EXPECT_EQ(scrubbed("Bearer abc, Bearer def"), "Bearer ***, Bearer ***");
}

TEST(Scrub, LeavesTextsOfEveryDayAlone) {
  for (const std::string_view text :
       {"", "Connection timeout", "POST /v1/orders", "basic plan of acme", "tenant:acme", "a=b",
        "tokens=5", "token_bucket: 100/1m, 57 left", "2026-01-25T21:15:00.000Z",
        "http://host:8080/path?x=1", "mailto:someone@example.com", "password=", "password: \"\"",
        "token=***", "idempotency_key=abc", "[::1]:8080", "a bearer",
        "4bf92f3577b34da6a3ce929d0e0e4736"}) {
    EXPECT_FALSE(holds_secret(text)) << text;
    EXPECT_EQ(scrubbed(text), text);
  }
}

TEST(Scrub, LooksIntoNestedValues) {
  const json::Value nested = json::Array{
      1, json::Object{{"params", json::Object{{"api_key", canary}, {"pin_token", 1234}}},
                      {"url", "https://h/?secret=" + std::string(canary)},
                      {"fine", true},
                      {"has_token", true}}};
  EXPECT_TRUE(value_holds_secret(nested));
  EXPECT_EQ(json::print(scrubbed_value(nested)),
            R"([1,{"fine":true,"has_token":true,"params":{"api_key":"***","pin_token":"***"},)"
            R"("url":"https://h/?secret=***"}])");
  EXPECT_FALSE(value_holds_secret(scrubbed_value(nested)));
  EXPECT_FALSE(value_holds_secret(json::Value(json::Array{1, nullptr, "text", json::Object{}})));
}

TEST(Scrub, WhatAMaskUncoversIsMaskedToo) {
  // The slash ends the user of an address until it is masked as a token itself.
  EXPECT_EQ(scrubbed("://token=/;@host"), "://***@host");
  EXPECT_EQ(scrubbed("://**+*@://*tcredential::/;;;:@/"), "://***@://***@/");
}

RC_GTEST_PROP(Scrub, LeavesNothingBehindThatItWouldMask, ()) {
  std::string text;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    text += *rc::gen::element<std::string>("token", "=", ":", " ", "/", "\"", "\\", "://", "@", "x",
                                           "Bearer", "basic", "&", "\n", "é", "cookie", "***",
                                           *rc::gen::arbitrary<std::string>());
  }
  const std::string clean = scrubbed(text);
  RC_ASSERT(clean.empty() == text.empty());
  RC_ASSERT(scrubbed(clean) == clean);
}

// Pieces of which secrets, and texts that look like them, are made.
std::string any_text(std::uint64_t seed) {
  constexpr std::array<std::string_view, 24> pieces = {
      "password", "Bearer", "basic", "bearer", "r",  "c",    " ", "\t",  "=", ":",     "://", "@",
      "token",    "acme",   "x",     "\"",     "\n", "\x7f", "ü", "***", "_", "GET /", "key", "1"};
  std::string text;
  while (seed > 0) {
    text.append(pieces[seed % pieces.size()]);
    seed /= pieces.size();
  }
  return text;
}

TEST(Scrub, WhatIsClearlyPlainNeitherHoldsASecretNorNeedsAnEscape) {
  int plain = 0;
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    const std::string text = any_text(i * 0x9e3779b97f4a7c15 >> 24);
    if (!is_clearly_plain(text)) continue;
    ++plain;
    std::string quoted;
    json::append_quoted(quoted, text);
    ASSERT_EQ(quoted, "\"" + text + "\"");
    ASSERT_FALSE(holds_secret(text)) << text;
  }
  EXPECT_GT(plain, 1'000);
  for (const std::string_view usual : {"", "acme", "GET /v1/orders/4711",
                                       "4bf92f3577b34da6a3ce929d0e0e4736", "1000/1m burst 20"}) {
    EXPECT_TRUE(is_clearly_plain(usual)) << usual;
  }
}

}  // namespace
}  // namespace pawl
