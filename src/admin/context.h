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

#include "admin/call.h"
#include "admin/gate.h"
#include "admin/tenant_book.h"
#include "core/audit/event.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/audit_trail.h"
#include "port/counter_store.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "runtime/order_desk.h"
#include "runtime/visits.h"
#include "runtime/webhooks.h"
#include "runtime/write_stats.h"

namespace pawl::admin {

struct Context {
  Clock& clock;
  CounterStore& counters;
  RecordStore& records;
  EventSink& audit;
  TenantBook& tenants;
  const WriteStats& writes;
  const metrics::Registry& metrics;
  AuditTrail* trail = nullptr;   // nullptr: no audit sink is a file
  Webhooks* webhooks = nullptr;  // nullptr: none are sent here
  OrderDesk* orders = nullptr;   // nullptr: no venue is configured

  std::function<Result<void>()> ready;    // the error says why it is not
  std::function<std::string()> degraded;  // empty, or what works less well than it should
  std::function<void()> refresh;          // brings gauges up to date before they are read
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

  GateSettings gate = {};
  Duration record_ttl = {};
  std::unique_ptr<Visits> asks = std::make_unique<Visits>();  // of stores, not answered yet
};

// For a store: comes back to the admin listener's thread with the call and the answer. An error is
// told to the caller; `then` gets what is none.
template <class T, class Then>
std::move_only_function<void(Result<T>)> back(Context& context, Call call, Then then) {
  context.asks->begun();
  return [&context, call = std::move(call), then = std::move(then)](Result<T> result) mutable {
    context.resume(
        [call = std::move(call), then = std::move(then), result = std::move(result)]() mutable {
          if (!result) return std::move(call).fail(result.error());
          if constexpr (std::is_void_v<T>) {
            then(std::move(call));
          } else {
            then(std::move(call), *std::move(result));
          }
        });
    context.asks->finished();
  };
}

// Puts on record who changes what, before it is done: without the record it is not done.
using Details = std::vector<std::pair<std::string_view, json::Value>>;
Result<void> record_change(Context& context, const Call& call, audit::Event event);

}  // namespace pawl::admin
