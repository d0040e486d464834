// MarkTable: the marks of many keys, for the algorithms that remember uses one by one.
//
// Why:      such a state grows with its limit, so it cannot stand in CellTable. It is for small
//           limits; a lock a shard serves it well enough.
// Contract: a key is known by 128 bits of hash. A key is forgotten only when nothing of it is in
//           use, as the caller's `is_rested` says.
// Bounds:   `keys_max` keys and `marks_max` marks, spread evenly over the shards. A shard that is
//           full takes no new key, and says so to those who want to add to a known one.
// Threads:  any; a state may be touched while its shard is locked.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

#include "base/hash.h"
#include "core/limit/policy.h"
#include "core/limit/state.h"

namespace pawl {

class MarkTable {
 public:
  MarkTable(std::size_t keys_max, std::size_t marks_max);

  struct Kept {
    limit::Marks marks;
    limit::Rule rule;  // under which they were kept
  };
  using IsRested = std::function<bool(Kept& kept)>;

  static constexpr std::size_t shards = 64;
  static std::size_t shard_of(Hash128 key) { return key.high % shards; }

  // A full shard forgets some of those that have rested, as `is_rested` says. What find() gives is
  // good until the shard is unlocked.
  void lock(std::size_t shard, const IsRested& is_rested);
  void lock(std::size_t shard) { shards_[shard].mutex.lock(); }
  void unlock(std::size_t shard) { shards_[shard].mutex.unlock(); }

  // Takes a key's state out of the table. Its shard must not be locked by the caller; while it is
  // by another, the answer is busy, for who waits here may hold what the other waits for.
  enum class Extracted : std::uint8_t { no, yes, busy };
  Extracted extract(Hash128 key, Kept& kept);

  // The rest needs the key's shard locked. Null: it has no state.
  Kept* find(Hash128 key);
  // Whether the key's shard has as many marks as it may have.
  bool is_full_of_marks(Hash128 key) const;
  // Null: there is no room.
  Kept* insert(Hash128 key, const limit::Rule& rule);
  // One that is made in any case: the key that others share when there is no room.
  Kept& shared(Hash128 key, const limit::Rule& rule);
  void count_marks(Hash128 key, std::size_t before, std::size_t after);
  std::size_t keys();
  std::size_t marks();

 private:
  struct Shard {
    std::mutex mutex;
    std::map<Hash128, Kept> kept;
    std::size_t marks = 0;
    Hash128 sweep_from;
  };
  bool is_full(const Shard& shard) const {
    return shard.kept.size() >= shard_keys_max_ || shard.marks >= shard_marks_max_;
  }
  static void sweep(Shard& shard, const IsRested& is_rested);
  template <class Of>
  std::size_t sum(Of of);

  const std::size_t shard_keys_max_;
  const std::size_t shard_marks_max_;
  std::array<Shard, shards> shards_;
};

}  // namespace pawl
