// IntentBook: intents and the order history in a SQLite file, within one transaction.
//
// Contract: each step is one of IntentStore's (port/intent_store.h), one after the other. A step
//           that fails by itself changes nothing, and the next one may go on. The work on an intent
//           that a step opened or took is held from within the transaction, before anybody else can
//           see it: should the transaction come to nothing, its caller must release it.
// Tables:   order_history is the one that other programs know: its columns, types, defaults and
//           indexes are given, and pawl's own columns stand behind them, with an index of their
//           references. Times in it are UTC.
//           intents: what pawl knows of each order somebody wanted.
// Count:    rows of the week in order_history, whatever became of the orders, and slots that open
//           intents of the week hold; both through an index, and no further than
//           bounds::order_count_excess_max beyond the limit where somebody waits for it.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/sqlite/book.h"
#include "adapter/sqlite/work_locks.h"
#include "adapter/sqlite/writer.h"
#include "port/intent_store.h"

namespace pawl {

class IntentBook final : public sqlite::Book {
 public:
  static const sqlite::Schema schema;

  IntentBook(const sqlite::Transaction& transaction, WorkLocks& locks)
      : Book(transaction.database), locks_(locks) {}

  // When a store is opened: see WorkLocks.
  Result<void> claim_work();

  // `held`: the intent whose work the step has taken, also when it failed after that.
  Result<Opening> open(const NewIntent& ask, std::int64_t& held);
  Result<TakenIntent> take(const std::string& reference, std::int64_t& held);
  Result<void> save(std::int64_t id, const order::Progress& progress);
  Result<order::Intent> get(const std::string& reference);
  Result<std::vector<order::Intent>> list(const IntentFilter& filter);
  Result<order::Quota> quota(const order::FrequencyLimit& limit, Instant now);
  Result<std::size_t> backfill(const std::vector<HistoryRow>& rows);
  Result<bool> set_life(const std::string& venue, const std::string& order_id, order::Life life);
  Result<std::vector<order::Intent>> unfinished(const std::string& venue, std::int64_t after,
                                                std::size_t limit);
  Result<bool> history_is_empty();

  Result<void> save() override;
  void touch() override;

  // Statements that must not read every row, for who wants to see their plan.
  static const sqlite::Sql count_week;
  static const sqlite::Sql count_slots;
  static const sqlite::Sql find_history;
  static const sqlite::Sql free_slot_by_name;
  static const sqlite::Sql list_open;
  static const sqlite::Sql list_rejected;
  static const sqlite::Sql list_working;

 private:
  Result<std::optional<order::Intent>> find(const std::string& reference);
  Result<order::Intent> load(std::int64_t id);
  Result<std::vector<order::Intent>> load_all(const std::vector<std::int64_t>& ids);
  // Only those that nobody works on, and at most `limit`.
  Result<void> keep_unattended(std::vector<std::int64_t>& ids, std::size_t limit);
  // Stops at `most` of each kind.
  Result<std::int64_t> used(Instant now, std::int64_t most);
  Result<order::Quota> quota_at(const order::FrequencyLimit& limit, Instant now, std::int64_t most);
  // The venue's id of an order that has the reference, or the venue's name for it.
  Result<std::optional<std::string>> order_in_history(const NewIntent& ask);
  // Of an intent to come; the work on it is held.
  Result<std::int64_t> next_id();
  Result<void> insert(const order::Intent& intent, const std::string& venue_name);
  Result<void> update(const order::Intent& intent);
  // A row that was added is that of an open intent, perhaps: then it counts as the intent does.
  void take_slot(const HistoryRow& row);
  // False: it is there already.
  Result<bool> add_history(const HistoryRow& row);
  Result<bool> set_history_status(const std::string& venue, const std::string& order_id,
                                  std::string_view status);

  WorkLocks& locks_;
};

}  // namespace pawl
