// Builds the head that goes on from the fields that came in: the request to the upstream, the
// answer to the client. Nothing is copied that belongs to one connection only (RFC 9110 §7.6.1),
// and nothing of the framing: that is written anew.
//
// Contract: pure; allocates nothing but what `out` grows by.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/http/head.h"

namespace pawl::http {

// What the proxy adds about the client and the request.
struct ForwardedBy {
  std::string_view client_address;    // as text, without port
  std::string_view upstream_host;     // Host of the upstream, when the client sent none
  std::string_view request_id;        // in place of one that the client may have sent
  std::string_view tenant_header;     // the client's own is not passed on;
  std::string_view tenant;            // this is what we believe; empty: nobody
  std::string_view scheme = "http";   // by which the client reached us
  std::string_view traceparent = {};  // when the client sent none that is valid; empty: none
  bool peer_trusted = false;          // what it says of those before it is kept
  bool expects_continue = false;      // the upstream, too, is asked before the body is sent
  bool upgrades = false;              // to a WebSocket
};

// Appends request line, fields and blank line. X-Forwarded-For, -Proto, -Host and Forwarded (RFC
// 7239) say who asked. What a peer claims there is replaced, unless it is trusted: then our own
// words stand behind it (of proto and host, the first word counts).
void append_upstream_request(std::string& out, const RequestHead& head,
                             const ForwardedBy& forwarded);

// How the answer to the client is framed.
struct ClientFraming {
  Framing framing;
  bool keep_alive = true;
};

// The framing an answer gets on its way to a client of that version: an answer without length is
// chunked for HTTP/1.1, and ends with the connection for HTTP/1.0.
ClientFraming client_framing(const ResponseHead& head, int client_minor_version, bool keep_alive);

// Appends status line and fields, without the blank line: the caller adds its own fields and ends
// it. Rate-limit fields of the upstream give way to pawl's own. Of a 101 the new protocol is told.
void append_client_response(std::string& out, const ResponseHead& head,
                            const ClientFraming& framing);

// Ends a chunked body. Of the trailers (BodyReader::trailers) those go on that cannot pass for a
// field of the head: nothing of framing, routing, identity or limits, and none of `withheld`.
void append_last_chunk(std::string& out, std::string_view trailers,
                       std::span<const std::string_view> withheld);

}  // namespace pawl::http
