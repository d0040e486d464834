#include "core/webhook/event.h"

#include "base/bounds.h"
#include "base/sha256.h"
#include "base/text.h"

namespace pawl::webhook {
namespace {

// Of a digest: enough that no two meet, short enough to be read aloud.
constexpr std::size_t id_digits = 32;

constexpr bool is_type_char(char c) {
  return (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '_' ||
         c == '-';
}

std::unexpected<Error> wrong(std::string_view what, std::string_view must) {
  return failure(Code::invalid, "the " + std::string(what) + " of an event " + std::string(must));
}

json::Value word(std::string_view text) {
  return text.empty() ? json::Value() : json::Value(text);
}

}  // namespace

Result<void> check_type(std::string_view type) {
  if (type.empty() || type.size() > bounds::webhook_type_bytes_max) {
    return wrong("type",
                 "has 1 to " + std::to_string(bounds::webhook_type_bytes_max) + " characters");
  }
  std::string_view rest = type;
  bool well = !type.ends_with('.');
  while (!rest.empty()) {
    const std::string_view part = take_until(rest, '.');
    well = well && !part.empty();
    for (const char c : part) well = well && is_type_char(c);
  }
  if (!well) {
    return wrong("type",
                 "has letters, digits, '_' and '-', in parts with a '.' between them: "
                 "'invoice.paid'");
  }
  return {};
}

Result<void> check(const Event& event) {
  const bool well = !event.id.empty() && event.id.size() <= bounds::webhook_id_bytes_max &&
                    is_visible(event.id) && event.id.find('.') == std::string::npos;
  if (!well) {
    return wrong("id", "has 1 to " + std::to_string(bounds::webhook_id_bytes_max) +
                           " visible characters of ASCII, and no '.'");
  }
  PAWL_TRY(check_type(event.type));
  if (event.tenant.size() > bounds::tenant_bytes_max) {
    return wrong("tenant", "has at most " + std::to_string(bounds::tenant_bytes_max) + " bytes");
  }
  return {};
}

Result<std::string> body_of(const Event& event) {
  std::string body = json::print(json::Object{{"id", event.id},
                                              {"type", event.type},
                                              {"tenant", word(event.tenant)},
                                              {"timestamp", to_string(event.time)},
                                              {"data", event.data}});
  if (body.size() > bounds::webhook_body_bytes_max) {
    return failure(Code::invalid, "the event has " + std::to_string(body.size()) +
                                      " bytes as JSON, and at most " +
                                      std::to_string(bounds::webhook_body_bytes_max) +
                                      " are sent: send what names the thing, not the thing");
  }
  return body;
}

std::string event_id(std::initializer_list<std::string_view> parts) {
  Sha256 hash;
  for (const std::string_view part : parts) {
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return "evt_" + to_hex(hash.finish()).substr(0, id_digits);
}

Event to_event(const NearLimit& near, Instant now) {
  return {.id = event_id({limit_near, near.tenant, near.bucket, to_string(near.resets_at)}),
          .type = std::string(limit_near),
          .tenant = std::string(near.tenant),
          .time = now,
          .data = json::Object{{"bucket", near.bucket},
                               {"limit", near.limit},
                               {"used", near.used},
                               {"resets_at", to_string(near.resets_at)},
                               {"plan", word(near.plan)},
                               {"next_plan", word(near.next_plan)}}};
}

Event to_event(const UnknownWrite& write, Instant now) {
  return {.id = event_id({outcome_unknown, write.tenant, write.method, write.path, write.key,
                          write.request_id, to_string(now)}),
          .type = std::string(outcome_unknown),
          .tenant = std::string(write.tenant),
          .time = now,
          .data = json::Object{{"method", write.method},
                               {"path", write.path},
                               {"idempotency_key", write.key},
                               {"request_id", write.request_id}}};
}

}  // namespace pawl::webhook
