// Goal: a port that somebody listens on is never taken for a free one, and answers are read to
// their end. Method: real sockets on 127.0.0.1, ports chosen by the system.
#include "cli/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;

const Endpoint any_port{.address = IpAddress::v4({127, 0, 0, 1}), .port = 0};

TEST(Probe, SeesAListenerThatSharesItsPort) {
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  const Endpoint taken = loop->listen(any_port, [](net::StreamPtr) {}).value();
  EXPECT_FALSE(is_free(taken).value());
  // The system itself would let a second one in.
  EXPECT_TRUE(net::Loop::make()->listen(taken, [](net::StreamPtr) {}).has_value());
  const Result<void> required = require_free(taken, "server.listen");
  ASSERT_FALSE(required.has_value());
  EXPECT_EQ(required.error().code, Code::unavailable);
  EXPECT_THAT(required.error().message,
              HasSubstr(to_string(taken) + "; end it, or choose another"));
}

TEST(Probe, SeesThatAPortIsFreeAgain) {
  Endpoint endpoint;
  {
    const std::unique_ptr<net::Loop> loop = net::Loop::make();
    endpoint = loop->listen(any_port, [](net::StreamPtr) {}).value();
  }
  EXPECT_TRUE(is_free(endpoint).value());
  EXPECT_TRUE(require_free(endpoint, "x").has_value());
}

TEST(Probe, ListensOnVersionSixToo) {
  const Result<bool> loopback = is_free(parse_endpoint("[::1]:0").value());
  EXPECT_TRUE(loopback.value());
  EXPECT_FALSE(is_free(parse_endpoint("[2001:db8::1]:9").value()).has_value());
}

// Says one thing and leaves.
class Greeter final : public net::StreamHandler {
 public:
  explicit Greeter(net::StreamPtr stream) : stream_(std::move(stream)) { stream_->start(*this); }
  void on_data(std::string_view bytes) override {
    stream_->send("heard " + std::string(bytes));
    stream_->say_goodbye();
  }
  void on_drained() override {}
  void on_closed() override {}

 private:
  net::StreamPtr stream_;
};

TEST(Probe, ReadsAnAnswerToItsEnd) {
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  std::unique_ptr<Greeter> greeter;
  const Endpoint endpoint = loop->listen(any_port,
                                         [&](net::StreamPtr stream) {
                                           greeter = std::make_unique<Greeter>(std::move(stream));
                                         })
                                .value();
  std::jthread thread([&] { loop->run(); });
  const Result<std::string> answer = ask({.host = "127.0.0.1", .port = endpoint.port}, "hello");
  loop->stop();
  thread.join();
  EXPECT_EQ(answer.value(), "heard hello");
}

TEST(Probe, SaysThatNobodyAnswers) {
  Endpoint endpoint;
  {
    const std::unique_ptr<net::Loop> loop = net::Loop::make();
    endpoint = loop->listen(any_port, [](net::StreamPtr) {}).value();
  }
  const net::Target target{.host = "127.0.0.1", .port = endpoint.port};
  EXPECT_EQ(ask(target, "hello").error().code, Code::unavailable);
  EXPECT_EQ(reach(target).error().code, Code::unavailable);
}

}  // namespace
}  // namespace pawl::cli
