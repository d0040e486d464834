#include "core/http/head.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/scan.h"
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

// Who names one of these in Connection wants the service behind us to see another request than we
// do.
constexpr std::array<std::string_view, 9> passed_on_always = {
    "Host",      "Content-Length",  "Transfer-Encoding", "Authorization", "Cookie",
    "X-Api-Key", "Idempotency-Key", "X-Forwarded-For",   "X-Request-Id"};

bool must_be_passed_on(std::string_view name) {
  return std::ranges::any_of(passed_on_always, [name](std::string_view field) {
    return equal_ignoring_case(field, name);
  });
}

// The fields that decide where a message ends and what becomes of its connection, noted as the
// lines are read.
struct Control {
  int lengths = 0;
  int encodings = 0;
  int hosts = 0;
  int upgrades = 0;
  std::string_view length;
  std::string_view encoding;
  std::string_view host;
  std::string_view upgrade;
  std::optional<std::string_view> expect;
  // What Connection lists.
  bool close = false;
  bool keep_alive = false;
  bool upgrading = false;
  bool fields = false;
  bool protected_field = false;

  void note(const Header& header);
  void note_connection(std::string_view list);
};

void Control::note_connection(std::string_view list) {
  while (!list.empty()) {
    const std::string_view token = trim_blanks(take_until(list, ','));
    if (equal_ignoring_case(token, "close")) {
      close = true;
    } else if (equal_ignoring_case(token, "keep-alive")) {
      keep_alive = true;
    } else if (equal_ignoring_case(token, "upgrade")) {
      upgrading = true;
    } else if (!token.empty()) {
      fields = true;
      protected_field = protected_field || must_be_passed_on(token);
    }
  }
}

// By length first: most fields are none of these.
void Control::note(const Header& header) {
  const auto is = [&header](std::string_view name) {
    return equal_ignoring_case(header.name, name);
  };
  switch (header.name.size()) {
    case 4:
      if (is("Host")) {
        ++hosts;
        host = header.value;
      }
      break;
    case 6:
      if (is("Expect")) expect = header.value;
      break;
    case 7:
      if (is("Upgrade")) {
        ++upgrades;
        upgrade = header.value;
      }
      break;
    case 10:
      if (is("Connection")) note_connection(header.value);
      break;
    case 14:
      if (is("Content-Length")) {
        ++lengths;
        length = header.value;
      }
      break;
    case 17:
      if (is("Transfer-Encoding")) {
        ++encodings;
        encoding = header.value;
      }
      break;
    default:
      break;
  }
}

// What ends a field's value: a line's end, or what no value may have.
struct ControlByte {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    const auto bytes = bytes_at<Bytes>(at);
    return static_cast<Bytes>((below(bytes, 0x20) & ~equal(bytes, '\t')) | equal(bytes, 0x7f));
  }
};

// A whole line that nothing can be said against, in one look at each byte: most are. Nothing is
// taken of any other, which take_line() and parse_field() judge.
std::optional<Header> take_good_field(std::string_view& rest) {
  std::size_t colon = 0;
  while (colon < rest.size() && is_name_char(rest[colon])) ++colon;
  if (colon == 0 || colon == rest.size() || rest[colon] != ':') return std::nullopt;
  const std::size_t end = find_byte(rest, colon + 1, ControlByte());
  const bool whole = rest.substr(end).starts_with("\r\n");
  if (!whole || end + 1 > bounds::http_header_bytes_max) return std::nullopt;
  const Header header{rest.substr(0, colon), trim_blanks(rest.substr(colon + 1, end - colon - 1))};
  rest.remove_prefix(end + 2);
  return header;
}

// Lines up to the blank one. False: the head is not complete yet.
std::expected<bool, Rejection> parse_fields(std::string_view& rest, Fields& fields,
                                            Control& control) {
  while (true) {
    std::optional<Header> field = take_good_field(rest);
    if (!field) {
      const auto line = take_line(rest, bounds::http_header_bytes_max);
      if (!line) return std::unexpected(line.error());
      if (line->data() == nullptr) return false;
      if (line->empty()) return true;
      const auto judged = parse_field(*line);
      if (!judged) return std::unexpected(judged.error());
      field = *judged;
    }
    if (!fields.add(*field)) return too_large("too many header lines");
    control.note(*field);
  }
}

// Content-Length and Transfer-Encoding, in the one form that everybody reads alike.
std::expected<Framing, Rejection> read_framing(const Control& control, int minor_version) {
  if (control.lengths > 1) return malformed("more than one Content-Length");
  if (control.encodings > 1) return malformed("more than one Transfer-Encoding");
  if (control.encodings == 1) {
    if (control.lengths == 1) return malformed("both Content-Length and Transfer-Encoding");
    if (minor_version == 0) return malformed("Transfer-Encoding in HTTP/1.0");
    if (!equal_ignoring_case(control.encoding, "chunked")) {
      return malformed("a Transfer-Encoding other than chunked");
    }
    return Framing{.kind = Framing::Kind::chunked};
  }
  if (control.lengths == 0) return Framing{};
  const std::string_view length = control.length;
  if (length.empty() || (length.size() > 1 && length.front() == '0')) {
    return malformed("Content-Length is not a plain number");
  }
  std::int64_t value = 0;
  for (const char c : length) {
    if (!is_digit(c)) return malformed("Content-Length is not a plain number");
    value = value * 10 + (c - '0');
    if (value > bounds::http_content_length_max) return too_large("Content-Length is out of range");
  }
  return Framing{.kind = Framing::Kind::length, .length = value};
}

