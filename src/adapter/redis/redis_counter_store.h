// RedisCounterStore: counts in Redis, for limits that many processes and machines share.
//
// Contract: CounterStore, by the server's clock. A whole set of policies is one script in one round
//           trip (redis_scripts.h); verdicts are worked out here by core/limit from the state the
//           script found. Time is whole microseconds and a rule's lengths are rounded up to them:
//           the pace is never passed, and falls short of it by less than a microsecond a token.
//           Counts last as long as the server keeps them; a key goes by itself once its count
//           equals none. Let the server evict nothing (maxmemory-policy noeviction): what it drops
//           is handed out anew.
// Rules:    a count is kept with its rule. The first ask under another one carries it over, in two
//           more round trips; a look does it for itself alone.
// Calendar: the caller works out the windows around its own clock, the script chooses among them by
//           the server's. Where the two clocks are further apart than a window it takes a second
//           round trip.
// Cluster:  the counts of one limit::Key lie in one slot, and so does everything of a set that is
//           counted for one key. A set of several keys is asked slot by slot, always in the same
//           order; when one refuses, what was charged before is given back. Between the two, others
//           may be refused who would have passed alone; and when pawl dies there, what was charged
//           stays charged: stricter only. Slots that check() took so come back by their lease
//           alone, not by refund(). A renewal that one slot refuses has renewed those before it.
// Errors:   those of redis_client.h; their outcome speaks of the charge. Code::invalid when a key
//           holds something that is not pawl's.
// Bounds:   `deadline` for an ask with all its round trips, and one more to give back what a set of
//           several slots charged in vain. The server's memory bounds the rest.
// Threads:  any. `done` is called on the client's thread, or by the caller when the queue is full;
//           it must be quick, and not destroy the store. Destroying it fails what is under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "adapter/redis/count_scripts.h"
#include "adapter/redis/redis_client.h"
#include "base/bounds.h"
#include "base/redis_url.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/reservation_ids.h"

namespace pawl {

struct RedisCounterStoreOptions {
  Duration deadline = bounds::redis_deadline;
  std::uint64_t seed = 0;  // of reservations' ids: another in each process, and hard to guess
  redis::Zones zones = {};
  Clock* time = nullptr;  // tests: instead of the server's
};

class RedisCounterStore final : public CounterStore {
 public:
  // `clock` must outlive the store. Whether the server answers is a matter of health().
  static Result<std::unique_ptr<RedisCounterStore>> make(const redis::RedisUrl& url, Clock& clock,
                                                         const RedisCounterStoreOptions& options);
  ~RedisCounterStore() override;

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  Result<void> health() override;

  // How often a script and core/limit decided differently on the same state. The script's word
  // counted. Anything but zero is a bug.
  std::uint64_t disagreements() const { return disagreements_; }

 private:
  struct Asking;
  struct Settling;

  RedisCounterStore(bool cluster, Clock& clock, const RedisCounterStoreOptions& options,
                    std::unique_ptr<redis::Client> client);

  SteadyInstant deadline_from_now() { return clock_.steady_now() + deadline_; }

  void ask_next(std::unique_ptr<Asking> asking);
  void on_asked(std::unique_ptr<Asking> asking, Result<redis::FoundCounts> found);
  void undo_next(std::unique_ptr<Asking> asking);
  limit::Answer verdicts_of(const redis::CountGroup& group, const redis::FoundCounts& found,
                            std::int64_t cost);
  limit::Answer answer_of(const Asking& asking);
  void settle_next(std::unique_ptr<Settling> settling);
  void amend(const Count& count, const redis::Amendment& how, Done<void> done);

  const bool cluster_;
  Clock& clock_;
  const Duration deadline_;
  ReservationIds ids_;
  std::atomic<std::uint64_t> disagreements_ = 0;
  redis::CountScripts scripts_;
  std::unique_ptr<redis::Client> client_;  // goes first: its last answers still need the rest
};

}  // namespace pawl
