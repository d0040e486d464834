#include "adapter/memory/mark_table.h"

#include <algorithm>

namespace pawl {
namespace {

// A new key of a full table pays for looking at this many others; a flood costs no more each.
constexpr int swept_at_once = 16;

}  // namespace

MarkTable::MarkTable(std::size_t keys_max, std::size_t marks_max)
    : shard_keys_max_(std::max<std::size_t>(1, keys_max / shards)),
      shard_marks_max_(std::max<std::size_t>(1, marks_max / shards)) {}

MarkTable::Kept* MarkTable::find(Hash128 key) {
  Shard& shard = shards_[shard_of(key)];
  const auto found = shard.kept.find(key);
  return found == shard.kept.end() ? nullptr : &found->second;
}

MarkTable::Extracted MarkTable::extract(Hash128 key, Kept& kept) {
  Shard& shard = shards_[shard_of(key)];
  const std::unique_lock lock(shard.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return Extracted::busy;
  const auto found = shard.kept.find(key);
  if (found == shard.kept.end()) return Extracted::no;
  kept = std::move(found->second);
  shard.marks -= kept.marks.size();
  shard.kept.erase(found);
  return Extracted::yes;
}

void MarkTable::lock(std::size_t shard, const IsRested& is_rested) {
  lock(shard);
  if (is_full(shards_[shard])) sweep(shards_[shard], is_rested);
}

bool MarkTable::is_full_of_marks(Hash128 key) const {
  return shards_[shard_of(key)].marks >= shard_marks_max_;
}

MarkTable::Kept* MarkTable::insert(Hash128 key, const limit::Rule& rule) {
  Shard& shard = shards_[shard_of(key)];
  if (is_full(shard)) return nullptr;
  return &shard.kept.emplace(key, Kept{{}, rule}).first->second;
}

MarkTable::Kept& MarkTable::shared(Hash128 key, const limit::Rule& rule) {
  return shards_[shard_of(key)].kept.emplace(key, Kept{{}, rule}).first->second;
}

void MarkTable::count_marks(Hash128 key, std::size_t before, std::size_t after) {
  Shard& shard = shards_[shard_of(key)];
  shard.marks += after;
  shard.marks -= before;
}

void MarkTable::sweep(Shard& shard, const IsRested& is_rested) {
  auto it = shard.kept.lower_bound(shard.sweep_from);
  for (int i = 0; i < swept_at_once && !shard.kept.empty(); ++i) {
    if (it == shard.kept.end()) it = shard.kept.begin();
    if (is_rested(it->second)) {
      shard.marks -= it->second.marks.size();
      it = shard.kept.erase(it);
    } else {
      ++it;
    }
  }
  shard.sweep_from = it == shard.kept.end() ? Hash128() : it->first;
}

template <class Of>
std::size_t MarkTable::sum(Of of) {
  std::size_t sum = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += of(shard);
  }
  return sum;
}

std::size_t MarkTable::keys() {
  return sum([](const Shard& shard) { return shard.kept.size(); });
}

std::size_t MarkTable::marks() {
  return sum([](const Shard& shard) { return shard.marks; });
}

}  // namespace pawl
