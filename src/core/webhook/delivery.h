// Delivery: one event on its way to one endpoint, until it is acknowledged or given up.
//
//             failed, or not tried
//              ┌─────────┐
//              ▼         │
//   add ───▶ pending ────┤
//                        ├──▶ acknowledged   2xx
//                        └──▶ given_up       it will never be taken, or was tried often enough
//
// Contract: pure. What has ended stays as it is. Attempts are spread over three days; what an
//           answer means is http_table() of core/retry/classify.h: 2xx acknowledges, 408, 425 and
//           429, 5xx and silence are tried again, every other 4xx (410 as well) ends it. A message
//           that may have arrived is sent again, since the receiver knows it by its id.
// See:      docs/webhooks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/limit/pushback.h"
#include "core/retry/classify.h"
#include "core/retry/policy.h"
#include "pawl/time.h"

namespace pawl::webhook {

enum class State : std::uint8_t { pending, acknowledged, given_up };
std::string_view to_string(State state);
std::optional<State> state_of(std::string_view name);

struct Delivery {
  std::string event_id = {};
  std::string endpoint = {};
  std::string type = {};
  std::string tenant = {};
  State state = State::pending;
  int attempts = 0;
  Instant created_at = {};
  Instant next_at = {};         // while it is pending
  Instant ended_at = {};        // afterwards
  int last_status = 0;          // 0: there was no answer yet
  std::string last_error = {};  // empty: none
  bool operator==(const Delivery&) const = default;
};

// "webhook ENDPOINT EVENT_ID": under which processes that share a store send it once.
std::string record_key(std::string_view endpoint, std::string_view event_id);

// The schedule that the Standard Webhooks specification recommends.
retry::Policy delivery_policy();

// What an answer means.
struct Heard {
  retry::Classification seen = {};
  Duration pushback = {};  // the wait that it named
};
Heard hear(int status, std::span<const limit::Field> fields, Instant now);

}  // namespace pawl::webhook
