// MemoryIntentStore: intents and the order history in this process's memory, for tests and
// simulation.
//
// Contract: IntentStore; every call answers before it returns. What is kept lives in a
//           MemoryIntents, which several stores may share as processes share a file. A store that
//           goes away lets go of all it works on, as a killed process does.
// Threads:  any; one lock, never held while `done` runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "port/intent_store.h"

namespace pawl {

class MemoryIntentStore;

class MemoryIntents {
 public:
  // As they are now, oldest first.
  std::vector<order::Intent> intents() const;
  std::vector<HistoryRow> history() const;

 private:
  friend MemoryIntentStore;
  struct Kept {
    order::Intent intent;
    std::string venue_name;
    bool slot = false;  // it holds one of the week's
    const MemoryIntentStore* worker = nullptr;
  };

  Kept* find(const std::string& reference);
  std::int64_t used(Instant now) const;
  HistoryRow* find_row(const std::string& venue, const std::string& order_id);
  // A row that has the reference of an intent to come, or the venue's name for it.
  const HistoryRow* find_row_of(const NewIntent& ask) const;
  bool add_row(const HistoryRow& row);
  bool is_worked_on(std::int64_t id) const;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::int64_t, Kept> kept_;
  std::map<std::string, std::int64_t> ids_;  // by reference
  std::vector<HistoryRow> history_;
};

class MemoryIntentStore final : public IntentStore {
 public:
  // `intents` must outlive the store.
  explicit MemoryIntentStore(MemoryIntents& intents) : all_(intents) {}
  ~MemoryIntentStore() override;

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
  Result<void> health() override { return {}; }

 private:
  using Lock = std::lock_guard<std::mutex>;

  Result<Opening> try_open(const NewIntent& ask);
  Result<TakenIntent> try_take(const std::string& reference);
  Result<order::Intent> try_get(const std::string& reference);
  Result<void> try_save(std::int64_t id, order::Progress progress);
  bool try_set_life(const std::string& venue, const std::string& order_id, order::Life life);
  order::Quota quota_at(const order::FrequencyLimit& limit, Instant now) const;

  MemoryIntents& all_;
};

}  // namespace pawl
