// Outbox: the deliveries of webhooks, so that none gets lost and none is begun twice.
//
// Contract: each call is one step, however many threads or processes call at once, on the store's
//           own clock. What add() and save() changed is durable before `done` is called. An event
//           is there once for each endpoint: who adds it again changes nothing. What has ended
//           never becomes pending again. `done` is called exactly once, before the call returns or
//           later, on any thread.
// Order:    due() gives those of an endpoint that have waited longest first.
// Errors:   unavailable when the store cannot be asked, or holds as many pending ones as it may;
//           not_found and refused (it has ended) of save(). The outcome says whether something may
//           have been changed; each call may be made again.
// Bounds:   bounds::webhook_pending_max pending ones, none of which is ever dropped, and the latest
//           bounds::webhook_ended_max of the others, unless set otherwise.
// Threads:  any.
// Held by:  adapter/memory, adapter/sqlite.
// See:      outbox_conformance.h, which every store passes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/webhook/delivery.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct NewDelivery {
  std::string endpoint = {};
  std::string event_id = {};
  std::string type = {};
  std::string tenant = {};
  std::string body = {};
};

// What becomes of one that was pending.
struct DeliveryStep {
  webhook::State state = webhook::State::pending;
  int attempts = 0;
  Duration wait = {};  // pending: until it is due again
  int last_status = 0;
  std::string last_error = {};
  std::string trail = {};  // pending: what is needed to go on, for the caller alone
};

// Ended ones have neither body nor trail.
struct KeptDelivery {
  webhook::Delivery delivery = {};
  std::string body = {};
  std::string trail = {};
};

struct DueDeliveries {
  std::vector<KeptDelivery> items = {};
  std::optional<Duration> next = {};  // until the first that is not among them is due
  std::size_t pending = 0;            // of all endpoints
};

class Outbox {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~Outbox() = default;

  // All or none; due at once. How many of them are new.
  virtual void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) = 0;
  virtual void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) = 0;
  virtual void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
                    Done<void> done) = 0;
  // The newest first; of every state, or of one. At most bounds::webhook_list_max.
  virtual void list(std::size_t limit, std::optional<webhook::State> state,
                    Done<std::vector<webhook::Delivery>> done) = 0;

  // The error that calls would give now; no error when they would be served.
  virtual Result<void> health() { return {}; }
};

}  // namespace pawl
