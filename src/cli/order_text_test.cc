// Goal: people see what became of an order, and cannot overlook one that is unresolved. Method:
// pinned texts, plain and painted.
#include "cli/order_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Instant monday = parse_instant("2025-12-01T00:00:00Z").value();

order::Intent intent(std::string reference, order::Status status) {
  return {.reference = std::move(reference),
          .order = {.venue = "okx",
                    .instrument = "BTC-USDT-SWAP",
                    .side = order::Side::buy,
                    .type = order::Type::limit,
                    .size = parse_decimal("0.1").value(),
                    .price = parse_decimal("50000").value()},
          .created = monday + Duration::hours(1),
          .progress = {.status = status,
                       .attempts = 2,
                       .order_id = "77",
                       .life = order::Life::working,
                       .evidence = {{.at = monday, .source = "place attempt 1", .says = "a\nb"}}}};
}

order::Quota quota(std::int64_t used) {
  return {.used = used, .limit = 5, .week_start = monday};
}

TEST(OrderText, TellsWhatBecameOfAnOrderAndHowThatIsKnown) {
  const Placed placed{.as = PlacedAs::confirmed,
                      .intent = intent("ref-1", order::Status::confirmed),
                      .quota = quota(3)};
  EXPECT_EQ(placed_text(placed, false),
            "confirmed  ref-1  okx BTC-USDT-SWAP buy 0.1 limit at 50000\n"
            "  order id    77\n"
            "  life        working\n"
            "  attempts    2\n"
            "  week        3/5 orders, week starting 2025-12-01\n"
            "  evidence\n"
            "    2025-12-01T00:00:00.000Z  place attempt 1  a\\nb\n");
}

TEST(OrderText, PaintsOnATerminalAlone) {
  const Placed placed{.as = PlacedAs::unresolved, .quota = quota(0), .message = "timed out"};
  EXPECT_THAT(placed_text(placed, true), HasSubstr("\033[1;97;41munresolved\033[0m"));
  EXPECT_THAT(placed_text(placed, false), Not(HasSubstr("\033")));
}

TEST(OrderText, PutsNumbersToTheRight) {
  std::vector<order::Intent> orders = {intent("a", order::Status::confirmed),
                                       intent("longer", order::Status::unresolved)};
  orders[1].order.size = parse_decimal("1000").value();
  orders[1].order.price.reset();
  EXPECT_EQ(orders_text(orders, false),
            "reference  venue  instrument     side  size  price  status      life     attempts  "
            "created               order id\n"
            "a          okx    BTC-USDT-SWAP  buy    0.1  50000  confirmed   working         2  "
            "2025-12-01T01:00:00Z  77\n"
            "longer     okx    BTC-USDT-SWAP  buy   1000      -  unresolved  working         2  "
            "2025-12-01T01:00:00Z  77\n");
  EXPECT_THAT(orders_text(orders, true), HasSubstr("\033[1;97;41munresolved\033[0m"));
}

TEST(OrderText, NamesUnresolvedOrdersAndWhatToDo) {
  const std::vector<order::Intent> orders = {intent("ref-1", order::Status::unresolved)};
  EXPECT_THAT(unresolved_text(orders, false),
              AllOf(HasSubstr("!! 1 ORDER IS UNRESOLVED"), HasSubstr("ref-1"),
                    HasSubstr("pawl order reconcile"), HasSubstr("pawl order resolve REF")));
  EXPECT_EQ(unresolved_text({}, false), "");
}

TEST(OrderText, TellsWhatIsLeftOfTheWeek) {
  EXPECT_EQ(quota_text(quota(3), false),
            "3/5 orders, week starting 2025-12-01; 2 left until 2025-12-08T00:00:00Z\n");
  order::Quota none = quota(0);
  none.enabled = false;
  EXPECT_THAT(quota_text(none, false), HasSubstr("no limit (disabled in the configuration)"));
}

TEST(OrderText, DrawsABarOfHowFarBackItHasRead) {
  const BackfillAsk ask{.from = monday, .to = monday + Duration::days(10)};
  EXPECT_EQ(progress_text({.venue = "okx",
                           .pages = 2,
                           .orders = 7,
                           .inserted = 3,
                           .reached = monday + Duration::days(5)},
                          ask),
            "okx [##########..........] 50%  7 orders, 3 new, back to 2025-12-06");
  EXPECT_THAT(progress_text({.venue = "okx"}, ask), HasSubstr(" 0%  0 orders"));
}

TEST(OrderText, GivesExitCodesByOutcome) {
  EXPECT_EQ(exit_code_of(PlacedAs::confirmed), 0);
  EXPECT_EQ(exit_code_of(PlacedAs::rejected), 3);
  EXPECT_EQ(exit_code_of(PlacedAs::denied), 3);
  EXPECT_EQ(exit_code_of(PlacedAs::unresolved), 4);
}

}  // namespace
}  // namespace pawl::cli
