// Goal: what goes on is built from the parsed fields only. Method: pinned heads in, pinned heads
// out.
#include "core/http/rewrite.h"

#include <gtest/gtest.h>

namespace pawl::http {
namespace {

std::string upstream_request(std::string_view bytes) {
  RequestHead head;
  EXPECT_EQ(parse_request(bytes, head), HeadProgress::complete);
  std::string out;
  append_upstream_request(out, head,
                          {.client_address = "192.0.2.7",
                           .upstream_host = "upstream:9000",
                           .request_id = "r1",
                           .tenant_header = "X-Tenant-Id",
                           .tenant = "acme"});
  return out;
}

std::string client_response(std::string_view bytes, int client_minor, bool to_head = false) {
  ResponseHead head;
  EXPECT_EQ(parse_response(bytes, to_head, head), HeadProgress::complete);
  std::string out;
  append_client_response(out, head, client_framing(head, client_minor, true));
  return out;
}

TEST(UpstreamRequest, KeepsWhatIsEndToEndAndDropsWhatIsNot) {
  EXPECT_EQ(
      upstream_request("POST /a?b HTTP/1.1\r\nHost: shop\r\nConnection: close, X-Hop\r\n"
                       "X-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\n"
                       "Expect: 100-continue\r\nX-Tenant-Id: claimed\r\nX-Request-Id: mine\r\n"
                       "content-length: 3\r\n\r\nabc"),
      "POST /a?b HTTP/1.1\r\nHost: shop\r\n"
      "X-Forwarded-For: 192.0.2.7\r\nVia: 1.1 pawl\r\nX-Request-Id: r1\r\n"
      "X-Tenant-Id: acme\r\nContent-Length: 3\r\n\r\n");
}

TEST(UpstreamRequest, PutsItsAddressBehindTheOnesClaimed) {
  EXPECT_NE(upstream_request("GET / HTTP/1.1\r\nHost: h\r\nx-forwarded-for: 10.0.0.1\r\n"
                             "X-Forwarded-For: 10.0.0.2\r\n\r\n")
                .find("\r\nX-Forwarded-For: 10.0.0.1, 10.0.0.2, 192.0.2.7\r\n"),
            std::string::npos);
}

TEST(UpstreamRequest, GivesAnOldClientTheHostItLeftOut) {
  EXPECT_EQ(upstream_request("GET / HTTP/1.0\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: upstream:9000\r\nX-Forwarded-For: 192.0.2.7\r\n"
            "Via: 1.1 pawl\r\nX-Request-Id: r1\r\nX-Tenant-Id: acme\r\n\r\n");
}

TEST(UpstreamRequest, WritesTheFramingAnew) {
  const std::string out =
      upstream_request("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: CHUNKED\r\n\r\n");
  EXPECT_NE(out.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(out.find("CHUNKED"), std::string::npos);
}

TEST(ClientResponse, KeepsTheLengthAndDropsTheUpstreamsConnection) {
  EXPECT_EQ(client_response("HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 2\r\n"
                            "X-RateLimit-Limit: 7\r\nx-request-id: theirs\r\nETag: \"x\"\r\n\r\n",
                            1),
            "HTTP/1.1 201 Created\r\nETag: \"x\"\r\nContent-Length: 2\r\n"
            "Connection: keep-alive\r\n");
}

TEST(ClientResponse, ChunksAnOpenEndedAnswerForHttp11AndClosesForHttp10) {
  const char* open_ended = "HTTP/1.1 200 OK\r\n\r\n";
  EXPECT_EQ(client_response(open_ended, 1),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n");
  EXPECT_EQ(client_response(open_ended, 0), "HTTP/1.1 200 OK\r\nConnection: close\r\n");
}

TEST(ClientResponse, ANoContentHasNoLength) {
  EXPECT_EQ(client_response("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 1),
            "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n");
}

TEST(ClientResponse, TellsTheLengthOfWhatAHeadDidNotFetch) {
  EXPECT_EQ(client_response("HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n", 1, true),
            "HTTP/1.1 200 OK\r\nContent-Length: 42\r\nConnection: keep-alive\r\n");
}

}  // namespace
}  // namespace pawl::http
