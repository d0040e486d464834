// What tests of stores that stand on other stores share: a store that can be lost, or answer late.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "port/counter_store.h"
#include "runtime/manual_clock.h"

namespace pawl {

inline limit::Now now_of(Clock& clock) {
  return {limit::Moment::from_ns(clock.steady_now().ns()), clock.wall_now()};
}

// Passes calls on to another store. Decided at once; told at once, or at pump().
class TroubledStore final : public CounterStore {
 public:
  explicit TroubledStore(CounterStore& inner) : inner_(inner) {}

  std::optional<Error> error = {};  // what every call gives, and nothing is charged
  bool slow = false;                // with an error, it is there all the same
  bool late = false;
  std::atomic<int> calls = 0;
  std::atomic<std::int64_t> cost = -1;  // of the last check

  // Tells what is to be told now; not what comes of that.
  void pump() {
    std::deque<std::move_only_function<void()>> told;
    std::swap(told, waiting_);
    for (auto& tell : told) tell();
  }
  // The last one overtakes the others.
  void pump_newest() {
    auto tell = std::move(waiting_.back());
    waiting_.pop_back();
    tell();
  }
  std::size_t waiting() const { return waiting_.size(); }

  void check(Counts counts, std::int64_t cost_, Done<limit::Answer> done) override {
    cost = cost_;
    call<limit::Answer>(std::move(done),
                        [&](auto told) { inner_.check(counts, cost_, std::move(told)); });
  }
  void reserve(Counts counts, std::int64_t cost_, Duration hold, Done<Reservation> done) override {
    call<Reservation>(std::move(done),
                      [&](auto told) { inner_.reserve(counts, cost_, hold, std::move(told)); });
  }
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override {
    call<void>(std::move(done),
               [&](auto told) { inner_.settle(counts, id, how, std::move(told)); });
  }
  void refund(const Count& count, std::int64_t cost_, Done<void> done) override {
    call<void>(std::move(done), [&](auto told) { inner_.refund(count, cost_, std::move(told)); });
  }
  void reset(const Count& count, Done<void> done) override {
    call<void>(std::move(done), [&](auto told) { inner_.reset(count, std::move(told)); });
  }
  void close(const Count& count, Instant until, Done<void> done) override {
    call<void>(std::move(done), [&](auto told) { inner_.close(count, until, std::move(told)); });
  }
  Result<void> health() override {
    if (error && !slow) return std::unexpected(*error);
    return {};
  }

 private:
  template <class T, class Ask>
  void call(Done<T> done, const Ask& ask) {
    ++calls;
    std::optional<Result<T>> result;
    if (error) {
      result.emplace(std::unexpected(*error));
    } else {
      ask([&](Result<T> answered) { result.emplace(std::move(answered)); });
    }
    if (!late) return done(std::move(*result));
    waiting_.push_back([done = std::move(done), result = std::move(*result)]() mutable {
      done(std::move(result));
    });
  }

  CounterStore& inner_;
  std::deque<std::move_only_function<void()>> waiting_;
};

// The answer of a call that was told before this returns.
template <class T, class Call>
Result<T> told(const Call& call) {
  std::optional<Result<T>> result;
  call([&](Result<T> answered) { result.emplace(std::move(answered)); });
  return std::move(result.value());
}

inline Result<limit::Answer> checked(CounterStore& store, Counts counts, std::int64_t cost = 1) {
  return told<limit::Answer>([&](auto done) { store.check(counts, cost, std::move(done)); });
}

inline Result<Reservation> reserved(CounterStore& store, Counts counts, std::int64_t cost = 1) {
  return told<Reservation>(
      [&](auto done) { store.reserve(counts, cost, Duration::minutes(1), std::move(done)); });
}

inline Result<void> settled(CounterStore& store, Counts counts, std::uint64_t id,
                            Settlement::Kind kind) {
  return told<void>(
      [&](auto done) { store.settle(counts, id, {.kind = kind, .actual = 1}, std::move(done)); });
}

}  // namespace pawl
