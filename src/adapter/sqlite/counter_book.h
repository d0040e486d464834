// CounterBook: the counts and reservations of a SQLite file, within one transaction.
//
// Why:      a transaction decides on all asks that waited for it; each count is read once and
//           written once, however many of them it is in.
// Contract: each step decides as the pure core does (core/limit/decide.h), one after the other, all
//           at the one moment `now`. A step that fails by itself changes nothing and the next one
//           may go on. Nothing is written before save(), except reservations.
//           A count is kept with the rule it was counted under, and carried over by an ask under
//           another one. Where that cannot be (a zone this machine does not know) the ask fails:
//           nothing is forgotten.
// Bounds:   `counts_max` counts, `reservations_max` reservations that are open; a new one beyond is
//           an error.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "adapter/sqlite/book.h"
#include "adapter/sqlite/database.h"
#include "adapter/sqlite/kept_rule.h"
#include "port/counter_store.h"

namespace pawl {

// A Count that owns its key.
struct Counted {
  explicit Counted(const Count& count)
      : policy(count.policy), key(count.key.text()), rule(text_of(count.policy->rule)) {}

  const limit::Policy* policy;
  std::string key;
  std::string rule;
};

struct CounterBookOptions {
  ZoneLookup zones;
  std::size_t counts_max = bounds::limit_keys_max;
  std::size_t reservations_max = bounds::limit_reservations_max;
};

// Where the walk over all counts stands that forgets those at rest.
struct ForgetCursor {
  std::string policy;
  std::string key;
};

class CounterBook final : public sqlite::Book {
 public:
  using Items = std::span<const Counted>;

  static const sqlite::Schema schema;

  CounterBook(sqlite::Database& database, const CounterBookOptions& options, Instant now);

  // Deletes those of the next `rows` counts, and of as many reservations, that are over at `then`.
  // To be called before any other step.
  void forget_some(ForgetCursor& cursor, std::size_t rows, limit::Moment then);

  Result<limit::Answer> check(Items items, limit::Ask ask);
  // It gets the ask's holder for its id when it is allowed.
  Result<Reservation> reserve(Items items, limit::Ask ask, Duration hold);
  Result<void> settle(Items items, std::uint64_t id, Settlement how);
  Result<void> refund(Items items, std::int64_t cost);
  Result<void> reset(Items items);
  Result<void> close(Items items, Instant until);

  Result<void> save() override;
  void touch() override;

 private:
  struct Kept {
    std::string rule;
    limit::Cell cell;
    limit::Moment closed_until;
    limit::Marks marks;
    const limit::Policy* policy = nullptr;  // that has `rule`; none unless `changed`
    bool stored = false;                    // there is a row
    bool changed = false;
    bool damaged = false;
  };
  struct Totals {
    std::int64_t counts = 0;
    std::int64_t reservations = 0;
  };
  class Step;

  Kept* find(const Counted& item);
  Totals* totals();
  Result<void> make_room(Items items);
  void write(std::string_view policy, std::string_view key, Kept& kept);

  const CounterBookOptions& options_;
  const limit::Now now_;
  std::map<std::pair<std::string_view, std::string_view>, Kept> kept_;  // by policy and key
  std::int64_t added_ = 0;  // counts that may need a row they do not have
  std::optional<Totals> totals_;
  bool totals_changed_ = false;
};

}  // namespace pawl
