#include "core/http/rewrite.h"

#include <array>

#include "base/text.h"

namespace pawl::http {
namespace {

// Between two neighbours only; Content-Length is framing and written anew.
constexpr std::array<std::string_view, 9> connection_fields = {
    "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
    "Upgrade",    "Expect",     "Content-Length",
};

constexpr std::array<std::string_view, 5> limit_fields = {
    "RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining",
    "X-RateLimit-Reset"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  for (const std::string_view candidate : names) {
    if (equal_ignoring_case(name, candidate)) return true;
  }
  return false;
}

bool ends_here(const Fields& fields, std::string_view name) {
  return is_one_of(name, connection_fields) || fields.list_contains("Connection", name);
}

bool is_request_id(const Header& header) {
  return equal_ignoring_case(header.name, "X-Request-Id");
}

bool is_forwarded_for(const Header& header) {
  return equal_ignoring_case(header.name, "X-Forwarded-For");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_framing(std::string& out, Framing framing) {
  switch (framing.kind) {
    case Framing::Kind::length:
      out.append("Content-Length: ");
      append_number(out, framing.length);
      out.append("\r\n");
      break;
    case Framing::Kind::chunked:
      out.append("Transfer-Encoding: chunked\r\n");
      break;
    case Framing::Kind::none:
    case Framing::Kind::until_close:
      break;
  }
}

}  // namespace

void append_upstream_request(std::string& out, const RequestHead& head,
                             const ForwardedBy& forwarded) {
  out.append(head.method).append(" ").append(head.target).append(" HTTP/1.1\r\n");
  if (!head.fields.find("Host")) append_field(out, "Host", forwarded.upstream_host);
  for (const Header& header : head.fields.all()) {
    if (ends_here(head.fields, header.name)) continue;
    if (is_forwarded_for(header) || is_request_id(header)) continue;
    if (equal_ignoring_case(header.name, forwarded.tenant_header)) continue;
    append_field(out, header.name, header.value);
  }
  out.append("X-Forwarded-For: ");
  for (const Header& header : head.fields.all()) {
    if (is_forwarded_for(header)) out.append(header.value).append(", ");
  }
  out.append(forwarded.client_address).append("\r\nVia: 1.1 pawl\r\n");
  append_field(out, "X-Request-Id", forwarded.request_id);
  if (!forwarded.tenant.empty()) append_field(out, forwarded.tenant_header, forwarded.tenant);
  append_framing(out, head.framing);
  out.append("\r\n");
}

ClientFraming client_framing(const ResponseHead& head, int client_minor_version, bool keep_alive) {
  ClientFraming result{.framing = head.framing, .keep_alive = keep_alive};
  const bool has_length =
      head.framing.kind == Framing::Kind::none || head.framing.kind == Framing::Kind::length;
  if (has_length) return result;
  if (client_minor_version == 1) {
    result.framing.kind = Framing::Kind::chunked;
  } else {
    result.framing.kind = Framing::Kind::until_close;
    result.keep_alive = false;
  }
  return result;
}

void append_client_response(std::string& out, const ResponseHead& head,
                            const ClientFraming& framing) {
  out.append("HTTP/1.1 ");
  append_number(out, head.status);
  out.append(" ").append(head.reason).append("\r\n");
  for (const Header& header : head.fields.all()) {
    // The answer to a HEAD, and a 304, tell the length of a body that does not follow.
    const bool told_length = framing.framing.kind == Framing::Kind::none && head.status != 204 &&
                             equal_ignoring_case(header.name, "Content-Length");
    if (ends_here(head.fields, header.name) && !told_length) continue;
    if (is_one_of(header.name, limit_fields) || is_request_id(header)) continue;
    append_field(out, header.name, header.value);
  }
  append_framing(out, framing.framing);
  out.append(framing.keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n");
}

}  // namespace pawl::http
