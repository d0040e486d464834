// What a venue said: to a placement, to a change, and when it was asked what became of an order.
//
// Contract: values, made by the venues (src/venue), judged by core/order alone. An Answer never
//           says more than is certain: whatever may have reached the venue and was not clearly
//           refused is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "core/order/order.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::order {

// How a wire attempt ended.
enum class Sent : std::uint8_t {
  accepted,      // the venue has the order and gave its id
  refused,       // clearly not accepted, and would not be if sent again
  rate_limited,  // 429, 50011, 50061: not accepted, may be sent again later
  duplicate,     // 409, 51016, 50071: the first copy arrived; never sent again, reconciled
  not_sent,      // no byte left, or a gate turned it away: may be sent again
  unknown,       // everything else: 5xx, timeouts, TradeNotCompleted, answers that make no sense
};
std::string_view to_string(Sent sent);
std::optional<Sent> sent_of(std::string_view name);
// not_applied, applied, unknown (duplicate is unknown until reconciled).
Outcome outcome_of(Sent sent);

// Saxo took it and did not finish; it may come to life at any time.
inline constexpr std::string_view not_completed_code = "TradeNotCompleted";

struct Answer {
  Sent sent = Sent::unknown;
  // Of not_sent: it left, and a gate of the venue (a token that ended, a clock that is off) turned
  // it away before anybody looked at it. What the gate wants is renewed before the next attempt.
  bool turned_away = false;
  std::string order_id = {};     // where one was given; also with unknown and refused ones
  int status = 0;                // of HTTP; 0: no answer
  std::string code = {};         // the venue's own: TradeNotCompleted, 51008; or of the transport
  std::string message = {};      // for people; no secret
  Duration retry_after = {};     // where the venue named a wait
  std::string correlation = {};  // X-Correlation and its like
  std::string limits = {};       // the rate-limit headers it came with, as to_string(readings)
  // Nothing that was sent is taken by the venue after this (OKX: expTime); none: no such promise.
  std::optional<Instant> expires = {};
  bool operator==(const Answer&) const = default;
};

// What an order is now, in words all venues share.
enum class Life : std::uint8_t { working, filled, canceled, rejected, unknown };
std::string_view to_string(Life life);
std::optional<Life> life_of(std::string_view name);

// An order as a venue shows it.
struct VenueOrder {
  std::string order_id = {};
  std::string reference = {};   // ExternalReference, or clOrdId; empty: not shown
  std::string instrument = {};  // as instrument_name()
  Side side = Side::buy;
  std::string type = {};  // of the venue's vocabulary where it is none of ours
  Decimal size = {};
  std::optional<Decimal> price = {};
  Decimal filled = {};
  bool reduce_only = false;
  Life life = Life::unknown;
  Instant placed_at = {};
  std::string says = {};  // the venue's own word for its state
  bool operator==(const VenueOrder&) const = default;
};

// One source that was read in a reconciliation.
struct SourceRead {
  enum class Found : std::uint8_t { absent, present, probable, unreadable };
  std::string source = {};  // "GET /port/v1/orders/me", "orders-history"
  Instant at = {};
  Found found = Found::unreadable;
  std::string says = {};  // one line
  bool operator==(const SourceRead&) const = default;
};
std::string_view to_string(SourceRead::Found found);

// One look at all sources of a venue.
struct Reading {
  std::vector<SourceRead> sources = {};
  std::vector<VenueOrder> orders =
      {};  // that are this intent's beyond doubt (by reference or order id)
  std::vector<VenueOrder> probable = {};  // that look like it (same instrument, side, size, time)
  // All sources that must be read were, and what they keep reaches back to the intent.
  bool whole = false;
  std::string why_not_whole = {};
  std::optional<Instant> venue_time = {};  // the venue's clock, read with it
  bool operator==(const Reading&) const = default;
};

}  // namespace pawl::order
