// Goal: whatever carries the bytes, a Stream keeps the contract of loop.h: no event comes during a
// call, nothing is lost or told twice while it is held back, and a close forgets what waits.
// Method: the same tests over TCP, over TLS and over the stand-in that other tests use; what is
// real lives in one loop, ended by a watchdog if stuck.
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "net/certificates_fixture.h"
#include "net/fake.h"
#include "net/tls.h"

namespace pawl::net {
namespace {

// A connection, and who plays the other side and the loop.
class Ends {
 public:
  virtual ~Ends() = default;
  virtual Stream& ours() = 0;
  virtual void say(std::string_view bytes) = 0;
  virtual void leave() = 0;
  virtual void take_nothing() {}
  // A moment for what was sent to arrive.
  virtual void until_sent() {}
  // Lets the loop run until that is so.
  virtual void until(const std::function<bool()>& so) = 0;
};

class FakeEnds final : public Ends {
 public:
  Stream& ours() override { return *stream_; }
  void say(std::string_view bytes) override { stream_->receive(bytes); }
  void leave() override { stream_->break_off(); }
  void take_nothing() override { stream_->stalled = true; }
  void until(const std::function<bool()>& so) override {
    stream_->hand_on();
    EXPECT_TRUE(so());
  }

 private:
  std::shared_ptr<FakeStream> stream_ = std::make_shared<FakeStream>();
};

class TcpEnds : public Ends, private StreamHandler {
 public:
  TcpEnds() {
    loop_->every(Duration::seconds(1), [this] {
      if (++seconds_ == 10) loop_->stop();
    });
    loop_->every(Duration::milliseconds(1), [this] {
      if (so_()) loop_->stop();
    });
  }
  ~TcpEnds() override {
    if (ours_) ours_->close();
    if (theirs_) theirs_->close();
  }

  // The other side reads nothing until it is asked to.
  void open() {
    const auto where = loop_->listen(parse_endpoint("127.0.0.1:0").value(),
                                     [this](StreamPtr plain) { accepted(std::move(plain)); });
    loop_->connect({"127.0.0.1", where.value().port}, Duration::seconds(5),
                   [this](Result<StreamPtr> plain) { connected(plain.value()); });
    until([this] { return ours_is_open_ && theirs_is_open_; });
  }
  Stream& ours() override { return *ours_; }
  void say(std::string_view bytes) override { theirs_->send(bytes); }
  void leave() override { theirs_->close(); }
  void until_sent() override {
    until([this] { return !theirs_->is_quiet(); });
  }
  void until(const std::function<bool()>& so) override {
    if (so()) return;
    so_ = so;
    loop_->run();
    EXPECT_TRUE(so()) << "nothing happened in time";
  }

 protected:
  virtual void accepted(StreamPtr plain) {
    ours_ = std::move(plain);
    ours_is_open_ = true;
  }
  virtual void connected(StreamPtr plain) {
    theirs_ = std::move(plain);
    theirs_is_open_ = true;
  }

  const std::unique_ptr<Loop> loop_ = Loop::make();
  StreamPtr ours_;
  StreamPtr theirs_;
  bool ours_is_open_ = false;
  bool theirs_is_open_ = false;

 private:
  void on_data(std::string_view) override {}
  void on_drained() override {}
  void on_closed() override {}

  int seconds_ = 0;
  std::function<bool()> so_;
};

class TlsEnds final : public TcpEnds {
 private:
  void accepted(StreamPtr plain) override {
    const auto identity = Tls::server(certificates().certificate(), certificates().key()).value();
    ours_ = identity
                ->accept(*loop_, std::move(plain),
                         [this](const Result<void>& how) { ours_is_open_ = how.has_value(); })
                .value();
  }
  void connected(StreamPtr plain) override {
    const auto trust = Tls::client(certificates().ca()).value();
    theirs_ = trust
                  ->connect(*loop_, std::move(plain), "127.0.0.1",
                            [this](const Result<void>& how) { theirs_is_open_ = how.has_value(); })
                  .value();
  }
  static const Certificates& certificates() {
    static const Certificates made("IP:127.0.0.1");
    return made;
  }
};

struct Kind {
  const char* name;
  std::unique_ptr<Ends> (*open)();
};

template <class Real>
std::unique_ptr<Ends> open_real() {
  auto ends = std::make_unique<Real>();
  ends->open();
  return ends;
}

class StreamTest : public ::testing::TestWithParam<Kind>, protected StreamHandler {
 protected:
  // Calls the stream, during which nothing may happen.
  void call(const std::function<void(Stream&)>& what) {
    calling_ = true;
    what(ends->ours());
    calling_ = false;
  }
  void start() {
    call([this](Stream& stream) { stream.start(*this); });
  }
  void wait_for_more() {
    ends->until([this] { return !ends->ours().is_quiet(); });
  }
  void wait_for(std::string_view text) {
    ends->until([this, text] { return received == text; });
  }
  void wait_for_end() {
    ends->until([this] { return ended == 1; });
  }

