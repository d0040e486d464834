// EventQueue: what waits between append() and a log that takes events in batches, for sinks with a
// writer thread of their own.
//
// Why:      that nothing is dropped, that a full sink slows or fails its callers, and that flush()
//           and lag() tell the truth, is the same wherever the log is.
// Contract: callers use append(), has_room(), flush(), lag() and health() as port/event_sink.h
//           says. The writer takes a batch, makes some of it durable from the first on, says how
//           many, and comes back. What is not durable stays here. What came late is put into words
//           when the writer takes it.
//
//             full      append() waits or fails (unavailable, not_applied), as on_full says.
//             trouble   that may pass: told by health(); the queue fills meanwhile.
//             failed    for good: append() and flush() return the reason.
//
// Pace:     a batch costs the writer a sync or a round trip, whatever is in it. So a small one
//           waits a little (bounds::audit_gather) for more to come, unless somebody waits in
//           flush(). Callers and the writer meet once a batch, and a caller wakes the writer only
//           when it sleeps.
// Bounds:   events_max events, or about bounds::audit_queue_bytes_max bytes, that are not durable.
// Threads:  any, and one writer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/bounds.h"
#include "base/on_full.h"
#include "core/audit/backlog.h"
#include "core/audit/event.h"
#include "core/audit/late.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

class EventQueue {
 public:
  using OnFull = pawl::OnFull;
  struct Options {
    OnFull on_full = OnFull::block;
    std::size_t events_max = bounds::audit_queue_events_max;
  };

  explicit EventQueue(const Options& options) : options_(options) {}

  Result<void> append(const audit::Event& event);
  Result<void> append(audit::Late&& late);
  bool has_room() const { return has_room_.load(std::memory_order_relaxed); }
  Result<void> flush();
  Result<void> health() const;
  Result<void> alive() const;
  std::uint64_t lag() const;
  // No more events come; the writer ends when none is left.
  void close();

  // For the writer: waits for events and gives the first that are not durable, about `bytes_max` of
  // them; none when the queue is closed and empty. They stay where they are until the next call.
  std::span<const audit::Draft> batch(std::size_t bytes_max);
  // So many of the last batch.
  void durable(std::size_t events);
  // Waits a little before the writer tries again. False: do not, the queue is closed and need not
  // be written to its end (on_full is fail).
  bool pause_after(const Error& trouble, Duration pause);
  void fail(const Error& error);

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  template <class Waiting>
  Result<void> enqueue(Waiting&& waiting);
  bool is_full() const;
  void look_for_room();
  bool take_what_waits();
  bool word_next();

  const Options options_;
  // The writer's alone:
  audit::Backlog taken_;
  audit::Wording wording_;
  std::vector<std::size_t> sizes_;    // of what is in words and not durable, each as it waited
  std::vector<audit::Draft> drafts_;  // their words, and behind them room for more

  mutable std::mutex mutex_;          // guards what follows
  std::condition_variable work_;      // tells the writer: events wait, or the end has come
  std::condition_variable progress_;  // tells callers: more is durable, or the sink has failed
  audit::Backlog waiting_;
  std::size_t wake_at_ = never;  // so many that wait wake the writer
  std::uint64_t appended_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t wanted_ = 0;  // somebody waits until so many are durable
  std::size_t bytes_ = 0;     // of what is not durable
  std::atomic<bool> has_room_ = true;
  std::optional<Error> trouble_;
  std::optional<Error> failed_;
  bool closed_ = false;
};

}  // namespace pawl
