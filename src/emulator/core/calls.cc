#include "emulator/core/calls.h"

#include <charconv>

#include "base/text.h"

namespace pawl::emulator {
namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                           hex_value(text[i + 2]) >= 0;
    if (is_escape) {
      out.push_back(static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

}  // namespace

std::string_view field(const Call& call, std::string_view name) {
  for (const Field& found : call.fields) {
    if (found.name == name) return found.value;
  }
  return {};
}

std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    const std::string_view key = take_until(value, '=');
    if (decoded(key) == name) return decoded(value);
  }
  return std::nullopt;
}

std::uint64_t number_parameter(std::string_view query, std::string_view name,
                               std::uint64_t otherwise) {
  const std::optional<std::string> text = parameter(query, name);
  if (!text) return otherwise;
  std::uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? number : otherwise;
}

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = take_until(path, '/');
    if (!part.empty()) parts.push_back(decoded(part));
  }
  return parts;
}

std::string text_of(const json::Value& object, std::string_view member) {
  const json::Value* value = object.find(member);
  if (value == nullptr) return {};
  if (const std::string* text = value->if_string()) return *text;
  if (const json::Number* number = value->if_number()) return number->text;
  return {};
}

}  // namespace pawl::emulator