  void on_data(std::string_view bytes) override {
    EXPECT_FALSE(calling_) << "during the call: " << bytes;
    received.append(bytes);
    if (data) call([this](Stream& stream) { data(stream); });
  }
  void on_drained() override {
    EXPECT_FALSE(calling_);
    ++drained;
  }
  void on_closed() override {
    EXPECT_FALSE(calling_) << "during the call: its end";
    ++ended;
  }

  std::string received;
  int ended = 0;
  int drained = 0;
  std::function<void(Stream&)> data;
  const std::unique_ptr<Ends> ends = GetParam().open();

 private:
  bool calling_ = false;
};

TEST_P(StreamTest, AStartTellsNothingDuringTheCall) {
  ends->say("early");
  wait_for_more();
  start();
  EXPECT_EQ(received, "");
  wait_for("early");
}

TEST_P(StreamTest, AStartTellsOfAnEndAfterwards) {
  ends->say("last words");
  ends->leave();
  wait_for_more();
  start();
  EXPECT_EQ(ended, 0);
  wait_for_end();
  EXPECT_EQ(received, "last words");
}

// Three pieces sent apart may come together, so that some of them wait in the stream itself.
TEST_P(StreamTest, AResumeTellsNothingDuringTheCall) {
  data = [](Stream& stream) { stream.pause(); };
  start();
  for (const char* piece : {"one ", "two ", "three "}) ends->say(piece);
  ends->until([this] { return !received.empty(); });
  ends->say("four");
  while (received != "one two three four") {
    wait_for_more();
    const std::string before = received;
    call([](Stream& stream) { stream.resume(); });
    EXPECT_EQ(received, before);
    ends->until([&] { return received != before; });
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(StreamTest, AResumeFromWithinAnEventDoesNotNest) {
  data = [](Stream& stream) {
    stream.pause();
    stream.resume();
  };
  start();
  for (const char* piece : {"one ", "two ", "three"}) ends->say(piece);
  wait_for("one two three");
}

TEST_P(StreamTest, AnEndIsToldOnceAndNotWhileItIsHeldBack) {
  data = [](Stream& stream) { stream.pause(); };
  start();
  ends->say("last words");
  wait_for("last words");
  ends->leave();
  wait_for_more();
  EXPECT_EQ(ended, 0);
  call([](Stream& stream) { stream.resume(); });
  wait_for_end();
}

// By what it did not read: that is a reset, of which nobody hears by reading.
TEST_P(StreamTest, ThatNothingIsTakenAnyMoreIsToldAlsoWhileItIsHeldBack) {
  start();
  call([](Stream& stream) {
    stream.pause();
    stream.send("not read");
  });
  EXPECT_TRUE(ends->ours().takes_bytes());
  ends->until_sent();
  ends->leave();
  ends->until([this] { return !ends->ours().takes_bytes() && drained > 0; });
  EXPECT_TRUE(ends->ours().has_input());
  EXPECT_EQ(ended, 0) << "it is held back";
  call([](Stream& stream) { stream.resume(); });
  wait_for_end();
}

TEST_P(StreamTest, ACloseForgetsWhatWaitsAndIsNotTold) {
  start();
  ends->take_nothing();
  call([](Stream& stream) {
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 64 && stream.queued_bytes() == 0; ++i) stream.send(piece);
  });
  EXPECT_GT(ends->ours().queued_bytes(), 0u);
  call([](Stream& stream) { stream.close(); });
  EXPECT_EQ(ends->ours().queued_bytes(), 0u);
  EXPECT_FALSE(ends->ours().is_quiet());
  EXPECT_EQ(ended, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Each, StreamTest,
    ::testing::Values(Kind{"Tcp", open_real<TcpEnds>}, Kind{"Tls", open_real<TlsEnds>},
                      Kind{"Fake",
                           []() -> std::unique_ptr<Ends> { return std::make_unique<FakeEnds>(); }}),
    [](const ::testing::TestParamInfo<Kind>& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace pawl::net
