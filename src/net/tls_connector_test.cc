// Goal: a target is greeted in time or given up with a reason, and nothing is left behind. Method:
// the test plays target and clock; the end of a real loop in the middle of it.
#include "net/tls_connector.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "net/certificates_fixture.h"
#include "net/fake.h"

namespace pawl::net {
namespace {

class TlsConnectorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { certificates_ = std::make_unique<Certificates>("DNS:shop.test"); }
  static void TearDownTestSuite() { certificates_.reset(); }

  TlsConnectorTest() {
    connector->connect(Tls::client(certificates_->ca()).value(), {.host = "shop.test", .port = 1},
                       Duration::seconds(3),
                       [this](Result<StreamPtr> stream) { result = std::move(stream); });
    EXPECT_FALSE(result.has_value());
  }
  std::string reason() const {
    if (!result) return "nothing was said";
    return result->has_value() ? "connected" : result->error().message;
  }
  // Lets the connect succeed and plays the server.
  void serve() {
    ours = loop.accept_connect();
    theirs_encrypted = Tls::server(certificates_->certificate(), certificates_->key())
                           .value()
                           ->accept(loop, theirs, [](const Result<void>&) {})
                           .value();
    while (!ours->sent.empty() || !theirs->sent.empty()) {
      theirs->receive(ours->take_sent());
      ours->receive(theirs->take_sent());
    }
  }

  static std::unique_ptr<Certificates> certificates_;
  FakeLoop loop;
  std::unique_ptr<TlsConnector> connector = std::make_unique<TlsConnector>(loop);
  std::optional<Result<StreamPtr>> result;
  std::shared_ptr<FakeStream> ours;
  std::shared_ptr<FakeStream> theirs = std::make_shared<FakeStream>();
  StreamPtr theirs_encrypted;
};
std::unique_ptr<Certificates> TlsConnectorTest::certificates_;

TEST_F(TlsConnectorTest, GivesAConnectionThatIsGreeted) {
  serve();
  EXPECT_EQ(reason(), "connected");
  loop.advance(Duration::seconds(5));
  connector.reset();
  EXPECT_FALSE(ours->closed) << "it belongs to whoever asked for it";
}

TEST_F(TlsConnectorTest, SaysThatNobodyTakesTheConnection) {
  loop.refuse_connect();
  EXPECT_EQ(reason(), "refused");
}

TEST_F(TlsConnectorTest, GivesUpAGreetingThatIsNotAnsweredInTime) {
  ours = loop.accept_connect();
  loop.advance(Duration::seconds(3));
  EXPECT_EQ(reason(), "cannot connect to shop.test:1: no answer in time");
  EXPECT_EQ(result->error().outcome, Outcome::not_applied);
  EXPECT_TRUE(ours->closed);
}

TEST_F(TlsConnectorTest, AConnectionThatComesTooLateIsClosed) {
  loop.advance(Duration::seconds(3));
  EXPECT_EQ(reason(), "cannot connect to shop.test:1: no answer in time");
  EXPECT_TRUE(loop.accept_connect()->closed);
}

TEST_F(TlsConnectorTest, SaysWhyTheGreetingFailed) {
  loop.accept_connect()->receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_TRUE(reason().starts_with("cannot connect to shop.test:1: TLS: ")) << reason();
}

TEST_F(TlsConnectorTest, GivesUpWhatIsUnderWayWhenItEnds) {
  ours = loop.accept_connect();
  connector.reset();
  EXPECT_TRUE(ours->closed);
  EXPECT_FALSE(result.has_value());
}

TEST(TlsConnectorOnALoop, MayEndWithWhateverIsUnderWay) {
  const auto loop = Loop::make();
  std::vector<StreamPtr> silent;  // who takes connections and never says hello
  const auto where = loop->listen(parse_endpoint("127.0.0.1:0").value(), [&](StreamPtr stream) {
    silent.push_back(std::move(stream));
    loop->stop();
  });
  bool called = false;
  TlsConnector connector(*loop);
  const auto begin = [&] {
    connector.connect(Tls::client().value(), {.host = "127.0.0.1", .port = where.value().port},
                      Duration::seconds(60), [&](const Result<StreamPtr>&) { called = true; });
  };
  begin();
  loop->run();
  begin();  // this one has yet to be connected
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace pawl::net
