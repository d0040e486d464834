#include "adapter/memory/memory_counter_store.h"

#include <algorithm>

namespace pawl {
namespace {

// A new key of a full table pays for looking at this many places; a flood of keys costs no more
// each.
constexpr std::size_t sweep_buckets = 16;

}  // namespace

MemoryCounterStore::MemoryCounterStore(Clock& clock, std::size_t keys_max)
    : clock_(clock), shard_keys_max_(std::max<std::size_t>(1, keys_max / shards)) {}

void MemoryCounterStore::charge(const Charge& charge, Done done) {
  std::string key;  // policy names are short: most keys fit without an allocation
  key.reserve(charge.policy.name.size() + 1 + charge.key.size());
  key.append(charge.policy.name).append(1, '\n').append(charge.key);
  Shard& shard = shards_[Hash()(key) % shards];
  limit::Verdict verdict;
  {
    const std::lock_guard lock(shard.mutex);
    const SteadyInstant now = clock_.steady_now();
    verdict = limit::decide(charge.policy.bucket, cell_of(shard, key, now), charge.cost, now);
  }
  done(verdict);
}

limit::Cell& MemoryCounterStore::cell_of(Shard& shard, std::string_view key, SteadyInstant now) {
  if (const auto found = shard.cells.find(key); found != shard.cells.end()) return found->second;
  if (shard.cells.size() >= shard_keys_max_) drop_some_full(shard, now);
  if (shard.cells.size() >= shard_keys_max_) return shard.overflow;
  // The key may have been charged on the overflow cell before: it starts from there.
  return shard.cells.emplace(key, shard.overflow).first->second;
}

void MemoryCounterStore::drop_some_full(Shard& shard, SteadyInstant now) {
  Cells& cells = shard.cells;
  for (std::size_t i = 0; i < std::min(sweep_buckets, cells.bucket_count()); ++i) {
    shard.sweep_bucket = (shard.sweep_bucket + 1) % cells.bucket_count();
    for (auto it = cells.begin(shard.sweep_bucket); it != cells.end(shard.sweep_bucket);) {
      const auto next = std::next(it);
      if (limit::is_full(it->second, now)) cells.erase(cells.find(it->first));
      it = next;
    }
  }
}

std::size_t MemoryCounterStore::keys() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    count += shard.cells.size();
  }
  return count;
}

}  // namespace pawl
