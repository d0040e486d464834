// Intent: an order that somebody wants placed once, and how far it has come. This is what the
// intent store keeps; the machine (placement.h) changes it.
//
//   sending ─▶ confirmed | rejected | reconciling ─▶ confirmed | sending … | unresolved
//      ▲                      │
//      └── nothing had left ──┘  placed again: the store opens it anew
//
// On disk there is no `reserved`: the row that reserves the quota slot already names the first
// attempt, so one commit stands between the call and the first byte. A crash while it waited for
// its pace therefore looks like one that was sent, and is reconciled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/order/answer.h"
#include "core/order/order.h"
#include "pawl/time.h"

namespace pawl::order {

enum class Status : std::uint8_t { sending, reconciling, unresolved, confirmed, rejected };
std::string_view to_string(Status status);
std::optional<Status> status_of(std::string_view name);
// Its outcome is not known yet: it keeps its quota slot. Unresolved ones are open, too.
constexpr bool is_open(Status status) {
  return status == Status::sending || status == Status::reconciling || status == Status::unresolved;
}

// Why a verdict was reached: what was sent and answered, which source was read, when, what it said.
struct Evidence {
  Instant at = {};
  std::string source = {};  // "place attempt 1", "GET /port/v1/orders/me", "person"
  std::string says = {};    // one line
  bool operator==(const Evidence&) const = default;
};

// The part of an intent that changes. Durable before the effect it allows.
struct Progress {
  Status status = Status::sending;
  int attempts = 1;                     // wire attempts, the one that may be under way included
  std::string request_id = {};          // of the last one
  std::string order_id = {};            // of the venue
  Life life = Life::unknown;            // of a confirmed one, as last seen
  std::string reason = {};              // of rejected and unresolved
  std::optional<Instant> expires = {};  // no copy is taken by the venue after that
  // The venue has it, by its own word (a duplicate, an id): never sent again, whatever is read.
  bool sealed = false;
  // Of a rejected one: no byte of any attempt left, so its reference may be placed again.
  bool unsent = false;
  std::vector<Evidence> evidence = {};  // oldest first, at most bounds::order_evidence_max
  bool operator==(const Progress&) const = default;
};

// One line, of at most bounds::order_text_bytes_max: what others say may be long, and in lines.
std::string line_of(std::string_view text);
// What is too much goes from the middle: how it began, and how it stands, are what people ask for.
void add_evidence(Progress& progress, Evidence evidence);

struct Intent {
  std::int64_t id = 0;  // of the store
  std::string reference = {};
  Order order = {};
  bool counts = true;    // against the weekly limit
  Instant created = {};  // the slot's week is this one's
  Progress progress = {};
  bool operator==(const Intent&) const = default;
};

// Of a rejected one of which no byte left: why, and that it may be placed again.
std::string unsent_text(const Progress& progress);
// Whoever asks for the same order again gets it opened anew: nothing of it ever left.
bool may_open_again(const Intent& intent, const Order& order);
// As it is then. What was found out before stays; attempts are counted from one, since retries and
// their delays are those of one opening.
Progress opened_again(const Progress& last, std::string request_id, Instant now);

}  // namespace pawl::order
