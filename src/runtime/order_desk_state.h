// Desk: what the parts of an order desk share. For order_*.cc alone.
//
//   order_desk.cc      the doors: every call goes onto the strand
//   order_placing.cc   one placement, from the call to its answer
//   order_work.cc      one intent being worked on: runs its machine
//   order_batch.cc     several that leave in one call
//   order_resume.cc    open intents: at the start, on demand, by a person's word
//   order_changes.cc   modify and cancel
//   order_asks.cc      what changes nothing: status, dry run, precheck, quota
//   order_statuses.cc  filled and canceled
//   order_backfill.cc  history from the venues
//
// Threads:  everything but `tally` is touched on the strand alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/audit/event.h"
#include "runtime/order_desk.h"
#include "runtime/order_pace.h"
#include "runtime/order_store.h"
#include "runtime/strand.h"

namespace pawl::desk {

template <class T>
using Done = OrderDesk::Done<T>;

struct Seat {
  Venue& venue;
  std::shared_ptr<OrderPace> pace;
  std::size_t batch_max = 1;  // of the venue and the pace
};

class OrderWork;

struct Desk : std::enable_shared_from_this<Desk> {
  Desk(OrderDesk::Options options_, OrderDesk::Ports ports_);

  void tell(const Note& note) const {
    if (ports.note) ports.note(note);
  }
  // On record, or why not. Without an audit log it is.
  Result<void> keep(audit::Event event);
  // Nothing may begin: the desk drains, or the audit log takes nothing any more.
  Result<void> may_begin() const;
  Result<Seat*> seat(const std::string& venue);
  order::Time now() const {
    return {.steady = ports.clock.steady_now(), .wall = ports.clock.wall_now()};
  }
  // Something is over: whoever drains may be told.
  void look_whether_drained();

  const OrderDesk::Options options;
  OrderDesk::Ports ports;
  PatientIntentStore store;
  std::map<std::string, Seat, std::less<>> seats;
  Strand strand;

  std::map<std::string, std::shared_ptr<OrderWork>, std::less<>> works;  // by reference
  std::size_t placings = 0;  // calls of place() that are not answered
  // Modifications and cancels that are not answered: how to tell each that nobody waits for it.
  std::map<const void*, std::function<void()>> changes;
  // By reference: a modification is under way, and these wait for its end.
  std::map<std::string, std::deque<std::move_only_function<void()>>, std::less<>> modifying;
  enum class Gate : std::uint8_t { closed, resuming, open };
  Gate gate = Gate::closed;
  // Wait for the gate: told whether it is open, and how the start went if not.
  std::vector<std::move_only_function<void(const Result<void>&)>> at_gate;
  // By reference: orders whose placements wait there. One that is open is sent again for them.
  std::multimap<std::string, order::Order, std::less<>> wanted;
  bool is_wanted(const order::Intent& intent) const;
  std::vector<Done<Resumed>> resumers;
  std::map<std::string, std::int64_t, std::less<>> polled_to;  // by venue: the last one looked at
  bool draining = false;
  std::vector<Done<void>> drainers;

  class Tally {
   public:
    void ended(const order::Intent& intent);
    void denied();
    void replayed();
    // All that are unresolved, as the store has them.
    void found_unresolved(const std::vector<order::Intent>& intents);
    OrderCounts counts() const;
    void under_way(std::size_t number);

   private:
    mutable std::mutex mutex_;
    OrderCounts counts_;
    std::set<std::string, std::less<>> unresolved_;
  };
  Tally tally;
};
using DeskPtr = std::shared_ptr<Desk>;

// A callback for any thread, whose work is done on the strand; not at all once it is closed.
template <class Work>
auto on_strand(DeskPtr desk, Work work) {
  return [desk = std::move(desk), work = std::move(work)]<class... Args>(Args... args) mutable {
    Desk& here = *desk;
    here.strand.post([desk = std::move(desk), work = std::move(work),
                      ... given = std::move(args)]() mutable { work(std::move(given)...); });
  };
}

// As errors and messages end: " (external_reference=A, request_id=B)".
std::string tagged(std::string text, std::string_view reference, std::string_view request_id = {});
Error tagged(Error error, std::string_view reference, std::string_view request_id = {});
Correlation ids_of(const order::Intent& intent);
// What a caller hears of an intent as it is.
Placed placed(order::Intent intent, order::Quota quota);
// An event of type order about a call, before it leaves.
audit::Event order_event(Instant at, std::string operation, const order::Intent& intent);

// Doors. Each runs on the strand.
void place(const DeskPtr& desk, PlaceRequest request, Done<Placed> done);
void place_batch(const DeskPtr& desk, std::vector<PlaceRequest> requests,
                 Done<std::vector<Result<Placed>>> done);
void dry_run(const DeskPtr& desk, PlaceRequest request, Done<DryRun> done);
void precheck(const DeskPtr& desk, order::Order order, Done<Precheck> done);
void modify(const DeskPtr& desk, std::string reference, OrderChange change, Done<Changed> done);
void cancel(const DeskPtr& desk, std::string reference, Done<Changed> done);
void status(const DeskPtr& desk, std::string reference, bool look, Done<Placed> done);
void reconcile(const DeskPtr& desk, std::string reference, Done<std::vector<Placed>> done);
void resolve(const DeskPtr& desk, std::string reference, order::Resolution resolution,
             Done<Placed> done);
void backfill(const DeskPtr& desk, BackfillAsk ask,
              std::function<void(const BackfillProgress&)> progress, Done<BackfillSummary> done);
void resume(const DeskPtr& desk, Done<Resumed> done);
void poll_statuses(const DeskPtr& desk, Done<std::size_t> done);

// What is shared between doors.
// `then` is called once open intents of dead processes are settled, or could not be looked at.
void pass_gate(const DeskPtr& desk, std::move_only_function<void(const Result<void>&)> then);
// Whose it is that a venue shows.
struct Owner {
  std::string venue = {};
  Correlation ids = {};
};
// Order over: history and intent say so, and the log. `done` is told whether that was new.
void record_life(const DeskPtr& desk, const order::VenueOrder& order, const Owner& owner,
                 Done<bool> done);
// Looks at a placed order and records when it is over. not_found: the venue no longer shows it.
void look_at(const DeskPtr& desk, const order::Intent& intent, Done<order::VenueOrder> done);

}  // namespace pawl::desk
