// OrderDesk: places orders once each, at the pace of their sessions, within the weekly limit, and
// finds out what became of those whose answer got lost.
//
// Why:      an order that is sent twice costs money, and so does one that is not sent because
//           somebody guessed that it had been. So intent and quota slot are on disk before the
//           first byte leaves, the outcome is before the caller hears it, and nothing of unknown
//           outcome is sent again before its absence is proven.
// Contract: `done` is called exactly once, on any thread, and must not keep it. What a caller
//           hears of a placement is confirmed, rejected, denied or unresolved; an Error means that
//           nothing was sent for it now. The decisions are those of core/order/placement.h; this
//           runs their effects.
//           One of which no byte left, on any attempt (a venue that cannot be reached, a turn or an
//           audit log that said no, a caller who gave up) is Code::unavailable: it is kept as
//           rejected, and its reference may be placed again.
//           A placement of a reference that is known otherwise: the stored answer, nothing is sent;
//           another order under it: Code::refused. Somebody else works on it: waits for their
//           outcome.
//           Denied by the weekly limit: nothing is kept.
// Start:    open intents of processes that are gone are taken over and reconciled before anything
//           new leaves: by resume(), or by the first placement. One that is absent is sent again
//           only if its reference is being placed again just then; else it ends as rejected. Those
//           that stay unresolved hold nobody up.
// Pace:     every placement, change and cancel takes a turn of its session's pacer; cancels and
//           reduce-only in its urgent lane. Every answer is heard by the pacer. What a venue must
//           learn or read first (a token, its time, the order as it is), it does before the turn;
//           what has no token any more when its turn comes is not sent in it.
// Changes:  modifications of one order go one after the other, as they came; cancels wait for none.
// Audit:    every decision is an event before its effect; what the audit log does not take is not
//           sent.
// Errors:   refused (3), unresolved (4), not_found (5), unavailable (6), invalid (1). Those about
//           an order end with its external_reference and request_id.
// Bounds:   bounds::orders_under_way_max placements at once; more are refused.
// Threads:  any; it has none of its own. Callbacks come on the threads of store, venue and timers.
// Lifetime: the ports outlive it. At the end: drain(), then close the timers, then let it go. One
//           that goes without leaves its intents as they are, for the next start to take over, and
//           tells nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/order/intent.h"
#include "core/order/placement.h"
#include "core/order/quota.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/entropy.h"
#include "port/event_sink.h"
#include "port/intent_store.h"
#include "port/timers.h"
#include "port/venue.h"
#include "runtime/order_notes.h"
#include "runtime/session_pacer.h"

