// Requests that smugglers use, each with the reason for which the gate refuses it: what two
// programs might read in two ways. tests/e2e/test_hostile.py sends the like to the whole gateway.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::http {

struct Hostile {
  std::string bytes;
  std::string_view reason;
};

inline std::string post_with(std::string_view lines) {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(lines) + "\r\n";
}

inline std::vector<Hostile> hostile_heads() {
  return {
      // framing
      {post_with("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
       "both Content-Length and Transfer-Encoding"},
      {post_with("Content-Length: 4\r\nContent-Length: 5\r\n"), "more than one Content-Length"},
      {post_with("Content-Length: 4\r\nContent-Length: 4\r\n"), "more than one Content-Length"},
      {post_with("Content-Length: 4, 4\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: 00004\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: +4\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: -4\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: 0x4\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: 4 4\r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: \r\n"), "Content-Length is not a plain number"},
      {post_with("Content-Length: 99999999999999999999\r\n"), "Content-Length is out of range"},
      {post_with("Transfer-Encoding: xchunked\r\n"), "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: chunked, identity\r\n"),
       "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: identity\r\n"), "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: gzip, chunked\r\n"), "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: \"chunked\"\r\n"), "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       "more than one Transfer-Encoding"},
      {"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
       "Transfer-Encoding in HTTP/1.0"},
      // lines
      {post_with("A: b\r\n folded\r\n"), "a folded header line"},
      {post_with("A : b\r\n"), "a header name that is no token"},
      {post_with(": b\r\n"), "a header name that is no token"},
      {post_with("A\x01: b\r\n"), "a header name that is no token"},
      {post_with("no colon\r\n"), "a header line without a colon"},
      {post_with("Content_Length: 4\r\n"), "a header name with an underscore"},
      {post_with(std::string_view("A: b\0c\r\n", 8)), "a control character in a header value"},
      {post_with("A: b\x1b[2J\r\n"), "a control character in a header value"},
      {post_with("A: b\x7f\r\n"), "a control character in a header value"},
      {post_with("A: b\rC: d\r\n"), "CR within a line"},
      {"GET / HTTP/1.1\nHost: h\n\n", "a line ends with LF alone"},
      {"GET / HTTP/1.1\r\nHost: h\n\r\n", "a line ends with LF alone"},
      // request line
      {"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "the request line is not METHOD TARGET VERSION"},
      {"GET  HTTP/1.1\r\nHost: h\r\n\r\n", "the request target must be a path starting with /"},
      {"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
       "a character in the request target that must be escaped"},
      {"GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n",
       "a character in the request target that must be escaped"},
      {"GET /\xc3\xa4 HTTP/1.1\r\nHost: h\r\n\r\n",
       "a character in the request target that must be escaped"},
      {"GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n",
       "the request target must be a path starting with /"},
      {"CONNECT other:80 HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT is not served"},
      {"GET * HTTP/1.1\r\nHost: h\r\n\r\n", "the target * belongs to OPTIONS"},
      {"G@T / HTTP/1.1\r\nHost: h\r\n\r\n", "the method is no token"},
      {"GET / HTTP/1.2\r\nHost: h\r\n\r\n", "only HTTP/1.1 and HTTP/1.0 are spoken here"},
      {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", "only HTTP/1.1 and HTTP/1.0 are spoken here"},
      {"GET / http/1.1\r\nHost: h\r\n\r\n", "only HTTP/1.1 and HTTP/1.0 are spoken here"},
      {"GET /\r\n\r\n", "the request line is not METHOD TARGET VERSION"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "the target * belongs to OPTIONS"},
      // host, expectation
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 without Host"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "more than one Host"},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "Host is not a host name"},
      {post_with("Connection: close, host\r\n"), "Connection names a field that must be passed on"},
      {post_with("Connection: Cookie\r\nCookie: a\r\n"),
       "Connection names a field that must be passed on"},
      {post_with("Expect: 200-ok\r\n"), "an expectation other than 100-continue"},
      {post_with("Content-Length: 4\r\ncontent-length: 4\r\n"), "more than one Content-Length"},
      {post_with("Transfer-Encoding: chunked;q=1\r\n"), "a Transfer-Encoding other than chunked"},
      {post_with("Transfer-Encoding: \x0b"
                 "chunked\r\n"),
       "a control character in a header value"},
      {post_with("Transfer-Encoding:\r\n chunked\r\n"), "a folded header line"},
      {post_with("Transfer-Encoding : chunked\r\n"), "a header name that is no token"},
      {post_with("Transfer_Encoding: chunked\r\n"), "a header name with an underscore"},
      {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a\"b\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "Host is not a host name"},
      {"GET / HTTP/1.1\r\nHost: [::1]80\r\n\r\n", "Host is not a host name"},
      {"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", "the request line is not METHOD TARGET VERSION"},
      {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
       "a character in the request target that must be escaped"},
      {"\x16\x03\x01\x02\n", "a line ends with LF alone"},
  };
}

// Chunked bodies.
inline std::vector<Hostile> hostile_bodies() {
  return {
      {"4;a=b\r\nWiki\r\n0\r\n\r\n", "a chunk extension"},
      {"4\nWiki\n0\n\n", "a chunk size that is no hexadecimal number"},
      {"\r\nWiki", "a chunk size that is no hexadecimal number"},
      {"0x4\r\nWiki\r\n", "a chunk size that is no hexadecimal number"},
      {"-1\r\n", "a chunk size that is no hexadecimal number"},
      {"+4\r\nWiki", "a chunk size that is no hexadecimal number"},
      {"4 \r\nWiki\r\n", "a chunk size that is no hexadecimal number"},
      {" 4\r\nWiki\r\n", "a chunk size that is no hexadecimal number"},
      {"4\rXWiki", "CR without LF in a chunk header"},
      {"3\r\nWiki\r\n0\r\n\r\n", "a chunk longer than its size"},
      {"4\r\nWiki\n0\r\n\r\n", "a chunk longer than its size"},
      {"FFFFFFFFFFFFFFFFF\r\n", "a chunk size out of range"},
      {"0\r\n: x\r\n\r\n", "a malformed trailer"},
      {"0\r\n folded\r\n\r\n", "a malformed trailer"},
      {"0\r\nA: b\n\r\n", "a malformed trailer"},
      {"0\r\nA: b\rX", "CR without LF in a trailer"},
      {"0\r\nno colon\r\n\r\n", "a malformed trailer"},
      {"0\r\nA : b\r\n\r\n", "a malformed trailer"},
      {"0\r\nA_B: c\r\n\r\n", "a malformed trailer"},
      {"0\r\nA: b\x1b\r\n\r\n", "a malformed trailer"},
      {"0\r\ncontent-length: 5\r\n\r\n", "a trailer that frames or routes a message"},
      {"0\r\nTransfer-Encoding: chunked\r\n\r\n", "a trailer that frames or routes a message"},
      {"0\r\nHost: other\r\n\r\n", "a trailer that frames or routes a message"},
  };
}

}  // namespace pawl::http
