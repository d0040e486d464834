#include "core/http/rewrite.h"

#include <algorithm>
#include <array>

#include "base/pen.h"
#include "base/text.h"
#include "core/http/trace.h"

namespace pawl::http {
namespace {

// What becomes of a field on its way.
enum class Kind : std::uint8_t {
  plain,           // goes on
  connection,      // between two neighbours only, or framing, which is written anew
  content_length,  // the same, but an answer to HEAD tells one
  te,
  trailer,
  request_id,
  forwarded,  // RFC 7239
  forwarded_for,
  forwarded_proto,
  forwarded_host,
  forwarding,  // anything else a proxy says of its client
  traceparent,
  tracestate,
  limit,
};

struct Known {
  std::string_view name;
  Kind kind;
};

// By length, since most fields can be told from these by that alone.
constexpr std::array<Known, 18> known_fields = {{
    {"TE", Kind::te},
    {"Expect", Kind::connection},
    {"Trailer", Kind::trailer},
    {"Upgrade", Kind::connection},
    {"Forwarded", Kind::forwarded},
    {"RateLimit", Kind::limit},
    {"X-Real-Ip", Kind::forwarding},
    {"Connection", Kind::connection},
    {"Keep-Alive", Kind::connection},
    {"Tracestate", Kind::tracestate},
    {"Traceparent", Kind::traceparent},
    {"X-Request-Id", Kind::request_id},
    {"Content-Length", Kind::content_length},
    {"X-Forwarded-For", Kind::forwarded_for},
    {"Proxy-Connection", Kind::connection},
    {"X-Forwarded-Host", Kind::forwarded_host},
    {"Transfer-Encoding", Kind::connection},
    {"X-Forwarded-Proto", Kind::forwarded_proto},
}};
constexpr std::size_t known_size_max = known_fields.back().name.size();

// Where those of a length begin, and those of the next.
constexpr std::array<std::uint8_t, known_size_max + 2> index_known() {
  std::array<std::uint8_t, known_size_max + 2> begins{};
  for (std::size_t size = 0; size < begins.size(); ++size) {
    begins[size] = static_cast<std::uint8_t>(std::ranges::count_if(
        known_fields, [size](const Known& known) { return known.name.size() < size; }));
  }
  return begins;
}
constexpr std::array<std::uint8_t, known_size_max + 2> known_begins = index_known();
static_assert(std::ranges::is_sorted(known_fields, {},
                                     [](const Known& known) { return known.name.size(); }));

// All that begin so.
constexpr std::array<Known, 3> known_families = {{
    {"RateLimit-", Kind::limit},
    {"X-RateLimit-", Kind::limit},
    {"X-Forwarded-", Kind::forwarding},
}};

bool begins_with(std::string_view name, std::string_view start) {
  return name.size() > start.size() && equal_ignoring_case(name.substr(0, start.size()), start);
}

Kind kind_of(std::string_view name) {
  if (name.size() <= known_size_max) {
    for (std::size_t i = known_begins[name.size()]; i < known_begins[name.size() + 1]; ++i) {
      if (equal_ignoring_case(name, known_fields[i].name)) return known_fields[i].kind;
    }
  }
  const char first = ascii_lower(name.front());
  if (first != 'r' && first != 'x') return Kind::plain;  // as all families begin
  for (const Known& family : known_families) {
    if (begins_with(name, family.name)) return family.kind;
  }
  return Kind::plain;
}

bool named_in_connection(const Head& head, std::string_view name) {
  return head.connection_names_fields && head.fields.list_contains("Connection", name);
}

// What we say in our own words, without what we are told to say.
constexpr std::size_t own_bytes_max = 512;

// If all of them go on.
std::size_t bytes_of(const Fields& fields) {
  constexpr std::size_t around = 4;  // ": " and the line's end
  std::size_t bytes = 0;
  for (const Header& header : fields.all()) {
    bytes += header.name.size() + header.value.size() + around;
  }
  return bytes;
}

void put_field(Pen& out, std::string_view name, std::string_view value) {
  out.put(name).put(": ").put(value).put("\r\n");
}

void put_framing(Pen& out, Framing framing) {
  switch (framing.kind) {
    case Framing::Kind::length:
      out.put("Content-Length: ").number(framing.length).put("\r\n");
      break;
    case Framing::Kind::chunked:
      out.put("Transfer-Encoding: chunked\r\n");
      break;
    case Framing::Kind::none:
    case Framing::Kind::until_close:
      break;
  }
}

// What a request says of itself beside the fields that just go on.
struct Told {
  bool proto = false;
  bool host = false;
  bool trace = false;     // valid, and once
  bool trailers = false;  // may come with the answer
};

Told read_told(const RequestHead& head) {
  Told told;
  const auto trace = head.fields.find_only("Traceparent");
  told.trace = trace && !trace_id_of(*trace).empty();
  return told;
}

// Does this field go on as it is?
bool goes_on(const RequestHead& head, const Header& header, const ForwardedBy& forwarded,
             Told& told) {
  if (equal_ignoring_case(header.name, forwarded.tenant_header)) return false;
  switch (kind_of(header.name)) {
    case Kind::connection:
    case Kind::content_length:
    case Kind::request_id:
    case Kind::forwarded:
    case Kind::forwarded_for:
      return false;
    case Kind::te:
      told.trailers = told.trailers || head.fields.list_contains("TE", "trailers");
      return false;
    case Kind::trailer:
      return head.framing.kind == Framing::Kind::chunked;
    case Kind::forwarded_proto:
      told.proto = true;
      return forwarded.peer_trusted;
    case Kind::forwarded_host:
      told.host = true;
      return forwarded.peer_trusted;
    case Kind::forwarding:
      return forwarded.peer_trusted;
    case Kind::traceparent:
    case Kind::tracestate:
      return told.trace;
    case Kind::plain:
    case Kind::limit:
      return !named_in_connection(head, header.name);
  }
  return false;
}

// A list field of the client's lines, if they are believed, for ours to stand behind.
void put_believed(Pen& out, const RequestHead& head, std::string_view name, bool believed) {
  out.put(name).put(": ");
  if (!believed) return;
  for (const Header& header : head.fields.all()) {
    if (equal_ignoring_case(header.name, name)) out.put(header.value).put(", ");
  }
}

void put_forwarded(Pen& out, const RequestHead& head, const ForwardedBy& forwarded,
                   const Told& told) {
  const std::string_view host = head.fields.find("Host").value_or("");
  const bool trusted = forwarded.peer_trusted;
  put_believed(out, head, "X-Forwarded-For", trusted);
  out.put(forwarded.client_address).put("\r\n");
  if (!trusted || !told.proto) put_field(out, "X-Forwarded-Proto", forwarded.scheme);
  if ((!trusted || !told.host) && !host.empty()) put_field(out, "X-Forwarded-Host", host);
  put_believed(out, head, "Forwarded", trusted);
  const bool v6 = forwarded.client_address.find(':') != std::string_view::npos;
  out.put(v6 ? "for=\"[" : "for=").put(forwarded.client_address).put(v6 ? "]\"" : "");
  out.put(";proto=").put(forwarded.scheme);
  if (!host.empty()) out.put(";host=\"").put(host).put("\"");
  out.put("\r\n");
}

// What is said to the upstream about this connection, if anything.
void put_connection(Pen& out, const ForwardedBy& forwarded, const Told& told) {
  if (forwarded.upgrades && told.trailers) {
    out.put("Connection: Upgrade, TE\r\n");
  } else if (forwarded.upgrades) {
    out.put("Connection: Upgrade\r\n");
  } else if (told.trailers) {
    out.put("Connection: TE\r\n");
  }
  if (forwarded.upgrades) out.put("Upgrade: websocket\r\n");
  if (told.trailers) out.put("TE: trailers\r\n");
  if (forwarded.expects_continue) out.put("Expect: 100-continue\r\n");
}

std::size_t bytes_max(const RequestHead& head, const ForwardedBy& forwarded) {
  // Host is told twice more; address and scheme, too, are told twice.
  const std::size_t host = head.fields.find("Host").value_or("").size();
  return bytes_of(head.fields) + own_bytes_max + head.method.size() + head.target.size() +
         2 * (host + forwarded.client_address.size() + forwarded.scheme.size()) +
         forwarded.upstream_host.size() + forwarded.request_id.size() +
         forwarded.traceparent.size() + forwarded.tenant_header.size() + forwarded.tenant.size();
}

// What a service behind us might take for a field of the head if it came as a trailer.
constexpr std::array<std::string_view, 33> never_trailers = {
    "Age",
    "Authorization",
    "Cache-Control",
    "Connection",
    "Content-Type",
    "Content-Range",
    "Content-Encoding",
    "Content-Length",
    "Cookie",
    "Date",
    "Expect",
    "Expires",
    "Forwarded",
    "Host",
    "Idempotency-Key",
    "Keep-Alive",
    "Location",
    "Max-Forwards",
    "Pragma",
    "Range",
    "Retry-After",
    "Set-Cookie",
    "TE",
    "Trailer",
    "Traceparent",
    "Tracestate",
    "Transfer-Encoding",
    "Upgrade",
    "Vary",
    "Via",
    "WWW-Authenticate",
    "X-Api-Key",
    "X-Request-Id",
};
constexpr std::array<std::string_view, 9> never_trailer_families = {
    "Access-Control-", "Idempotent-", "If-",     "Proxy-", "RateLimit", "Sec-",
    "X-Forwarded-",    "X-RateLimit", "X-Real-",
};

bool may_be_trailer(std::string_view name) {
  const auto is = [name](std::string_view other) { return equal_ignoring_case(name, other); };
  const auto begins = [name](std::string_view start) {
    return equal_ignoring_case(name.substr(0, start.size()), start);
  };
  return std::ranges::none_of(never_trailers, is) &&
         std::ranges::none_of(never_trailer_families, begins);
}

}  // namespace

void append_upstream_request(std::string& out, const RequestHead& head,
                             const ForwardedBy& forwarded) {
  append_with_pen(out, bytes_max(head, forwarded), [&](Pen& pen) {
    pen.put(head.method).put(" ").put(head.target).put(" HTTP/1.1\r\n");
    if (!head.fields.find("Host")) put_field(pen, "Host", forwarded.upstream_host);
    Told told = read_told(head);
    for (const Header& header : head.fields.all()) {
      if (goes_on(head, header, forwarded, told)) put_field(pen, header.name, header.value);
    }
    put_forwarded(pen, head, forwarded, told);
    pen.put(head.minor_version == 1 ? "Via: 1.1 pawl\r\n" : "Via: 1.0 pawl\r\n");
    put_field(pen, "X-Request-Id", forwarded.request_id);
    if (!told.trace && !forwarded.traceparent.empty()) {
      put_field(pen, "Traceparent", forwarded.traceparent);
    }
    if (!forwarded.tenant.empty()) put_field(pen, forwarded.tenant_header, forwarded.tenant);
    put_connection(pen, forwarded, told);
    put_framing(pen, head.framing);
    pen.put("\r\n");
  });
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
  const Framing::Kind body = framing.framing.kind;
  // The answer to a HEAD, and a 304, tell the length of a body that does not follow.
  const bool tells_length = body == Framing::Kind::none && head.status != 204 && head.status >= 200;
  const auto ends_here = [&](const Header& header) {
    const Kind kind = kind_of(header.name);
    return kind == Kind::connection || kind == Kind::te || kind == Kind::limit ||
           kind == Kind::request_id || (kind == Kind::content_length && !tells_length) ||
           (kind == Kind::trailer && body != Framing::Kind::chunked) ||
           named_in_connection(head, header.name);
  };
  const std::size_t bytes_max =
      bytes_of(head.fields) + own_bytes_max + head.reason.size() + head.upgrade.size();
  append_with_pen(out, bytes_max, [&](Pen& pen) {
    pen.put("HTTP/1.1 ").number(head.status).put(" ").put(head.reason).put("\r\n");
    for (const Header& header : head.fields.all()) {
      if (!ends_here(header)) put_field(pen, header.name, header.value);
    }
    put_framing(pen, framing.framing);
    if (head.status == 101) {
      pen.put("Connection: Upgrade\r\n");
      put_field(pen, "Upgrade", head.upgrade);
    } else {
      pen.put(framing.keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n");
    }
  });
}

void append_last_chunk(std::string& out, std::string_view trailers,
                       std::span<const std::string_view> withheld) {
  out.append("0\r\n");
  while (!trailers.empty()) {
    const std::string_view line = trailers.substr(0, trailers.find('\n') + 1);
    trailers.remove_prefix(line.size());
    const std::string_view name = line.substr(0, line.find(':'));
    const bool kept =
        may_be_trailer(name) && std::ranges::none_of(withheld, [name](std::string_view other) {
          return equal_ignoring_case(name, other);
        });
    if (kept) out.append(line);
  }
  out.append("\r\n");
}

}  // namespace pawl::http
