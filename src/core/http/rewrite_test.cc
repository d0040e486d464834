// Goal: what goes on is built from the parsed fields only. Method: pinned heads in, pinned heads
// out.
#include "core/http/rewrite.h"

#include <gtest/gtest.h>
#include <tuple>

#include "core/http/body.h"

namespace pawl::http {
namespace {

constexpr ForwardedBy usual = {.client_address = "192.0.2.7",
                               .upstream_host = "upstream:9000",
                               .request_id = "r1",
                               .tenant_header = "X-Tenant-Id",
                               .tenant = "acme"};

std::string upstream_request(std::string_view bytes, const ForwardedBy& forwarded = usual) {
  RequestHead head;
  EXPECT_EQ(parse_request(bytes, head), HeadProgress::complete) << bytes;
  std::string out;
  append_upstream_request(out, head, forwarded);
  return out;
}

ForwardedBy from_trusted() {
  ForwardedBy forwarded = usual;
  forwarded.peer_trusted = true;
  return forwarded;
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
                       "X-Hop: 1\r\nKeep-Alive: 5\r\nTE: gzip\r\nUpgrade: h2c\r\nTrailer: X\r\n"
                       "Proxy-Connection: x\r\nAccept: */*\r\n"
                       "Expect: 100-continue\r\nX-Tenant-Id: claimed\r\nX-Request-Id: mine\r\n"
                       "content-length: 3\r\n\r\nabc"),
      "POST /a?b HTTP/1.1\r\nHost: shop\r\nAccept: */*\r\n"
      "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: shop\r\n"
      "Forwarded: for=192.0.2.7;proto=http;host=\"shop\"\r\nVia: 1.1 pawl\r\nX-Request-Id: r1\r\n"
      "X-Tenant-Id: acme\r\nContent-Length: 3\r\n\r\n");
}

constexpr std::string_view claims =
    "GET / HTTP/1.1\r\nHost: h\r\nx-forwarded-for: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.2\r\n"
    "X-Forwarded-Proto: https\r\nX-Forwarded-Host: shop\r\nX-Forwarded-Port: 443\r\n"
    "X-Real-IP: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\nVia: 1.1 edge\r\n\r\n";

// The room is made before it is known what goes on: here the most does, of what takes the least.
TEST(UpstreamRequest, HasRoomForAllOfIt) {
  const std::string host(200, 'h');
  std::string bytes = "GET / HTTP/1.0\r\nHost:" + host + "\r\n";
  for (std::size_t i = 1; i < bounds::http_headers_max; ++i) {
    bytes += i % 2 == 0 ? "A:\r\n" : "Forwarded:\r\n";
  }
  ForwardedBy forwarded = from_trusted();
  forwarded.client_address = "2001:db8:1111:2222:3333:4444:5555:6666";
  forwarded.expects_continue = true;
  forwarded.upgrades = true;
  const std::string out = upstream_request(bytes + "\r\n", forwarded);
  EXPECT_NE(out.find(";host=\"" + host + "\"\r\n"), std::string::npos);
  EXPECT_TRUE(out.ends_with("Expect: 100-continue\r\n\r\n"));
}

TEST(UpstreamRequest, StandsBehindWhatATrustedPeerSays) {
  EXPECT_EQ(upstream_request(claims, from_trusted()),
            "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop\r\n"
            "X-Forwarded-Port: 443\r\nX-Real-IP: 10.0.0.1\r\nVia: 1.1 edge\r\n"
            "X-Forwarded-For: 10.0.0.1, 10.0.0.2, 192.0.2.7\r\n"
            "Forwarded: for=10.0.0.1, for=192.0.2.7;proto=http;host=\"h\"\r\n"
            "Via: 1.1 pawl\r\nX-Request-Id: r1\r\nX-Tenant-Id: acme\r\n\r\n");
}

TEST(UpstreamRequest, ReplacesWhatAnybodyElseClaims) {
  EXPECT_EQ(upstream_request(claims),
            "GET / HTTP/1.1\r\nHost: h\r\nVia: 1.1 edge\r\nX-Forwarded-For: 192.0.2.7\r\n"
            "X-Forwarded-Proto: http\r\nX-Forwarded-Host: h\r\n"
            "Forwarded: for=192.0.2.7;proto=http;host=\"h\"\r\n"
            "Via: 1.1 pawl\r\nX-Request-Id: r1\r\nX-Tenant-Id: acme\r\n\r\n");
}

TEST(UpstreamRequest, QuotesAnAddressOfTheNewKind) {
  ForwardedBy forwarded = usual;
  forwarded.client_address = "2001:db8::1";
  forwarded.scheme = "https";
  const std::string out = upstream_request("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", forwarded);
  EXPECT_NE(out.find("\r\nX-Forwarded-For: 2001:db8::1\r\nX-Forwarded-Proto: https\r\n"),
            std::string::npos);
  EXPECT_NE(out.find("\r\nForwarded: for=\"[2001:db8::1]\";proto=https;host=\"[::1]:8080\"\r\n"),
            std::string::npos)
      << out;
}

