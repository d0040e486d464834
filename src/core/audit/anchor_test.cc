// Goal: an anchor reads back as it was written, and nothing else reads as one.
// Method: pinned text; every byte of it changed, cut and lengthened.
#include "core/audit/anchor.h"

#include <gtest/gtest.h>

namespace pawl::audit {
namespace {

Link link(std::uint64_t seq) {
  return {.seq = seq, .prev = {}, .hash = "0123456789abcdef" + std::string(48, 'a')};
}

TEST(Anchor, IsOneLine) {
  EXPECT_EQ(anchor_text(link(17)),
            R"({"hash":"0123456789abcdef)" + std::string(48, 'a') + "\",\"seq\":17}\n");
}

TEST(Anchor, ReadsBackAndNeverGetsShorter) {
  std::size_t before = 0;
  for (const std::uint64_t seq : {std::uint64_t{1}, std::uint64_t{9}, std::uint64_t{10},
                                  std::uint64_t{999'999'999'999}, ~std::uint64_t{0}}) {
    const std::string text = anchor_text(link(seq));
    EXPECT_EQ(read_anchor(text).value(), (Anchor{.seq = seq, .hash = link(seq).hash}));
    EXPECT_LE(before, text.size());
    EXPECT_LE(text.size(), anchor_bytes_max);
    before = text.size();
  }
}

TEST(Anchor, NothingElseReadsAsOne) {
  const std::string good = anchor_text(link(17));
  EXPECT_FALSE(read_anchor("").has_value());
  EXPECT_FALSE(read_anchor(anchor_text(link(0))).has_value());
  EXPECT_FALSE(read_anchor(good + "\n").has_value());
  EXPECT_FALSE(read_anchor(std::string(200, 'x')).has_value());
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(read_anchor(good.substr(0, i)).has_value()) << i;
    std::string changed = good;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(read_anchor(changed).has_value()) << i;
  }
}

}  // namespace
}  // namespace pawl::audit
