// Goal: what is unambiguous is read exactly; everything that two programs might read in two ways is
// refused. Method: pinned good heads; the list of hostile ones, each with its reason; a second
// parser (Beast) that must agree on every head the gate lets through.
#include "core/http/head.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "core/http/hostile_fixture.h"

namespace pawl::http {
namespace {

std::string reason_of(std::string_view bytes) {
  RequestHead head;
  const auto parsed = parse_request(bytes, head);
  if (!parsed) return std::string(parsed.error().reason);
  return *parsed == HeadProgress::complete ? "accepted" : "needs more";
}

TEST(RequestHead, IsReadInFull) {
  const std::string bytes =
      "POST /orders?x=1 HTTP/1.1\r\nHost: example:80\r\nContent-Length: 3\r\n"
      "X-Tenant-Id:  acme \t\r\nExpect: 100-continue\r\n\r\nabcREST";
  RequestHead head;
  ASSERT_EQ(parse_request(bytes, head), HeadProgress::complete);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/orders?x=1");
  EXPECT_EQ(head.path(), "/orders");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.fields.find("x-tenant-id"), "acme");
  EXPECT_EQ(head.framing, (Framing{.kind = Framing::Kind::length, .length = 3}));
  EXPECT_TRUE(head.keep_alive);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_EQ(bytes.substr(head.bytes), "abcREST");
}

TEST(RequestHead, AsksForMoreAtEveryCut) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n";
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(reason_of(bytes.substr(0, cut)), "needs more") << cut;
  }
  EXPECT_EQ(reason_of(bytes), "accepted");
}

TEST(RequestHead, KnowsWhetherTheConnectionStays) {
  const std::pair<const char*, bool> cases[] = {
      {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: x, CLOSE\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
  };
  for (const auto& [bytes, keep_alive] : cases) {
    RequestHead head;
    ASSERT_EQ(parse_request(bytes, head), HeadProgress::complete) << bytes;
    EXPECT_EQ(head.keep_alive, keep_alive) << bytes;
  }
}

TEST(RequestHead, RefusesWhatCanBeReadInTwoWays) {
  const auto hostile = hostile_heads();
  EXPECT_GE(hostile.size(), 37u);
  for (const auto& [bytes, reason] : hostile) EXPECT_EQ(reason_of(bytes), reason) << bytes;
}

TEST(RequestHead, IsNotFooledByAGoodRequestInFront) {
  const std::string good = "GET /good HTTP/1.1\r\nHost: h\r\n\r\n";
  for (const auto& [bytes, reason] : hostile_heads()) {
    const std::string both = good + bytes;
    RequestHead head;
    ASSERT_EQ(parse_request(both, head), HeadProgress::complete);
    EXPECT_EQ(head.bytes, good.size());
    EXPECT_EQ(reason_of(std::string_view(both).substr(head.bytes)), reason) << bytes;
  }
}

TEST(RequestHead, IsReadTheSameWhereAnotherStoodBefore) {
  RequestHead used;
  ASSERT_EQ(parse_request("POST /old?x HTTP/1.1\r\nHost: h\r\nA: b\r\nContent-Length: 4\r\n"
                          "Expect: 100-continue\r\nConnection: close, X-Hop, upgrade\r\n"
                          "Upgrade: websocket\r\n\r\n",
                          used),
            HeadProgress::complete);
  ASSERT_EQ(parse_request("GET /new HTTP/1.1\r\nHost: h\r\n\r\n", used), HeadProgress::complete);
  EXPECT_EQ(used.fields.all().size(), 1u);
  EXPECT_EQ(used.framing, Framing{});
  EXPECT_TRUE(used.keep_alive);
  EXPECT_FALSE(used.expects_continue);
  EXPECT_FALSE(used.connection_names_fields);
  EXPECT_EQ(used.upgrade, "");
}

TEST(RequestHead, ExpectsTheInvitationOnlyForABody) {
  const std::pair<std::string_view, bool> cases[] = {
      {"HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n", true},
      {"HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n", true},
      {"HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n", false},
      {"HTTP/1.1\r\nHost: h\r\n", false},
      {"HTTP/1.0\r\nContent-Length: 1\r\n", false},
  };
  for (const auto& [rest, expects] : cases) {
    const std::string bytes = "POST / " + std::string(rest) + "Expect: 100-Continue\r\n\r\n";
    RequestHead head;
    ASSERT_EQ(parse_request(bytes, head), HeadProgress::complete) << bytes;
    EXPECT_EQ(head.expects_continue, expects) << bytes;
  }
}

TEST(RequestHead, KnowsAnUpgradeThatTheConnectionIsToldOf) {
  const std::tuple<std::string_view, std::string_view, bool> cases[] = {
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n",
       "WebSocket", true},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n", "h2c", false},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n",
       "websocket, h2c", false},
      {"POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "websocket",
       false},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
       "Content-Length: 4\r\n",
       "websocket", false},
      {"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n", "", false},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n", "", false},
      {"GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "", false},
  };
  for (const auto& [lines, upgrade, websocket] : cases) {
    const std::string bytes = std::string(lines) + "\r\n";
    RequestHead head;
    ASSERT_EQ(parse_request(bytes, head), HeadProgress::complete) << bytes;
    EXPECT_EQ(head.upgrade, upgrade) << bytes;
    EXPECT_EQ(head.is_websocket(), websocket) << bytes;
  }
}

