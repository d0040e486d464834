#include "adapter/redis/redis_connection.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/hash.h"

namespace pawl::redis {
namespace {

constexpr std::size_t idle_output_bytes_max = 1024 * 1024;  // kept for the next commands
constexpr std::size_t compact_calls_min = 1024;
constexpr Duration good_connection = Duration::seconds(1);  // up that long: not one that flaps

}  // namespace

std::shared_ptr<Connection> Connection::make(const Surroundings& around, net::Target target,
                                             Owner& owner) {
  std::shared_ptr<Connection> made(new Connection(around, std::move(target), owner));
  made->wait_timer_ = around.loop.timer([self = made.get()] { self->on_wait_over(); });
  made->deadline_timer_ = around.loop.timer([self = made.get()] { self->expire(); });
  made->attempt();
  return made;
}

Connection::Connection(const Surroundings& around, net::Target target, Owner& owner)
    : around_(around), target_(std::move(target)), owner_(owner) {}

Connection::~Connection() {
  drop_stream();
}

Error Connection::error(Outcome outcome, const std::string& what) const {
  return Error(Code::unavailable, outcome, name() + ": " + what);
}

void Connection::attempt() {
  ++attempts_;
  around_.loop.connect(target_, bounds::redis_connect_deadline,
                       [weak = weak_from_this()](Result<net::StreamPtr> plain) {
                         const auto self = weak.lock();
                         if (!self || !self->wait_timer_) {
                           if (plain) (*plain)->close();
                           return;
                         }
                         if (!plain) return self->break_off(plain.error().message);
                         self->connected(std::move(*plain));
                       });
}

void Connection::connected(net::StreamPtr plain) {
  wait_timer_->start(bounds::redis_connect_deadline);
  if (around_.tls == nullptr) {
    stream_ = std::move(plain);
    return log_in();
  }
  auto stream =
      around_.tls->connect(around_.loop, std::move(plain), target_.host, [this](Result<void> how) {
        if (!how) return break_off(how.error().message);
        log_in();
      });
  if (!stream) return break_off(stream.error().message);
  stream_ = std::move(*stream);
}

// The last word is PING: a server that still loads its data, or wants a password, says so now.
void Connection::log_in() {
  std::string commands;
  const RedisUrl& url = around_.url;
  login_.clear();
  const auto ask = [&](const char* what, std::span<const std::string_view> words) {
    append_command(commands, words);
    login_.insert(login_.begin(), what);
  };
  if (!url.password.empty()) {
    const std::string_view words[] = {"AUTH", url.user, url.password.reveal()};
    const std::string_view without_user[] = {"AUTH", url.password.reveal()};
    url.user.empty() ? ask("AUTH", without_user) : ask("AUTH", words);
  }
  if (url.database != 0) {
    const std::string number = std::to_string(url.database);
    const std::string_view words[] = {"SELECT", number};
    ask("SELECT", words);
  }
  const std::string_view ping[] = {"PING"};
  ask("PING", ping);
  reader_.emplace();
  stream_->start(*this);
  stream_->send(commands);
}

void Connection::on_login_reply(const Reply& reply) {
  const char* asked = login_.back();
  login_.pop_back();
  if (reply.is_error()) {
    return break_off("the server refuses " + std::string(asked) + ": " + *reply.text());
  }
  if (!login_.empty()) return;
  wait_timer_->stop();
  state_ = State::up;
  trouble_.clear();
  up_since_ = around_.clock.steady_now();
  heard_ = up_since_;
  flush_soon();
  owner_.on_state(*this);
}

void Connection::on_wait_over() {
  if (stream_) return break_off("the server did not finish the greeting in time");
  attempt();
}

void Connection::send(Call call) {
  if (state_ == State::down) {
    auto down = error(Outcome::not_applied, "not connected: " + trouble_);
    return owner_.on_answer(*this, std::move(call), std::unexpected(std::move(down)));
  }
  if (calls() >= bounds::redis_calls_max ||
      output_.size() + call.bytes.size() > bounds::redis_queue_bytes_max) {
    auto full = error(Outcome::not_applied, "too many calls wait for this server");
    return owner_.on_answer(*this, std::move(call), std::unexpected(std::move(full)));
  }
  output_.append(call.bytes);
  watch_deadline(call.deadline);
  const std::size_t bytes = call.bytes.size();
  calls_.push_back({.call = std::move(call), .bytes = bytes});
  flush_soon();
}

void Connection::flush_soon() {
  if (flush_posted_ || state_ != State::up || output_.empty()) return;
  flush_posted_ = true;
  around_.loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_posted_ = false;
    self->flush();
  });
}

// Waits while the stream still holds some: what it holds may have left, what is here has not.
void Connection::flush() {
  if (state_ != State::up || output_.empty() || stream_->queued_bytes() > 0) return;
  const SteadyInstant now = around_.clock.steady_now();
  if (watched_ <= now) {
    expire();  // nothing leaves late
    if (state_ != State::up || output_.empty()) return;
  }
  if (first_ == sent_) heard_ = now;
  sent_ = calls_.size();
  stream_->send(output_);
  output_.clear();
  if (output_.capacity() > idle_output_bytes_max) output_ = std::string();
}