TEST(UpstreamRequest, GivesAnOldClientTheHostItLeftOut) {
  EXPECT_EQ(upstream_request("GET / HTTP/1.0\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: upstream:9000\r\nX-Forwarded-For: 192.0.2.7\r\n"
            "X-Forwarded-Proto: http\r\nForwarded: for=192.0.2.7;proto=http\r\n"
            "Via: 1.0 pawl\r\nX-Request-Id: r1\r\nX-Tenant-Id: acme\r\n\r\n");
}

TEST(UpstreamRequest, PassesAValidTraceOnAndMakesOneOtherwise) {
  constexpr std::string_view ours = "00-11111111111111111111111111111111-2222222222222222-01";
  constexpr std::string_view theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  ForwardedBy forwarded = usual;
  forwarded.traceparent = ours;
  const auto traces = [&](const std::string& lines) {
    const std::string out =
        upstream_request("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n", forwarded);
    return std::tuple(out.find(ours) != std::string::npos, out.find(theirs) != std::string::npos,
                      out.find("vendor=1") != std::string::npos);
  };
  const std::string valid = "traceparent: " + std::string(theirs) + "\r\n";
  EXPECT_EQ(traces(valid + "tracestate: vendor=1\r\n"), std::tuple(false, true, true));
  EXPECT_EQ(traces(""), std::tuple(true, false, false));
  EXPECT_EQ(traces("traceparent: 00-no\r\ntracestate: vendor=1\r\n"),
            std::tuple(true, false, false));
  EXPECT_EQ(traces(valid + valid), std::tuple(true, false, false)) << "two are none";
}

TEST(UpstreamRequest, AsksForTrailersAndAnnouncesThoseThatCome) {
  const std::string out = upstream_request(
      "POST / HTTP/1.1\r\nHost: h\r\nConnection: TE\r\nTE: trailers, deflate\r\n"
      "Trailer: Digest\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_NE(out.find("\r\nTrailer: Digest\r\n"), std::string::npos);
  EXPECT_NE(out.find("\r\nConnection: TE\r\nTE: trailers\r\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("deflate"), std::string::npos);
}

TEST(UpstreamRequest, PassesTheExpectationOnWhenTold) {
  ForwardedBy forwarded = usual;
  forwarded.expects_continue = true;
  EXPECT_NE(upstream_request("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", forwarded)
                .find("\r\nExpect: 100-continue\r\nContent-Length: 1\r\n"),
            std::string::npos);
}

TEST(UpstreamRequest, BuildsAnUpgradeAnew) {
  ForwardedBy forwarded = usual;
  forwarded.upgrades = true;
  const std::string out = upstream_request(
      "GET /chat HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n"
      "Sec-WebSocket-Key: x\r\n\r\n",
      forwarded);
  EXPECT_NE(out.find("\r\nSec-WebSocket-Key: x\r\n"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")) << out;
  EXPECT_EQ(out.find("WebSocket\r"), std::string::npos);
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

TEST(ClientResponse, LimitsOfTheUpstreamGiveWayToOurs) {
  EXPECT_EQ(client_response("HTTP/1.1 204 No Content\r\nRateLimit: \"a\";r=1\r\n"
                            "ratelimit-policy: x\r\nRateLimit-Limit: 1\r\nX-RateLimit-Reset: 1\r\n"
                            "Retry-After: 1\r\n\r\n",
                            1),
            "HTTP/1.1 204 No Content\r\nRetry-After: 1\r\nConnection: keep-alive\r\n");
}

TEST(ClientResponse, AnnouncesTrailersOnlyWhereTheyCanFollow) {
  const char* chunked = "HTTP/1.1 200 OK\r\nTrailer: Digest\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(client_response(chunked, 1),
            "HTTP/1.1 200 OK\r\nTrailer: Digest\r\nTransfer-Encoding: chunked\r\n"
            "Connection: keep-alive\r\n");
  EXPECT_EQ(client_response(chunked, 0), "HTTP/1.1 200 OK\r\nConnection: close\r\n");
}

TEST(ClientResponse, TellsTheNewProtocol) {
  EXPECT_EQ(client_response("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n"
                            "Upgrade: websocket\r\nSec-WebSocket-Accept: y\r\n\r\n",
                            1),
            "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: y\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\n");
}

TEST(LastChunk, PassesOnTrailersThatCannotPassForAField) {
  const std::string_view withheld[] = {"X-Tenant-Id"};
  std::string out;
  append_last_chunk(out,
                    "Digest: abc\r\ncontent-length: 4\r\nTransfer-Encoding: chunked\r\n"
                    "Authorization: x\r\nx-tenant-id: other\r\nX-Forwarded-For: 1\r\n"
                    "RateLimit: x\r\nRateLimit-Policy: x\r\nX-RateLimit-Limit: 1\r\nHost: h\r\n"
                    "Set-Cookie: a\r\nIf-Match: x\r\nProxy-Authorization: x\r\n"
                    "Grpc-Status: 0\r\n",
                    withheld);
  EXPECT_EQ(out, "0\r\nDigest: abc\r\nGrpc-Status: 0\r\n\r\n");
  std::string none;
  append_last_chunk(none, "", {});
  EXPECT_EQ(none, last_chunk);
}

}  // namespace
}  // namespace pawl::http
