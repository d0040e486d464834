#include "core/http/head.h"

#include <charconv>

#include "base/text.h"
#include "core/http/chars.h"

namespace pawl::http {
namespace {

using Checked = std::expected<void, Rejection>;

std::unexpected<Rejection> malformed(std::string_view reason) {
  return std::unexpected(Rejection{Rejection::Kind::malformed, reason});
}

std::unexpected<Rejection> too_large(std::string_view reason) {
  return std::unexpected(Rejection{Rejection::Kind::too_large, reason});
}

// A line must end with CRLF; a CR or LF on its own is refused. Empty view with data() == nullptr:
// the line has not ended yet.
std::expected<std::string_view, Rejection> take_line(std::string_view& rest,
                                                     std::size_t bytes_max) {
  const auto lf = rest.find('\n');
  if (lf == std::string_view::npos) {
    if (rest.size() > bytes_max) return too_large("a line of the head is too long");
    return std::string_view();
  }
  if (lf > bytes_max) return too_large("a line of the head is too long");
  if (lf == 0 || rest[lf - 1] != '\r') return malformed("a line ends with LF alone");
  const std::string_view line = rest.substr(0, lf - 1);
  if (line.find('\r') != std::string_view::npos) return malformed("CR within a line");
  rest.remove_prefix(lf + 1);
  return line;
}

std::expected<int, Rejection> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return 1;
  if (text == "HTTP/1.0") return 0;
  return malformed("only HTTP/1.1 and HTTP/1.0 are spoken here");
}

Checked check_target(std::string_view method, std::string_view target) {
  if (method == "CONNECT") return malformed("CONNECT is not served");
  if (target == "*") {
    if (method != "OPTIONS") return malformed("the target * belongs to OPTIONS");
    return {};
  }
  if (target.empty() || target.front() != '/') {
    return malformed("the request target must be a path starting with /");
  }
  for (const char c : target) {
    if (!is_target_char(c))
      return malformed("a character in the request target that must be escaped");
  }
  return {};
}

Checked parse_request_line(std::string_view line, RequestHead& head) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return malformed("the request line is not METHOD TARGET VERSION");
  }
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  if (!is_token(head.method) || head.method.size() > 32) return malformed("the method is no token");
  if (auto checked = check_target(head.method, head.target); !checked) return checked;
  const auto version = parse_version(line.substr(last + 1));
  if (!version) return std::unexpected(version.error());
  head.minor_version = *version;
  return {};
}

Checked parse_status_line(std::string_view line, ResponseHead& head) {
  // "HTTP/1.1 200 OK"; the blank before an empty reason is often left out.
  if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' ')) {
    return malformed("the status line is not VERSION CODE REASON");
  }
  const auto version = parse_version(line.substr(0, 8));
  if (!version) return std::unexpected(version.error());
  head.minor_version = *version;
  const std::string_view digits = line.substr(9, 3);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), head.status);
  if (error != std::errc() || end != digits.end() || head.status < 100 || head.status > 599) {
    return malformed("the status code is not a number from 100 to 599");
  }
  head.reason = line.size() > 13 ? line.substr(13) : std::string_view();
  for (const char c : head.reason) {
    if (!is_field_char(c)) return malformed("a control character in the reason phrase");
  }
  return {};
}

Checked parse_field_line(std::string_view line, Fields& fields) {
  if (line.front() == ' ' || line.front() == '\t') return malformed("a folded header line");
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("a header line without a colon");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) return malformed("a header name that is no token");
  // Some servers read X_Y as X-Y: a name with an underscore can pass for another one behind us.
  if (name.find('_') != std::string_view::npos)
    return malformed("a header name with an underscore");
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  for (const char c : value) {
    if (!is_field_char(c)) return malformed("a control character in a header value");
  }
  if (!fields.add({name, value})) return too_large("too many header lines");
  return {};
}

// Lines up to the blank one. False: the head is not complete yet.
std::expected<bool, Rejection> parse_fields(std::string_view& rest, Fields& fields) {
  while (true) {
    const auto line = take_line(rest, bounds::http_header_bytes_max);
    if (!line) return std::unexpected(line.error());
    if (line->data() == nullptr) return false;
    if (line->empty()) return true;
    if (auto added = parse_field_line(*line, fields); !added) {
      return std::unexpected(added.error());
    }
  }
}

// Content-Length and Transfer-Encoding, in the one form that everybody reads alike.
std::expected<Framing, Rejection> read_framing(const Fields& fields, int minor_version) {
  std::optional<std::string_view> length;
  std::optional<std::string_view> encoding;
  for (const Header& header : fields.all()) {
    if (equal_ignoring_case(header.name, "Content-Length")) {
      if (length) return malformed("more than one Content-Length");
      length = header.value;
    } else if (equal_ignoring_case(header.name, "Transfer-Encoding")) {
      if (encoding) return malformed("more than one Transfer-Encoding");
      encoding = header.value;
    }
  }
  if (encoding) {
    if (length) return malformed("both Content-Length and Transfer-Encoding");
    if (minor_version == 0) return malformed("Transfer-Encoding in HTTP/1.0");
    if (!equal_ignoring_case(*encoding, "chunked")) {
      return malformed("a Transfer-Encoding other than chunked");
    }
    return Framing{.kind = Framing::Kind::chunked};
  }
  if (!length) return Framing{};
  if (length->empty() || (length->size() > 1 && length->front() == '0')) {
    return malformed("Content-Length is not a plain number");
  }
  std::int64_t value = 0;
  for (const char c : *length) {
    if (!is_digit(c)) return malformed("Content-Length is not a plain number");
    value = value * 10 + (c - '0');
    if (value > bounds::http_content_length_max) return too_large("Content-Length is out of range");
  }
  return Framing{.kind = Framing::Kind::length, .length = value};
}

