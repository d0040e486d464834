// Goal: a request leaves once and as it was given; its error says truly whether anything left; no
//       connection is opened that may not be.
// Method: a server of the test's own on a free port that answers, cuts off or is silent, as each
//         test wants; OpenSSL's s_server for certificates.
#include "adapter/curl/curl_http_client.h"

#include <arpa/inet.h>
#include <atomic>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

#include "net/certificates_fixture.h"
#include "port/answer_of.h"
#include "tests/own_server.h"

namespace pawl {
namespace {

// One connection after the other; `serve` has the whole of each.
class Server {
 public:
  using Serve = std::function<void(int connection, int number)>;

  explicit Server(Serve serve) : serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void accept_all() {
    for (;;) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      const timeval patience = {.tv_sec = 5, .tv_usec = 0};  // a test that fails ends all the same
      ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
      serve_(connection, ++connections_);
      ::close(connection);
    }
  }

  Serve serve_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

// The head and as much of a body as it announces; less when the other side hangs up.
std::string read_request(int connection) {
  std::string data;
  std::size_t wanted = std::string::npos;
  while (data.size() < wanted) {
    char piece[4096];
    const ssize_t got = ::read(connection, piece, sizeof(piece));
    if (got <= 0) break;
    data.append(piece, static_cast<std::size_t>(got));
    const auto end = data.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    const auto length = data.find("Content-Length: ");
    wanted = end + 4;
    if (length < end) wanted += static_cast<std::size_t>(std::atoi(data.c_str() + length + 16));
  }
  return data;
}

void write_all(int connection, std::string_view text) {
  (void)!::write(connection, text.data(), text.size());
}

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class CurlHttpClientTest : public ::testing::Test {
 protected:
  CurlHttpClientTest() {
    auto opened = CurlHttpClient::open();
    EXPECT_TRUE(opened.has_value());
    client = std::move(*opened);
  }
  std::future<Result<HttpAnswer>> begin(HttpRequest request) {
    return asked<HttpAnswer>([&](auto done) { client->send(std::move(request), std::move(done)); });
  }
  Result<HttpAnswer> send(HttpRequest request) { return begin(std::move(request)).get(); }
  static void expect_error(const Result<HttpAnswer>& answer, Code code, Outcome outcome) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code) << answer.error().message;
    EXPECT_EQ(answer.error().outcome, outcome) << answer.error().message;
  }

  std::unique_ptr<CurlHttpClient> client;
};

TEST_F(CurlHttpClientTest, SendsWhatItWasGivenAndNothingElse) {
  std::string got;
  Server server([&](int connection, int) {
    got = read_request(connection);
    write_all(connection,
              "HTTP/1.1 201 Created\r\nX-One: 1\r\nx-two:  2 \r\nX-Empty:\r\n"
              "Content-Length: 5\r\nConnection: close\r\n\r\nhello");
  });
  const auto answer = send({.method = "POST",
                            .url = server.url("/a/../b?c=%20"),
                            .fields = {{"webhook-id", "evt_1"}, {"x-nothing", ""}},
                            .body = std::string("b\0dy", 4)});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_TRUE(answer->complete);
  const std::vector<HttpField> fields = {{"x-one", "1"},
                                         {"x-two", "2"},
                                         {"x-empty", ""},
                                         {"content-length", "5"},
                                         {"connection", "close"}};
  EXPECT_EQ(answer->fields, fields);
  EXPECT_EQ(got, "POST /a/../b?c=%20 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                     "\r\nwebhook-id: evt_1\r\nx-nothing:\r\nContent-Length: 4\r\n\r\n" +
                     std::string("b\0dy", 4));
}

