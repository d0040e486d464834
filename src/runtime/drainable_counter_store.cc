#include "runtime/drainable_counter_store.h"

#include <chrono>
#include <utility>

namespace pawl {
namespace {

std::unexpected<Error> ended() {
  return failure(Code::unavailable, "pawl ends, and its stores with it");
}

}  // namespace

bool Drain::wait_until_idle(Duration at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(at_most.ns()),
                           [this] { return inside_ == 0 && unanswered_ == 0; });
}

void Drain::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [this] { return inside_ == 0; });
}

bool Drain::enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++inside_;
  ++unanswered_;
  return true;
}

void Drain::leave() {
  const std::lock_guard lock(mutex_);
  if (--inside_ == 0) changed_.notify_all();
}

void Drain::answered() {
  const std::lock_guard lock(mutex_);
  if (--unanswered_ == 0) changed_.notify_all();
}

template <class T, class Ask>
void DrainableCounterStore::call(Done<T> done, const Ask& ask) {
  if (!drain_.enter()) return done(ended());
  ask(Done<T>([&drain = drain_, done = std::move(done)](Result<T> result) mutable {
    done(std::move(result));
    done = nullptr;  // what it kept alive is gone before anybody hears that all is over
    drain.answered();
  }));
  drain_.leave();
}

void DrainableCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  call(std::move(done), [&](auto told) { store_->check(counts, cost, std::move(told)); });
}

void DrainableCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                    Done<Reservation> done) {
  call(std::move(done), [&](auto told) { store_->reserve(counts, cost, hold, std::move(told)); });
}

void DrainableCounterStore::settle(Counts counts, std::uint64_t id, Settlement how,
                                   Done<void> done) {
  call(std::move(done), [&](auto told) { store_->settle(counts, id, how, std::move(told)); });
}

void DrainableCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  call(std::move(done), [&](auto told) { store_->refund(count, cost, std::move(told)); });
}

void DrainableCounterStore::reset(const Count& count, Done<void> done) {
  call(std::move(done), [&](auto told) { store_->reset(count, std::move(told)); });
}

void DrainableCounterStore::close(const Count& count, Instant until, Done<void> done) {
  call(std::move(done), [&](auto told) { store_->close(count, until, std::move(told)); });
}

Result<void> DrainableCounterStore::health() {
  if (!drain_.enter()) return ended();
  Result<void> health = store_->health();
  drain_.answered();
  drain_.leave();
  return health;
}

}  // namespace pawl
