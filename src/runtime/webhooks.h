// Webhooks: tells endpoints of events until they acknowledge, and never again once they have.
//
// Why:      an event that is sent once may get lost, and one that is sent for ever is a nuisance.
// Contract: an event that emit() has taken is on the disk, and is delivered to each endpoint that
//           wants its type, or given up with a reason that deliveries() shows. Attempts are
//           operations (runtime/operations.h): claimed under a key that processes with one record
//           store share, classified, audited, with a breaker for each endpoint. Between attempts a
//           delivery rests in the outbox alone, so a wait of a day costs no memory and outlives the
//           process.
//           An acknowledgement counts once it is on record. A process that dies before that leaves
//           a message that is sent again, with the same id; the receiver knows it by that.
// Endpoints: what waits for one that the settings no longer name stays in the outbox, and goes on
//           when it is back.
// Bounds:   bounds::webhook_lane attempts at once to each of bounds::webhook_endpoints_max.
// Threads:  any; it has none of its own.
// Lifetime: the ports outlive it. At the end: stop(), close the timers, let it go.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/webhook/delivery.h"
#include "core/webhook/endpoint.h"
#include "core/webhook/event.h"
#include "pawl/clock.h"
#include "port/http_client.h"
#include "port/outbox.h"
#include "port/timers.h"
#include "runtime/operations.h"
#include "runtime/visits.h"

namespace pawl {

// Since the start; `pending` is how many wait in the outbox, as it was last seen.
struct WebhookCounts {
  std::uint64_t emitted = 0;     // events taken
  std::uint64_t duplicates = 0;  // deliveries that were there before
  std::uint64_t attempts = 0;    // messages sent
  std::uint64_t acknowledged = 0;
  std::uint64_t given_up = 0;
  std::uint64_t postponed = 0;  // a delivery went back to wait
  std::uint64_t pending = 0;
};

class Webhooks {
 public:
  template <class T>
  using Done = Outbox::Done<T>;

  struct Ports {
    Clock& clock;
    Timers& timers;
    Outbox& outbox;
    HttpClient& http;
    RecordStore* records = nullptr;  // none: only this process knows what it has sent
    EventSink* audit = nullptr;
  };
  struct Options {
    retry::Policy policy = webhook::delivery_policy();
    Duration lease = Duration::seconds(30);  // of the claim on a delivery
    Duration ttl = Duration::days(7);        // of the record of an acknowledgement
  };

  Webhooks(Options options, Ports ports);
  ~Webhooks();
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;

  // In place of those before, all or none. Whoever is under way ends as it was begun.
  Result<void> set_endpoints(std::vector<webhook::Endpoint> endpoints);
  // Takes up what the outbox holds.
  void start();
  // Begins nothing more, and waits for what is under way, so long at the most by the machine's
  // clock. What is not waited for is sent again after the next start.
  void stop(Duration patience);

  // `done` is called once the event is on the disk, or is wanted by nobody. False: every endpoint
  // that wants it had it before; nothing has changed. Errors: invalid, and those of the outbox.
  void emit(const webhook::Event& event, Done<bool> done);
  // The newest first; of every state, or of one.
  void deliveries(std::optional<webhook::State> state, std::size_t limit,
                  Done<std::vector<webhook::Delivery>> done);
  WebhookCounts counts() const;
  bool has_endpoints() const;
  // False: the breaker is that of an endpoint which the settings no longer name, so it holds
  // nothing back.
  bool is_in_use(std::string_view breaker) const;
  Result<void> health() { return ports_.outbox.health(); }

 private:
  struct Target;
  struct Lane;
  struct Trip;
  using TargetPtr = std::shared_ptr<const Target>;
  using LanePtr = std::shared_ptr<Lane>;
  using TripPtr = std::shared_ptr<Trip>;

  template <class Work>
  auto when_here(Work work);
  void look(const LanePtr& lane);
  void found(const LanePtr& lane, Result<DueDeliveries> due);
  void wake_after(const LanePtr& lane, Duration wait);
  void deliver(const TripPtr& trip);
  void attempt(const TripPtr& trip, const AttemptAsk& ask, Operation::Ended ended);
  void ended(const TripPtr& trip, const OperationEnd& end);
  DeliveryStep step_of(const Trip& trip, const OperationEnd& end) const;
  void save(const TripPtr& trip, const DeliveryStep& step);
  void arrived(const TripPtr& trip);
  void count(webhook::State state);

  const Options options_;
  Ports ports_;
  const std::shared_ptr<Visits> visits_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::string, LanePtr> lanes_;
  WebhookCounts counts_;
  std::size_t under_way_ = 0;
  bool started_ = false;
  bool stopping_ = false;

  Operations operations_;  // ends first: it calls the rest
};

}  // namespace pawl
