// Goal: the hash is the same everywhere, tells keys apart, spreads them, and hides behind its seed.
// Method: pinned vectors; all short keys and a million names without one meeting; bits counted.
#include "base/hash.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl {
namespace {

std::pair<std::uint64_t, std::uint64_t> halves(Hash128 hash) {
  return {hash.high, hash.low};
}

struct Vector {
  std::string_view key;
  std::uint64_t high;
  std::uint64_t low;
};

TEST(Hash, IsTheSameOnEveryMachine) {
  for (const Vector& vector : {
           Vector{"", 0xd6459a96badff956, 0x6cccfa8da1dfdc87},
           Vector{"a", 0xbc2ca7c073a351f7, 0xa9b72ab71aba0bc1},
           Vector{"acme", 0xefda690da1841a99, 0x2df248498780a5fe},
           Vector{"tenant-17", 0x5af59d470513dc81, 0x5ddf93a211049bb1},
           Vector{"a key of more than sixteen bytes", 0x600038772459b04e, 0xbe7a7bb3b2fc8312},
       }) {
    EXPECT_EQ(hash_of(vector.key, 42), (Hash128{vector.high, vector.low})) << vector.key;
  }
  EXPECT_EQ(hash_of(Hash128{1, 2}, 42), (Hash128{0xe922f8d6f0d312e9, 0x4c4454d85be8bd98}));
}

TEST(Hash, TellsEveryShortKeyApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t count = 0;
  for (std::size_t length = 0; length <= 40; ++length) {
    // Every place of the key matters, and so does its length.
    std::string key(length, 'a');
    seen.insert(halves(hash_of(key, 1)));
    ++count;
    for (std::size_t at = 0; at < length; ++at) {
      for (const char c : {'b', '\0', '\xff'}) {
        std::string other = key;
        other[at] = c;
        seen.insert(halves(hash_of(other, 1)));
        ++count;
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Hash, AMillionNamesMeetInNeitherHalf) {
  std::vector<std::uint64_t> high, low;
  for (int i = 0; i < 1'000'000; ++i) {
    const Hash128 hash = hash_of("tenant-" + std::to_string(i), 7);
    high.push_back(hash.high);
    low.push_back(hash.low);
  }
  for (auto* half : {&high, &low}) {
    std::sort(half->begin(), half->end());
    EXPECT_EQ(std::adjacent_find(half->begin(), half->end()), half->end());
  }
}

TEST(Hash, OneBitOfTheKeyOrTheSeedChangesAboutHalfOfTheHash) {
  const auto distance = [](Hash128 a, Hash128 b) {
    return __builtin_popcountll(a.high ^ b.high) + __builtin_popcountll(a.low ^ b.low);
  };
  int total = 0, cases = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    for (const int d : {distance(hash_of(Hash128{5, 6}, 9), hash_of(Hash128{5 ^ bit, 6}, 9)),
                        distance(hash_of(Hash128{5, 6}, 9), hash_of(Hash128{5, 6 ^ bit}, 9)),
                        distance(hash_of(Hash128{5, 6}, 9), hash_of(Hash128{5, 6}, 9 ^ bit)),
                        distance(hash_of("acme", 9), hash_of("acme", 9 ^ bit))}) {
      EXPECT_GT(d, 24);
      EXPECT_LT(d, 104);
      total += d;
      ++cases;
    }
  }
  EXPECT_NEAR(total / cases, 64, 4);
}

TEST(Hash, ANumberIsNoString) {
  const char bytes[16] = {};
  EXPECT_NE(hash_of(std::string_view(bytes, 16), 0), hash_of(Hash128{0, 0}, 0));
}

}  // namespace
}  // namespace pawl
