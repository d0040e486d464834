#include "core/retry/category.h"

#include <array>

namespace pawl::retry {
namespace {

constexpr std::array<std::string_view, categories_count> codes = {
    "RETRY_NATS_CONNECT",
    "RETRY_NATS_PUBLISH",
    "RETRY_NATS_SUBSCRIBE",
    "RETRY_NATS_STREAM_CREATE",
    "RETRY_KV_CREATE",
    "RETRY_KV_GET",
    "RETRY_KV_PUT",
    "RETRY_KV_DELETE",
    "RETRY_EXECUTION_INTENT",
    "RETRY_EXECUTION_CONTAINMENT",
    "RETRY_EXECUTION_EXPIRATION",
    "RETRY_APPROVAL_CHECK",
    "RETRY_APPROVAL_GRANT",
    "REPLAY_REPLAY_PROCESSING",
    "REPLAY_REPLAY_VALIDATION",
    "RETRY_API_REQUEST",
    "RETRY_API_VALIDATION",
};

}  // namespace

std::string_view code(Category category) {
  return codes[static_cast<std::size_t>(category)];
}

std::optional<Category> category_of(std::string_view code) {
  if (code == "RETRY_REPLAY_PROCESSING") return Category::replay_processing;
  if (code == "RETRY_REPLAY_VALIDATION") return Category::replay_validation;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == code) return static_cast<Category>(i);
  }
  return {};
}

}  // namespace pawl::retry