TEST_F(CurlHttpClientTest, KnowsEveryMethod) {
  std::string got;
  Server server([&](int connection, int) {
    got = read_request(connection);
    write_all(connection, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  });
  for (const std::string method : {"GET", "HEAD", "DELETE", "PUT", "PATCH", "POST"}) {
    const auto answer = send({.method = method, .url = server.url()});
    ASSERT_TRUE(answer.has_value()) << method << answer.error().message;
    EXPECT_EQ(answer->status, 204);
    EXPECT_TRUE(got.starts_with(method + " / HTTP/1.1\r\n")) << got;
    const bool brings = method == "PUT" || method == "PATCH" || method == "POST";
    EXPECT_EQ(got.find("Content-Length: 0") != std::string::npos, brings) << got;
  }
}

TEST_F(CurlHttpClientTest, FollowsNoRedirectAndPassesOverInterimAnswers) {
  Server server([](int connection, int) {
    (void)read_request(connection);
    write_all(connection,
              "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
              "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
  });
  const auto answer = send({.method = "POST", .url = server.url(), .body = "x"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 302);
  ASSERT_EQ(answer->fields.size(), 2u) << "those of the hints are gone";
  EXPECT_EQ(answer->fields[0], (HttpField{"location", "/elsewhere"}));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlHttpClientTest, SaysWhenNothingHasLeft) {
  const int port = free_port();
  expect_error(send({.url = "http://127.0.0.1:" + std::to_string(port)}), Code::unavailable,
               Outcome::not_applied);
  expect_error(send({.url = "http://nowhere.invalid/"}), Code::unavailable, Outcome::not_applied);
  expect_error(send({.url = "gopher://127.0.0.1/"}), Code::invalid, Outcome::not_applied);
  expect_error(send({.url = "http://"}), Code::invalid, Outcome::not_applied);
  expect_error(send({.url = "http://127.0.0.1/ x"}), Code::invalid, Outcome::not_applied);
  expect_error(send({.method = "GE T", .url = "http://127.0.0.1/"}), Code::invalid,
               Outcome::not_applied);
  expect_error(send({.url = "http://127.0.0.1/", .fields = {{"a", "b\r\nc: d"}}}), Code::invalid,
               Outcome::not_applied);
  expect_error(send({.url = "http://127.0.0.1/", .deadline = {}}), Code::invalid,
               Outcome::not_applied);
}

TEST_F(CurlHttpClientTest, SaysWhenNobodyKnows) {
  Server server([](int connection, int) { (void)read_request(connection); });
  expect_error(send({.method = "POST", .url = server.url(), .body = "x"}), Code::unavailable,
               Outcome::unknown);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlHttpClientTest, GivesUpAtItsDeadline) {
  std::promise<void> over;
  Server server([&](int connection, int) {
    (void)read_request(connection);
    over.get_future().wait();
  });
  const auto answer =
      send({.method = "POST", .url = server.url(), .deadline = Duration::milliseconds(50)});
  over.set_value();
  expect_error(answer, Code::unavailable, Outcome::unknown);
}

TEST_F(CurlHttpClientTest, GivesUpOnAServerThatFallsSilent) {
  std::promise<void> over;
  Server server([&](int connection, int number) {
    (void)read_request(connection);
    if (number == 2) write_all(connection, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    over.get_future().wait();
  });
  const HttpRequest request{.method = "PUT",
                            .url = server.url(),
                            .body = "x",
                            .deadline = Duration::minutes(10),
                            .stall = Duration::seconds(1)};
  expect_error(send(request), Code::unavailable, Outcome::unknown);
  over.set_value();
}

// libcurl by itself would send it again on a fresh connection.
TEST_F(CurlHttpClientTest, SendsNothingTwiceWhenAConnectionItUsedAgainBreaks) {
  std::atomic<int> requests = 0;
  Server server([&](int connection, int) {
    for (int i = 0; i < 2; ++i) {
      if (read_request(connection).empty()) return;
      ++requests;
      if (i == 0) write_all(connection, ok);
    }
  });
  for (const std::string method : {"POST", "GET"}) {
    requests = 0;
    const auto first = send({.method = method, .url = server.url()});
    ASSERT_TRUE(first.has_value());
    expect_error(send({.method = method, .url = server.url()}), Code::unavailable,
                 Outcome::unknown);
    EXPECT_EQ(requests, 2) << method;
  }
}

TEST_F(CurlHttpClientTest, UsesAConnectionAgain) {
  Server server([](int connection, int) {
    while (!read_request(connection).empty()) write_all(connection, ok);
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(send({.url = server.url()}).has_value());
  EXPECT_EQ(server.connections(), 1);
  client.reset();  // hangs up, which ends the server's one thread
}

TEST_F(CurlHttpClientTest, TakesAnAnswerWhoseBodyIsCutForAnAnswer) {
  Server server([](int connection, int number) {
    (void)read_request(connection);
    write_all(connection, number == 1 ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
                                      : "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
  });
  const auto cut = send({.url = server.url()});
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->status, 200);
  EXPECT_EQ(cut->body, "half");
  EXPECT_FALSE(cut->complete);
  const auto bounded = send({.url = server.url(), .body_bytes_max = 4});
  ASSERT_TRUE(bounded.has_value());
  EXPECT_EQ(bounded->body, "0123");
  EXPECT_FALSE(bounded->complete);
}

TEST_F(CurlHttpClientTest, TakesHalfAHeadForNoAnswer) {
  Server server([](int connection, int number) {
    (void)read_request(connection);
    write_all(connection, "HTTP/1.1 200 OK\r\nX-");
    if (number == 2) {
      write_all(connection, std::string(bounds::http_call_fields_bytes_max + 1, 'x') + ": y\r\n");
    }
  });
  for (int i = 0; i < 2; ++i) {
    expect_error(send({.url = server.url()}), Code::unavailable, Outcome::unknown);
  }
}

TEST_F(CurlHttpClientTest, OpensNoConnectionThatMayNotBe) {
  Server server([](int connection, int) {
    while (!read_request(connection).empty()) write_all(connection, ok);
  });
  const auto public_only = [](const IpAddress& address) { return !address.is_loopback(); };
  const std::string port = ":" + std::to_string(server.port());
  // Whatever the host is written like, libcurl and the resolver lead to 127.0.0.1.
  for (const char* host : {"127.0.0.1", "localhost", "127.1", "0x7f.0.0.1", "2130706433",
                           "017700000001", "[::ffff:127.0.0.1]", "[::1]"}) {
    expect_error(send({.url = "http://" + (host + port), .may_connect = public_only}),
                 Code::refused, Outcome::not_applied);
  }
  EXPECT_EQ(server.connections(), 0);
  const auto loopback = [](const IpAddress& address) { return address.is_loopback(); };
  EXPECT_TRUE(send({.url = server.url(), .may_connect = loopback}).has_value());
  // The connection that is open now may not be used by somebody who may not open it.
  expect_error(send({.url = server.url(), .may_connect = public_only}), Code::refused,
               Outcome::not_applied);
  EXPECT_EQ(server.connections(), 1);
  client.reset();
}

TEST_F(CurlHttpClientTest, IgnoresAProxyOfTheEnvironment) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  Server server([](int connection, int) {
    (void)read_request(connection);
    write_all(connection, ok);
  });
  EXPECT_TRUE(send({.url = server.url()}).has_value());
  ::unsetenv("http_proxy");
}

TEST_F(CurlHttpClientTest, UnpacksWhatItAskedToBePacked) {
  const std::string packed(
      "\037\213\010\000\000\000\000\000\002\003\313\110\315\311\311\007\000\206\246\020\066\005\000"
      "\000\000",
      25);
  std::string got;
  Server server([&](int connection, int) {
    got = read_request(connection);
    write_all(connection, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                              std::to_string(packed.size()) + "\r\nConnection: close\r\n\r\n" +
                              packed);
  });
  const auto unpacked = send({.url = server.url(), .fields = {{"Accept-Encoding", "gzip"}}});
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_EQ(unpacked->body, "hello");
  EXPECT_TRUE(unpacked->complete);
  EXPECT_EQ(got.find("Accept-Encoding"), got.rfind("Accept-Encoding")) << got;
  const auto bounded =
      send({.url = server.url(), .fields = {{"Accept-Encoding", "gzip"}}, .body_bytes_max = 3});
  EXPECT_EQ(bounded->body, "hel");
  EXPECT_FALSE(bounded->complete) << "the bound is of what was unpacked";
  EXPECT_EQ(send({.url = server.url()})->body, packed);
  EXPECT_EQ(got.find("Accept-Encoding"), std::string::npos) << got;
}

TEST_F(CurlHttpClientTest, UsesTheProxyItWasGiven) {
  std::string got;
  Server proxy([&](int connection, int) {
    got = read_request(connection);
    write_all(connection,
              got.starts_with("CONNECT")
                  ? "HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n"
                  : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  auto opened = CurlHttpClient::open({.proxy = Secret("http://user:pass-word@" + address)});
  client = std::move(*opened);
  EXPECT_TRUE(send({.url = "http://venue.invalid/x"}).has_value());
  EXPECT_TRUE(got.starts_with("GET http://venue.invalid/x HTTP/1.1\r\n")) << got;
  EXPECT_NE(got.find("Proxy-Authorization: Basic"), std::string::npos) << got;
  const auto refused = send({.method = "POST",
                             .url = "https://venue.invalid/orders",
                             .fields = {{"Authorization", "Bearer secret"}},
                             .body = "order"});
  expect_error(refused, Code::unavailable, Outcome::not_applied);
  EXPECT_TRUE(got.starts_with("CONNECT venue.invalid:443 HTTP/1.1\r\n")) << got;
  EXPECT_EQ(got.find("secret"), std::string::npos) << got;
  EXPECT_EQ(refused.error().message.find("pass-word"), std::string::npos);
  // What may not be connected to is asked of the proxy's own address.
  const auto nowhere = [](const IpAddress&) { return false; };
  expect_error(send({.url = "http://venue.invalid/", .may_connect = nowhere}), Code::refused,
               Outcome::not_applied);
}

TEST_F(CurlHttpClientTest, AnswersWhatIsUnderWayWhenItEnds) {
  std::promise<void> asked;
  std::promise<void> over;
  Server server([&](int connection, int) {
    (void)read_request(connection);
    asked.set_value();
    over.get_future().wait();
  });
  auto answer = begin({.method = "POST", .url = server.url()});
  asked.get_future().wait();
  client.reset();
  over.set_value();
  expect_error(answer.get(), Code::unavailable, Outcome::unknown);
}

TEST_F(CurlHttpClientTest, ServesManyAtOnce) {
  Server server([](int connection, int) {
    if (!read_request(connection).empty()) {
      write_all(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
  });
  std::vector<std::future<Result<HttpAnswer>>> answers;
  for (int i = 0; i < 50; ++i) answers.push_back(begin({.url = server.url()}));
  for (auto& answer : answers) EXPECT_TRUE(answer.get().has_value());
}

class TlsServer final : public OwnServer {
 public:
  explicit TlsServer(const net::Certificates& certificates) {
    set_command({"openssl", "s_server", "-quiet", "-www", "-accept", port(), "-cert",
                 certificates.certificate(), "-key", certificates.key()});
    start();
  }
};

TEST_F(CurlHttpClientTest, BelievesACertificateOfItsAuthorityAlone) {
  const net::Certificates certificates("DNS:localhost");
  const TlsServer server(certificates);
  auto trusting = CurlHttpClient::open({.ca_file = certificates.ca()});
  ASSERT_TRUE(trusting.has_value());
  std::swap(client, *trusting);
  const std::string good = "https://localhost:" + server.port() + "/";
  ASSERT_TRUE(eventually([&] { return send({.url = good}).has_value(); }));
  expect_error(send({.url = "https://127.0.0.1:" + server.port() + "/"}), Code::unavailable,
               Outcome::not_applied);
  std::swap(client, *trusting);
  expect_error(send({.url = good}), Code::unavailable, Outcome::not_applied);
}

// HTTP/2 by Node. It counts what reaches it, and turns /refused away as a busy server would; with
// a port behind it, it is a proxy that opens tunnels as well.
class Http2Server final : public OwnServer {
 public:
  explicit Http2Server(const net::Certificates& certificates) {
    const std::string script = R"(
const fs = require('fs'), net = require('net');
const [port, proxy, cert, key] = process.argv.slice(1);
let count = 0;
const options = {cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: false};
const server = require('http2').createSecureServer(options);
server.on('stream', (stream, fields) => {
  const path = fields[':path'];
  stream.on('error', () => {});
  if (path !== '/count') ++count;
  if (path === '/refused') return stream.close(7);
  if (path === '/gone') return stream.session.destroy();
  stream.respond({':status': 200, 'x-got': String(fields['x-one'])});
  stream.end(path === '/count' ? String(count) : 'over h2');
});
server.on('sessionError', () => {});
server.listen(+port, '127.0.0.1');
const tunnels = require('http').createServer();
tunnels.on('connect', (request, socket) => {
  const onward = net.connect(+port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Open\r\nX-Tunnel: 1\r\n\r\n');
    onward.pipe(socket).pipe(onward);
  });
  socket.on('error', () => {}); onward.on('error', () => {});
});
tunnels.listen(+proxy, '127.0.0.1');
)";
    set_command({"node", "-e", script, port(), std::to_string(proxy_port_),
                 certificates.certificate(), certificates.key()});
    start();
  }
  std::string url(const std::string& path) const { return "https://localhost:" + port() + path; }
  std::string proxy() const { return "http://127.0.0.1:" + std::to_string(proxy_port_); }

 private:
  const int proxy_port_ = free_port();
};

TEST_F(CurlHttpClientTest, SpeaksHttp2WhereTheServerDoesAndSendsNothingTwice) {
  const net::Certificates certificates("DNS:localhost");
  const Http2Server server(certificates);
  auto trusting = CurlHttpClient::open({.ca_file = certificates.ca()});
  client = std::move(*trusting);
  ASSERT_TRUE(eventually([&] { return send({.url = server.url("/count")}).has_value(); }));
  const auto answer = send({.method = "POST",
                            .url = server.url("/orders"),
                            .fields = {{"x-one", "1"}},
                            .body = "order"});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "over h2");
  EXPECT_TRUE(answer->complete);
  EXPECT_EQ(answer->fields.at(0), (HttpField{"x-got", "1"}));
  // Libcurl would send both of these again: a stream that was turned away, a connection that went.
  for (const char* path : {"/refused", "/gone"}) {
    expect_error(send({.method = "POST", .url = server.url(path), .body = "order"}),
                 Code::unavailable, Outcome::unknown);
  }
  EXPECT_EQ(send({.url = server.url("/count")})->body, "3");
}

TEST_F(CurlHttpClientTest, GoesThroughATunnelOfItsProxy) {
  const net::Certificates certificates("DNS:localhost");
  const Http2Server server(certificates);
  auto opened =
      CurlHttpClient::open({.ca_file = certificates.ca(), .proxy = Secret(server.proxy())});
  client = std::move(*opened);
  ASSERT_TRUE(eventually([&] { return send({.url = server.url("/count")}).has_value(); }));
  const auto answer = send({.url = server.url("/x")});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "over h2");
  for (const HttpField& field : answer->fields) EXPECT_NE(field.name, "x-tunnel");
}

}  // namespace
}  // namespace pawl
