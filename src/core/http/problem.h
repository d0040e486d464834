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
};

int status_of(ProblemCode code);
std::string_view to_string(ProblemCode code);

struct Problem {
  ProblemCode code;
  std::string detail;  // what happened and what to do
  std::span<const std::string_view> violated_policies = {};
};

// The JSON body.
std::string body_of(const Problem& problem);

// "Not Found" for 404; for the statuses pawl itself answers with.
std::string_view reason_phrase(int status);

}  // namespace pawl::http
