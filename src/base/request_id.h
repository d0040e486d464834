// is_id: whether what a client calls its request, or the operation it is part of, is fit for a log
// line and a header: visible ASCII without blanks, and not too long.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/bounds.h"

namespace pawl {

constexpr bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= bounds::request_id_bytes_max &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace pawl
