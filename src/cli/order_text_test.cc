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
  EXPECT_EQ(orders_text({}, false), "no orders\n");
}

TEST(OrderText, NamesUnresolvedOrdersAndWhatToDo) {
  const OpenOrders orders{.unresolved = {intent("ref-1", order::Status::unresolved)}};
  EXPECT_THAT(open_orders_text(orders, false),
              AllOf(HasSubstr("!! 1 ORDER IS UNRESOLVED"), HasSubstr("ref-1"),
                    HasSubstr("pawl order reconcile"), HasSubstr("pawl order resolve REF")));
  EXPECT_EQ(open_orders_text({}, false), "");
}

TEST(OrderText, NamesOrdersThatWereLeftOpenAndWhatToDo) {
  OpenOrders orders{.left = {intent("ref-1", order::Status::sending)}};
  EXPECT_EQ(open_orders_text(orders, false),
            "!! 1 ORDER WAS LEFT OPEN: its process ended before its outcome was known, and nobody "
            "works on it\n"
            "   ref-1  okx BTC-USDT-SWAP buy 0.1 limit at 50000  since 2025-12-01T01:00:00Z\n"
            "   find out:  pawl order reconcile\n");
  EXPECT_THAT(open_orders_text(orders, true), HasSubstr("\033[1;97;41m!! 1 ORDER WAS LEFT OPEN"));
  orders.unresolved = {intent("ref-2", order::Status::unresolved)};
  orders.left.resize(12, intent("ref-3", order::Status::reconciling));
  EXPECT_THAT(open_orders_text(orders, false),
              AllOf(HasSubstr("!! 1 ORDER IS UNRESOLVED"), HasSubstr("!! 12 ORDERS WERE LEFT OPEN"),
                    HasSubstr("and more: pawl order list --unresolved")));
}

TEST(OrderText, TellsWhatIsLeftOfTheWeek) {
  EXPECT_EQ(quota_text(quota(3), false),
            "3/5 orders, week starting 2025-12-01; 2 left until 2025-12-08T00:00:00Z\n");
  order::Quota none = quota(0);
  none.enabled = false;
  EXPECT_THAT(quota_text(none, false), HasSubstr("no limit (disabled in the configuration)"));
}

TEST(OrderText, DrawsABarOfHowFarBackItHasRead) {
  EXPECT_EQ(progress_text({.venue = "okx",
                           .pages = 2,
                           .orders = 7,
                           .inserted = 3,
                           .reached = monday + Duration::days(5),
                           .done_milli = 525}),
            "okx [##########..........] 52%  7 orders, 3 new, back to 2025-12-06");
  EXPECT_THAT(progress_text({.venue = "okx"}), ::testing::EndsWith(" 0%  0 orders, 0 new"));
  EXPECT_THAT(progress_text({.venue = "okx", .orders = 1, .done_milli = 1000}),
              HasSubstr("] 100%  1 order, "));
}

TEST(OrderText, TellsWhatABackfillFound) {
  EXPECT_EQ(backfill_text({}), "the venues show no order of that time\n");
  EXPECT_EQ(backfill_text({.orders = 1}),
            "nothing was missing: order_history has all that the venues show (1 order)\n");
  EXPECT_EQ(backfill_text({.orders = 1, .inserted = 1}),
            "1 of 1 order was missing and is in order_history now\n");
  EXPECT_EQ(backfill_text({.orders = 3, .inserted = 2, .notes = {"kept for 2h"}}),
            "2 of 3 orders were missing and are in order_history now\nnote: kept for 2h\n");
}

TEST(OrderText, SetsTheDetailsOfAPrecheckApart) {
  EXPECT_EQ(precheck_text({.ok = true,
                           .message = "fine",
                           .details = {{"EstimatedCashRequired", "10 USD"}, {"Cost", "1"}}},
                          false),
            "ok\n"
            "  note                   fine\n"
            "  EstimatedCashRequired  10 USD\n"
            "  Cost                   1\n");
}

TEST(OrderText, ShowsNoAttemptOfADeniedOrder) {
  Placed denied{.as = PlacedAs::denied, .intent = intent("ref-1", order::Status::sending)};
  denied.intent.progress.order_id.clear();
  EXPECT_THAT(placements_text(std::vector{denied}, false), HasSubstr("denied         -  -"));
}

TEST(OrderText, GivesExitCodesByOutcome) {
  EXPECT_EQ(exit_code_of(PlacedAs::confirmed), 0);
  EXPECT_EQ(exit_code_of(PlacedAs::rejected), 3);
  EXPECT_EQ(exit_code_of(PlacedAs::denied), 3);
  EXPECT_EQ(exit_code_of(PlacedAs::unresolved), 4);
}

}  // namespace
}  // namespace pawl::cli
