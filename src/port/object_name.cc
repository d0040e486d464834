#include "port/object_name.h"

#include "base/bounds_queue.h"
#include "base/text.h"

namespace pawl {
namespace {

bool is_allowed(char c) {
  const char lower = ascii_lower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-' || c == '/';
}

// What a name shows of itself in an error: short, and nothing that moves a terminal.
std::string shown(std::string_view name) {
  constexpr std::size_t most = 80;
  std::string text = "'";
  for (const char c : name.substr(0, most)) text += is_allowed(c) ? c : '?';
  return text + (name.size() > most ? "…'" : "'");
}

Result<void> refused(std::string_view name, const std::string& why) {
  return failure(Code::invalid, "the object name " + shown(name) + " cannot be used: " + why);
}

Result<void> check(std::string_view name, bool may_end_anywhere) {
  if (name.size() > bounds::object_key_bytes_max) {
    return refused(name, "it has " + std::to_string(name.size()) + " bytes, and " +
                             std::to_string(bounds::object_key_bytes_max) + " is the most");
  }
  for (const char c : name) {
    if (!is_allowed(c)) return refused(name, "only letters, digits and . _ - / may stand in one");
  }
  std::string_view rest = name;
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    const bool is_last = slash == std::string_view::npos;
    if (part.empty() && !(is_last && may_end_anywhere)) {
      return refused(name, "it has an empty part");
    }
    if (part.starts_with('.')) return refused(name, "a part of it begins with a dot");
    if (part.size() > bounds::object_part_bytes_max) {
      return refused(name, "a part of it has more than " +
                               std::to_string(bounds::object_part_bytes_max) + " bytes");
    }
    if (is_last) return {};
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<void> check_object_name(std::string_view name) {
  return check(name, false);
}

Result<void> check_object_prefix(std::string_view prefix) {
  return check(prefix, true);
}

Result<void> check_removal(const std::vector<std::string>& names) {
  if (names.size() > bounds::objects_removed_max) {
    return failure(Code::invalid, std::to_string(names.size()) +
                                      " objects cannot be removed at once: " +
                                      std::to_string(bounds::objects_removed_max) +
                                      " is the most, so do it in parts");
  }
  for (const std::string& name : names) PAWL_TRY(check_object_name(name));
  return {};
}

}  // namespace pawl