void Connection::on_data(std::string_view bytes) {
  const auto self = shared_from_this();
  heard_ = around_.clock.steady_now();
  reader_->feed(bytes);
  while (reader_) {
    auto reply = reader_->next();
    if (!reply) return break_off(reply.error().message);
    if (!*reply) return;
    if (!login_.empty()) {
      on_login_reply(**reply);
    } else if (first_ == sent_) {
      return break_off("the server answered what nobody asked: " + to_string(**reply));
    } else {
      take_answer(std::move(**reply));
    }
  }
}

void Connection::take_answer(Reply reply) {
  Waiting waiting = std::move(calls_[first_]);
  ++first_;
  if (first_ == calls_.size()) {
    calls_.clear();
    first_ = sent_ = 0;
  } else if (first_ >= compact_calls_min && first_ * 2 >= calls_.size()) {
    calls_.erase(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(first_));
    sent_ -= first_;
    first_ = 0;
  }
  if (!waiting.over) owner_.on_answer(*this, std::move(waiting.call), std::move(reply));
}

void Connection::watch_deadline(SteadyInstant deadline) {
  if (deadline >= watched_) return;
  watched_ = deadline;
  deadline_timer_->start(std::max(Duration(), deadline - around_.clock.steady_now()));
}

void Connection::expire() {
  const auto self = shared_from_this();
  const SteadyInstant now = around_.clock.steady_now();
  watched_ = SteadyInstant::max();
  SteadyInstant next = SteadyInstant::max();
  std::vector<std::pair<Call, Error>> expired;
  std::size_t kept = first_;
  std::size_t next_bytes = 0;  // in output_, of the call at hand, while it has not left
  std::size_t kept_bytes = 0;  // the first so many stay
  for (std::size_t i = first_; i < calls_.size(); ++i) {
    Waiting& waiting = calls_[i];
    const bool has_left = i < sent_;
    if (!waiting.over && waiting.call.deadline <= now) {
      waiting.over = true;
      expired.emplace_back(
          std::move(waiting.call),
          has_left
              ? error(Outcome::unknown, "no answer in time")
              : error(Outcome::not_applied,
                      "not sent in time: " + (trouble_.empty() ? "the server is slow" : trouble_)));
    } else if (!waiting.over) {
      next = std::min(next, waiting.call.deadline);
    }
    if (!has_left) {
      char* const bytes = output_.data() + next_bytes;
      next_bytes += waiting.bytes;
      if (waiting.over) continue;
      if (kept != i) std::copy_n(bytes, waiting.bytes, output_.data() + kept_bytes);
      kept_bytes += waiting.bytes;
    }
    if (kept != i) calls_[kept] = std::move(waiting);
    ++kept;
  }
  calls_.resize(kept);
  output_.resize(kept_bytes);
  if (next != SteadyInstant::max()) watch_deadline(next);
  const bool is_silent = first_ < sent_ && now - heard_ >= bounds::redis_silence_max;
  for (auto& [call, why] : expired) {
    owner_.on_answer(*this, std::move(call), std::unexpected(std::move(why)));
  }
  if (is_silent) {
    break_off("the server has said nothing for " + to_string(bounds::redis_silence_max));
  }
}

Duration Connection::backoff() const {
  const int doublings = static_cast<int>(std::min<std::uint64_t>(attempts_ - 1, 20));
  const Duration longest = std::min(bounds::redis_backoff_min * (std::int64_t{1} << doublings),
                                    bounds::redis_backoff_max);
  // Two processes that lost the same server begin with different clocks.
  const auto seed = static_cast<std::uint64_t>(around_.clock.steady_now().ns());
  const Hash128 attempt{.high = attempts_, .low = target_.port};
  const auto half = static_cast<std::uint64_t>(longest.ns() / 2);
  const std::uint64_t spread = hash_of(attempt, seed).high % (half + 1);
  return Duration::nanoseconds(static_cast<std::int64_t>(half + spread));
}

// Whatever ends an attempt or a connection ends here.
void Connection::break_off(const std::string& why) {
  if (!wait_timer_) return;  // closed
  const auto self = shared_from_this();
  const bool was_good =
      state_ == State::up && around_.clock.steady_now() - up_since_ >= good_connection;
  drop_stream();
  trouble_ = why;
  if (was_good) {
    // Perhaps a restart, or an idle connection that was closed: one attempt at once, and who calls
    // meanwhile may wait for it.
    attempts_ = 0;
    state_ = State::connecting;
    wait_timer_->start(Duration());
  } else {
    state_ = State::down;
    wait_timer_->start(backoff());
  }
  owner_.on_state(*this);  // before the calls hear of it: they may ask how the server is
  fail_all(why);
}

void Connection::fail_all(const std::string& why) {
  const std::size_t left = sent_ - first_;
  calls_.erase(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(first_));
  auto calls = std::exchange(calls_, {});
  first_ = sent_ = 0;
  output_.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].over) continue;
    auto lost = error(i < left ? Outcome::unknown : Outcome::not_applied, why);
    owner_.on_answer(*this, std::move(calls[i].call), std::unexpected(std::move(lost)));
  }
}

void Connection::drop_stream() {
  if (stream_) stream_->close();
  stream_ = nullptr;
  reader_.reset();
  login_.clear();
}

void Connection::close() {
  const auto self = shared_from_this();
  drop_stream();
  wait_timer_.reset();
  deadline_timer_.reset();
  state_ = State::down;
  trouble_ = "the client ends";
  fail_all(trouble_);
}

}  // namespace pawl::redis
