// Problem: an answer of pawl's own, as RFC 9457 problem+json with a stable code.
//
// Why the `error` object beside it: SDKs in the style of Stripe's take an answer without one for a
// success.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pawl::http {

enum class ProblemCode : std::uint8_t {
  rate_limit,
  tenant_unknown,
  store_unavailable,
  upstream_unreachable,
  upstream_timeout,
  bad_request,
  too_large,
  unauthorized,
  not_found,
  method_not_allowed,
  forbidden,
  overloaded,
  upgrade_refused,
  idempotency_key_missing,
  idempotency_key_invalid,
  idempotency_mismatch,
  idempotency_in_flight,
  idempotency_not_replayable,
  idempotency_key_forgotten,
  outcome_unknown,
  conflict,
  locked_out,
  internal,
};

int status_of(ProblemCode code);
std::string_view to_string(ProblemCode code);

struct Problem {
  ProblemCode code;
  std::string detail;  // what happened and what to do
  std::span<const std::string_view> violated_policies = {};
  int status = 0;  // in place of the code's own, where a setting says so
};
int status_of(const Problem& problem);

// The JSON body. Of words that stand elsewhere, too: who keeps room for both asks for no memory.
std::string body_of(const Problem& problem);
struct ProblemWords {
  ProblemCode code;
  std::string_view detail;
  std::span<const std::string_view> violated_policies;
  int status;
};
void append_body(std::string& out, const ProblemWords& problem);

// "Not Found" for 404; for the statuses pawl itself answers with.
std::string_view reason_phrase(int status);

}  // namespace pawl::http
