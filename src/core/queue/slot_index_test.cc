// Goal: what was put in is found, what was taken out is not, whatever the hashes.
// Method: rapidcheck beside a set; few hashes, so that they crowd.
#include "core/queue/slot_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

#include "core/queue/named.h"

namespace pawl::queue {
namespace {

RC_GTEST_PROP(SlotIndex, FindsWhatIsInItAndNothingElse, ()) {
  SlotIndex index;
  std::set<std::uint32_t> kept;
  const auto spread = *rc::gen::inRange<std::uint64_t>(1, 60);
  const auto hash = [&](std::uint32_t number) { return std::uint64_t{number} % spread * 7; };
  for (int i = 0; i < 200; ++i) {
    const auto number = *rc::gen::inRange<std::uint32_t>(1, 80);
    if (kept.insert(number).second) {
      index.insert(hash(number), number);
    } else {
      index.erase(hash(number), number);
      kept.erase(number);
    }
    RC_ASSERT(index.size() == kept.size());
    for (std::uint32_t k = 1; k < 80; ++k) {
      const auto found = index.find(hash(k), [&](std::uint32_t at) { return at == k; });
      RC_ASSERT(found == (kept.contains(k) ? k : 0));
    }
  }
}

struct Thing {
  std::string name;
};

TEST(Named, GivesAFreeNumberAgainAndForgetsItsName) {
  Named<Thing> things;
  const auto first = things.find_or_make("a");
  EXPECT_TRUE(first.fresh);
  EXPECT_FALSE(things.find_or_make("a").fresh);
  things.erase(first.number);
  EXPECT_EQ(things.find("a"), 0U);
  EXPECT_EQ(things.find_or_make("b").number, first.number);
  EXPECT_EQ(things.size(), 1U);
}

}  // namespace
}  // namespace pawl::queue