TEST(RequestHead, RefusesWhatIsTooLarge) {
  const std::string long_target(bounds::http_request_line_bytes_max + 1, 'a');
  EXPECT_EQ(reason_of("GET /" + long_target), "a line of the head is too long");
  EXPECT_EQ(reason_of("GET /" + long_target + " HTTP/1.1\r\n"), "a line of the head is too long");
  const std::string long_value(bounds::http_header_bytes_max + 1, 'a');
  EXPECT_EQ(reason_of(post_with("A: " + long_value + "\r\n")), "a line of the head is too long");
  std::string many;
  for (std::size_t i = 0; i < bounds::http_headers_max; ++i) many += "A: b\r\n";
  EXPECT_EQ(reason_of(post_with(many)), "too many header lines");
  std::string big;
  for (int i = 0; i < 5; ++i) big += "A: " + std::string(4000, 'a') + "\r\n";
  EXPECT_EQ(reason_of(post_with(big)), "the head is too large");
  EXPECT_EQ(reason_of(post_with(big).substr(0, post_with(big).size() - 2)),
            "the head is too large");
}

ResponseHead response(std::string_view bytes, bool to_head_request = false) {
  ResponseHead head;
  EXPECT_EQ(parse_response(bytes, to_head_request, head), HeadProgress::complete) << bytes;
  return head;
}

TEST(ResponseHead, IsReadInFull) {
  const ResponseHead head = response("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not Found");
  EXPECT_EQ(head.framing, (Framing{.kind = Framing::Kind::length, .length = 2}));
  EXPECT_EQ(response("HTTP/1.1 200\r\n\r\n").reason, "");
  EXPECT_EQ(response("HTTP/1.1 200 \r\n\r\n").reason, "");
}

TEST(ResponseHead, KnowsWhichAnswersHaveNoBody) {
  EXPECT_EQ(response("HTTP/1.1 204 No Content\r\n\r\n").framing.kind, Framing::Kind::none);
  EXPECT_EQ(response("HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n").framing.kind,
            Framing::Kind::none);
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true).framing.kind,
            Framing::Kind::none);
}

TEST(ResponseHead, WithoutLengthRunsUntilTheClose) {
  const ResponseHead head = response("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(head.framing.kind, Framing::Kind::until_close);
  EXPECT_FALSE(head.keep_alive);
}

TEST(ResponseHead, RefusesNonsense) {
  for (const char* bytes :
       {"HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 600 High\r\n\r\n", "HTTP/1.1 abc X\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000 X\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    ResponseHead head;
    EXPECT_FALSE(parse_response(bytes, false, head).has_value()) << bytes;
  }
}

// What the gate lets through, Beast must read the same way.
void expect_second_parser_agrees(const std::string& bytes, const RequestHead& head) {
  namespace beast = boost::beast::http;
  beast::request_parser<beast::string_body> parser;
  parser.header_limit(1 << 20);
  parser.body_limit(boost::none);
  boost::system::error_code error;
  const std::size_t used = parser.put(boost::asio::buffer(bytes.data(), head.bytes), error);
  ASSERT_TRUE(parser.is_header_done()) << error.message() << "\n" << bytes;
  EXPECT_EQ(used, head.bytes);
  EXPECT_EQ(std::string_view(parser.get().method_string()), head.method);
  EXPECT_EQ(std::string_view(parser.get().target()), head.target);
  EXPECT_EQ(parser.chunked(), head.framing.kind == Framing::Kind::chunked);
  const auto length = parser.content_length();
  EXPECT_EQ(length.has_value(), head.framing.kind == Framing::Kind::length);
  if (length) {
    EXPECT_EQ(static_cast<std::int64_t>(*length), head.framing.length);
  }
}

RC_GTEST_PROP(RequestHead, ASecondParserReadsTheSame, ()) {
  const auto line = rc::gen::element<std::string>(
      "Content-Length: 5", "Content-Length: 0", "Transfer-Encoding: chunked", "Connection: close",
      "X-A: b", "X-A:", "Accept:  */* ", "TE: trailers", "Host: two", "A: \t x y", "X-Odd: \xe4");
  const auto method = *rc::gen::element<std::string>("GET", "POST", "DELETE", "PATCH", "M-SEARCH");
  const auto target = *rc::gen::element<std::string>("/", "/a?b=c&d", "/%20;x", "//x", "/a:b@c");
  std::string bytes = method + " " + target + " HTTP/1.1\r\nHost: h\r\n";
  for (const auto& extra : *rc::gen::container<std::vector<std::string>>(line)) {
    bytes += extra + "\r\n";
  }
  bytes += "\r\n";
  RequestHead head;
  const auto parsed = parse_request(bytes, head);
  RC_TAG(parsed.has_value() ? "accepted" : "refused");
  if (parsed) expect_second_parser_agrees(bytes, head);
}

}  // namespace
}  // namespace pawl::http
