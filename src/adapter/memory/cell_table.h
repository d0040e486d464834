// CellTable: the cells of many keys, in one block of memory, without locks on the way of a known
// key.
//
// How:      open addressing, 32 bytes a place. A place has a version that is odd while somebody
//           changes it. Reading takes no lock: version, cell, version again. Changing one or more
//           places together is optimistic: read, decide, then make the versions odd if they are
//           still the ones read (else begin again), write, make them even. So a refusal writes
//           nothing at all, and a charge holds a place for a few instructions.
// Contract: a key is known by 128 bits of hash and is not kept. A place is given to another key
//           only when its cell equals that of a key nobody has used, as the caller's `is_rested`
//           says. Two keys share a place only when their hashes meet (about 2^-80 a pair).
// Bounds:   `places` of 32 bytes each; the system gives the memory as it is touched. When the 64
//           places a key may stand in are all in use, there is no room for it.
// Threads:  any. New keys take one of 64 mutexes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/hash.h"
#include "core/limit/state.h"

namespace pawl {

class CellTable {
 public:
  explicit CellTable(std::size_t places);
  ~CellTable();
  CellTable(const CellTable&) = delete;
  CellTable& operator=(const CellTable&) = delete;

  // What stood in a place when it was read. `place` is null for a key that has none.
  struct Reading {
    void* place = nullptr;
    std::uint64_t version = 0;
    limit::Cell cell = {};
    std::uint32_t shape() const { return static_cast<std::uint32_t>(version >> 32); }
  };
  Reading read(Hash128 key) const;

  // Between hold() and write() or let_go() the place is the caller's. False: it has changed.
  static bool hold(const Reading& reading) {
    std::uint64_t expected = reading.version;
    return of(reading).version.compare_exchange_strong(
        expected, reading.version | held_bit, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  static void let_go(const Reading& reading) {
    of(reading).version.store(reading.version, std::memory_order_release);
  }
  static void write(const Reading& reading, limit::Cell cell, std::uint32_t shape) {
    Place& place = of(reading);
    place.a.store(cell.a, std::memory_order_release);
    place.b.store(cell.b, std::memory_order_release);
    place.version.store(next_version(reading.version, shape), std::memory_order_release);
  }

  // Before somebody who was not the fastest tries again. Two who take turns at one place spend
  // their time on handing it over, so the other goes on alone for a while. Begins with 0 pauses.
  static void stand_back(int& pauses);

  using IsRested = std::function<bool(limit::Cell cell, std::uint32_t shape)>;
  // Gives a key a place with an empty cell and shape 0, which says that nobody has filled it yet.
  // False: there is no room. True also when the key has a place already, which stays as it is.
  bool insert(Hash128 key, limit::Moment now, const IsRested& is_rested);
  // Whether the key has a place; waits for nobody.
  bool has(Hash128 key) const;

  std::size_t keys() const { return keys_.load(std::memory_order_relaxed); }
  std::size_t bytes() const { return places_count_ * sizeof(Place); }

 private:
  struct alignas(32) Place {
    std::atomic<std::uint64_t> fingerprint;  // 0: never used, so no key stands further on
    std::atomic<std::uint64_t> version;      // the shape, 31 bits of version, 1 bit "held"
    std::atomic<std::int64_t> a;
    std::atomic<std::int64_t> b;
  };

  // Where new keys come in.
  struct Door {
    std::mutex mutex;
    limit::Moment full_until;
  };

  static constexpr std::uint64_t held_bit = 1;
  static constexpr std::uint64_t version_mask = 0xffff'ffff;

  static Place& of(const Reading& reading) { return *static_cast<Place*>(reading.place); }
  static std::uint64_t next_version(std::uint64_t version, std::uint32_t shape) {
    return (std::uint64_t{shape} << 32) | (((version & ~held_bit) + 2) & version_mask);
  }
  static std::uint64_t fingerprint_of(Hash128 key) { return key.low == 0 ? 1 : key.low; }
  std::size_t home_of(Hash128 key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((static_cast<Wide>(key.high) * places_count_) >> 64);
  }
  Place& place(std::size_t home, std::size_t step) const {
    const std::size_t index = home + step;
    return places_[index < places_count_ ? index : index - places_count_];
  }
  Reading search(std::uint64_t fingerprint, std::size_t home) const;
  static Reading read_place(Place& place);
  static bool settle(Place& place, std::uint64_t fingerprint);
  void count_key();
  std::size_t mapped() const;

  std::size_t places_count_;
  void* memory_;   // mapped for as long as the table lives
  Place* places_;  // in it
  std::atomic<std::size_t> keys_ = 0;
  std::array<Door, 64> doors_;
};

// A known key mostly stands at its home and nobody is changing it.
inline CellTable::Reading CellTable::read(Hash128 key) const {
  const std::uint64_t fingerprint = fingerprint_of(key);
  const std::size_t home = home_of(key);
  Place& first = places_[home];
  const std::uint64_t version = first.version.load(std::memory_order_acquire);
  Reading reading{.place = &first, .version = version};
  reading.cell.a = first.a.load(std::memory_order_acquire);
  reading.cell.b = first.b.load(std::memory_order_acquire);
  const std::uint64_t found = first.fingerprint.load(std::memory_order_acquire);
  if (found == fingerprint && (version & held_bit) == 0 &&
      first.version.load(std::memory_order_relaxed) == version) {
    return reading;
  }
  return search(fingerprint, home);
}

}  // namespace pawl
