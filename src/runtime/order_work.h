// OrderWork: one intent that this process works on: runs its machine (core/order/placement.h).
//
// Contract: whoever begins it holds the intent (IntentStore::open or take). It lets go once the
//           machine has finished and no attempt is under way, never before. Every listener is told
//           once: how it ended, or, when its own time is up or the desk drains, that nobody knows
//           yet.
// Threads:  on the desk's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/order/placement.h"
#include "runtime/order_desk_state.h"

namespace pawl::desk {

class OrderBatch;

struct WorkEnd {
  order::Intent intent = {};
  bool kept = true;      // false: the store has an older one
  bool goes_on = false;  // it has not ended; only the listener's time is up
  bool parked = false;   // left open, by a drain
};

class OrderWork : public std::enable_shared_from_this<OrderWork> {
 public:
  using Listener = std::move_only_function<void(const WorkEnd&)>;
  using ListenerId = std::uint64_t;

  // Enters it into desk.works; start() once listeners are there.
  static std::shared_ptr<OrderWork> open(const DeskPtr& desk, Seat& seat, order::Intent intent);

  // Somebody wants the order placed, and waits for it: withdrawn before, it is wanted again.
  ListenerId listen(Listener listener);
  // Somebody wants to know what becomes of it, and nothing more.
  void watch(Listener listener);
  // Somebody who does not listen yet wants it placed (Desk::wanted).
  void want();
  // Sends its first attempt together with others.
  void join(std::shared_ptr<OrderBatch> batch);
  // Why nothing may be sent: it ends without.
  void forbid(Error error) { forbidden_ = std::move(error); }
  void start(order::Event first) { handle(first); }
  // That listener waits no longer. The last who wanted it takes the order along, if it has not
  // left.
  void time_is_up(ListenerId id);
  void drain();

  const order::Intent& intent() const { return machine_.intent(); }

 private:
  OrderWork(DeskPtr desk, Seat& seat, order::Intent intent);

  void handle(const order::Event& event);
  void run(const order::AskPace& effect);
  void run(const order::LeavePace& effect);
  void run(const order::Save& effect);
  void run(const order::Send& effect);
  void run(const order::ReadVenue& effect);
  void run(const order::WakeAt& effect);
  void run(const order::Finish& effect);
  void run(const order::Keep& effect);
  void run(const order::Note& effect);

  void ask_pacer(bool urgent);
  // Brings an event from wherever the desk called.
  template <class Make>
  auto bring(Make make);
  bool is_of_another_week(const order::Intent& intent) const;
  void leave_batch();
  // Nothing is on the wire and nothing being saved: it can be left as it is.
  bool may_park() const;
  void park();
  bool is_wanted() const;
  // Those whose time is up are told that it goes on.
  void give_up_waiting();
  void let_go();
  void tell_all(const WorkEnd& end);

  const DeskPtr desk_;
  Seat& seat_;
  order::Placement machine_;
  std::shared_ptr<OrderBatch> batch_;
  bool has_gathered_ = false;  // in the batch
  std::optional<Error> forbidden_;
  std::optional<SessionPacer::Ticket> ticket_;
  Timers::Id timer_ = {};
  struct Heard {
    ListenerId id = 0;
    Listener listener;
    bool wants = true;  // it placed
    bool overdue = false;
  };
  std::vector<Heard> listeners_;
  ListenerId last_listener_ = 0;
  bool over_ = false;
};

}  // namespace pawl::desk
