// IntentStore: where intents, quota slots and order_history live, for all processes of a machine.
//
// Contract: each call is one transaction, durable (fsync) before `done` is called: durable before
//           effect. `done` is called exactly once, on any thread, and must not keep it.
// Work:     an open intent is worked on by one process at a time. open() and take() give it to the
//           caller, who keeps it until release() or the end of the process, however that comes: it
//           is a lock of the operating system, so no clock is involved and a dead owner lets go.
//           save() of an intent that the caller does not hold is a bug (PAWL_ASSERT).
//           take() is the only way to an intent that somebody else left, or that was released; it
//           shows the intent as it is then.
// Slots:    counted in the transaction that makes the intent, so that N of N holds under
//           concurrency and crashes. Confirmed: the order_history row is written in the same
//           transaction, with the week of the intent. Rejected: the slot is free again. A row that
//           a backfill brought for an open intent has its slot, so that it counts once; it counts
//           if the intent does, whatever the row said.
// Lost:     a store that was lost and backfilled does not have the intents any more, but rows with
//           their references. open() of such a reference is refused (the venue has its order),
//           whether a slot is free or not, and nothing is kept. An intent of that reference is
//           found first. Venues may call the order by a name of their own (Venue::name_of): rows
//           that carry it are rows of the reference, in open() as in backfill().
// Again:    an intent that ended with nothing sent (order::may_open_again) is opened anew by open()
//           of the same reference and order, under the id it has: as a new one in all else, its
//           slot counted in the week that is. While somebody still holds it, it is a known one.
// Errors:   unavailable (disk, lock, damaged file) with the outcome; not_found; refused. An open()
//           whose outcome is unknown may have kept the intent: it is found open, held by nobody.
// Threads:  any.
// Held by:  adapter/sqlite, adapter/memory (tests).
// See:      intent_store_conformance.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/order/intent.h"
#include "core/order/quota.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct NewIntent {
  std::string reference = {};
  std::string venue_name = {};  // what the venue calls the reference; empty: the same
  order::Order order = {};
  std::string request_id = {};  // of the first attempt
  bool counts = true;           // takes a slot
  order::FrequencyLimit limit = {};
  Instant now = {};
};
// The caller works on it. `quota.used` is what was used before it; not counted when the limit is
// disabled (then 0).
struct OpenedIntent {
  order::Intent intent = {};
  order::Quota quota = {};
};
struct KnownIntent {  // the reference is not new; nothing was changed
  order::Intent intent = {};
};
struct DeniedIntent {  // no slot is free; nothing was kept
  order::Quota quota = {};
};
using Opening = std::variant<OpenedIntent, KnownIntent, DeniedIntent>;

struct TakenIntent {
  order::Intent intent = {};
  bool mine = false;  // false: another process (or thread) works on it, or it is not open
};

struct IntentFilter {
  std::string venue = {};                    // empty: all
  std::vector<order::Status> statuses = {};  // empty: all
  std::size_t limit = 100;                   // newest first
  bool unattended = false;                   // only those that nobody works on
};

// A row of order_history, as the seed has it.
struct HistoryRow {
  std::string order_id = {};
  std::string instrument = {};
  order::Side side = order::Side::buy;
  std::string type = {};
  std::string size = {};
  std::string price = {};  // empty: null
  bool reduce_only = false;
  bool counts = true;  // against the weekly limit, whatever becomes of it
  Instant placed_at = {};
  std::string status = {};  // placed, filled, canceled
  std::string venue = {};
  std::string reference = {};
};

inline std::unexpected<Error> intent_not_found(const std::string& reference) {
  return failure(Code::not_found, "there is no order with the reference '" + reference + "'");
}

// As it is opened under `id`; `again`: the one of the same reference that was there.
inline order::Intent new_intent(const NewIntent& ask, std::int64_t id, const order::Intent* again) {
  return {.id = id,
          .reference = ask.reference,
          .order = ask.order,
          .counts = ask.counts,
          .created = ask.now,
          .progress = again != nullptr
                          ? order::opened_again(again->progress, ask.request_id, ask.now)
                          : order::Progress{.request_id = ask.request_id}};
}

// Of a reference that only order_history has, with the venue's `order_id`.
inline std::unexpected<Error> reference_is_taken(const NewIntent& ask,
                                                 const std::string& order_id) {
  return failure(Code::refused, "The reference '" + ask.reference + "' is taken: " +
                                    ask.order.venue + " has the order '" + order_id +
                                    "' under it, which was found by backfilling. Nothing was "
                                    "sent. Give a new order a reference of its own.");
}

// What order_history calls an order that stands so.
inline std::string_view history_status(order::Life life) {
  if (life == order::Life::filled) return "filled";
  const bool gone = life == order::Life::canceled || life == order::Life::rejected;
  return gone ? "canceled" : "placed";
}
inline bool is_over(order::Life life) {
  return life != order::Life::working && life != order::Life::unknown;
}
// The row of an intent that was confirmed.
inline HistoryRow history_row_of(const order::Intent& intent) {
  const order::Order& order = intent.order;
  return {.order_id = intent.progress.order_id,
          .instrument = order::instrument_name(order),
          .side = order.side,
          .type = std::string(order::to_string(order.type)),
          .size = to_string(order.size),
          .price = order.price ? to_string(*order.price) : std::string(),
          .reduce_only = order.reduce_only,
          .counts = intent.counts,
          .placed_at = intent.created,
          .status = std::string(history_status(intent.progress.life)),
          .venue = order.venue,
          .reference = intent.reference};
}

class IntentStore {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~IntentStore() = default;
  virtual void open(NewIntent intent, Done<Opening> done) = 0;
  virtual void take(std::string reference, Done<TakenIntent> done) = 0;
  virtual void save(std::int64_t id, order::Progress progress, Done<void> done) = 0;
  // Lets go of it; what is not held is passed over.
  virtual void release(std::int64_t id) = 0;
  virtual void get(std::string reference, Done<order::Intent> done) = 0;
  // At most bounds::orders_listed_max.
  virtual void list(IntentFilter filter, Done<std::vector<order::Intent>> done) = 0;
  virtual void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) = 0;

  // order_history. Inserts those that are missing (by venue and order id), says how many.
  virtual void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) = 0;
  // placed ─▶ filled | canceled, of history and intent, once. True: it was not so before.
  virtual void set_life(std::string venue, std::string order_id, order::Life life,
                        Done<bool> done) = 0;
  // Orders that are placed and not known to be over, for status polling: those behind the id
  // `after`, oldest first.
  virtual void unfinished(std::string venue, std::int64_t after, std::size_t limit,
                          Done<std::vector<order::Intent>> done) = 0;
  virtual void history_is_empty(Done<bool> done) = 0;
  virtual Result<void> health() = 0;
};

}  // namespace pawl
