// Event: something that happened and that others asked to be told of.
//
// Contract: pure values. The id is the event's identity: emitted twice, it is told once. What is
//           sent is one line of JSON with the members data, id, tenant, timestamp and type, in that
//           order; numbers keep the digits they were written with.
// Bounds:   bounds::webhook_*. An id has no full stop: it stands in front of one in what is signed
//           (signature.h).
// See:      docs/webhooks.md.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::webhook {

struct Event {
  std::string id = {};
  std::string type = {};    // "limit.near"
  std::string tenant = {};  // empty: nobody's
  Instant time = {};
  json::Value data = {};
};

// Letters, digits, '_', '-' and '.', none of the dots at an end or beside another.
Result<void> check_type(std::string_view type);
Result<void> check(const Event& event);

// What is sent of it. The error says that it is too large.
Result<std::string> body_of(const Event& event);

// The id of an event that is named by what it is about: the same parts give the same id in every
// process. Two that differ in any part differ.
std::string event_id(std::initializer_list<std::string_view> parts);

// The events that pawl itself emits.
inline constexpr std::string_view limit_near = "limit.near";
inline constexpr std::string_view outcome_unknown = "idempotency.unknown";

// A tenant has used most of a bucket: once a window, whichever process sees it first.
struct NearLimit {
  std::string_view tenant;
  std::string_view bucket;
  std::int64_t limit = 0;
  std::int64_t used = 0;
  Instant resets_at;
  std::string_view plan = {};
  std::string_view next_plan = {};  // what an upgrade would give; empty: there is none
};
Event to_event(const NearLimit& near, Instant now);

// Nobody knows what became of a write.
struct UnknownWrite {
  std::string_view tenant;
  std::string_view method;
  std::string_view path;
  std::string_view key;         // as the client gave it
  std::string_view request_id;  // another try of the same key is another event
};
Event to_event(const UnknownWrite& write, Instant now);

}  // namespace pawl::webhook
