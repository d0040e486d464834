// Goal: one renewal for all who need it, in this process and in others; the new pair is on the disk
//       before anybody uses it; no token in any text.
// Method: keepers that share a folder and a fake token server, on a clock moved by hand.
#include "venue/saxo/saxo_token.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/bounds.h"
#include "tests/temp_folder.h"
#include "venue/saxo/saxo_fixture.h"
#include "venue/saxo/saxo_token_file.h"

namespace pawl::saxo {
namespace {

using Token = Result<Secret<std::string>>;

class SaxoTokenTest : public ::testing::Test {
 protected:
  SaxoTokenTest() {
    saxo.answers[token_call] = [this](const HttpRequest&) { return pair(++renewals); };
  }
  static HttpAnswer pair(int number) {
    const std::string text = std::to_string(number);
    return json_answer(200, R"({"access_token":"access-)" + text +
                                R"(","refresh_token":"refresh-)" + text +
                                R"(","expires_in":1200,"refresh_token_expires_in":2400})");
  }
  TokenOptions options(const std::string& file) const {
    return {.url = "http://saxo.test/token",
            .access = Secret<std::string>("access-0"),
            .refresh = Secret<std::string>("refresh-0"),
            .app_key = "app",
            .app_secret = Secret<std::string>("app-secret"),
            .file = file};
  }
  std::unique_ptr<TokenKeeper> keeper(TokenOptions settings) {
    auto opened = TokenKeeper::open(
        std::move(settings), {saxo.http, saxo.clock, saxo.timers,
                              [this](const std::string& note) { saxo.notes.push_back(note); }});
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(*opened);
  }
  std::unique_ptr<TokenKeeper> keeper() { return keeper(options(path)); }
  static std::string text(const std::optional<Token>& token) {
    if (!token) return "waits";
    return *token ? (*token)->reveal() : "error: " + token->error().message;
  }
  static std::string get(TokenKeeper& from) {
    std::optional<Token> got;
    from.get([&](Token token) { got = std::move(token); });
    return text(got);
  }
  static std::string renew(TokenKeeper& from, const std::string& refused) {
    std::optional<Token> got;
    from.renew(Secret(refused), [&](Token token) { got = std::move(token); });
    return text(got);
  }

  TempFolder folder;
  std::string path = folder / "tokens.json";
  FakeSaxo saxo;
  int renewals = 0;
};

TEST_F(SaxoTokenTest, GivesTheConfiguredOneUntilItIsRefused) {
  const auto one = keeper();
  EXPECT_EQ(get(*one), "access-0");
  EXPECT_EQ(renew(*one, "access-0"), "access-1");
  EXPECT_EQ(get(*one), "access-1");
  EXPECT_EQ(renew(*one, "access-0"), "access-1") << "somebody was late to notice";
  EXPECT_EQ(renewals, 1);
}

TEST_F(SaxoTokenTest, RenewsAsOAuthWantsIt) {
  const auto one = keeper();
  (void)renew(*one, "access-0");
  const HttpRequest& request = saxo.http.sent.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body, "grant_type=refresh_token&refresh_token=refresh-0");
  EXPECT_EQ(field_of(request, "Authorization"), "Basic YXBwOmFwcC1zZWNyZXQ=");
  EXPECT_EQ(field_of(request, "Content-Type"), "application/x-www-form-urlencoded");
  (void)renew(*one, "access-1");
  EXPECT_NE(saxo.http.sent.at(1).body.find("refresh-1"), std::string::npos) << "it rotates";
}

TEST_F(SaxoTokenTest, RenewsAheadOfTheEndThatTheAnswerNamed) {
  const auto one = keeper();
  (void)renew(*one, "access-0");
  saxo.clock.advance(Duration::seconds(1139));
  EXPECT_EQ(get(*one), "access-1");
  saxo.clock.advance(Duration::seconds(1));
  EXPECT_EQ(get(*one), "access-2");
  saxo.answers[token_call] = [](const HttpRequest&) { return json_answer(503, ""); };
  saxo.clock.advance(Duration::seconds(1200));
  EXPECT_EQ(get(*one), "access-2") << "a 401 will tell whether it is over";
  saxo.on(token_call, json_answer(400, R"({"error":"invalid_grant"})"));
  EXPECT_NE(get(*one).find("log in again"), std::string::npos);
}

