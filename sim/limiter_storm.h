// The workload "limiter_storm": tenants storm one limit through the real engine, over a store that
// is late and loses answers and an upstream that fails, while a checker watches from outside.
//
// Checked: limit_never_exceeded  in no stretch of time more sends of a tenant are charged than its
//                                bucket allows. A send counts at the moment of its charge, and in
//                                the order of charges: sends that a late store bunches together
//                                after they were charged break no limit
//          every_request_ends    each request ends exactly once (liveness included)
//          every_end_is_recorded the audit log holds one record of an end for each request
//          refused_means_unsent  what was refused never reached the upstream
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::sim {

struct StormReport {
  std::uint64_t seed = 0;
  std::string options;  // derived from the seed, for whoever has to look
  std::uint64_t requests = 0;
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;
  std::uint64_t store_failures = 0;
  std::uint64_t upstream_failures = 0;
  std::uint64_t trace_hash = 0;  // equal for equal seeds
  std::vector<std::string> violations;
};

// Bugs put in on purpose, to see that the checkers find them.
enum class Bug : std::uint8_t { none, store_forgets_charges };

StormReport run_limiter_storm(std::uint64_t seed, Bug bug = Bug::none);

}  // namespace pawl::sim
