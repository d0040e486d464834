#include "core/request/match.h"

#include <algorithm>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"
#include "core/http/chars.h"

namespace pawl::request {
namespace {

constexpr std::string_view upper_digits = "0123456789ABCDEF";

// The byte that the three characters at the front stand for; -1: they are no escape.
int escaped_byte(std::string_view rest) {
  if (rest.size() < 3 || rest[0] != '%') return -1;
  const int high = hex_value(rest[1]);
  const int low = hex_value(rest[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// What means the same in a path, escaped or not.
bool needs_no_escape(int byte) {
  const char c = static_cast<char>(byte);
  return byte < 0x80 && http::is_target_char(c) && c != '/' && c != '?' && c != '%';
}

bool is_dots(std::string_view segment) {
  return segment == "." || segment == "..";
}

bool is_normal_escape(std::string_view rest) {
  const int byte = escaped_byte(rest);
  return byte >= 0 && !needs_no_escape(byte) && upper_digits.contains(rest[1]) &&
         upper_digits.contains(rest[2]);
}

// In one pass, since nearly every path is.
bool is_normal(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%' && !is_normal_escape(path.substr(i))) return false;
    if (path[i] != '/' || i + 1 == path.size()) continue;
    if (path[i + 1] == '/') return false;
    if (path[i + 1] != '.') continue;
    const std::string_view rest = path.substr(i + 1);
    if (is_dots(rest.substr(0, rest.find('/')))) return false;
  }
  return true;
}

void append_normal_escapes(std::string& out, std::string_view segment) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      out.push_back(segment[i]);
      continue;
    }
    const int byte = escaped_byte(segment.substr(i));
    if (byte < 0) {
      out.append("%25");  // alone, it must not become an escape together with what comes after it
      continue;
    }
    i += 2;
    if (needs_no_escape(byte)) {
      out.push_back(static_cast<char>(byte));
    } else {
      out.push_back('%');
      out.push_back(upper_digits[static_cast<std::size_t>(byte) / 16]);
      out.push_back(upper_digits[static_cast<std::size_t>(byte) % 16]);
    }
  }
}

// Appends "/segment", or takes away what it says to take away. Does it leave a directory, whose
// path ends in a slash?
bool append_segment(std::string& out, std::string_view segment) {
  if (segment.empty()) return true;
  const std::size_t begin = out.size();
  out.push_back('/');
  append_normal_escapes(out, segment);
  const std::string_view added = std::string_view(out).substr(begin + 1);
  if (!is_dots(added)) return false;
  const bool up = added == "..";
  out.resize(begin);
  if (up && !out.empty()) out.resize(out.rfind('/'));
  return true;
}

std::unexpected<Error> no_pattern(std::string_view text, std::string_view why) {
  return failure(Code::invalid,
                 "'" + std::string(text.substr(0, bounds::config_excerpt_bytes_max)) +
                     "' is no path pattern: " + std::string(why) +
                     "; write a path like /v1/orders, with * for any one segment and ** at the end "
                     "for any number of them, as in /v1/*/items or /v1/**");
}

}  // namespace

std::string_view normal_path(std::string_view path, std::string& room) {
  if (path == "*") return "/";
  if (is_normal(path)) return path;
  room.clear();
  for (;;) {
    const std::size_t end = path.find('/');
    const bool directory = append_segment(room, path.substr(0, end));
    if (end == std::string_view::npos) {
      if (directory) room.push_back('/');
      return room;
    }
    path.remove_prefix(end + 1);
  }
}

Result<PathPattern> PathPattern::parse(std::string_view text) {
  if (text.size() > bounds::http_request_line_bytes_max) return no_pattern(text, "it is too long");
  if (!text.starts_with('/')) return no_pattern(text, "it does not begin with /");
  if (!std::ranges::all_of(text, http::is_target_char) || text.contains('?')) {
    return no_pattern(text, "a path has no blank, ?, # or character beyond ASCII");
  }
  PathPattern pattern;
  pattern.text_ = text;
  for (std::string_view rest = text.substr(1); !rest.empty();) {
    const std::string_view segment = take_until(rest, '/');
    if (segment.empty()) continue;
    if (pattern.open_) return no_pattern(text, "** stands before its end");
    if (segment == "**") {
      pattern.open_ = true;
    } else if (segment == "*") {
      pattern.segments_.push_back({.any = true});
    } else if (segment.contains('*')) {
      return no_pattern(text, "* stands for a whole segment");
    } else {
      std::string literal;
      append_normal_escapes(literal, segment);
      if (is_dots(literal)) return no_pattern(text, "it has a segment of dots");
      pattern.segments_.push_back({.literal = std::move(literal)});
    }
  }
  return pattern;
}

bool PathPattern::matches(std::string_view path) const {
  if (open_ && segments_.empty()) return true;
  std::string room;
  std::string_view rest = normal_path(path, room).substr(1);
  for (const Segment& segment : segments_) {
    if (rest.empty()) return false;
    const std::string_view found = take_until(rest, '/');
    if (!segment.any && found != segment.literal) return false;
  }
  return open_ || rest.empty();
}

bool Match::matches(const http::RequestHead& head) const {
  if (!methods.empty() && std::ranges::find(methods, head.method) == methods.end()) return false;
  if (header && std::ranges::none_of(head.fields.all(), [&](const http::Header& field) {
        return equal_ignoring_case(field.name, header->name) &&
               (header->value.empty() || field.value == header->value);
      })) {
    return false;
  }
  return !path || path->matches(head.path());
}

}  // namespace pawl::request
