#include "emulator/core/saxo_settings.h"

#include "base/decimal.h"
#include "emulator/core/settings_reader.h"

namespace pawl::emulator {

Result<SaxoSettings> parse_saxo_settings(const json::Value& settings) {
  SaxoSettings read;
  SettingsReader reader(settings);
  reader.read("auth", read.auth, {"any", "issued"});
  reader.read("access_token", read.access_token);
  reader.read("refresh_token", read.refresh_token);
  reader.read("app_key", read.app_key);
  reader.read("app_secret", read.app_secret);
  reader.read("token_lifetime", read.token_lifetime);
  reader.read("refresh_lifetime", read.refresh_lifetime);
  reader.read("repeat_window", read.repeat_window);
  reader.read("repeat_scope", read.repeat_scope, {"user", "session"});
  reader.read("repeat_body", read.repeat_body, {"bytes", "canonical"});
  reader.read("repeat_rolling", read.repeat_rolling);
  reader.read("repeat_request_id", read.repeat_request_id);
  reader.read("repeat_after_limit", read.repeat_after_limit);
  reader.read("limits", read.limits);
  reader.read("session_limit", read.session_limit);
  reader.read("session_window", read.session_window);
  reader.read("orders_limit", read.orders_limit);
  reader.read("orders_window", read.orders_window);
  reader.read("orders_calls", read.orders_calls);
  reader.read("day_limit", read.day_limit);
  reader.read("rate_headers", read.rate_headers);
  reader.read("reset_zero", read.reset_zero);
  reader.read("lag", read.lag);
  reader.read("place_status", read.place_status);
  reader.read("market_fills", read.market_fills);
  reader.read("fill_price", read.fill_price);
  reader.read("activities_reference", read.activities_reference);
  reader.read("open_orders", read.open_orders);
  reader.read("client_key", read.client_key);
  reader.read("account_key", read.account_key);
  PAWL_TRY(reader.finish());
  if (read.place_status != 200 && read.place_status != 201) {
    return failure(Code::invalid, "settings.place_status must be 200 or 201");
  }
  if (!parse_decimal(read.fill_price)) {
    return failure(Code::invalid, "settings.fill_price must be a decimal number as text");
  }
  return read;
}

}  // namespace pawl::emulator
