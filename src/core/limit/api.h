// The bodies of POST /v1/check, /v1/reserve, /v1/commit, /v1/cancel and /v1/renew: what a program
// asks, and what it is answered.
//
// Why:      a program that is not behind the gateway paces itself by the same limits.
// Contract: pure. Reading is strict: an unknown member, a wrong type or a value beyond its bounds
//           is an error that names the member, what was found, and what is allowed. What is printed
//           reads back as the same. Waits are rounded up: never too short.
// Bounds:   tenant_bytes_max, config_name_bytes_max, limit_count_max, limit_hold_max. Whoever
//           receives a body bounds its length.
// See:      docs/formats.md#limit-api-bodies
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "core/limit/decide.h"

namespace pawl::limit {

// What a program holds of a reservation: all that settling it takes, so that any process can.
//
//   v1.00000000deadbeef.orders.61636d65    (id, bucket, tenant; id and tenant in hexadecimal)
//
// It is no secret of pawl's and is not signed: the store looks for the id, which is hard to guess,
// among the reservations of that bucket and tenant. A token that was made up, or changed, finds
// nothing there.
struct ReservationToken {
  std::uint64_t id = 0;  // as the store gave it; never 0
  std::string tenant;
  std::string bucket;
  bool operator==(const ReservationToken&) const = default;
};
// v1. + id + . + bucket + . + tenant
inline constexpr std::size_t reservation_token_bytes_max =
    3 + 16 + 1 + bounds::config_name_bytes_max + 1 + 2 * bounds::tenant_bytes_max;

// Safe in a URL as it is.
std::string to_string(const ReservationToken& token);
// Only what to_string() makes: no two texts are one token.
Result<ReservationToken> parse_reservation_token(std::string_view text);

struct CheckRequest {
  std::string tenant;
  std::string bucket;
  std::int64_t cost = 1;
  bool peek = false;  // would it be allowed? nothing is charged
  bool operator==(const CheckRequest&) const = default;

  // What to ask the store for.
  std::int64_t charge() const { return peek ? 0 : cost; }
};

struct ReserveRequest {
  std::string tenant;
  std::string bucket;
  std::int64_t cost = 1;
  Duration hold = {};  // whole milliseconds, as all holds here
  bool operator==(const ReserveRequest&) const = default;
};

struct CommitRequest {
  ReservationToken reservation;
  std::int64_t actual = 0;
  bool operator==(const CommitRequest&) const = default;
};

struct CancelRequest {
  ReservationToken reservation;
  bool operator==(const CancelRequest&) const = default;
};

struct RenewRequest {
  ReservationToken reservation;
  Duration hold = {};
  bool operator==(const RenewRequest&) const = default;
};

Result<CheckRequest> parse_check_request(std::string_view body);
Result<ReserveRequest> parse_reserve_request(std::string_view body);
Result<CommitRequest> parse_commit_request(std::string_view body);
Result<CancelRequest> parse_cancel_request(std::string_view body);
Result<RenewRequest> parse_renew_request(std::string_view body);

std::string to_json(const CheckRequest& request);
std::string to_json(const ReserveRequest& request);
std::string to_json(const CommitRequest& request);
std::string to_json(const CancelRequest& request);
std::string to_json(const RenewRequest& request);

// `limit`, `remaining` and `reset_seconds` are those of `policy`, the one that refused for longest
// or else is closest to refusing.
struct CheckAnswer {
  bool allowed = false;
  std::optional<std::int64_t> retry_after_ms;  // 0 when allowed; nothing when no wait would do
  std::string policy;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  std::int64_t reset_seconds = 0;  // until nothing is used any more
  std::string why;                 // explain(), as operators are told: theirs are the programs
};

struct ReserveAnswer {
  CheckAnswer check;
  std::optional<ReservationToken> reservation;  // nothing when it was refused
  Duration expires_in = {};                     // then settling finds nothing
};

// `answer` is what the store said to request.charge(). A peek is told what an ask of its cost would
// be, and a wait that would do: the earliest for a cost of 1, else perhaps a longer one, since a
// look at a store does not learn when several come.
CheckAnswer check_answer(const CheckRequest& request, Counts counts, const Answer& answer);
// `id` is the store's; 0 when it refused.
ReserveAnswer reserve_answer(const ReserveRequest& request, Counts counts, const Answer& answer,
                             std::uint64_t id);

std::string to_json(const CheckAnswer& answer);
std::string to_json(const ReserveAnswer& answer);

}  // namespace pawl::limit
