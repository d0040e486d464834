// Goal: OKX takes what we sign. Method: vectors that were computed apart from this code, for both
// kinds of REST calls and for the login.
#include "venue/okx/okx_sign.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace pawl::okx {
namespace {

const Credentials credentials{.api_key = Secret<std::string>("the-key"),
                              .secret_key = Secret<std::string>("22582BD0CFF14C41EDBF1AB98506286D"),
                              .passphrase = Secret<std::string>("the-passphrase")};
constexpr std::string_view time_text = "2020-12-08T09:08:57.715Z";

constexpr Signed get_order{
    .method = "GET", .path = "/api/v5/trade/order?instId=BTC-USDT&clOrdId=pawl0001", .body = ""};
constexpr Signed post_order{
    .method = "POST",
    .path = "/api/v5/trade/order",
    .body = R"({"instId":"BTC-USDT","tdMode":"cash","clOrdId":"pawl0001","side":"buy",)"
            R"("ordType":"limit","px":"2.15","sz":"2"})"};

TEST(OkxSign, SignsAGetWithItsQuery) {
  EXPECT_EQ(signature(credentials.secret_key, time_text, get_order),
            "DfcdXeDovk7vfcnz2Al3IhmvmIvRxsCLk90qVBiG7JY=");
}

TEST(OkxSign, SignsAPostWithItsBody) {
  EXPECT_EQ(signature(credentials.secret_key, time_text, post_order),
            "xu92qZS7gLnz/l1PxPBtDs4xgnMw+OWWmp6Pkp1Xlsw=");
}

TEST(OkxSign, PutsKeySignatureTimeAndPassphraseIntoFields) {
  const auto fields = signed_fields(credentials, post_order, parse_instant(time_text).value());
  EXPECT_EQ(fields, (std::vector<HttpField>{
                        {"OK-ACCESS-KEY", "the-key"},
                        {"OK-ACCESS-SIGN", "xu92qZS7gLnz/l1PxPBtDs4xgnMw+OWWmp6Pkp1Xlsw="},
                        {"OK-ACCESS-TIMESTAMP", std::string(time_text)},
                        {"OK-ACCESS-PASSPHRASE", "the-passphrase"}}));
}

TEST(OkxSign, LogsInWithSecondsSinceTheEpoch) {
  const Instant now = Instant::from_ns(1'704'876'947'999'000'000);
  const auto message = json::parse(login_message(credentials, now).reveal()).value();
  EXPECT_EQ(*message.find("op"), json::Value("login"));
  const json::Value& arguments = message.find("args")->if_array()->at(0);
  EXPECT_EQ(*arguments.find("timestamp"), json::Value("1704876947"));
  EXPECT_EQ(*arguments.find("sign"), json::Value("5/36BgGV6m/6pmdc20zdqk0mzF5ZalmzzPD2fo3wavU="));
  EXPECT_EQ(*arguments.find("apiKey"), json::Value("the-key"));
  EXPECT_EQ(*arguments.find("passphrase"), json::Value("the-passphrase"));
}

}  // namespace
}  // namespace pawl::okx
