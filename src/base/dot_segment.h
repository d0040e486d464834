// is_dot_segment: whether a name is "." or "..". Browsers and other clients take these out of the
// path of a URL, however they are written, so that what is called so could not be asked about.
#pragma once

#include <string_view>

namespace pawl {

constexpr bool is_dot_segment(std::string_view name) {
  return name == "." || name == "..";
}

}  // namespace pawl
