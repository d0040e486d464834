// Choice: which of several upstreams gets the next request.
//
// Why:      the one with the fewest requests under way is the one that answers fastest for its
//           size, whatever the reason, and nobody has to weigh them.
// Contract: pure. Healthy ones only; when there is none, all of them: an upstream that may answer
//           is better than a certain refusal. Among equals they take turns, from `first` on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pawl::upstream {

struct Candidate {
  std::int64_t pending = 0;  // requests under way
  bool healthy = true;
  bool tried = false;  // in vain, for this very request
};

// Nothing: all have been tried.
std::optional<std::size_t> choose(std::span<const Candidate> candidates, std::size_t first);

}  // namespace pawl::upstream