bool is_made_of(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [marks](char c) {
    return is_digit(c) || is_letter(c) || marks.find(c) != std::string_view::npos;
  });
}

// A host and a port as RFC 3986 has them; a comma would be a list.
bool is_host(std::string_view value) {
  std::string_view port;
  if (value.starts_with('[')) {
    const std::size_t end = value.find(']');
    if (end == std::string_view::npos || !is_made_of(value.substr(1, end - 1), ":.")) return false;
    port = value.substr(end + 1);
  } else {
    const std::size_t colon = std::min(value.find(':'), value.size());
    if (!is_made_of(value.substr(0, colon), "-._~%!$&'()*+;=")) return false;
    port = value.substr(colon);
  }
  return port.empty() ||
         (port.front() == ':' && port.size() <= 6 && std::ranges::all_of(port.substr(1), is_digit));
}

Checked check_request(const Control& control, RequestHead& head) {
  if (control.hosts > 1) return malformed("more than one Host");
  if (!is_host(control.host)) return malformed("Host is not a host name");
  if (control.hosts == 0 && head.minor_version == 1) return malformed("HTTP/1.1 without Host");
  if (control.protected_field) {
    return malformed("Connection names a field that must be passed on");
  }
  head.expects_continue = false;
  if (!control.expect) return {};
  if (!equal_ignoring_case(*control.expect, "100-continue")) {
    return malformed("an expectation other than 100-continue");
  }
  const bool has_body = head.framing.kind == Framing::Kind::chunked || head.framing.length > 0;
  head.expects_continue = head.minor_version == 1 && has_body;
  return {};
}

std::expected<HeadProgress, Rejection> incomplete(std::string_view bytes) {
  if (bytes.size() > bounds::http_head_bytes_max) return too_large("the head is too large");
  return HeadProgress::needs_more;
}

// First line and fields, which requests and answers share. `parse_first` reads the first line.
template <class AnyHead, class ParseFirst>
std::expected<HeadProgress, Rejection> parse_lines(std::string_view bytes, AnyHead& head,
                                                   Control& control, ParseFirst parse_first) {
  std::string_view rest = bytes;
  const auto line = take_line(rest, bounds::http_request_line_bytes_max);
  if (!line) return std::unexpected(line.error());
  if (line->data() == nullptr) return incomplete(bytes);
  if (auto parsed = parse_first(*line, head); !parsed) return std::unexpected(parsed.error());
  head.fields.clear();
  const auto complete = parse_fields(rest, head.fields, control);
  if (!complete) return std::unexpected(complete.error());
  if (!*complete) return incomplete(bytes);
  head.bytes = bytes.size() - rest.size();
  if (head.bytes > bounds::http_head_bytes_max) return too_large("the head is too large");
  const auto framing = read_framing(control, head.minor_version);
  if (!framing) return std::unexpected(framing.error());
  head.framing = *framing;
  head.keep_alive = !control.close && (head.minor_version == 1 || control.keep_alive);
  head.connection_names_fields = control.fields;
  // A protocol belongs to the connection: who means it says so in Connection.
  head.upgrade = control.upgrading && head.minor_version == 1 && control.upgrades == 1
                     ? control.upgrade
                     : std::string_view();
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
  if (count_ == bounds::http_headers_max) return false;
  headers_[count_++] = header;
  return true;
}

bool RequestHead::is_websocket() const {
  return method == "GET" && framing.kind == Framing::Kind::none &&
         equal_ignoring_case(upgrade, "websocket");
}

std::expected<Header, Rejection> parse_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return malformed("a folded header line");
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("a header line without a colon");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) return malformed("a header name that is no token");
  if (name.find('_') != std::string_view::npos)
    return malformed("a header name with an underscore");
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  for (const char c : value) {
    if (!is_field_char(c)) return malformed("a control character in a header value");
  }
  return Header{name, value};
}

std::expected<HeadProgress, Rejection> parse_request(std::string_view bytes, RequestHead& head) {
  Control control;
  const auto progress = parse_lines(bytes, head, control, parse_request_line);
  if (!progress || *progress == HeadProgress::needs_more) return progress;
  if (auto checked = check_request(control, head); !checked) {
    return std::unexpected(checked.error());
  }
  return progress;
}

std::expected<HeadProgress, Rejection> parse_response(std::string_view bytes, bool to_head_request,
                                                      ResponseHead& head) {
  Control control;
  const auto progress = parse_lines(bytes, head, control, parse_status_line);
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