TEST_F(SaxoTokenTest, BelievesNoEndThatMakesNoSense) {
  for (const std::string end : {"-5", "0", "\"soon\"", "null"}) {
    saxo.answers[token_call] = [&](const HttpRequest&) {
      return json_answer(200, R"({"access_token":"a","expires_in":)" + end + "}");
    };
    TokenOptions settings = options("");
    const auto one = keeper(settings);
    EXPECT_EQ(renew(*one, "access-0"), "a");
    saxo.clock.advance(Duration::days(1));
    EXPECT_EQ(get(*one), "a") << end;
  }
}

TEST_F(SaxoTokenTest, KeepsThePairBeforeAnybodyUsesIt) {
  const auto one = keeper();
  one->renew(Secret<std::string>("access-0"), [&](Token token) {
    EXPECT_EQ(TokenFile(path).load().value()->access.reveal(), token->reveal());
  });
  const auto later = keeper();
  EXPECT_EQ(get(*later), "access-1") << "a new process goes on with what was kept";
  EXPECT_EQ(renewals, 1);
}

TEST_F(SaxoTokenTest, RenewsOnceForAllWhoWait) {
  saxo.answers[token_call] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  const auto one = keeper();
  std::vector<std::string> got;
  for (int i = 0; i < 5; ++i) {
    one->renew(Secret<std::string>("access-0"),
               [&](const Token& token) { got.push_back(token->reveal()); });
  }
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(saxo.http.sent.size(), 1u);
  saxo.http.release(0, pair(1));
  EXPECT_EQ(got, std::vector<std::string>(5, "access-1"));
}

TEST_F(SaxoTokenTest, HasOneOwnerAcrossProcesses) {
  saxo.answers[token_call] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  const auto one = keeper();
  const auto other = keeper();  // it shares the file, and nothing else
  std::optional<Token> first;
  std::optional<Token> second;
  one->renew(Secret<std::string>("access-0"), [&](Token token) { first = std::move(token); });
  other->renew(Secret<std::string>("access-0"), [&](Token token) { second = std::move(token); });
  saxo.timers.advance(Duration::seconds(5));
  EXPECT_EQ(saxo.http.sent.size(), 1u) << "a refresh token is good for one use";
  EXPECT_EQ(text(second), "waits");
  saxo.http.release(0, pair(1));
  EXPECT_EQ(text(first), "access-1");
  saxo.timers.advance(bounds::token_lock_poll);
  EXPECT_EQ(text(second), "access-1") << "it took what the other got";
  EXPECT_EQ(saxo.http.sent.size(), 1u);
}

TEST_F(SaxoTokenTest, GivesUpOnALockThatIsNeverFree) {
  const auto lock = TokenFile(path).try_lock();
  const auto one = keeper();
  std::optional<Token> got;
  one->renew(Secret<std::string>("access-0"), [&](Token token) { got = std::move(token); });
  saxo.timers.advance(bounds::token_lock_wait + Duration::seconds(1));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->error().code, Code::unavailable);
  EXPECT_EQ(saxo.http.sent.size(), 0u);
  got.reset();
  one->renew(Secret<std::string>("access-0"), [&](Token token) { got = std::move(token); });
  saxo.timers.close();
  EXPECT_EQ(got->error().code, Code::unavailable) << "and when pawl ends";
}

TEST_F(SaxoTokenTest, TakesANewPairInTheConfigurationForNewer) {
  (void)renew(*keeper(), "access-0");
  TokenOptions settings = options(path);
  settings.access = Secret<std::string>("login-access");
  settings.refresh = Secret<std::string>("login-refresh");
  const auto after_login = keeper(settings);
  EXPECT_EQ(get(*after_login), "login-access");
  EXPECT_EQ(renew(*after_login, "login-access"), "access-2");
  EXPECT_NE(saxo.http.sent.back().body.find("login-refresh"), std::string::npos);
  EXPECT_EQ(get(*keeper(settings)), "access-2") << "and from then on the file counts again";
}

TEST_F(SaxoTokenTest, UsesWhatTheDiskDoesNotTakeAndTriesAgain) {
  const auto one = keeper();
  // A folder stands where the file is to be.
  std::filesystem::create_directories(path + "/in-the-way");
  EXPECT_NE(renew(*one, "access-0").find("error"), std::string::npos);
  std::filesystem::remove_all(path);

  std::filesystem::create_directories(path + ".new/in-the-way");
  EXPECT_EQ(renew(*one, "access-0"), "access-1") << "the old one is gone in any case";
  EXPECT_NE(saxo.notes.back().find("a restart would need a new login"), std::string::npos);
  std::filesystem::remove_all(path + ".new");
  EXPECT_EQ(get(*one), "access-1");
  EXPECT_EQ(TokenFile(path).load().value()->access.reveal(), "access-1");
}

