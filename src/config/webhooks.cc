#include "config/webhooks.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "base/text.h"
#include "config/places.h"
#include "config/values.h"
#include "core/webhook/event.h"
#include "core/webhook/signature.h"

namespace pawl::config {
namespace {

Type<std::string> event_type() {
  return scalar<std::string>(
      {"event type", "up to " + std::to_string(bounds::webhook_type_bytes_max) +
                         " letters, digits, _ and - in words with dots between them, as in "
                         "limit.near"},
      [](const std::string& text) {
        return webhook::check_type(text) ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<Secret<std::string>> signing_secret() {
  return scalar<Secret<std::string>>(
      {.name = "secret",
       .allowed = std::to_string(bounds::webhook_key_bytes_min) + " to " +
                  std::to_string(bounds::webhook_key_bytes_max) +
                  " visible ASCII characters without blanks, or whsec_ and so many bytes in base64",
       .form = Form::secret},
      [](const std::string& text) -> std::optional<Secret<std::string>> {
        Secret<std::string> secret(text);
        if (!is_visible(text) || !webhook::key_of(secret)) return std::nullopt;
        return secret;
      },
      [](const Secret<std::string>& value) { return value.reveal(); });
}

}  // namespace

const Fields<Webhook>& webhook_fields() {
  static const Fields<Webhook> fields = {
      bind<Webhook>(row("name", "What metrics and the list of deliveries call it.", {}),
                    bucket_name(), PAWL_MEMBER(name)),
      bind<Webhook>(row("url", "Where events are sent (POST).", {}), web_url(), PAWL_MEMBER(url)),
      bind<Webhook>(
          row("secret", "What they are signed with, as Standard Webhooks says (HMAC-SHA256).", {}),
          signing_secret(), PAWL_MEMBER(secret)),
      bind<Webhook>(row("events", "Which types of events are sent; empty: all.", Node::texts({})),
                    list_of(event_type(), {0, bounds::config_list_max},
                            "a list of up to " + std::to_string(bounds::config_list_max) +
                                " event types, as in [limit.near]"),
                    PAWL_MEMBER(events)),
  };
  return fields;
}

Fields<Config> webhooks_fields() {
  return {
      bind<Config>({"webhooks.database",
                    "The SQLite file in which events are kept until they are acknowledged.",
                    Node::of("data/webhooks.db"), needs_restart},
                   file_path(), PAWL_MEMBER(webhooks.database)),
      bind<Config>(
          {"webhooks.endpoints",
           "Who is told of events. Each is sent until it is acknowledged with 2xx, then "
           "never again.",
           Node::texts({})},
          list_of(map_of(webhook_fields()), {0, bounds::webhook_endpoints_max, true},
                  "a list of up to " + std::to_string(bounds::webhook_endpoints_max) +
                      " endpoints, as in [{name: shop, url: \"https://example.org/hooks\", "
                      "secret: \"${HOOK_SECRET}\"}]"),
          PAWL_MEMBER(webhooks.endpoints)),
  };
}

void check_webhooks(const Webhooks& webhooks, Reader& reader) {
  check_distinct(webhooks.endpoints, &Webhook::name,
                 {"webhooks.endpoints", "name", "give each endpoint a name of its own"}, reader);
}

}  // namespace pawl::config
