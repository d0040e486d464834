#include "config/orders.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "base/json.h"
#include "base/local_url.h"
#include "base/text.h"
#include "config/places.h"
#include "config/values.h"

namespace pawl::config {
namespace {

// Its refusal has the words that users look for in the log.
Type<std::int64_t> weekly_max() {
  Type<std::int64_t> type = whole_number<std::int64_t>(1, bounds::order_weekly_max);
  type.read = [allowed = type.allowed](Reader& reader, const Node& node,
                                       const std::string& path) -> std::optional<std::int64_t> {
    std::string found = "; found ";
    if (node.kind == Node::Kind::text) {
      const auto text = reader.text(node, path, {allowed});
      if (!text) return std::nullopt;
      if (const auto number = parse_whole(*text, 1, bounds::order_weekly_max)) return number;
      json::append_quoted(found, std::string_view(*text).substr(0, 20));
    } else {
      found += "something else";
    }
    reader.problem(node.line, path,
                   std::string(invalid_weekly_max) + found + "; allowed: " + allowed);
    return std::nullopt;
  };
  return type;
}

Fields<Config> control_fields() {
  return {
      bind<Config>({"order_control.frequency_limit.enabled",
                    "Whether there is a limit of orders a week. Without one they are still "
                    "recorded.",
                    truth().print(true), needs_restart},
                   truth(), PAWL_MEMBER(order_control.frequency_limit.enabled)),
      bind<Config>({"order_control.frequency_limit.weekly_max_orders",
                    "How many orders may be placed in a week, which begins on Monday at 00:00 UTC.",
                    Node::of("5"), needs_restart},
                   weekly_max(), PAWL_MEMBER(order_control.frequency_limit.weekly_max_orders)),
      bind<Config>({"order_control.frequency_limit.exclude_reduce_only",
                    "true: orders that the venue itself holds to reducing a position do not count.",
                    truth().print(true), needs_restart},
                   truth(), PAWL_MEMBER(order_control.frequency_limit.exclude_reduce_only)),
  };
}

Fields<Config> pace_fields() {
  return {
      bind<Config>({"orders.database",
                    "The SQLite file with intents, quota and order_history. All processes of a "
                    "machine that trade on one account share it.",
                    Node::of("data/orders.db"), needs_restart},
                   file_path(), PAWL_MEMBER(orders.database)),
      bind<Config>({"orders.settle",
                    "How long an order must be absent before that is believed. Less than 16s is "
                    "taken only where every venue is an emulator on this machine.",
                    Node::of("20s"), needs_restart},
                   duration(bounds::order_settle_min, bounds::order_settle_max),
                   PAWL_MEMBER(orders.settle)),
      bind<Config>({"orders.patience",
                    "How long after that it is tried to find out what became of an order, before a "
                    "person has to look.",
                    Node::of("60s"), needs_restart},
                   duration(bounds::order_settle_min, bounds::order_settle_max),
                   PAWL_MEMBER(orders.patience)),
      bind<Config>({"orders.rate",
                    "How many placements, changes and cancels a session sends, by all processes "
                    "together.",
                    Node::of("1/1s"), needs_restart},
                   rate(), PAWL_MEMBER(orders.rate)),
      bind<Config>({"orders.burst", "How many may leave at once, beyond the even pace.",
                    Node::of("0"), needs_restart},
                   whole_number<std::int64_t>(0, bounds::order_burst_max),
                   PAWL_MEMBER(orders.burst)),
      bind<Config>({"orders.adaptive",
                    "true: a 429 that names no instant closes the session for one interval.",
                    truth().print(true), needs_restart},
                   truth(), PAWL_MEMBER(orders.adaptive)),
  };
}

Type<Duration> delay() {
  return duration(Duration(), bounds::order_delay_max);
}

Fields<Config> order_retry_fields() {
  return {
      bind<Config>({"orders.retry.max_retries",
                    "How often an order is sent again that is known not to have been accepted.",
                    Node::of("2"), needs_restart},
                   whole_number<int>(0, bounds::order_retries_max),
                   PAWL_MEMBER(orders.retry.max_retries)),
      bind<Config>(
          {"orders.retry.base_delay", "Before the first of them.", Node::of("1s"), needs_restart},
          delay(), PAWL_MEMBER(orders.retry.base_delay)),
      bind<Config>(
          {"orders.retry.max_delay", "No delay is longer, but for one that the venue names.",
           Node::of("10s"), needs_restart},
          delay(), PAWL_MEMBER(orders.retry.max_delay)),
      bind<Config>(
          {"orders.retry.multiplier", "By how much each delay is longer than the one before.",
           Node::of("2.0"), needs_restart},
          factor(1000, bounds::retry_multiplier_milli_max),
          PAWL_MEMBER(orders.retry.multiplier_milli)),
      bind<Config>(
          {"orders.retry.jitter", "Chance in a delay: 0.25 is up to a quarter more or less.",
           Node::of("0.25"), needs_restart},
          factor(0, 1000), PAWL_MEMBER(orders.retry.jitter_milli)),
      bind<Config>({"orders.retry.min_delay", "No delay is shorter, whatever the jitter.",
                    Node::of("100ms"), needs_restart},
                   delay(), PAWL_MEMBER(orders.retry.min_delay)),
  };
}

Fields<Config> venue_rows() {
  return {
      bind<Config>({"orders.timeout",
                    "For one wire attempt. What has left and was not answered by then is unknown, "
                    "and looked for.",
                    Node::of("10s"), needs_restart},
                   duration(bounds::order_timeout_min, bounds::order_timeout_max),
                   PAWL_MEMBER(orders.timeout)),
      bind<Config>(
          {"orders.poll", "How often `pawl serve` looks at working orders, for order_history.",
           Node::of("15s"), needs_restart},
          duration(bounds::order_poll_min, bounds::order_poll_max), PAWL_MEMBER(orders.poll)),
      bind<Config>({"orders.venues", "Where orders go. None: pawl trades nowhere.", Node::map({}),
                    needs_restart},
                   map_of(venues_fields()), PAWL_MEMBER(orders.venues)),
  };
}

std::string_view after_scheme(std::string_view url) {
  const auto at = url.find("://");
  return at == std::string_view::npos ? url : url.substr(at + 3);
}

bool is_socket_url(std::string_view text) {
  if (text.empty()) return true;
  const bool scheme = text.starts_with("wss://") || text.starts_with("ws://");
  return scheme && text.size() <= bounds::webhook_url_bytes_max && is_visible(text) &&
         !after_scheme(text).empty() && text.find('#') == std::string_view::npos &&
         text.find('@') == std::string_view::npos;
}

Type<std::string> socket_url() {
  return scalar<std::string>(
      {"URL",
       "\"\" or wss://HOST with a port and a path or without, as in "
       "wss://ws.okx.com:8443/ws/v5/private; ws:// for one on this machine"},
      [](const std::string& text) {
        return is_socket_url(text) ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<std::string> account_word() {
  return scalar<std::string>(
      {"word", "\"\" or up to " + std::to_string(bounds::config_name_bytes_max) +
                   " visible ASCII characters without blanks"},
      [](const std::string& text) -> std::optional<std::string> {
        if (text.size() > bounds::config_name_bytes_max || !is_visible(text)) return std::nullopt;
        return text;
      },
      [](const std::string& value) { return value; });
}

Type<Secret<std::string>> proxy_url() {
  return scalar<Secret<std::string>>(
      {.name = "secret",
       .allowed = "\"\" or the URL of a proxy, as in http://user:password@10.0.0.1:3128: http, "
                  "https or socks5h",
       .form = Form::secret},
      [](const std::string& text) -> std::optional<Secret<std::string>> {
        const bool known = text.starts_with("http://") || text.starts_with("https://") ||
                           text.starts_with("socks5h://");
        const bool good = known && is_visible(text) && !after_scheme(text).empty() &&
                          text.size() <= bounds::config_secret_bytes_max;
        if (!text.empty() && !good) return std::nullopt;
        return Secret<std::string>(text);
      },
      [](const Secret<std::string>& value) { return value.reveal(); });
}

// What is sent to a venue opens an account.
void check_clear(const std::string& url, const std::string& path, Reader& reader) {
  const bool clear = url.starts_with("http://") || url.starts_with("ws://");
  if (!clear || is_local_url(url) || !reader.sound(path)) return;
  reader.problem(reader.line_of(path), path,
                 "found " + url +
                     ", which would send credentials in the clear; allowed: https:// or wss://, "
                     "or an address of this machine");
}

void check_delays(const OrderRetry& retry, Reader& reader) {
  const std::string max = "orders.retry.max_delay";
  const auto check = [&](const std::string& path, Duration value) {
    if (value <= retry.max_delay || !reader.sound(path) || !reader.sound(max)) return;
    reader.refuse_collision({path, to_string(value)}, {max, to_string(retry.max_delay)},
                            "no delay may be longer than max_delay");
  };
  check("orders.retry.base_delay", retry.base_delay);
  check("orders.retry.min_delay", retry.min_delay);
}

void check_settle(const Orders& orders, Reader& reader) {
  const std::string path = "orders.settle";
  if (orders.settle >= bounds::order_settle_safe || !reader.sound(path)) return;
  const auto check = [&](const std::string& venue, const std::string& url) {
    if (is_local_url(url)) return;
    reader.problem(reader.line_of(path), path,
                   "found " + to_string(orders.settle) + ", but " + venue + " at " + url +
                       " may take an order for a copy of one that is 15s old; allowed: " +
                       to_string(bounds::order_settle_safe) +
                       " or more, unless every venue is an emulator on this machine");
  };
  if (orders.venues.saxo) check("saxo", orders.venues.saxo->base_url);
  if (orders.venues.okx) check("okx", orders.venues.okx->base_url);
}

void check_saxo(const SaxoVenue& saxo, Reader& reader) {
  const std::string path = "orders.venues.saxo";
  check_clear(saxo.base_url, path + ".base_url", reader);
  check_clear(saxo.token_url, path + ".token_url", reader);
  if (!reader.sound_below(path)) return;
  if (saxo.account_key.empty()) {
    reader.problem(reader.line_of(path), path,
                   "found no account_key; give the key of the account that trades");
  }
  if (saxo.access_token.empty() && saxo.refresh_token.empty()) {
    reader.problem(reader.line_of(path), path,
                   "found neither access_token nor refresh_token; calls are made with a token");
  }
  if (!saxo.refresh_token.empty() && saxo.token_url.empty()) {
    reader.problem(reader.line_of(path), path,
                   "found a refresh_token without a token_url to use it at; give both, or neither");
  }
}

void check_okx(const OkxVenue& okx, Reader& reader) {
  const std::string path = "orders.venues.okx";
  check_clear(okx.base_url, path + ".base_url", reader);
  check_clear(okx.ws_url, path + ".ws_url", reader);
  if (!reader.sound_below(path)) return;
  const int given = (okx.api_key.empty() ? 0 : 1) + (okx.secret_key.empty() ? 0 : 1) +
                    (okx.passphrase.empty() ? 0 : 1);
  if (given == 3) return;
  reader.problem(reader.line_of(path), path,
                 "found " + std::to_string(given) +
                     " of api_key, secret_key and passphrase; a call is signed with all three");
}

}  // namespace

const Fields<SaxoVenue>& saxo_fields() {
  static const Fields<SaxoVenue> fields = {
      bind<SaxoVenue>(row("base_url", "Of the OpenAPI; the default is Saxo's simulation.",
                          Node::of("https://gateway.saxobank.com/sim/openapi")),
                      web_url(), PAWL_MEMBER(base_url)),
      bind<SaxoVenue>(
          row("token_url", "Where tokens are renewed; empty: they are not.", Node::of("")),
          web_url_or_none(), PAWL_MEMBER(token_url)),
      bind<SaxoVenue>(
          row("access_token", "What calls are made with, until it expires.", Node::of("")),
          secret(), PAWL_MEMBER(access_token)),
      bind<SaxoVenue>(row("refresh_token", "What the next access token is got with.", Node::of("")),
                      secret(), PAWL_MEMBER(refresh_token)),
      bind<SaxoVenue>(row("app_key", "Of the application, as Saxo gave it.", Node::of("")),
                      secret(), PAWL_MEMBER(app_key)),
      bind<SaxoVenue>(row("app_secret", "Of the application.", Node::of("")), secret(),
                      PAWL_MEMBER(app_secret)),
      bind<SaxoVenue>(row("token_file",
                          "Where renewed tokens are kept, readable by the owner alone: each is "
                          "good for one renewal, so those of the configuration are spent after "
                          "the first. Empty: beside orders.database.",
                          Node::of("")),
                      file_path_or_none(), PAWL_MEMBER(token_file)),
      bind<SaxoVenue>(row("client_key", "Of the client whose orders are read.", Node::of("")),
                      account_word(), PAWL_MEMBER(client_key)),
      bind<SaxoVenue>(row("account_key", "Of the account that trades.", Node::of("")),
                      account_word(), PAWL_MEMBER(account_key)),
      bind<SaxoVenue>(
          row("manual_order", "What Saxo is told of who decides: true is a person, on each order.",
              truth().print(false)),
          truth(), PAWL_MEMBER(manual_order)),
      bind<SaxoVenue>(row("proxy", "Through which calls go; empty: none.", Node::of("")),
                      proxy_url(), PAWL_MEMBER(proxy)),
  };
  return fields;
}

const Fields<OkxVenue>& okx_fields() {
  static const Fields<OkxVenue> fields = {
      bind<OkxVenue>(row("base_url", "Of the REST API.", Node::of("https://www.okx.com")),
                     web_url(), PAWL_MEMBER(base_url)),
      bind<OkxVenue>(row("api_key", "Of the account.", Node::of("")), secret(),
                     PAWL_MEMBER(api_key)),
      bind<OkxVenue>(row("secret_key", "What calls are signed with.", Node::of("")), secret(),
                     PAWL_MEMBER(secret_key)),
      bind<OkxVenue>(row("passphrase", "Of the key.", Node::of("")), secret(),
                     PAWL_MEMBER(passphrase)),
      bind<OkxVenue>(
          row("simulated", "true: demo trading, which needs keys of its own.", truth().print(true)),
          truth(), PAWL_MEMBER(simulated)),
      bind<OkxVenue>(row("ws_url",
                         "Of the private WebSocket, on which `pawl serve` hears of orders at once; "
                         "empty: they are looked at every orders.poll alone.",
                         Node::of("")),
                     socket_url(), PAWL_MEMBER(ws_url)),
      bind<OkxVenue>(row("proxy", "Through which calls go; empty: none.", Node::of("")),
                     proxy_url(), PAWL_MEMBER(proxy)),
  };
  return fields;
}

const Fields<Venues>& venues_fields() {
  static const Fields<Venues> fields = {
      bind<Venues>(part("saxo", "Saxo Bank's OpenAPI."), maybe(map_of(saxo_fields())),
                   PAWL_MEMBER(saxo)),
      bind<Venues>(part("okx", "OKX, version 5 of its API."), maybe(map_of(okx_fields())),
                   PAWL_MEMBER(okx)),
  };
  return fields;
}

Fields<Config> orders_fields() {
  return joined({control_fields(), pace_fields(), order_retry_fields(), venue_rows()});
}

bool says_frequency_limit(const Reader& reader) {
  const auto fields = control_fields();
  return std::ranges::any_of(
      fields, [&](const Field<Config>& field) { return reader.line_of(field.path) > 0; });
}

void check_orders(const Orders& orders, Reader& reader) {
  check_delays(orders.retry, reader);
  check_settle(orders, reader);
  if (orders.venues.saxo) check_saxo(*orders.venues.saxo, reader);
  if (orders.venues.okx) check_okx(*orders.venues.okx, reader);
}

}  // namespace pawl::config
