// Goal: what is set is what was meant: nothing unknown is passed over, and defaults are OKX's.
// Method: settings as texts.
#include "emulator/core/okx_settings.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

Result<OkxSettings> read(std::string_view text) {
  const Result<json::Value> value = json::parse(text);
  return value ? parse_okx_settings(*value) : Result<OkxSettings>(std::unexpected(value.error()));
}

TEST(OkxSettings, AreTheVenuesByDefault) {
  const OkxSettings settings = *parse_okx_settings(json::Value());
  EXPECT_EQ(settings.dedup, OkxDedup::for_ever);
  EXPECT_EQ(settings.limits.at("place"), 60U);
  EXPECT_EQ(settings.limits.at("account"), 1000U);
  EXPECT_EQ(settings.instruments.at("BTC-USDT").type, "SPOT");
  EXPECT_TRUE(settings.authenticates);
  EXPECT_FALSE(settings.long_short);
}

TEST(OkxSettings, CanAllBeSet) {
  const Result<OkxSettings> settings = read(R"({
    "keys": [{"key": "k", "secret": "s", "passphrase": "p", "demo": true}],
    "instruments": {"SOL-USDT": {"type": "SPOT", "price": "150.5", "lot": "0.1", "minimum": "1"}},
    "limits": {"place": 2}, "authentication": true, "timestamp_window": "5s", "dedup": "90s",
    "duplicate_code": "50071", "expired_code": "50037", "parameter_error": "item",
    "account_limit_status": 429, "positions": "long_short", "order_keeps_canceled": true,
    "archive_keeps_canceled": true, "lag": "20ms", "connects_a_second": 9, "channel_idle": "1m"})");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->keys.size(), 1U);
  EXPECT_EQ(settings->keys[0].secret.reveal(), "s");
  EXPECT_EQ(settings->instruments.at("SOL-USDT").price, *parse_decimal("150.5"));
  EXPECT_TRUE(settings->instruments.contains("BTC-USDT")) << "those that were there stay";
  EXPECT_EQ(settings->limits.at("place"), 2U);
  EXPECT_EQ(settings->limits.at("cancel"), 60U);
  EXPECT_EQ(settings->dedup, OkxDedup::for_a_time);
  EXPECT_EQ(settings->dedup_time, Duration::seconds(90));
  EXPECT_FALSE(settings->parameter_is_whole);
  EXPECT_TRUE(settings->long_short);
  EXPECT_EQ(settings->lag, Duration::milliseconds(20));
  EXPECT_EQ(settings->channel_idle, Duration::minutes(1));
}

TEST(OkxSettings, CanDoWithoutLimits) {
  const Result<OkxSettings> settings = read(R"({"limits": false})");
  ASSERT_TRUE(settings.has_value());
  EXPECT_GT(settings->limits.at("place"), 1'000'000U);
  EXPECT_FALSE(read(R"({"limits": true})").has_value());
}

TEST(OkxSettings, NameWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {R"({"dedupe": "for_ever"})", "dedupe"},
      {R"({"dedup": "sometimes"})", "dedup"},
      {R"({"duplicate_code": "51000"})", "duplicate_code"},
      {R"({"limits": {"dance": 3}})", "dance"},
      {R"({"limits": {"place": "many"}})", "place"},
      {R"({"instruments": {"A-B": {"price": "0"}}})", "price"},
      {R"({"instruments": {"A-B": {"type": "OPTION"}}})", "type"},
      {R"({"instruments": ["A-B"]})", "instruments"},
      {R"({"keys": []})", "keys"},
      {R"({"keys": [{"key": "k"}]})", "keys"},
      {R"({"positions": "both"})", "positions"},
      {R"({"account_limit_status": 500})", "account_limit_status"},
      {R"({"lag": 3})", "lag"},
  };
  for (const auto& [text, name] : wrong) {
    const Result<OkxSettings> settings = read(text);
    ASSERT_FALSE(settings.has_value()) << text;
    EXPECT_NE(settings.error().message.find(name), std::string::npos) << settings.error().message;
  }
}

TEST(OkxSettings, TellNoSecretWhenTheyAreWrong) {
  const Result<OkxSettings> settings =
      read(R"({"keys": [{"key": "k", "secret": "hidden", "passphrase": "also hidden", "x": 1}]})");
  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().message.find("hidden"), std::string::npos);
}

}  // namespace
}  // namespace pawl::emulator
