// Goal: the settings of orders are read as the contract has them, and what cannot work, or would
//       lay an account open, is refused. Method: pinned texts; each scenario of the weekly limit's
//       configuration by its name.
#include "config/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings_fixture.h"
#include "config/show.h"

namespace pawl::config {
namespace {

using ::testing::HasSubstr;

TEST(OrderSettings, ScenarioValidFrequencyConfiguration) {
  const Config config = loaded(
      "order_control: {frequency_limit: {enabled: true, weekly_max_orders: 7, "
      "exclude_reduce_only: false}}");
  EXPECT_EQ(config.order_control.frequency_limit,
            (order::FrequencyLimit{
                .enabled = true, .weekly_max_orders = 7, .exclude_reduce_only = false}));
  EXPECT_TRUE(config.order_control.given);
}

TEST(OrderSettings, ScenarioMissingFrequencyConfiguration) {
  for (const std::string_view text : {"", "log: {level: info}", "order_control: {}"}) {
    const Config config = loaded(text);
    EXPECT_EQ(config.order_control.frequency_limit,
              (order::FrequencyLimit{
                  .enabled = true, .weekly_max_orders = 5, .exclude_reduce_only = true}));
    EXPECT_FALSE(config.order_control.given) << text;
  }
}

TEST(OrderSettings, ScenarioInvalidWeeklyMaxOrders) {
  for (const std::string_view value : {"0", "-1", "x", "1.5", "[]", "9999999"}) {
    const std::string told = problems_of(
        "order_control:\n  frequency_limit:\n    weekly_max_orders: " + std::string(value) + "\n");
    EXPECT_THAT(told, HasSubstr("pawl.yaml:3: order_control.frequency_limit.weekly_max_orders: "
                                "Invalid weekly_max_orders, must be positive integer; found"))
        << value;
  }
}

TEST(OrderSettings, ScenarioFrequencyLimitDisabled) {
  const Config config = loaded("order_control: {frequency_limit: {enabled: false}}");
  EXPECT_FALSE(config.order_control.frequency_limit.enabled);
  EXPECT_TRUE(config.order_control.given);
}

constexpr std::string_view both = R"(orders:
  database: mine.db
  retry: { max_retries: 3 }
  venues:
    saxo:
      base_url: http://127.0.0.1:1/openapi
      token_url: http://127.0.0.1:1/token
      access_token: at
      refresh_token: rt
      app_key: ak
      app_secret: as
      client_key: ck
      account_key: acc
      token_file: tokens.json
    okx: { base_url: "http://[::1]:2", api_key: k, secret_key: s, passphrase: p, simulated: false,
           ws_url: "ws://localhost:3/ws/v5/private" }
)";

TEST(OrderSettings, ReadsBothVenues) {
  const Config config = loaded(both);
  ASSERT_TRUE(config.orders.venues.saxo && config.orders.venues.okx);
  EXPECT_EQ(config.orders.retry.max_retries, 3);
  EXPECT_EQ(config.orders.retry.base_delay, Duration::seconds(1));
  EXPECT_EQ(config.orders.venues.saxo->account_key, "acc");
  EXPECT_EQ(config.orders.venues.saxo->refresh_token.reveal(), "rt");
  EXPECT_EQ(config.orders.venues.okx->base_url, "http://[::1]:2");
  EXPECT_FALSE(config.orders.venues.okx->simulated);
}

TEST(OrderSettings, HidesEveryCredential) {
  const std::string shown = show(loaded(both));
  for (const std::string_view key : {"access_token", "refresh_token", "app_key", "app_secret",
                                     "api_key", "secret_key", "passphrase"}) {
    EXPECT_THAT(shown, HasSubstr(std::string(key) + ": \"***\"")) << shown;
  }
}

TEST(OrderSettings, TakeAProxyAndHideItsPassword) {
  const std::string okx =
      "orders: {venues: {okx: {api_key: k, secret_key: s, passphrase: p, proxy: ";
  const std::string shown = show(loaded(okx + "\"http://me:pass@10.0.0.1:3128\"}}}"));
  EXPECT_THAT(shown, HasSubstr("proxy: \"***\""));
  EXPECT_THAT(problems_of(okx + "\"ftp://x\"}}}"), HasSubstr("orders.venues.okx.proxy"));
}

TEST(OrderSettings, SendNoCredentialInTheClear) {
  EXPECT_THAT(
      problems_of("orders: {venues: {okx: {base_url: \"http://okx.example\", api_key: k, "
                  "secret_key: s, passphrase: p, ws_url: \"ws://okx.example/x\"}}}"),
      testing::AllOf(HasSubstr("orders.venues.okx.base_url: found http://okx.example, which "
                               "would send credentials in the clear"),
                     HasSubstr("orders.venues.okx.ws_url: found ws://okx.example/x")));
}

TEST(OrderSettings, WantAllThatACallIsSignedWith) {
  EXPECT_THAT(problems_of("orders: {venues: {okx: {api_key: k}}}"),
              HasSubstr("found 1 of api_key, secret_key and passphrase"));
  EXPECT_THAT(problems_of("orders: {venues: {saxo: {refresh_token: r}}}"),
              HasSubstr("found a refresh_token without a token_url"));
  EXPECT_THAT(problems_of("orders: {venues: {saxo: {access_token: t}}}"),
              HasSubstr("orders.venues.saxo: found no account_key"));
  EXPECT_THAT(problems_of("orders: {venues: {saxo: {account_key: a}}}"),
              HasSubstr("found neither access_token nor refresh_token"));
  EXPECT_EQ(problems_of("orders: {venues: {saxo: {account_key: a, access_token: t}}}"), "");
}

TEST(OrderSettings, SettleForLongerThanARealVenuesDuplicateWindow) {
  const std::string okx = ", venues: {okx: {api_key: k, secret_key: s, passphrase: p";
  EXPECT_THAT(problems_of("orders: {settle: 15s" + okx + "}}}"),
              HasSubstr("orders.settle: found 15s, but okx at https://www.okx.com"));
  EXPECT_EQ(problems_of("orders: {settle: 16s" + okx + "}}}"), "");
  EXPECT_EQ(problems_of("orders: {settle: 1s" + okx + ", base_url: \"http://127.0.0.1:4\"}}}"), "");
}

TEST(OrderSettings, HaveNoDelayAboveTheLongest) {
  EXPECT_THAT(problems_of("orders: {retry: {base_delay: 20s}}"),
              HasSubstr("orders.retry.base_delay: found 20s, which collides with "
                        "orders.retry.max_delay (10s)"));
}

TEST(OrderSettings, HaveAFileOfTheirOwn) {
  EXPECT_THAT(problems_of("orders: {database: data/pawl.db}"),
              HasSubstr("give each a file of its own"));
}

}  // namespace
}  // namespace pawl::config
