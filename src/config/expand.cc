#include "config/expand.h"

#include <algorithm>

namespace pawl::config {
namespace {

constexpr std::string_view malformed =
    "found a ${ that begins neither ${NAME} nor ${NAME:-default}; write $${ for the characters "
    "themselves";

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// What stands between the braces.
std::expected<std::string, std::string> look_up(std::string_view inside, const Env& env) {
  const auto mark = inside.find(":-");
  const std::string_view name = inside.substr(0, mark);
  if (!is_name(name)) return std::unexpected(std::string(malformed));
  auto value = env(name);
  if (mark != std::string_view::npos) {
    if (value && !value->empty()) return *std::move(value);
    return std::string(inside.substr(mark + 2));
  }
  if (value) return *std::move(value);
  const std::string variable(name);
  return std::unexpected("found ${" + variable +
                         "}, and the environment has no such variable; set it, or give a default "
                         "as in ${" +
                         variable + ":-value}");
}

}  // namespace

std::expected<std::string, std::string> expand(std::string_view text, const Env& env) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("$${")) {
      out += "${";
      text.remove_prefix(3);
    } else if (text.starts_with("${")) {
      const auto end = text.find('}');
      const auto inside = text.substr(2, end == std::string_view::npos ? end : end - 2);
      if (end == std::string_view::npos || inside.find("${") != std::string_view::npos) {
        return std::unexpected(std::string(malformed));
      }
      auto value = look_up(inside, env);
      if (!value) return value;
      out += *value;
      text.remove_prefix(end + 1);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) out += '$';
    out += text[i];
  }
  return out;
}

}  // namespace pawl::config
