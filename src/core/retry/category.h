// Category: what kind of operation is retried. Each has a code, by which configuration, audit
// events and metrics know it, and a policy of its own (policy.h).
//
// Contract: the codes are the ones users search by; two of them begin with REPLAY_, as they always
//           have, and are also understood as RETRY_REPLAY_…
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl::retry {

enum class Category : std::uint8_t {
  nats_connect,
  nats_publish,
  nats_subscribe,
  nats_stream_create,
  kv_create,
  kv_get,
  kv_put,
  kv_delete,
  execution_intent,
  execution_containment,
  execution_expiration,
  approval_check,
  approval_grant,
  replay_processing,
  replay_validation,
  api_request,
  api_validation,
};
inline constexpr std::size_t categories_count = 17;

// "RETRY_NATS_CONNECT".
std::string_view code(Category category);
std::optional<Category> category_of(std::string_view code);

}  // namespace pawl::retry
