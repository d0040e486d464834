#include "base/store_setting.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bounds.h"
#include "base/nats_url.h"
#include "base/redis_url.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl {
namespace {

using Kind = StoreSetting::Kind;

constexpr std::string_view memory_word = "memory";
constexpr std::string_view file_scheme = "file:";
constexpr std::string_view sqlite_scheme = "sqlite:";

struct Scheme {
  std::string_view text;
  Kind kind;
};
constexpr std::array<Scheme, 8> schemes = {{{file_scheme, Kind::file},
                                            {sqlite_scheme, Kind::sqlite},
                                            {"redis://", Kind::redis},
                                            {"rediss://", Kind::redis},
                                            {"redis+cluster://", Kind::redis},
                                            {"rediss+cluster://", Kind::redis},
                                            {"nats://", Kind::nats},
                                            {"tls://", Kind::nats}}};

}  // namespace

Result<StoreSetting> parse_store(std::string_view text) {
  if (text == memory_word) return StoreSetting{.kind = Kind::memory};
  const auto scheme = std::ranges::find_if(
      schemes, [&](const Scheme& each) { return text.starts_with(each.text); });
  if (scheme == schemes.end()) {
    return failure(Code::invalid,
                   "where it is kept must be memory, or begin with file:, sqlite:, redis://, "
                   "rediss://, redis+cluster://, rediss+cluster://, nats:// or tls://");
  }
  const std::string_view rest = text.substr(scheme->text.size());
  if (rest.empty() || rest.size() > bounds::config_path_bytes_max) {
    return failure(Code::invalid, "after " + std::string(scheme->text) + " come 1 to " +
                                      std::to_string(bounds::config_path_bytes_max) +
                                      " bytes, not " + std::to_string(rest.size()));
  }
  const bool is_path = scheme->kind == Kind::file || scheme->kind == Kind::sqlite;
  if (is_path ? !is_printable(rest) : !is_visible(rest)) {
    return failure(Code::invalid, "after " + std::string(scheme->text) +
                                      " stands a character that cannot be printed, or that a URL "
                                      "cannot hold");
  }
  if (is_path) return StoreSetting{.kind = scheme->kind, .path = std::string(rest)};
  return StoreSetting{.kind = scheme->kind, .url = Secret(std::string(text))};
}

Result<void> check_url(const StoreSetting& store) {
  if (store.kind == Kind::redis) PAWL_TRY(redis::parse_redis_url(store.url.reveal()));
  if (store.kind == Kind::nats) PAWL_TRY(nats::parse_nats_url(store.url.reveal()));
  return {};
}

std::string print(const StoreSetting& store) {
  switch (store.kind) {
    case Kind::none:
      return {};
    case Kind::memory:
      return std::string(memory_word);
    case Kind::file:
      return std::string(file_scheme) + store.path;
    case Kind::sqlite:
      return std::string(sqlite_scheme) + store.path;
    case Kind::redis:
    case Kind::nats:
      return store.url.reveal();
  }
  __builtin_unreachable();
}

}  // namespace pawl
