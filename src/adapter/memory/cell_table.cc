#include "adapter/memory/cell_table.h"

#include <algorithm>
#include <linux/mman.h>
#include <memory>
#include <sys/mman.h>
#include <thread>

#include "base/assert.h"

namespace pawl {
namespace {

constexpr std::size_t reach = 64;  // places from its home in which a key may stand
// Behind a door where none made room, nobody is asked again for a while: a flood of keys costs
// little.
constexpr Duration full_for = Duration::milliseconds(1);
constexpr int spins_before_yield = 64;
constexpr int stand_back_max = 128;  // some microseconds

constexpr std::size_t huge_page = 2 << 20;
// Each of so many new keys touches a page of its own, which together are as large as a huge one.
constexpr std::size_t keys_a_huge_page = huge_page / 4'096;

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

void wait_a_moment(int& spins) {
  if (++spins < spins_before_yield) {
    pause();
  } else {
    std::this_thread::yield();
  }
}

}  // namespace

CellTable::CellTable(std::size_t places) : places_count_(std::max(places, reach)) {
  memory_ = mmap(nullptr, mapped(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PAWL_ASSERT(memory_ != MAP_FAILED);  // a process that is out of memory ends
  void* start = memory_;
  std::size_t space = mapped();
  start = std::align(huge_page, bytes(), start, space);
  places_ = static_cast<Place*>(start);  // all zeros: a place that was never used
}

CellTable::~CellTable() {
  munmap(memory_, mapped());
}

std::size_t CellTable::mapped() const {
  return bytes() + huge_page;
}

// A table of many keys, met at random, spends more time on finding pages than on keys. Its memory
// becomes huge pages one by one as keys come, so a table of few keys stays small. A system that
// cannot does without.
void CellTable::count_key() {
  const std::size_t keys = keys_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::size_t page = keys / keys_a_huge_page;
  if (keys % keys_a_huge_page != 0 || page * huge_page > bytes()) return;
  std::byte* start = reinterpret_cast<std::byte*>(places_) + (page - 1) * huge_page;
  madvise(start, huge_page, MADV_COLLAPSE);
}

void CellTable::stand_back(int& pauses) {
  pauses = std::min(pauses * 2 + 32, stand_back_max);
  for (int i = 0; i < pauses; ++i) pause();
}

CellTable::Reading CellTable::read_place(Place& place) {
  for (int spins = 0;;) {
    const std::uint64_t version = place.version.load(std::memory_order_acquire);
    if ((version & held_bit) == 0) {
      Reading reading{.place = &place, .version = version};
      reading.cell.a = place.a.load(std::memory_order_acquire);
      reading.cell.b = place.b.load(std::memory_order_acquire);
      if (place.version.load(std::memory_order_relaxed) == version) return reading;
    }
    wait_a_moment(spins);
  }
}

CellTable::Reading CellTable::search(std::uint64_t fingerprint, std::size_t home) const {
  for (std::size_t step = 0; step < reach; ++step) {
    Place& each = place(home, step);
    const std::uint64_t found = each.fingerprint.load(std::memory_order_acquire);
    if (found == 0) break;
    if (found != fingerprint) continue;
    const Reading reading = read_place(each);
    // It may have been given to another key in between; then the version has changed since.
    if (each.fingerprint.load(std::memory_order_acquire) == fingerprint &&
        each.version.load(std::memory_order_relaxed) == reading.version) {
      return reading;
    }
    --step;  // look at it again
  }
  return {};
}

bool CellTable::has(Hash128 key) const {
  const std::size_t home = home_of(key);
  for (std::size_t step = 0; step < reach; ++step) {
    const std::uint64_t found = place(home, step).fingerprint.load(std::memory_order_seq_cst);
    if (found == fingerprint_of(key)) return true;
    if (found == 0) return false;
  }
  return false;
}

bool CellTable::insert(Hash128 key, limit::Moment now, const IsRested& is_rested) {
  const std::size_t home = home_of(key);
  const std::uint64_t fingerprint = fingerprint_of(key);
  // One key always takes the same door, so it never gets two places.
  Door& door = doors_[home % doors_.size()];
  const std::lock_guard lock(door.mutex);
  for (std::size_t step = 0; step < reach; ++step) {
    Place& each = place(home, step);
    const std::uint64_t found = each.fingerprint.load(std::memory_order_acquire);
    if (found == fingerprint) return true;
    if (found == 0 && settle(each, fingerprint)) {
      count_key();
      return true;
    }
  }
  if (now < door.full_until) return false;
  for (std::size_t step = 0; step < reach; ++step) {
    Place& each = place(home, step);
    const Reading reading = read_place(each);
    if (!is_rested(reading.cell, reading.shape()) || !hold(reading)) continue;
    each.fingerprint.store(fingerprint, std::memory_order_seq_cst);
    write(reading, {}, 0);
    return true;
  }
  door.full_until = now + full_for;
  return false;
}

// Takes a place that was never used. False: somebody else was faster.
bool CellTable::settle(Place& place, std::uint64_t fingerprint) {
  // Whoever holds it is waited for: while it looks unused, nobody may stand further on.
  Reading reading = read_place(place);
  while (!hold(reading)) reading = read_place(place);
  if (place.fingerprint.load(std::memory_order_acquire) != 0) {
    let_go(reading);
    return false;
  }
  place.fingerprint.store(fingerprint, std::memory_order_seq_cst);
  write(reading, {}, 0);
  return true;
}

}  // namespace pawl
