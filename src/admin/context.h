// Context: what the admin API is made of. Whoever hosts it owns all of it.
//
// Threads:  all calls come on the admin listener's thread, on which `resume` runs what it is given:
//           at once when called there. A reload changes `gate` and `record_ttl` on it.
// Lifetime: stores may answer late. At the end, while the stores still do: Admin::drain().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admin/call.h"
#include "admin/gate.h"
#include "admin/tenant_book.h"
#include "core/audit/event.h"
#include "core/queue/task.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/audit_trail.h"
#include "port/counter_store.h"
#include "port/entropy.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "port/task_queue.h"
#include "runtime/order_desk.h"
#include "runtime/retry_tally.h"
#include "runtime/visits.h"
#include "runtime/webhooks.h"
#include "runtime/write_stats.h"

namespace pawl::admin {

// The queue that this pawl has, for its API and as a broker's.
struct QueueHere {
  // The error says why there is none just now: it is being opened, or the end has begun.
  std::function<Result<TaskQueue*>()> queue;
  std::function<queue::TaskId()> new_id;
  std::function<std::string()> mark;  // as broker::Hello has it
};

// A store, or a log, as it was last probed.
struct StoreState {
  enum class Health : std::uint8_t { ok, degraded, down };

  std::string name = {};
  Health health = Health::ok;
  std::string durability = {};  // empty: nothing is known of it
  std::string seen = {};        // what that was found by
  Instant probed = {};          // when; the zero: not yet
  std::string detail = {};      // what is wrong
};

// What the panel shows by configuration.
struct PanelSettings {
  std::string upgrade_text = {};
  std::string upgrade_link = {};  // empty: there is no call to upgrade
  std::vector<std::string> venues = {};
};

struct Context {
  Clock& clock;
  Entropy& entropy;
  CounterStore& counters;
  RecordStore& records;
  EventSink& audit;
  TenantBook& tenants;
  const WriteStats& writes;
  const metrics::Registry& metrics;
  AuditTrail* trail = nullptr;          // nullptr: no audit sink is a file
  Webhooks* webhooks = nullptr;         // nullptr: none are sent here
  OrderDesk* orders = nullptr;          // nullptr: no venue is configured
  QueueHere* tasks = nullptr;           // nullptr: this pawl has no queue of its own
  const RetryTally* retries = nullptr;  // nullptr: they are not counted by category

  std::function<Result<void>()> ready;    // the error says why it is not
  std::function<std::string()> degraded;  // empty, or what works less well than it should
  std::function<void()> refresh;          // brings gauges up to date before they are read
  std::function<std::vector<StoreState>()> stores;
  std::function<json::Value()> policies;  // those in force, as GET /v1/policies tells them
  // Decides about a request that a proxy passes on; `target` is what its client asked for. It
  // answers once, on the admin listener's thread.
  struct Question {
    std::string method = {};
    std::string target = {};
    int refusal_status = 0;                    // in place of 429; 0: 429
    const server::Request* request = nullptr;  // as the proxy sent it; good during the call
  };
  std::function<void(Question, std::move_only_function<void(server::Response)>)> authorize;
  std::function<void(std::move_only_function<void()>)> resume;

  // Of this run of pawl: what it keeps in memory alone (answers by their keys) is of no other.
  std::string run = {};
  GateSettings gate = {};
  PanelSettings panel = {};
  Duration record_ttl = {};
  std::unique_ptr<Visits> asks = std::make_unique<Visits>();  // of stores, not answered yet
};

// For a store: comes back to the admin listener's thread with the call and the answer, whatever it
// is.
template <class T, class Then>
std::move_only_function<void(Result<T>)> back_with(Context& context, Call call, Then then) {
  context.asks->begun();
  return [&context, call = std::move(call), then = std::move(then)](Result<T> result) mutable {
    context.resume(
        [call = std::move(call), then = std::move(then), result = std::move(result)]() mutable {
          then(std::move(call), std::move(result));
        });
    context.asks->finished();
  };
}

// The same; an error is told to the caller, and `then` gets what is none.
template <class T, class Then>
std::move_only_function<void(Result<T>)> back(Context& context, Call call, Then then) {
  return back_with<T>(context, std::move(call),
                      [then = std::move(then)](Call asked, Result<T> result) mutable {
                        if (!result) return std::move(asked).fail(result.error());
                        if constexpr (std::is_void_v<T>) {
                          then(std::move(asked));
                        } else {
                          then(std::move(asked), *std::move(result));
                        }
                      });
}

// What a caller's own operation is called, if it says so: X-Correlation-Id.
std::string correlation_of(const Call& call);

// Who changes something, for those who read of it.
std::string who_asks(const Call& call);

// Puts on record who changes what, before it is done: without the record it is not done.
using Details = std::vector<std::pair<std::string_view, json::Value>>;
Result<void> record_change(Context& context, const Call& call, audit::Event event);

}  // namespace pawl::admin
