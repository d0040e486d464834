// Placing: one placement, from the call to its answer.
//
//   checked ─▶ the gate (what dead processes left open is settled) ─▶ opened in the store ─▶
//   worked on, by this process or by another that is waited for ─▶ answered
//
// Contract: answers once. Its time may run out before it is opened: then nothing of it is kept, and
//           it says so, unless an earlier process left an order under its reference. From then on
//           its work is told that nobody waits, and decides.
// Threads:  on the desk's strand.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/order_batch.h"
#include "runtime/order_desk_state.h"
#include "runtime/order_work.h"

namespace pawl::desk {

class Placing : public std::enable_shared_from_this<Placing> {
 public:
  Placing(DeskPtr desk, PlaceRequest request, Done<Placed> done);

  // Before begin(). It leaves with others, or leaves them.
  void join(std::shared_ptr<OrderBatch> batch) { batch_ = std::move(batch); }
  void begin();

 private:
  Result<void> check();
  void wait_at_gate();
  void passed(const Result<void>& passed);
  // Waits there no longer; true: it did.
  bool leave_gate();
  // It waits no longer, and `why` holds if nobody left the order open before.
  void give_up_at_gate(Error why);
  void found_at_gate(const Result<order::Intent>& intent, Error why);
  void get_ready();
  void open();
  void unverified(Error error);
  void opened(Result<Opening> opening);
  void on(OpenedIntent opened);
  void on(KnownIntent known);
  void on(const DeniedIntent& denied);
  void follow(const order::Intent& intent);
  void taken(const Result<TakenIntent>& taken);
  void wait_for_other();
  // True: this process works on it already, and this listens.
  bool attach();
  void start(const std::shared_ptr<OrderWork>& work, const order::Event& first);
  void work_on(order::Intent intent, const order::Event& first);
  void listen(const std::shared_ptr<OrderWork>& work);
  void ended(const WorkEnd& end);
  void replay(order::Intent intent);
  // What is answered to an intent of which no byte left.
  std::unexpected<Error> nothing_sent(const order::Intent& intent);
  void time_is_up();
  void leave_batch();
  // Answers with the quota as it is now.
  void answer_with_quota(Placed placed);
  void answer(Result<Placed> answer);
  audit::Event quota_event(bool allowed, const order::Quota& quota) const;
  void tell_quota(const order::Quota& quota);
  Correlation ids() const {
    return {.request_id = request_id_, .external_reference = request_.reference};
  }

  const DeskPtr desk_;
  PlaceRequest request_;
  Done<Placed> done_;
  Seat* seat_ = nullptr;
  std::string request_id_;  // of the first attempt, until there is an outcome
  bool counts_ = true;
  std::shared_ptr<OrderBatch> batch_;
  std::optional<order::Quota> quota_;                       // as it was opened
  std::optional<decltype(Desk::wanted)::iterator> wanted_;  // while it waits at the gate
  std::weak_ptr<OrderWork> work_;
  OrderWork::ListenerId listener_ = 0;
  Timers::Id timer_ = {};
  Timers::Id poll_ = {};
  bool late_ = false;
  enum class Stage : std::uint8_t { gate, opening, working, other, answered };
  Stage stage_ = Stage::gate;
};

}  // namespace pawl::desk
