#include "gateway/seen_tenants.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace pawl::gateway {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;
static_assert(bounds::tenant_bytes_max <= std::numeric_limits<std::uint8_t>::max());

std::uint32_t second_of(Instant now) {
  const std::int64_t second = now.ns() / Duration::seconds(1).ns();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(second, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::uint32_t SeenTenants::Names::add(std::string_view name) {
  PAWL_ASSERT(name.size() <= bounds::tenant_bytes_max);
  if (pieces_.empty() || used_ + 1 + name.size() > piece_bytes) {
    pieces_.push_back(std::make_unique_for_overwrite<char[]>(piece_bytes));
    used_ = 0;
  }
  char* const at = pieces_.back().get() + used_;
  at[0] = static_cast<char>(name.size());
  std::memcpy(at + 1, name.data(), name.size());
  const std::size_t place = (pieces_.size() - 1) * piece_bytes + used_;
  used_ += 1 + name.size();
  return static_cast<std::uint32_t>(place);
}

std::string_view SeenTenants::Names::at(std::uint32_t place) const {
  const char* const at = pieces_[place / piece_bytes].get() + place % piece_bytes;
  return {at + 1, static_cast<std::uint8_t>(at[0])};
}

std::size_t SeenTenants::Names::bytes() const {
  return pieces_.size() * piece_bytes;
}

SeenTenants::SeenTenants(std::uint64_t seed, std::size_t most)
    : seed_(seed), most_(most), places_(std::bit_ceil(most + most / 4)) {
  PAWL_ASSERT(most >= 4 &&
              most <= std::numeric_limits<std::uint32_t>::max() / (2 * bounds::tenant_bytes_max));
}

// That of the hash, or the empty one where it would stand. While the oldest are forgotten, what is
// there may not be found; then the lock is waited for.
SeenTenants::Place& SeenTenants::find(std::uint64_t hash) {
  const std::size_t mask = places_.size() - 1;
  for (std::size_t i = hash >> 32;; ++i) {
    Place& place = places_[i & mask];
    const std::uint64_t kept = place.hash.load(std::memory_order_relaxed);
    if (kept == hash || kept == 0) return place;
  }
}

void SeenTenants::note(std::string_view name, Instant now) {
  const std::uint64_t hash = hash_of(name, seed_).low | 1;
  const std::uint32_t second = second_of(now);
  Place& place = find(hash);
  if (place.hash.load(std::memory_order_relaxed) != hash) {
    add(name, hash, second);
  } else if (place.second.load(std::memory_order_relaxed) != second) {
    place.second.store(second, std::memory_order_relaxed);
  }
}

void SeenTenants::add(std::string_view name, std::uint64_t hash, std::uint32_t second) {
  const std::lock_guard lock(mutex_);
  if (Place& place = find(hash); place.hash == hash) {
    place.second = second;
    return;
  }
  if (count_ == most_) forget_oldest();
  put(hash, second, names_.add(name));
}

void SeenTenants::put(std::uint64_t hash, std::uint32_t second, std::uint32_t name) {
  Place& place = find(hash);
  place.second = second;
  place.name = name;
  place.hash = hash;
  ++count_;
}

void SeenTenants::forget_oldest() {
  struct Kept {
    std::uint64_t hash;
    std::uint32_t second;
    std::uint32_t name;
  };
  std::vector<Kept> kept;
  kept.reserve(count_);
  for (Place& place : places_) {
    if (place.hash != 0) kept.push_back({place.hash, place.second, place.name});
    place.hash = 0;
  }
  const std::size_t left = most_ - most_ / 4;
  std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(left),
                           std::ranges::greater(), &Kept::second);
  kept.resize(left);
  const Names old = std::exchange(names_, Names());
  count_ = 0;
  for (const Kept& each : kept) put(each.hash, each.second, names_.add(old.at(each.name)));
}

void SeenTenants::for_each(
    const std::function<void(std::string_view name, Instant last_seen)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    if (place.hash == 0) continue;
    visit(names_.at(place.name), Instant() + Duration::seconds(place.second));
  }
}

std::size_t SeenTenants::bytes() const {
  const std::lock_guard lock(mutex_);
  return places_.size() * sizeof(Place) + names_.bytes();
}

}  // namespace pawl::gateway
