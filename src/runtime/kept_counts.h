// KeptCounts: the counts of an ask, for as long as somebody may still need them.
//
// Why:      a store's caller lends its keys until the call returns; whoever asks a second store
//           when the first has answered needs them for longer. Policies live until `done` anyway.
// Contract: view() is what it was made of. It may be moved, and the views stay what they are.
#pragma once

#include <string_view>
#include <vector>

#include "port/counter_store.h"

namespace pawl {

class KeptCounts {
 public:
  explicit KeptCounts(Counts counts) : counts_(counts.begin(), counts.end()) {
    std::size_t bytes = 0;
    for (const Count& count : counts) bytes += count.key.name().size();
    names_.reserve(bytes);
    for (Count& count : counts_) {
      if (count.key.is_id()) continue;
      const std::string_view name = count.key.name();
      const char* const kept = names_.data() + names_.size();
      names_.insert(names_.end(), name.begin(), name.end());
      count.key = std::string_view(kept, name.size());
    }
  }
  KeptCounts(KeptCounts&&) = default;
  KeptCounts& operator=(KeptCounts&&) = default;

  Counts view() const { return counts_; }

 private:
  std::vector<Count> counts_;
  std::vector<char> names_;  // not a string: a short one would move with its owner
};

}  // namespace pawl
