#include "venue/okx/okx_client_id.h"

#include <algorithm>

#include "base/bounds.h"
#include "base/sha256.h"

namespace pawl::okx {
namespace {

constexpr std::string_view derived_prefix = "pawlX";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool may_stay(std::string_view reference) {
  return !reference.empty() && reference.size() <= bounds::okx_client_order_id_bytes_max &&
         !reference.starts_with(derived_prefix) &&
         std::ranges::all_of(reference, is_letter_or_digit);
}

}  // namespace

std::string client_order_id(std::string_view reference) {
  if (may_stay(reference)) return std::string(reference);
  std::string id(derived_prefix);
  append_hex(id, sha256(reference));
  id.resize(bounds::okx_client_order_id_bytes_max);
  return id;
}

}  // namespace pawl::okx
