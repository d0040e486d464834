#include "cli/environment.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <pwd.h>
#include <string>
#include <unistd.h>

namespace pawl::cli {

config::Env environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::string user_name() {
  std::array<char, 4096> room;  // for an entry of the system's list; a longer one has no name here
  passwd entry{};
  passwd* found = nullptr;
  const uid_t user = ::getuid();
  const int error = ::getpwuid_r(user, &entry, room.data(), room.size(), &found);
  if (error != 0 || found == nullptr) return "user " + std::to_string(user);
  return found->pw_name;
}

}  // namespace pawl::cli
