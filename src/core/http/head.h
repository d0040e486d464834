// The strict framing gate: turns the bytes of one HTTP/1.x head into fields, or refuses them.
//
// Why:      a request that two programs can read in two ways is how one is smuggled past the other.
//           What is ambiguous is refused, never repaired; what goes on to the upstream is built
//           anew from the fields found here.
// Contract: pure. Views point into the bytes handed in and live as long as they do. The same gate
//           reads requests of clients and answers of upstreams.
// Bounds:   bounds::http_*.
// See:      docs/http-framing.md lists what is refused; head_test.cc holds an example of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "base/bounds.h"

namespace pawl::http {

struct Header {
  std::string_view name;
  std::string_view value;
};

// How the bytes after the head are framed.
struct Framing {
  enum class Kind : std::uint8_t { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::int64_t length = 0;  // Kind::length
  bool operator==(const Framing&) const = default;
};

// Why a head was refused.
struct Rejection {
  enum class Kind : std::uint8_t { malformed, too_large };
  Kind kind;
  std::string_view reason;  // a literal, fit for showing to the sender
  bool operator==(const Rejection&) const = default;
};

class Fields {
 public:
  Fields() {}  // the places stay as they are: a head is read for every request
  std::span<const Header> all() const { return {headers_, count_}; }
  // The first of that name (ASCII case ignored), or nothing.
  std::optional<std::string_view> find(std::string_view name) const;
  // The value when exactly one line has that name.
  std::optional<std::string_view> find_only(std::string_view name) const;
  // Does a comma-separated list field, over all its lines, contain the token?
  bool list_contains(std::string_view name, std::string_view token) const;

  // False when there is no room left.
  bool add(Header header);
  void clear() { count_ = 0; }

 private:
  union {
    Header headers_[bounds::http_headers_max];
  };
  std::size_t count_ = 0;
};

// What requests and answers have in common.
struct Head {
  int minor_version = 1;  // HTTP/1.x
  Fields fields;
  Framing framing;
  bool keep_alive = true;
  bool connection_names_fields = false;  // which therefore are not passed on
  std::string_view upgrade;  // the protocol the sender wants to speak from here on; empty: this one
  std::size_t bytes = 0;     // length of the head, blank line included
};

struct RequestHead : Head {
  std::string_view method;
  std::string_view target;        // origin form ("/a?b"), or "*" of OPTIONS
  bool expects_continue = false;  // there is a body, which waits for 100 Continue

  std::string_view path() const { return target.substr(0, target.find('?')); }
  // A GET that wants nothing but to become a WebSocket.
  bool is_websocket() const;
};

struct ResponseHead : Head {
  int status = 0;
  std::string_view reason;
};

enum class HeadProgress : std::uint8_t { complete, needs_more };

// `bytes` starts at the first byte of the head. needs_more: call again with more bytes behind
// these.
std::expected<HeadProgress, Rejection> parse_request(std::string_view bytes, RequestHead& head);
// `to_head_request`: the answer to a HEAD has no body whatever its fields say.
std::expected<HeadProgress, Rejection> parse_response(std::string_view bytes, bool to_head_request,
                                                      ResponseHead& head);
// One field line without its end: of a head, or of a trailer.
std::expected<Header, Rejection> parse_field(std::string_view line);

}  // namespace pawl::http
