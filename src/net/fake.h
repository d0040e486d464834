// Stand-ins for connections and loops in tests: the test plays the other side and the clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "net/loop.h"

namespace pawl::net {

class FakeStream final : public Stream {
 public:
  void start(StreamHandler& handler) override {
    handler_ = &handler;
    resume();
  }
  void send(std::string_view bytes) override {
    if (ended()) return;
    if (stalled) {
      queue_.append(bytes);
    } else {
      sent.append(bytes);
    }
  }
  std::size_t queued_bytes() const override { return queue_.size(); }
  void pause() override { paused = true; }
  void resume() override { paused = false; }
  void close() override {
    closed = true;
    handler_ = nullptr;
    queue_.clear();
  }
  void say_goodbye() override {
    PAWL_ASSERT(queue_.empty());
    said_goodbye = true;
    handler_ = nullptr;
  }
  bool is_quiet() const override { return quiet && !has_input(); }
  bool has_input() const override { return ended() || !inbox_.empty() || broken_off_; }
  bool takes_bytes() const override { return !ended() && !broken_off_; }
  IpAddress peer() const override { return address; }

  // The other side.
  void receive(std::string_view bytes) {
    hand_on();
    if (listens()) {
      handler_->on_data(bytes);
    } else if (!ended()) {
      inbox_.append(bytes);
    }
  }
  void break_off() {
    broken_off_ = true;
    queue_.clear();
    if (handler_ != nullptr && paused) handler_->on_drained();
    hand_on();
  }
  // The loop's turn: what came while nobody listened.
  void hand_on() {
    if (listens() && !inbox_.empty()) handler_->on_data(std::exchange(inbox_, ""));
    if (listens() && broken_off_) std::exchange(handler_, nullptr)->on_closed();
  }
  // Takes what waited.
  void drain() {
    stalled = false;
    sent += std::exchange(queue_, std::string());
    if (handler_ != nullptr) handler_->on_drained();
  }
  // Takes so much of what waits.
  void take_queued(std::size_t size) {
    sent += queue_.substr(0, size);
    queue_.erase(0, size);
  }
  std::string take_sent() { return std::exchange(sent, std::string()); }
  bool ended() const { return closed || said_goodbye; }

  std::string sent;
  bool stalled = false;  // the other side takes nothing
  bool paused = false;
  bool closed = false;
  bool said_goodbye = false;
  bool quiet = true;  // false: it has closed or spoken, and the loop has yet to tell
  IpAddress address = IpAddress::v4({192, 0, 2, 7});

 private:
  bool listens() const { return handler_ != nullptr && !paused; }

  StreamHandler* handler_ = nullptr;
  std::string queue_;
  std::string inbox_;  // what came while nobody listened
  bool broken_off_ = false;
};

// Connections are made or refused by the test; posted work runs at once, or when the test says;
// timers go off when the test moves the time.
class FakeLoop final : public Loop {
 public:
  using Done = std::move_only_function<void(Result<StreamPtr>)>;

  ~FakeLoop() override { connecting.clear(); }  // which may own timers

  void run() override {}
  void stop() override {}
  Result<Endpoint> listen(const Endpoint& endpoint, std::function<void(StreamPtr)> a) override {
    accepted = std::move(a);
    return endpoint;
  }
  void stop_listening() override {}
  void connect(const Target& target, Duration, Done done) override {
    targets.push_back(target);
    connecting.push_back(std::move(done));
  }
  TimerPtr timer(std::function<void()> action) override {
    auto timer = std::make_unique<FakeTimer>(*this, std::move(action));
    timers_.push_back(timer.get());
    return timer;
  }
  void every(Duration, std::function<void()> action) override {
    ticks.push_back(std::move(action));
  }
  void on_signals(std::initializer_list<int>, std::function<void(int)>) override {}
  void post(std::move_only_function<void()> action) override {
    if (!hold_posted) return action();
    posted.push_back(std::move(action));
  }
  void dispatch(std::move_only_function<void()> action) override { action(); }
  bool is_here() const override { return true; }

  // Lets the oldest attempt succeed.
  std::shared_ptr<FakeStream> accept_connect() {
    auto stream = std::make_shared<FakeStream>();
    take_first()(StreamPtr(stream));
    return stream;
  }
  void refuse_connect() {
    take_first()(std::unexpected(Error(Code::unavailable, Outcome::not_applied, "refused")));
  }

  void run_posted() {
    for (auto& action : std::exchange(posted, {})) action();
  }
  void advance(Duration by) {
    now_ = now_ + by;
    while (FakeTimer* due = first_due()) {
      due->at.reset();
      due->action();
    }
  }

  std::vector<Done> connecting;
  std::vector<Target> targets;  // of all attempts ever made
  bool hold_posted = false;
  std::vector<std::move_only_function<void()>> posted;  // while held
  std::function<void(StreamPtr)> accepted;
  std::vector<std::function<void()>> ticks;

 private:
  struct FakeTimer final : Timer {
    FakeTimer(FakeLoop& l, std::function<void()> a) : loop(l), action(std::move(a)) {}
    ~FakeTimer() override { std::erase(loop.timers_, this); }
    void start(Duration wait) override { at = loop.now_ + wait; }
    void stop() override { at.reset(); }

    FakeLoop& loop;
    std::function<void()> action;
    std::optional<SteadyInstant> at;
  };

  FakeTimer* first_due() {
    FakeTimer* first = nullptr;
    for (FakeTimer* timer : timers_) {
      if (!timer->at || *timer->at > now_) continue;
      if (first == nullptr || *timer->at < *first->at) first = timer;
    }
    return first;
  }

  Done take_first() {
    Done done = std::move(connecting.front());
    connecting.erase(connecting.begin());
    return done;
  }

  SteadyInstant now_;
  std::vector<FakeTimer*> timers_;
};

}  // namespace pawl::net
