// Goal: receivers with the libraries of the specification believe us, and nobody else makes them.
// Method: the vector that those libraries test themselves with; a message changed in every part.
#include "core/webhook/signature.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::webhook {
namespace {

constexpr Instant sent = Instant::from_ns(1'614'265'330'000'000'000);

Secret<std::string> key_for(std::string secret) {
  const auto key = key_of(Secret<std::string>(std::move(secret)));
  EXPECT_TRUE(key.has_value());
  return key.value_or(Secret<std::string>());
}

const Message vector = {.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
                        .timestamp = "1614265330",
                        .body = R"({"test": 2432232314})"};
constexpr std::string_view signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

class SignatureTest : public ::testing::Test {
 protected:
  Result<void> verified(const Message& message, std::string_view signatures,
                        Duration later = {}) const {
    return verify(key, message, signatures, {.now = sent + later});
  }
  const Secret<std::string> key = key_for("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
};

TEST_F(SignatureTest, IsThatOfTheSpecification) {
  EXPECT_EQ(sign(key, vector), signature);
  EXPECT_EQ(timestamp_of(sent + Duration::milliseconds(999)), "1614265330");
  EXPECT_TRUE(verified(vector, signature));
}

TEST_F(SignatureTest, IsOneOfSeveral) {
  EXPECT_TRUE(verified(vector, "v1,AAAA v1a,BBBB " + std::string(signature)));
  EXPECT_FALSE(verified(vector, "v1,AAAA v1a,BBBB"));
  EXPECT_FALSE(verified(vector, ""));
  EXPECT_FALSE(verified(vector, signature.substr(0, signature.size() - 1)));
}

TEST_F(SignatureTest, DoesNotFitAMessageThatWasChanged) {
  EXPECT_FALSE(verified({"msg_q", vector.timestamp, vector.body}, signature));
  EXPECT_FALSE(verified({vector.id, "1614265331", vector.body}, signature));
  EXPECT_FALSE(verified({vector.id, vector.timestamp, R"({"test": 2432232315})"}, signature));
  EXPECT_FALSE(verify(key_for("another secret of some length"), vector, signature, {.now = sent}));
}

TEST_F(SignatureTest, IsRefusedWhenTheMessageIsNotFresh) {
  EXPECT_TRUE(verified(vector, signature, Duration::minutes(5)));
  EXPECT_FALSE(verified(vector, signature, Duration::minutes(5) + Duration::seconds(1)));
  EXPECT_TRUE(verified(vector, signature, -Duration::minutes(5)));
  EXPECT_FALSE(verified(vector, signature, -Duration::minutes(5) - Duration::seconds(1)));
  for (const char* timestamp : {"", "x", "1614265330x", "99999999999999999999", " 1614265330",
                                "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_FALSE(verified({vector.id, timestamp, vector.body}, signature)) << timestamp;
  }
}

TEST(SigningKey, IsBase64BehindWhsecAndTheTextItselfElse) {
  EXPECT_EQ(key_for("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").reveal().size(), 24u);
  EXPECT_EQ(key_for("0123456789012345678901234").reveal(), "0123456789012345678901234");
}

TEST(SigningKey, ThatIsNoneIsRefusedWithoutBeingTold) {
  for (const char* bad :
       {"", "tooshort", "whsec_", "whsec_not base64 at all, whatever it is", "whsec_QUJD"}) {
    const auto key = key_of(Secret<std::string>(bad));
    ASSERT_FALSE(key) << bad;
    EXPECT_EQ(key.error().message.find("tooshort"), std::string::npos);
  }
  EXPECT_FALSE(key_of(Secret<std::string>(std::string(257, 'x'))));
}

RC_GTEST_PROP(Signature, IsBelievedForWhatWasSignedAndNothingElse,
              (const std::string& body, const std::string& other)) {
  const Secret<std::string> key("0123456789012345678901234");
  const Message message{.id = "id", .timestamp = "1614265330", .body = body};
  const std::string made = sign(key, message);
  RC_ASSERT(verify(key, message, made, {.now = sent}).has_value());
  const Message changed{.id = "id", .timestamp = "1614265330", .body = other};
  RC_ASSERT(verify(key, changed, made, {.now = sent}).has_value() == (body == other));
}

}  // namespace
}  // namespace pawl::webhook