TEST_F(SaxoTokenTest, AsksForALoginWhenTheRefreshTokenIsSpent) {
  saxo.answers[token_call] = [](const HttpRequest&) {
    return json_answer(400, R"({"error":"invalid_grant","refresh_token":"refresh-0"})");
  };
  const auto one = keeper();
  const std::string said = renew(*one, "access-0");
  EXPECT_NE(said.find("invalid_grant"), std::string::npos) << said;
  EXPECT_NE(said.find("log in again"), std::string::npos) << said;
  TokenOptions settings = options("");
  settings.refresh = {};
  EXPECT_NE(renew(*keeper(settings), "access-0").find("no refresh token"), std::string::npos);
  settings.access = {};
  EXPECT_NE(get(*keeper(settings)).find("no access token"), std::string::npos);
}

TEST_F(SaxoTokenTest, GivesNoTokenThatWasRefusedAndRenewsIt) {
  const auto one = keeper();
  EXPECT_EQ(one->at_hand()->reveal(), "access-0");
  one->refused(Secret<std::string>("access-0"));
  EXPECT_FALSE(one->at_hand()) << "its turn is no time to renew";
  EXPECT_EQ(renewals, 0);
  EXPECT_EQ(get(*one), "access-1");
  one->refused(Secret<std::string>("access-0"));
  EXPECT_EQ(one->at_hand()->reveal(), "access-1") << "a late word about the one before";
  EXPECT_EQ(renewals, 1);
}

TEST_F(SaxoTokenTest, SaysWhyThereIsNone) {
  const auto one = keeper();
  one->refused(Secret<std::string>("access-0"));
  saxo.on(token_call, json_answer(503, "<html>"));
  EXPECT_NE(get(*one).find("HTTP 503"), std::string::npos) << "the refused one is not given";
  EXPECT_NE(one->at_hand().error().message.find("HTTP 503"), std::string::npos);
  saxo.answers[token_call] = [this](const HttpRequest&) { return pair(++renewals); };
  EXPECT_EQ(get(*one), "access-1");
  one->refused(Secret<std::string>("access-1"));
  EXPECT_EQ(one->at_hand().error().message.find("HTTP 503"), std::string::npos);
}

TEST_F(SaxoTokenTest, BelievesNoAnswerThatIsNone) {
  const auto one = keeper();
  for (const HttpAnswer& bad :
       {json_answer(200, ""), json_answer(200, "{}"), json_answer(503, "<html>"),
        json_answer(200, R"({"access_token":"a b"})"), json_answer(200, R"({"access_token":""})"),
        HttpAnswer{.status = 200, .body = pair(1).body, .complete = false}}) {
    saxo.on(token_call, bad);
    EXPECT_NE(renew(*one, "access-0").find("error"), std::string::npos) << bad.body;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SaxoTokenTest, NamesNoTokenInAnyText) {
  const auto one = keeper();
  std::string told = renew(*one, "access-0");
  saxo.answers[token_call] = [](const HttpRequest&) {
    return json_answer(400, R"({"error":"refresh-1 is spent"})");
  };
  told = renew(*one, "access-1");
  saxo.answers[token_call] = [](const HttpRequest&) {
    return Result<HttpAnswer>(std::unexpected(Error(
        Code::unavailable, Outcome::unknown, "sent Bearer access-1 refresh_token=refresh-1")));
  };
  told += renew(*one, "access-1");
  for (const std::string& note : saxo.notes) told += note;
  for (const char* secret : {"access-1", "refresh-1", "app-secret", "YXBw"}) {
    EXPECT_EQ(told.find(secret), std::string::npos) << told;
  }
}

TEST_F(SaxoTokenTest, MayBeDestroyedWhileARenewalIsUnderWay) {
  saxo.answers[token_call] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  auto one = keeper();
  std::optional<Token> got;
  one->renew(Secret<std::string>("access-0"), [&](Token token) { got = std::move(token); });
  one.reset();
  saxo.http.release(0, pair(1));
  EXPECT_EQ(text(got), "access-1");
  EXPECT_EQ(get(*keeper()), "access-1") << "and it was kept";
}

}  // namespace
}  // namespace pawl::saxo
