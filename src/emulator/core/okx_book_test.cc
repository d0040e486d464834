// Goal: the book keeps orders, fills and positions, and what is read back from its lines is the
// same.
// Method: random fills beside a sum of their own, and the lines of one book handed to another.
#include "emulator/core/okx_book.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::emulator {
namespace {

Decimal number(std::int64_t value) {
  return *parse_decimal(std::to_string(value));
}

OkxOrder swap(std::string_view side, std::int64_t size) {
  return {.inst_id = "BTC-USDT-SWAP",
          .inst_type = "SWAP",
          .td_mode = "cross",
          .side = std::string(side),
          .ord_type = "limit",
          .pos_side = "net",
          .px = "100",
          .size = number(size)};
}

TEST(OkxDivision, RoundsDownToEightPlaces) {
  EXPECT_EQ(to_string(divide_down(number(1), number(3))), "0.33333333");
  EXPECT_EQ(divide_down(number(100), number(50'000)), *parse_decimal("0.002"));
  EXPECT_EQ(divide_down(number(0), number(7)), Decimal());
  EXPECT_EQ(divide_down(number(999'999'999), number(1)), number(999'999'999));
}

TEST(OkxBook, AveragesWhatAPositionCost) {
  OkxBook book;
  const std::uint64_t first = book.place(swap("buy", 1))->id;
  book.fill(first, {.size = number(1), .price = number(100)}, Instant());
  const std::uint64_t second = book.place(swap("buy", 3))->id;
  book.fill(second, {.size = number(3), .price = number(200)}, Instant());
  const OkxPosition* position = book.position(swap("sell", 1));
  ASSERT_NE(position, nullptr);
  EXPECT_EQ(position->size, number(4));
  EXPECT_EQ(position->average, number(175));
  const std::uint64_t third = book.place(swap("sell", 5))->id;
  book.fill(third, {.size = number(5), .price = number(300)}, Instant());
  EXPECT_EQ(book.position(swap("sell", 1))->size, number(-1));
  EXPECT_EQ(book.position(swap("sell", 1))->average, number(300)) << "turned round";
}

TEST(OkxBook, IsFilledWhenNothingIsLeft) {
  OkxBook book;
  const OkxOrder* order = book.place(swap("buy", 3));
  book.fill(order->id, {.size = number(1), .price = number(100)}, Instant());
  EXPECT_EQ(order->state, OkxState::partially_filled);
  EXPECT_TRUE(book.open().contains(order->id));
  book.fill(order->id, {.size = number(2), .price = number(100)}, Instant());
  EXPECT_EQ(order->state, OkxState::filled);
  EXPECT_FALSE(book.open().contains(order->id));
}

TEST(OkxBook, IsFilledWhenItsSizeIsAmendedToWhatIsFilled) {
  OkxBook book;
  const OkxOrder* order = book.place(swap("buy", 3));
  book.fill(order->id, {.size = number(1), .price = number(100)}, Instant());
  book.amend(order->id, {.size = number(1)}, Instant());
  EXPECT_EQ(order->state, OkxState::filled);
}

RC_GTEST_PROP(OkxBook, IsTheSameWhenItsLinesAreReadBack, ()) {
  OkxBook book;
  std::int64_t sum = 0;
  const auto sizes =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-50, 50));
  for (const std::int64_t size : sizes) {
    if (size == 0) continue;
    const std::uint64_t id = book.place(swap(size > 0 ? "buy" : "sell", std::abs(size)))->id;
    const auto fate = *rc::gen::inRange(0, 3);
    if (fate == 0) continue;
    if (fate == 1) {
      book.cancel(id, "1", Instant());
      continue;
    }
    book.fill(id, {.size = number(std::abs(size)), .price = number(100)}, Instant());
    sum += size;
  }
  const OkxPosition* position = book.position(swap("buy", 1));
  RC_ASSERT((position == nullptr ? Decimal() : position->size) == number(sum));

  OkxBook again;
  for (const std::string& line : book.take_changes()) {
    RC_ASSERT(again.restore(*json::parse(line)).has_value());
  }
  RC_ASSERT(again.open() == book.open());
  RC_ASSERT(again.all().size() == book.all().size());
  for (const auto& [id, order] : book.all()) {
    RC_ASSERT(kept(*again.find(id)) == kept(order));
  }
  const OkxPosition* restored = again.position(swap("buy", 1));
  RC_ASSERT((restored == nullptr) == (position == nullptr));
  if (position != nullptr) RC_ASSERT(shown(*restored) == shown(*position));
  RC_ASSERT(again.fills().size() == book.fills().size());
}

}  // namespace
}  // namespace pawl::emulator
