#include "cli/environment.h"

#include <cstdlib>
#include <optional>
#include <string>

namespace pawl::cli {

config::Env environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

}  // namespace pawl::cli
