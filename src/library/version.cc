#include "pawl/version.h"

namespace pawl {

std::string_view version() noexcept {
  return PAWL_VERSION;
}

}  // namespace pawl
