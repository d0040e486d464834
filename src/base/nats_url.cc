#include "base/nats_url.h"

#include <algorithm>
#include <utility>

#include "base/bounds.h"
#include "base/store_url.h"
#include "base/text.h"

namespace pawl::nats {
namespace {

constexpr StoreUrlForm form = {
    .kind = "NATS", .default_port = 4222, .servers_max = bounds::nats_servers_max};

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= bounds::nats_name_bytes_max &&
         std::ranges::all_of(name, [](char c) {
           return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

}  // namespace

Result<NatsUrl> parse_nats_url(std::string_view text) {
  const auto colon = text.find("://");
  const std::string_view scheme = text.substr(0, colon);
  const bool tls = equal_ignoring_case(scheme, "tls");
  if (colon == text.npos || (!tls && !equal_ignoring_case(scheme, "nats"))) {
    return wrong_url(form, "it begins with nats:// or tls://");
  }
  StoreUrl parts = PAWL_TRY(parse_store_url(text.substr(colon + 3), form));
  if (!is_name(parts.path)) {
    return wrong_url(form,
                     "after the / comes the name of a bucket or stream: up to 64 letters, digits, "
                     "_ and -");
  }
  NatsUrl url{.tls = tls,
              .servers = std::move(parts.servers),
              .user = std::move(parts.user),
              .password = std::move(parts.password),
              .name = std::move(parts.path),
              .ca_file = PAWL_TRY(parse_url_option(parts.query, "ca", form))};
  if (!tls && !url.ca_file.empty()) return wrong_url(form, "ca= is for TLS: write tls://");
  return url;
}

std::string to_string(const NatsUrl& url) {
  return (url.tls ? "tls://" : "nats://") + to_string(url.servers) + "/" + url.name;
}

}  // namespace pawl::nats
