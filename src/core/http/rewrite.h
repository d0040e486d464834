// Builds the head that goes on from the fields that came in: the request to the upstream, the
// answer to the client. Nothing is copied that belongs to one connection only (RFC 9110 §7.6.1),
// and nothing of the framing: that is written anew.
#pragma once

#include <string>
#include <string_view>

#include "core/http/head.h"

namespace pawl::http {

// What the proxy adds about the client.
struct ForwardedBy {
  std::string_view client_address;  // as text, without port
  std::string_view upstream_host;   // Host of the upstream, when the client sent none
  std::string_view request_id;      // in place of one that the client may have sent
  std::string_view tenant_header;   // the client's own is not passed on;
  std::string_view tenant;          // this is what we believe; empty: nobody
};

// Appends request line, fields and blank line. Forwarded addresses a client claims are kept and
// ours is put behind them.
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
// it. Rate-limit fields of the upstream give way to pawl's own.
void append_client_response(std::string& out, const ResponseHead& head,
                            const ClientFraming& framing);

}  // namespace pawl::http
