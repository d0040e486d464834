// The workload "limiter_storm": tenants storm a set of limits through the real engine, over a store
// that is late and loses answers and an upstream that fails, while a checker watches from outside.
//
// Checked: limit_never_exceeded  no policy lets more sends of a key through than its algorithm's
//                                header states. A send counts at the moment of its charge, and in
//                                the order of charges: sends that a late store bunches together
//                                after they were charged break no limit
//          slots_come_back       once every request has ended, no slot is lent any more
//          shadow_refuses_nobody who was refused was refused by a policy that is enforced
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
