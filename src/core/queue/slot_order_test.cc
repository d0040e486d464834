// Goal: an order shows every task by id, those that came after it was made too, and goes when it is
//       of no use.
// Method: ids and slots by hand; a visitor that knows which of them have gone.
#include "core/queue/slot_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SlotOrder::Entry entry(std::uint32_t number, std::uint32_t slot = 1) {
  SlotOrder::Entry made = {.slot = slot};
  for (std::size_t i = 0; i < 4; ++i) {
    made.id.bytes[11 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return made;
}

using Slots = std::vector<std::uint32_t>;

Slots walked(SlotOrder& order, std::optional<std::uint32_t> after = {}, std::size_t most = 99) {
  Slots slots;
  std::optional<TaskId> id;
  if (after) id = entry(*after).id;
  order.walk(id, [&](const SlotOrder::Entry& found) {
    if (slots.size() == most) return SlotOrder::Seen::enough;
    slots.push_back(found.slot);
    return SlotOrder::Seen::shown;
  });
  return slots;
}

TEST(SlotOrder, ShowsByIdWhatThereWasAndWhatCame) {
  SlotOrder order;
  order.add(entry(9, 9));
  EXPECT_FALSE(order.is_made());
  order.make({entry(3, 30), entry(1, 10), entry(5, 50)});
  order.add(entry(4, 40));
  order.add(entry(0, 5));
  EXPECT_THAT(walked(order), ElementsAre(5, 10, 30, 40, 50));
  EXPECT_THAT(walked(order, 1), ElementsAre(30, 40, 50));
  EXPECT_THAT(walked(order, 2, 2), ElementsAre(30, 40));
  EXPECT_THAT(walked(order, 5), IsEmpty());
}

TEST(SlotOrder, ShowsAnIdOnceThoughItCameAgain) {
  SlotOrder order;
  order.make({entry(1, 10)});
  order.add(entry(1, 11));
  EXPECT_THAT(walked(order), ElementsAre(10));
  Slots asked;
  order.walk({}, [&](const SlotOrder::Entry& found) {
    asked.push_back(found.slot);
    return SlotOrder::Seen::gone;
  });
  EXPECT_THAT(asked, ElementsAre(10, 11)) << "the first has gone: it may be the other";
}

TEST(SlotOrder, TakesInWhatCameWhenItIsMuch) {
  SlotOrder order;
  order.make({});
  for (std::uint32_t i = 5'000; i > 0; --i) order.add(entry(i, i));
  const Slots all = walked(order, {}, 10'000);
  EXPECT_EQ(all.size(), 5'000U);
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

TEST(SlotOrder, GoesWhenNobodyAsksOrMostHaveGone) {
  SlotOrder order;
  order.make({entry(1)});
  for (int i = 0; i < 1'000; ++i) order.pass(1);
  EXPECT_TRUE(order.is_made());
  walked(order);
  order.pass(1);
  EXPECT_TRUE(order.is_made()) << "somebody has asked";
  for (int i = 0; i < 1'000; ++i) order.pass(1);
  EXPECT_FALSE(order.is_made());
  order.make(std::vector<SlotOrder::Entry>(2'000, entry(1)));
  order.pass(600);
  EXPECT_TRUE(order.is_made());
  order.pass(400);
  EXPECT_FALSE(order.is_made());
}

}  // namespace
}  // namespace pawl::queue
