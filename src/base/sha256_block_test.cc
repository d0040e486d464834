// Goal: both forms of the compression function are right, whichever this machine would choose.
// Method: the published state after the block of "abc"; then each against the other on random
// blocks.
#include "base/sha256_block.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace pawl::sha256_block {
namespace {

constexpr State initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr State after_abc = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                             0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};

TEST(Sha256Block, GivesThePublishedStateInBothForms) {
  std::array<std::uint8_t, block_bytes> block = {'a', 'b', 'c', 0x80};
  block.back() = 24;  // bits of the message
  State portable = initial;
  compress_portable(portable, block.data(), 1);
  EXPECT_EQ(portable, after_abc);
  State fastest = initial;
  compress(fastest, block.data(), 1);
  EXPECT_EQ(fastest, after_abc);
}

RC_GTEST_PROP(Sha256Block, IsTheSameInBothForms, (State state)) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 5);
  const auto blocks = *rc::gen::container<std::vector<std::uint8_t>>(
      count * block_bytes, rc::gen::arbitrary<std::uint8_t>());
  State portable = state;
  compress_portable(portable, blocks.data(), count);
  compress(state, blocks.data(), count);
  RC_ASSERT(state == portable);
}

}  // namespace
}  // namespace pawl::sha256_block
