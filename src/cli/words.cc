#include "cli/words.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace pawl::cli {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

}  // namespace

std::string word(std::string_view text) {
  if (text.empty()) return "-";
  if (is_visible(text) && text.find_first_of("\"\\") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out;
  json::append_quoted(out, text);
  return out;
}

std::string name_line(std::string_view name) {
  const bool controls = std::ranges::any_of(
      name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  return controls || name.empty() ? "" : std::string(name) + "\n";
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:,=@%+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string sentence(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out.substr(1, out.size() - 2);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view dots = "...";
  if (width_of(text) <= most) return std::string(text);
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && kept++ == most - dots.size()) break;
  }
  return std::string(text.substr(0, end)).append(dots);
}

std::string painted(std::string_view text, std::string_view with, bool colour) {
  if (!colour || with.empty()) return std::string(text);
  return std::string(with).append(text).append("\033[0m");
}

std::string bar(std::uint64_t done, std::uint64_t all) {
  constexpr std::uint64_t width = 20;
  const std::uint64_t filled = all == 0 ? width : std::min(done, all) * width / all;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

std::string about(Duration duration) {
  if (duration < Duration()) return "-" + about(-duration);
  const std::int64_t milliseconds = duration.ns() / 1'000'000;
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  const std::int64_t seconds = (milliseconds + 500) / 1000;
  constexpr std::pair<std::int64_t, char> units[] = {
      {86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}};
  // The two largest units are enough.
  std::string out;
  std::int64_t left = seconds;
  int used = 0;
  for (const auto& [length, letter] : units) {
    if (used == 2) break;
    if (left < length && used == 0) continue;
    ++used;
    if (left >= length) out += std::to_string(left / length) + letter;
    left %= length;
  }
  return out;
}

}  // namespace pawl::cli
