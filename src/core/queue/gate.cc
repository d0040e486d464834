#include "core/queue/gate.h"

#include <algorithm>
#include <limits>

#include "base/bounds.h"
#include "core/queue/command_bytes.h"

namespace pawl::queue {
namespace {

__extension__ using Wide = unsigned __int128;

limit::Now now_of(Instant now) {
  return {.moment = limit::Moment::from_ns(now.ns()), .wall = now};
}

// `capacity` may come at once; what is left of the rate is the pace, so that any window, however it
// lies, has the capacity and the pace and no more.
limit::TokenBucket bucket_of(const GateLimit& limit) {
  const std::int64_t capacity = 1 + (std::int64_t{limit.rate} - 1) / 10;
  return limit::TokenBucket({.count = limit.rate + 1 - capacity, .period = limit.period},
                            capacity - 1);
}

}  // namespace

Result<void> check(const GateLimit& limit) {
  if (limit.rate == 0) return {};
  if (limit.period <= Duration() || limit.period > bounds::limit_period_max) {
    return failure(Code::invalid, "the period of a rate is " + to_string(limit.period) +
                                      ": it must be above nothing and at most " +
                                      to_string(bounds::limit_period_max));
  }
  if (limit.rate > bounds::limit_count_max || limit.rate > limit.period.ns()) {
    return failure(Code::invalid, "a rate of " + std::to_string(limit.rate) + " in " +
                                      to_string(limit.period) +
                                      " is too high: at most one a nanosecond, and " +
                                      std::to_string(bounds::limit_count_max));
  }
  return {};
}

void Gate::set_limit(const GateLimit& limit) {
  if (limit.rate == 0) {
    bucket_.reset();
    cell_ = {};
  } else {
    bucket_.emplace(bucket_of(limit));
  }
  running_max_ = limit.running;
}

void Gate::close(Instant until, const Spread& spread) {
  closed_until_ = until;
  spread_ = spread;
  ramp_ = {};
}

void Gate::open() {
  close({}, {});
}

void Gate::let_go(std::uint64_t waiting) {
  Wide length = static_cast<Wide>(std::max(Duration(), spread_.length).ns());
  if (spread_.step_max > Duration()) {
    length = std::min(length, static_cast<Wide>(spread_.step_max.ns()) * waiting);
  }
  const Duration time = Duration::nanoseconds(static_cast<std::int64_t>(length));
  ramp_ = waiting > 0 ? Ramp{.next = closed_until_, .end = closed_until_ + time} : Ramp();
  closed_until_ = {};
  spread_ = {};
}

// How many the ramp lets go by now: those due share the time from the next one on to its end.
std::uint64_t Gate::let_through(Instant now, std::uint64_t due) const {
  if (now >= ramp_.end) return std::numeric_limits<std::uint64_t>::max();
  if (now < ramp_.next) return 0;
  const Wide part = static_cast<Wide>((now - ramp_.next).ns()) * due;
  return 1 + static_cast<std::uint64_t>(part / static_cast<Wide>((ramp_.end - ramp_.next).ns()));
}

Gate::Look Gate::look(Instant now, std::uint64_t running) const {
  if (now < closed_until_) return {.barrier = Barrier::closed, .until = closed_until_};
  if (running_max_ > 0 && running >= running_max_) return {.barrier = Barrier::running};
  if (now < ramp_.next) return {.barrier = Barrier::closed, .until = ramp_.next};
  if (!bucket_) return {};
  const limit::Verdict verdict = limit::look(*bucket_, cell_, 1, now_of(now));
  if (verdict.allowed) return {};
  return {.barrier = Barrier::rate, .until = now + verdict.retry_after};
}

std::uint64_t Gate::room(Instant now, std::uint64_t running, std::uint64_t due) const {
  if (now < closed_until_) return 0;
  std::uint64_t room = let_through(now, due);
  if (running_max_ > 0)
    room = std::min(room, running_max_ - std::min<std::uint64_t>(running, running_max_));
  if (bucket_) {
    const limit::Verdict verdict = limit::look(*bucket_, cell_, 0, now_of(now));
    room = std::min(room, static_cast<std::uint64_t>(verdict.remaining));
  }
  return room;
}

bool Gate::take(Instant now, std::uint64_t left) {
  if (bucket_) limit::take(*bucket_, cell_, 1, now_of(now));
  if (now >= ramp_.end) return false;
  if (left == 0) {
    ramp_ = {};
    return true;
  }
  const auto rest = static_cast<std::uint64_t>((ramp_.end - ramp_.next).ns());
  const std::uint64_t step = rest / (left + 1);
  ramp_.next = ramp_.next + Duration::nanoseconds(static_cast<std::int64_t>(step));
  return false;
}

Instant Gate::rests_at() const {
  return std::max({closed_until_ + spread_.length, Instant::from_ns(cell_.a), ramp_.end});
}

void Gate::save(ByteWriter& out, Instant now) const {
  const bool closed = now < closed_until_;
  write_instant(out, closed ? closed_until_ : Instant());
  write_duration(out, closed ? spread_.length : Duration());
  write_duration(out, closed ? spread_.step_max : Duration());
  const bool ramps = now < ramp_.end;
  write_bool(out, ramps);
  if (ramps) {
    write_instant(out, ramp_.next);
    write_instant(out, ramp_.end);
  }
  out.zigzag(cell_.a > now.ns() ? cell_.a : 0);
}

void Gate::load(ByteReader& in, Instant now) {
  closed_until_ = read_instant(in);
  spread_.length = read_duration(in);
  spread_.step_max = read_duration(in);
  ramp_ = {};
  const bool ramps = read_bool(in);
  if (ramps) {
    ramp_.next = read_instant(in);
    ramp_.end = read_instant(in);
    if (ramp_.next < Instant() || ramp_.next > ramp_.end) in.fail("a scope that opens backwards");
  }
  cell_ = {.a = in.zigzag()};
  if (spread_.length < Duration() || spread_.step_max < Duration() || cell_.a < 0)
    in.fail("a gate with a negative time");
  // What is over is not written, and would be gone when it is.
  const bool closes = closed_until_ != Instant() || spread_.length + spread_.step_max > Duration();
  const bool over = (closes && closed_until_ <= now) || (ramps && ramp_.end <= now) ||
                    (cell_.a > 0 && cell_.a <= now.ns());
  if (over || rests_at() <= now) in.fail("a gate that is at rest");
}

}  // namespace pawl::queue
