// MemoryCounterStore: cells in this process's memory.
//
// Contract: CounterStore. Nothing survives the process; a restart gives every key a full bucket, so
//           at most one burst too many a key.
// Bounds:   `keys_max` cells. A full table drops cells that are full again (equal to absent); when
//           it finds none, new keys of a shard share one overflow cell, which can only refuse too
//           much.
// Threads:  any; a lock a shard, held for one decision.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bounds.h"
#include "pawl/clock.h"
#include "port/counter_store.h"

namespace pawl {

class MemoryCounterStore final : public CounterStore {
 public:
  explicit MemoryCounterStore(Clock& clock, std::size_t keys_max = bounds::limit_keys_max);

  void charge(const Charge& charge, Done done) override;
  std::size_t keys() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };
  using Cells = std::unordered_map<std::string, limit::Cell, Hash, std::equal_to<>>;

  struct Shard {
    mutable std::mutex mutex;
    Cells cells;
    limit::Cell overflow;
    std::size_t sweep_bucket = 0;
  };

  static constexpr std::size_t shards = 64;

  limit::Cell& cell_of(Shard& shard, std::string_view key, SteadyInstant now);
  static void drop_some_full(Shard& shard, SteadyInstant now);

  Clock& clock_;
  const std::size_t shard_keys_max_;
  std::array<Shard, shards> shards_;
};

}  // namespace pawl