namespace pawl {
namespace desk {
struct Desk;
}

struct PlaceRequest {
  std::string reference = {};  // empty: one is made
  order::Order order = {};
  // How long the caller waits. What was not sent by then is withdrawn (rejected, or unavailable if
  // nothing of it ever left); of the rest the caller hears unresolved, and work goes on.
  Duration wait_max = Duration::max();
};

enum class PlacedAs : std::uint8_t { confirmed, rejected, denied, unresolved };
std::string_view to_string(PlacedAs as);

struct Placed {
  PlacedAs as = PlacedAs::unresolved;
  order::Intent intent = {};  // of a denied one only reference and order
  // As it was when the placement was let pass or denied (`used` with this order, if it counts);
  // of status() and reconcile(): as it is.
  order::Quota quota = {};
  bool replayed = false;     // the stored answer; nothing was sent
  std::string message = {};  // for people: why rejected, denied or unresolved; what to do
};

struct DryRun {
  std::string reference = {};
  order::Order order = {};
  order::Quota quota = {};
  bool counts = true;
  bool would_send = false;
  std::string message = {};  // what would happen
};

struct Changed {
  order::Intent intent = {};
  order::Answer answer = {};
  order::Life life = order::Life::unknown;  // as seen afterwards; unknown: not seen
};

struct BackfillAsk {
  Instant from = {};
  Instant to = {};
  std::string venue = {};  // empty: all
};
struct BackfillProgress {
  std::string venue = {};
  std::size_t pages = 0;
  std::size_t orders = 0;  // that the venue showed, each once
  std::size_t inserted = 0;
  Instant reached = {};  // the oldest order so far
  int done_milli = 0;    // of what there is to read: 1000 is all of it
};
struct BackfillSummary {
  std::size_t orders = 0;  // that the venues showed, each once
  std::size_t inserted = 0;
  std::vector<std::string> notes = {};  // what venues no longer keep
};

struct OrderCounts {
  std::uint64_t confirmed = 0;  // since the start, as the four below
  std::uint64_t rejected = 0;
  std::uint64_t denied = 0;
  std::uint64_t left_unresolved = 0;
  std::uint64_t replayed = 0;
  std::size_t under_way = 0;   // placements now
  std::size_t unresolved = 0;  // that this process knows of, now
};

class OrderDesk {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  struct VenueSeat {
    Venue& venue;
    SessionPacer::Options pace = {};  // of its session; `session` is taken from the venue's traits
  };
  struct Ports {
    Clock& clock;
    Timers& timers;
    Entropy& entropy;
    IntentStore& store;
    CounterStore& counters;      // that the paces are kept in
    EventSink* audit = nullptr;  // null: no audit log is kept
    desk::Tell note = {};
    SessionPacer::Tell pace_note = {};
  };
  struct Options {
    order::FrequencyLimit limit = {};
    order::Settings placement = {};
    Duration others_poll = Duration::milliseconds(200);  // while another process works on it
  };

  OrderDesk(Options options, Ports ports, std::vector<VenueSeat> seats);
  ~OrderDesk();
  OrderDesk(const OrderDesk&) = delete;
  OrderDesk& operator=(const OrderDesk&) = delete;

  void place(PlaceRequest request, Done<Placed> done);
  // Answers in the order of the requests; each has an intent of its own. Those of one venue leave
  // in one call as far as the venue and the pace (1 + burst) take them.
  void place_batch(std::vector<PlaceRequest> requests, Done<std::vector<Result<Placed>>> done);
  // What place() would do; nothing is kept or sent.
  void dry_run(PlaceRequest request, Done<DryRun> done);
  // Asks the venue.
  void precheck(order::Order order, Done<Precheck> done);
  // Of a confirmed order. Code::unresolved: nobody knows whether the venue took it.
  void modify(std::string reference, OrderChange change, Done<Changed> done);
  void cancel(std::string reference, Done<Changed> done);
  // `look`: asks the venue as well.
  void status(std::string reference, bool look, Done<Placed> done);
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done);
  // Empty: all that are open. Those another process works on are passed over.
  void reconcile(std::string reference, Done<std::vector<Placed>> done);
  // A person says what became of an open one.
  void resolve(std::string reference, order::Resolution resolution, Done<Placed> done);
  void quota(Done<order::Quota> done);
  void backfill(BackfillAsk ask, std::function<void(const BackfillProgress&)> progress,
                Done<BackfillSummary> done);

  // Takes over what processes that are gone left open, and waits for it.
  void resume(Done<desk::Resumed> done);
  // Looks at orders that are not known to be over; how many. At most bounds::orders_polled_max of
  // a venue: the next call goes on behind them.
  void poll_statuses(Done<std::size_t> done);
  // From a venue's channel.
  void seen(const std::string& venue, const order::VenueOrder& order);
  // Lifts what a venue's servers said about its session's pace.
  void reopen(const std::string& venue, Done<void> done);

  // Begins nothing more, withdraws what has not left, and waits for what is on the wire until its
  // outcome is recorded. What settles or reads by then stays open, and its callers hear unresolved.
  void drain(Done<void> done);
  OrderCounts counts() const;

 private:
  std::shared_ptr<desk::Desk> desk_;  // late answers may outlive this
};

}  // namespace pawl