bool is_host(std::string_view value) {
  for (const char c : value) {
    if (!is_target_char(c) || c == '/' || c == '@' || c == '?' || c == ',' || c == '\\')
      return false;
  }
  return true;
}

Checked check_host(const RequestHead& head) {
  int hosts = 0;
  for (const Header& header : head.fields.all()) {
    if (!equal_ignoring_case(header.name, "Host")) continue;
    if (++hosts > 1) return malformed("more than one Host");
    if (!is_host(header.value)) return malformed("Host is not a host name");
  }
  if (hosts == 0 && head.minor_version == 1) return malformed("HTTP/1.1 without Host");
  return {};
}

// A field named in Connection is not passed on. Who names one of these wants the service behind us
// to see another request than we do.
Checked check_connection(const Fields& fields) {
  for (const std::string_view name :
       {"Host", "Content-Length", "Transfer-Encoding", "Authorization", "Cookie", "X-Api-Key",
        "Idempotency-Key", "X-Forwarded-For", "X-Request-Id"}) {
    if (fields.list_contains("Connection", name)) {
      return malformed("Connection names a field that must be passed on");
    }
  }
  return {};
}

bool reads_keep_alive(const Fields& fields, int minor_version) {
  if (fields.list_contains("Connection", "close")) return false;
  return minor_version == 1 || fields.list_contains("Connection", "keep-alive");
}

std::expected<HeadProgress, Rejection> incomplete(std::string_view bytes) {
  if (bytes.size() > bounds::http_head_bytes_max) return too_large("the head is too large");
  return HeadProgress::needs_more;
}

// First line and fields, which requests and answers share. `parse_first` reads the first line.
template <class Head, class ParseFirst>
std::expected<HeadProgress, Rejection> parse_lines(std::string_view bytes, Head& head,
                                                   ParseFirst parse_first) {
  std::string_view rest = bytes;
  const auto line = take_line(rest, bounds::http_request_line_bytes_max);
  if (!line) return std::unexpected(line.error());
  if (line->data() == nullptr) return incomplete(bytes);
  if (auto parsed = parse_first(*line, head); !parsed) return std::unexpected(parsed.error());
  const auto complete = parse_fields(rest, head.fields);
  if (!complete) return std::unexpected(complete.error());
  if (!*complete) return incomplete(bytes);
  head.bytes = bytes.size() - rest.size();
  if (head.bytes > bounds::http_head_bytes_max) return too_large("the head is too large");
  const auto framing = read_framing(head.fields, head.minor_version);
  if (!framing) return std::unexpected(framing.error());
  head.framing = *framing;
  head.keep_alive = reads_keep_alive(head.fields, head.minor_version);
  return HeadProgress::complete;
}

}  // namespace

std::optional<std::string_view> Fields::find(std::string_view name) const {
  for (const Header& header : all()) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Fields::find_only(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const Header& header : all()) {
    if (!equal_ignoring_case(header.name, name)) continue;
    if (found) return std::nullopt;
    found = header.value;
  }
  return found;
}

bool Fields::list_contains(std::string_view name, std::string_view token) const {
  for (const Header& header : all()) {
    if (!equal_ignoring_case(header.name, name)) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      if (equal_ignoring_case(trim_blanks(take_until(rest, ',')), token)) return true;
    }
  }
  return false;
}

bool Fields::add(Header header) {
  if (count_ == headers_.size()) return false;
  headers_[count_++] = header;
  return true;
}

std::expected<HeadProgress, Rejection> parse_request(std::string_view bytes, RequestHead& head) {
  head = RequestHead();
  const auto progress = parse_lines(bytes, head, parse_request_line);
  if (!progress || *progress == HeadProgress::needs_more) return progress;
  if (auto checked = check_host(head); !checked) return std::unexpected(checked.error());
  if (auto checked = check_connection(head.fields); !checked) {
    return std::unexpected(checked.error());
  }
  if (const auto expect = head.fields.find("Expect")) {
    if (!equal_ignoring_case(*expect, "100-continue")) {
      return malformed("an expectation other than 100-continue");
    }
    head.expects_continue = head.minor_version == 1;
  }
  return progress;
}

std::expected<HeadProgress, Rejection> parse_response(std::string_view bytes, bool to_head_request,
                                                      ResponseHead& head) {
  head = ResponseHead();
  const auto progress = parse_lines(bytes, head, parse_status_line);
  if (!progress || *progress == HeadProgress::needs_more) return progress;
  if (to_head_request || head.status < 200 || head.status == 204 || head.status == 304) {
    head.framing = Framing{};
  } else if (head.framing.kind == Framing::Kind::none) {
    head.framing.kind = Framing::Kind::until_close;
    head.keep_alive = false;
  }
  return progress;
}

}  // namespace pawl::http
