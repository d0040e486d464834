// PatientIntentStore: an intent store whose failures are waited out: a call that failed is made
// again after 1 s, 2 s and 4 s, and each time is told.
//
// Why:      a database that another process locks, or a disk that is full for a moment, must
//           neither refuse an order nor lose an outcome.
// Contract: only Code::unavailable is tried again, and save() never: the machine of an order
//           decides on that itself (core/order/placement.h). An open() that is made again may find
//           its own intent (the first one was committed, and its answer lost): KnownIntent with the
//           request id that was given. Timers that close end the waiting with the last error.
// Threads:  any. Lifetime: store, timers and `tell` outlive the calls.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/correlation.h"
#include "port/intent_store.h"
#include "port/timers.h"
#include "runtime/order_notes.h"

namespace pawl {

// How long is waited before each of the calls that follow the first.
inline constexpr std::array<Duration, 3> store_waits = {Duration::seconds(1), Duration::seconds(2),
                                                        Duration::seconds(4)};

class PatientIntentStore final : public IntentStore {
 public:
  PatientIntentStore(IntentStore& store, Timers& timers, desk::Tell tell);

  void open(NewIntent intent, Done<Opening> done) override;
  void take(std::string reference, Done<TakenIntent> done) override;
  void save(std::int64_t id, order::Progress progress, Done<void> done) override;
  void release(std::int64_t id) override;
  void get(std::string reference, Done<order::Intent> done) override;
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done) override;
  void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) override;
  void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) override;
  void set_life(std::string venue, std::string order_id, order::Life life,
                Done<bool> done) override;
  void unfinished(std::string venue, std::int64_t after, std::size_t limit,
                  Done<std::vector<order::Intent>> done) override;
  void history_is_empty(Done<bool> done) override;
  Result<void> health() override { return shared_->store.health(); }

 private:
  struct Shared {
    IntentStore& store;
    Timers& timers;
    desk::Tell tell;
  };
  struct About {
    desk::StoreFailed::What what = desk::StoreFailed::What::read;
    Correlation ids = {};
  };
  template <class T>
  struct Trying;
  template <class T>
  using Ask = std::function<void(IntentStore&, Done<T>)>;
  template <class T>
  void run(About about, Ask<T> ask, Done<T> done);

  std::shared_ptr<Shared> shared_;
};

}  // namespace pawl
