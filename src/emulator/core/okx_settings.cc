#include "emulator/core/okx_settings.h"

#include <utility>

#include "emulator/core/settings_reader.h"

namespace pawl::emulator {
namespace {

std::unexpected<Error> wrong(std::string_view what) {
  return failure(Code::invalid,
                 "settings." + std::string(what) + ": see docs/emulators.md, OKX's settings");
}

Decimal number(std::string_view text) {
  return parse_decimal(text).value_or(Decimal());
}

OkxInstrument instrument(std::string_view type, std::string_view price, std::string_view lot) {
  return {.type = std::string(type),
          .price = number(price),
          .lot = number(lot),
          .minimum = number(lot)};
}

Result<OkxKey> read_key(const json::Value& value) {
  OkxKey key;
  std::string secret;
  std::string passphrase;
  SettingsReader reader(value);
  reader.read("key", key.key);
  reader.read("secret", secret);
  reader.read("passphrase", passphrase);
  reader.read("demo", key.is_demo);
  PAWL_TRY(reader.finish());
  if (key.key.empty() || secret.empty() || passphrase.empty()) {
    return wrong("keys must have key, secret and passphrase in each");
  }
  key.secret = Secret(std::move(secret));
  key.passphrase = Secret(std::move(passphrase));
  return key;
}

Result<void> read_keys(OkxSettings& settings, const json::Value& value) {
  const json::Array* list = value.if_array();
  if (list == nullptr || list->empty()) return wrong("keys must be a list of objects");
  settings.keys.clear();
  for (const json::Value& item : *list) settings.keys.push_back(PAWL_TRY(read_key(item)));
  return {};
}

Result<void> read_amount(SettingsReader& reader, std::string_view name, Decimal& into) {
  std::string text = to_string(into);
  reader.read(name, text);
  const Result<Decimal> read = parse_decimal(text);
  if (!read || *read <= Decimal()) {
    return wrong("instruments: " + std::string(name) + " must be a number above 0, as a text");
  }
  into = *read;
  return {};
}

// Added to those that are there; one that is there is changed.
Result<void> read_instruments(OkxSettings& settings, const json::Value& value) {
  const json::Object* members = value.if_object();
  if (members == nullptr) return wrong("instruments must be an object of objects");
  for (const auto& [name, member] : *members) {
    auto [found, is_new] = settings.instruments.try_emplace(name);
    if (is_new) found->second = instrument("SPOT", "100", "0.00000001");
    SettingsReader reader(member);
    reader.read("type", found->second.type, {"SPOT", "SWAP", "FUTURES"});
    PAWL_TRY(read_amount(reader, "price", found->second.price));
    PAWL_TRY(read_amount(reader, "lot", found->second.lot));
    PAWL_TRY(read_amount(reader, "minimum", found->second.minimum));
    reader.read("live", found->second.is_live);
    PAWL_TRY(reader.finish());
  }
  return {};
}

Result<void> read_limits(OkxSettings& settings, const json::Value& value) {
  if (value.if_bool() != nullptr && !*value.if_bool()) {
    // More than any test sends.
    for (auto& [name, limit] : settings.limits) limit = 1'000'000'000;
    return {};
  }
  SettingsReader reader(value);
  for (auto& [name, limit] : settings.limits) reader.read(name, limit);
  return reader.finish();
}

Result<void> read_dedup(OkxSettings& settings, const std::string& text) {
  if (text == "for_ever") {
    settings.dedup = OkxDedup::for_ever;
  } else if (text == "while_live") {
    settings.dedup = OkxDedup::while_live;
  } else if (const Result<Duration> read = parse_duration(text)) {
    settings.dedup = OkxDedup::for_a_time;
    settings.dedup_time = *read;
  } else {
    return wrong("dedup must be for_ever, while_live or a duration, as \"60s\"");
  }
  return {};
}

// All but what is an object or a list of its own.
Result<void> read_plain(OkxSettings& settings, const json::Value& value) {
  std::string dedup = "for_ever";
  std::string positions = "net";
  std::string parameter_error = "whole";
  SettingsReader reader(value);
  reader.read("authentication", settings.authenticates);
  reader.read("timestamp_window", settings.timestamp_window);
  reader.read("dedup", dedup);
  reader.read("duplicate_code", settings.duplicate_code, {"51016", "50071"});
  reader.read("expired_code", settings.expired_code);
  reader.read("parameter_error", parameter_error, {"whole", "item"});
  reader.read("account_limit_status", settings.account_limit_status);
  reader.read("positions", positions, {"net", "long_short"});
  reader.read("order_keeps_canceled", settings.order_keeps_canceled);
  reader.read("archive_keeps_canceled", settings.archive_keeps_canceled);
  reader.read("connects_a_second", settings.connects_a_second);
  reader.read("channel_idle", settings.channel_idle);
  reader.read("lag", settings.lag);
  PAWL_TRY(reader.finish());
  settings.long_short = positions == "long_short";
  settings.parameter_is_whole = parameter_error == "whole";
  if (settings.account_limit_status != 200 && settings.account_limit_status != 429) {
    return wrong("account_limit_status must be 200 or 429");
  }
  return read_dedup(settings, dedup);
}

}  // namespace

OkxSettings default_okx_settings() {
  OkxSettings settings;
  const auto key = [](std::string_view name, bool is_demo) {
    return OkxKey{.key = std::string(name),
                  .secret = Secret(std::string("22582BD0CFF14C41EDBF1AB98506286D")),
                  .passphrase = Secret(std::string("emulated-passphrase")),
                  .is_demo = is_demo};
  };
  settings.keys = {key("emulated-demo", true), key("emulated-live", false)};
  settings.keys.push_back({.key = "key",
                           .secret = Secret(std::string("secret")),
                           .passphrase = Secret(std::string("phrase")),
                           .is_demo = true});
  settings.instruments = {{"BTC-USDT", instrument("SPOT", "50000", "0.00000001")},
                          {"ETH-USDT", instrument("SPOT", "2500", "0.000001")},
                          {"BTC-USDT-SWAP", instrument("SWAP", "50000", "0.01")},
                          {"ETH-USDT-SWAP", instrument("SWAP", "2500", "0.01")}};
  settings.limits = {{"place", 60},         {"batch", 300},        {"cancel", 60},
                     {"cancel_batch", 300}, {"amend", 60},         {"order", 60},
                     {"pending", 60},       {"history", 40},       {"archive", 20},
                     {"fills", 60},         {"fills_history", 10}, {"positions", 10},
                     {"account", 1000},     {"read", 10},          {"public", 20}};
  return settings;
}

Result<OkxSettings> parse_okx_settings(const json::Value& settings) {
  using Read = Result<void> (*)(OkxSettings&, const json::Value&);
  constexpr std::pair<std::string_view, Read> parts[] = {
      {"keys", read_keys}, {"instruments", read_instruments}, {"limits", read_limits}};
  OkxSettings read = default_okx_settings();
  if (settings.is_null()) return read;
  if (settings.if_object() == nullptr) return wrong(" must be an object");
  json::Object plain = *settings.if_object();
  for (const auto& [name, part] : parts) {
    const json::Value* value = settings.find(name);
    if (value == nullptr) continue;
    PAWL_TRY(part(read, *value));
    plain.erase(plain.find(name));
  }
  PAWL_TRY(read_plain(read, json::Value(std::move(plain))));
  return read;
}

}  // namespace pawl::emulator
