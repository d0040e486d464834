#include "log/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/bounds.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::log {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// What shows as something else than itself, or as nothing, once printed.
bool is_invisible(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool direction = c == 0x061C || c == 0x200E || c == 0x200F ||
                         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || separator || direction;
}

bool stands_bare(char32_t c) {
  return !is_invisible(c) && c != ' ' && c != '"' && c != '=' && c != '\\';
}

bool stands_bare(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0 || !stands_bare(code)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

void append_hex(std::string& out, char32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out += hex_digits[value >> shift & 0xF];
  }
}

// is_invisible knows nothing beyond U+FFFF, so four digits are enough.
void append_escaped(std::string& out, char32_t c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += c < 0x80 ? "\\x" : "\\u";
      append_hex(out, c, c < 0x80 ? 2 : 4);
  }
}

void append_text(std::string& out, std::string_view text) {
  if (stands_bare(text)) {
    out += text;
    return;
  }
  out += '"';
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0) {
      out += "\\x";
      append_hex(out, static_cast<std::uint8_t>(text.front()), 2);
    } else if (stands_bare(code) || code == ' ' || code == '=') {
      out += text.substr(0, bytes);
    } else {
      append_escaped(out, code);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  out += '"';
}

// Where to cut: at bytes_max, or before the character that reaches across it. A character has at
// most four bytes; whatever else stands there is no UTF-8 and may be cut anywhere.
std::size_t cut_before(std::string_view text, std::size_t bytes_max) {
  for (std::size_t back = 1; back <= 3; ++back) {
    if (first_utf8_character(text.substr(bytes_max - back)).bytes > back) return bytes_max - back;
  }
  return bytes_max;
}

void append_string(std::string& out, std::string_view text, Format as) {
  std::string shortened;
  if (text.size() > bounds::log_field_bytes_max) {
    const std::size_t cut = cut_before(text, bounds::log_field_bytes_max);
    shortened.append(text, 0, cut).append("…(+");
    append_number(shortened, text.size() - cut);
    shortened.append(" bytes)");
    text = shortened;
  }
  as == Format::json ? json::append_quoted(out, text) : append_text(out, text);
}

void append_value(std::string& out, const Field::Value& value, Format as) {
  const auto append = [&](const auto& v) {
    using V = std::remove_cvref_t<decltype(v)>;
    if constexpr (std::is_same_v<V, std::string_view>) {
      append_string(out, v, as);
    } else if constexpr (std::is_same_v<V, bool>) {
      out += v ? "true" : "false";
    } else {
      std::array<char, 32> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
      const std::string_view number(digits.data(), end);
      bool is_json = true;
      if constexpr (std::is_same_v<V, double>) is_json = std::isfinite(v);
      is_json ? void(out += number) : append_string(out, number, as);
    }
  };
  std::visit(append, value);
}

// Writes one field after the other and keeps the names that were taken.
class Writer {
 public:
  Writer(std::string& out, Format as) : out_(out), as_(as) {}

  void add(std::string_view name, const Field::Value& value) {
    const bool json = as_ == Format::json;
    out_ += json ? ",\"" : " ";
    out_ += name;
    if (const auto earlier = std::ranges::count(taken_, name); earlier > 0) {
      out_ += '.';
      append_number(out_, earlier + 1);
    }
    out_ += json ? "\":" : "=";
    append_value(out_, value, as_);
    taken_.push_back(name);
  }

 private:
  std::string& out_;
  Format as_;
  std::vector<std::string_view> taken_ = {"ts", "level", "event"};
};

void append_head(std::string& out, const Line& line, Format as) {
  const std::string_view level = to_string(line.level);
  if (as == Format::json) {
    out.append("{\"ts\":\"").append(to_string(line.at));
    out.append("\",\"level\":\"").append(level);
    out.append("\",\"event\":\"").append(line.event.text()).append("\"");
    return;
  }
  out.append(to_string(line.at)).append(" ");
  for (const char c : level) out += static_cast<char>(c - 'a' + 'A');
  out.append(6 - level.size(), ' ').append(line.event.text());
}

}  // namespace

std::string format(const Line& line, Format as) {
  std::string out;
  out.reserve(256);
  append_head(out, line, as);
  Writer writer(out, as);
  for (const Field& field : line.fields) writer.add(field.name(), field.value());
  const Correlation& correlation = line.correlation;
  const std::pair<std::string_view, std::string_view> members[] = {
      {"external_reference", correlation.external_reference},
      {"request_id", correlation.request_id},
      {"tenant_id", correlation.tenant_id},
      {"correlation_id", correlation.correlation_id},
      {"trace_id", correlation.trace_id},
  };
  for (const auto& [name, value] : members) {
    if (!value.empty()) writer.add(name, value);
  }
  if (line.repeats_suppressed > 0) writer.add("repeats_suppressed", line.repeats_suppressed);
  if (as == Format::json) out += '}';
  return out;
}

std::string_view to_string(Level level) {
  switch (level) {
    case Level::trace:
      return "trace";
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warn:
      return "warn";
    case Level::error:
      return "error";
  }
  __builtin_unreachable();
}

}  // namespace pawl::log
