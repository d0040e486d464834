#include "base/redis_url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bounds.h"
#include "base/store_url.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

constexpr StoreUrlForm form = {
    .kind = "Redis", .default_port = 6379, .servers_max = bounds::redis_nodes_max};
constexpr int database_max = 1'000'000;

struct Scheme {
  std::string_view name;
  bool tls = false;
  bool cluster = false;
};
constexpr std::array<Scheme, 4> schemes = {{{"redis", false, false},
                                            {"rediss", true, false},
                                            {"redis+cluster", false, true},
                                            {"rediss+cluster", true, true}}};

std::unexpected<Error> wrong(std::string_view what) {
  return wrong_url(form, what);
}

Result<void> read_database(std::string_view path, RedisUrl& url) {
  if (path.empty()) return {};
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), url.database);
  const bool whole = error == std::errc() && end == path.data() + path.size();
  if (!whole || path[0] == '-' || url.database > database_max) {
    return wrong("after the / comes the number of a database");
  }
  if (url.cluster && url.database != 0) return wrong("a cluster has database 0 only");
  return {};
}

const Scheme& scheme_of(const RedisUrl& url) {
  return schemes[static_cast<std::size_t>(url.tls) + (url.cluster ? 2 : 0)];
}

}  // namespace

Result<RedisUrl> parse_redis_url(std::string_view text) {
  const auto colon = text.find("://");
  const auto known = std::ranges::find_if(
      schemes, [&](const Scheme& s) { return equal_ignoring_case(s.name, text.substr(0, colon)); });
  if (colon == text.npos || known == schemes.end()) {
    return wrong("it begins with redis://, rediss://, redis+cluster:// or rediss+cluster://");
  }
  StoreUrl parts = PAWL_TRY(parse_store_url(text.substr(colon + 3), form));
  RedisUrl url{.tls = known->tls,
               .cluster = known->cluster,
               .servers = std::move(parts.servers),
               .user = std::move(parts.user),
               .password = std::move(parts.password),
               .ca_file = PAWL_TRY(parse_url_option(parts.query, "ca", form))};
  if (!url.cluster && url.servers.size() > 1) {
    return wrong("several servers need redis+cluster:// or rediss+cluster://");
  }
  PAWL_TRY(read_database(parts.path, url));
  if (!url.tls && !url.ca_file.empty()) {
    return wrong("ca= is for TLS: write rediss:// or rediss+cluster://");
  }
  return url;
}

std::string to_string(const RedisUrl& url) {
  std::string text = std::string(scheme_of(url).name) + "://" + to_string(url.servers);
  if (!url.cluster) {
    text += '/';
    append_number(text, url.database);
  }
  return text;
}

}  // namespace pawl::redis
