// Backoff: how long to wait before the next attempt.
//
// Contract: pure and in whole numbers: the same inputs give the same delay on every machine, so a
//           replay reckons what was waited. Never above max_delay, never below min_delay. The
//           jitter is a hash of (key, attempt) that chooses evenly from its range; where that range
//           passes max_delay it is cut there before, not after: else all who came that far would
//           meet at max_delay.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/retry/policy.h"

namespace pawl::retry {

// Of an operation's key (idempotency key, or whatever names this one operation): the same on every
// machine, so without a seed.
std::uint64_t jitter_key(std::string_view key);

// After attempt number `attempt` (from 1) has failed. `previous` is what was waited before that
// attempt; zero before the first. The policy is one that check() accepts.
Duration backoff(const Policy& policy, std::uint64_t key, int attempt, Duration previous);

}  // namespace pawl::retry
