#include "core/limit/key.h"

namespace pawl::limit {

std::string Key::text() const {
  std::string text;
  if (is_id_ || name_.starts_with('\0')) text.push_back('\0');
  if (!is_id_) return text.append(name_);
  for (const std::uint64_t part : {id_.high, id_.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text.push_back("0123456789abcdef"[(part >> shift) & 0xf]);
    }
  }
  return text;
}

}  // namespace pawl::limit
