#include "runtime/handler_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/bounds_queue.h"
#include "base/scrub.h"
#include "base/utf8.h"
#include "core/queue/cut.h"

namespace pawl {
namespace {

constexpr double ns_in_a_second = 1e9;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// A quoted text is longer than the text: by how much, only quoting shows.
KeptOutput quoted(std::string_view text, std::uint64_t had) {
  constexpr std::size_t all = bounds::task_output_bytes_max;
  for (std::size_t most = all;; most = most * 3 / 4) {
    KeptOutput out;
    json::append_quoted(out.json, queue::cut(text, most, had));
    if (out.json.size() > all) continue;
    if (had > std::min(text.size(), most)) {
      out.cut = "its output is kept as a string, and cut: it is more than " + std::to_string(all) +
                " bytes, or broke off";
    }
    return out;
  }
}

// Without the rest of a character whose beginning was cut off.
std::string_view from_a_character(std::string_view text) {
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80) {
    text.remove_prefix(1);
  }
  return text;
}

}  // namespace

KeptOutput kept_output(std::string_view text, std::uint64_t had) {
  if (had > text.size()) return quoted(text, had);
  const std::string_view core = trimmed(text);
  if (core.empty()) return {.json = "null"};
  if (const auto value = json::parse(core)) {
    std::string printed = json::print(*value);
    if (printed.size() <= bounds::task_output_bytes_max) return {.json = std::move(printed)};
  }
  return quoted(core, core.size());
}

std::string kept_error(std::string_view what, std::string_view text, std::uint64_t had) {
  std::string out(what);
  const bool is_cut = had > text.size();
  const std::string_view said = trimmed(is_cut ? from_a_character(text) : text);
  if (!said.empty()) {
    out += ": ";
    if (is_cut) out += "(the end of " + std::to_string(had) + " bytes) … ";
    out += scrubbed(well_formed(said));
  }
  return queue::cut(out, bounds::task_error_bytes_max);
}

std::optional<Duration> seconds_of(const json::Value& value) {
  const json::Number* number = value.if_number();
  if (number == nullptr) return {};
  const char* const end = number->text.data() + number->text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(number->text.data(), end, whole);
      read.ec == std::errc() && read.ptr == end) {
    return whole < 0 ? std::nullopt : std::optional(Duration::seconds(whole));
  }
  double seconds = 0;
  const auto read = std::from_chars(number->text.data(), end, seconds);
  if (number->text.starts_with('-')) return {};
  // Whoever wrote so many digits that no number has them meant for ever, or nothing.
  if (read.ec == std::errc::result_out_of_range) {
    return number->text.find("e-") == std::string::npos ? Duration::max() : Duration();
  }
  const double ns = std::ceil(seconds * ns_in_a_second);
  if (ns >= static_cast<double>(Duration::max().ns())) return Duration::max();
  return Duration::nanoseconds(static_cast<std::int64_t>(ns));
}

}  // namespace pawl
