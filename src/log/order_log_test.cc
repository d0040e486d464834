// Goal: the log says what was promised of orders, word for word and at its level; whatever is about
//       one order can be found by its ids. Method: lines of text, taken from a sink in memory; a
//       test for each scenario of the weekly limit that names a line.
#include "log/order_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/capture_sink.h"
#include "runtime/manual_clock.h"

namespace pawl::log {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const Instant wednesday = parse_instant("2025-12-03T15:30:00Z").value();
const Correlation ids = {.request_id = "r-1", .external_reference = "ref-1"};

order::Order btc(order::Side side = order::Side::buy) {
  return {.venue = "okx",
          .instrument = "BTC-USDT-SWAP",
          .side = side,
          .size = parse_decimal("0.1").value()};
}

order::Quota quota(std::int64_t used) {
  return {.used = used, .limit = 5, .week_start = parse_instant("2025-12-01T00:00:00Z").value()};
}

template <class Write>
std::vector<std::string> lines_of(Write write_to) {
  ManualClock clock(wednesday);
  CaptureSink sink;
  Output output(clock, sink, {.level = Level::debug, .format = Format::text});
  write_to(Logger(output));
  std::vector<std::string> lines = sink.take();
  for (std::string& line : lines) line = line.substr(line.find(' ') + 1);
  return lines;
}

std::string line_of(const desk::Note& note) {
  const auto lines = lines_of([&](const Logger& logger) { write(logger, note); });
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? "" : lines.front();
}

std::string limit_line(const order::FrequencyLimit& limit, bool given) {
  return lines_of([&](const Logger& logger) { write_limit(logger, limit, given); }).at(0);
}

Error disk_error() {
  return {Code::unavailable, Outcome::not_applied, "the disk is on fire"};
}

TEST(OrderLog, ScenarioValidFrequencyConfiguration) {
  EXPECT_EQ(limit_line({}, true),
            "INFO  order_frequency_limit_loaded message=\"Order frequency limit configuration "
            "loaded: weekly_max=5, exclude_reduce_only=true\"");
}

TEST(OrderLog, ScenarioMissingFrequencyConfiguration) {
  EXPECT_EQ(limit_line({}, false),
            "INFO  order_frequency_limit_loaded message=\"Using default order frequency limit "
            "configuration\"");
}

TEST(OrderLog, ScenarioFrequencyLimitDisabled) {
  EXPECT_EQ(limit_line({.enabled = false}, true),
            "INFO  order_frequency_limit_loaded message=\"Order frequency limit disabled in "
            "configuration\"");
}

TEST(OrderLog, ScenarioLogSuccessfulFrequencyCheck) {
  const std::string line = line_of(desk::QuotaPassed{ids, quota(4), btc()});
  EXPECT_THAT(line, StartsWith("INFO  "));
  EXPECT_THAT(line,
              AllOf(HasSubstr("\"Order frequency check passed: 4/5 orders this week (week starting "
                              "2025-12-01), placing order BTC-USDT-SWAP buy 0.1\""),
                    HasSubstr("\"Order frequency check passed: 4/5 orders this week\""),
                    HasSubstr("external_reference=ref-1 request_id=r-1")));
}

TEST(OrderLog, ScenarioWeekRolloverResetsCount) {
  EXPECT_THAT(line_of(desk::QuotaPassed{ids, quota(0), btc()}),
              HasSubstr("\"Order frequency check passed: 0/5 orders this week (new week)\""));
}

TEST(OrderLog, ScenarioLogFrequencyLimitRejection) {
  const std::string line = line_of(desk::QuotaDenied{ids, quota(5), btc()});
  EXPECT_THAT(line, StartsWith("WARN  "));
  EXPECT_THAT(line, AllOf(HasSubstr("\"Order rejected: weekly limit exceeded (5/5 orders, week "
                                    "starting 2025-12-01), order BTC-USDT-SWAP buy 0.1 not "
                                    "placed\""),
                          HasSubstr("\"Order rejected: weekly limit exceeded (5/5 orders)\"")));
}

TEST(OrderLog, ScenarioLogReduceOnlyExclusion) {
  const std::string line = line_of(desk::QuotaReduceOnly{ids, quota(5), btc(order::Side::sell)});
  EXPECT_THAT(line, StartsWith("INFO  "));
  EXPECT_THAT(
      line, AllOf(HasSubstr("\"Reduce-only order BTC-USDT-SWAP sell 0.1 allowed despite limit (5/5 "
                            "orders this week, excluded from count)\""),
                  HasSubstr("\"Reduce-only order allowed despite limit (excluded from count)\"")));
}

TEST(OrderLog, ScenarioBypassFrequencyLimitViaConfig) {
  EXPECT_THAT(
      line_of(desk::QuotaBypassed{ids, btc()}),
      AllOf(StartsWith("INFO  "), HasSubstr("\"Frequency limit bypassed (disabled in config)\"")));
}

TEST(OrderLog, ScenarioDatabaseQueryFailureDuringValidation) {
  desk::StoreFailed note{.what = desk::StoreFailed::What::check,
                         .ids = ids,
                         .attempt = 1,
                         .max_attempts = 4,
                         .delay = Duration::seconds(1),
                         .error = disk_error()};
  EXPECT_THAT(line_of(note), AllOf(StartsWith("WARN  "), HasSubstr("delay_seconds=1 "),
                                   HasSubstr("the disk is on fire")));
  note.delay = {};
  EXPECT_THAT(
      line_of(note),
      AllOf(StartsWith("ERROR "),
            HasSubstr("\"Order rejected: unable to verify frequency limit (database error)\"")));
}

TEST(OrderLog, ScenarioDatabaseWriteFailureDuringTracking) {
  desk::StoreFailed note{.what = desk::StoreFailed::What::record,
                         .ids = ids,
                         .attempt = 3,
                         .max_attempts = 4,
                         .delay = Duration::seconds(4),
                         .error = disk_error()};
  EXPECT_THAT(line_of(note),
              AllOf(StartsWith("WARN  "), HasSubstr("attempt=3"), HasSubstr("delay_seconds=4 ")));
  note.delay = {};
  EXPECT_THAT(line_of(note), AllOf(StartsWith("ERROR "), HasSubstr("tracking is incomplete")));
}

TEST(OrderLog, ScenarioRecordSuccessfulOrderPlacement) {
  const order::Intent intent{
      .reference = "ref-1",
      .order = btc(),
      .created = wednesday,
      .progress = {.status = order::Status::confirmed, .request_id = "r-1", .order_id = "77"}};
  EXPECT_THAT(line_of(desk::PlacementEnded{intent}),
              AllOf(StartsWith("DEBUG "), HasSubstr("order_id=77"),
                    HasSubstr("week_start=2025-12-01"), HasSubstr("external_reference=ref-1")));
}

TEST(OrderLog, ScenarioFailedOrderNotCounted) {
  const order::Note failed{.what = order::Told::order_placement_failed_final,
                           .operation = "place_order",
                           .external_reference = "ref-1",
                           .message = "Order placement failed: 51008, not recorded in history"};
  EXPECT_THAT(line_of(desk::Note(failed)),
              AllOf(StartsWith("ERROR "),
                    HasSubstr("\"Order placement failed: 51008, not recorded in history\"")));
  const order::Intent intent{.progress = {.status = order::Status::rejected}};
  EXPECT_THAT(lines_of([&](const Logger& logger) { write(logger, desk::PlacementEnded{intent}); }),
              IsEmpty())
      << "it is not in order_history";
}

TEST(OrderLog, ScenarioUpdateOrderStatusToFilled) {
  EXPECT_THAT(line_of(desk::StatusUpdated{ids, "okx", "123", order::Life::filled}),
              AllOf(StartsWith("INFO  "),
                    HasSubstr("\"Order status updated: order_id=123, status=filled\"")));
}

TEST(OrderLog, ScenarioUpdateOrderStatusToCanceled) {
  EXPECT_THAT(line_of(desk::StatusUpdated{ids, "okx", "123", order::Life::canceled}),
              HasSubstr("\"Order status updated: order_id=123, status=canceled\""));
}

TEST(OrderLog, ScenarioDetectMissingOrderHistory) {
  EXPECT_THAT(line_of(desk::HistoryIsEmpty{}),
              AllOf(StartsWith("WARN  "),
                    HasSubstr("\"Order history table is empty, consider backfilling from OKX\"")));
}

TEST(OrderLog, ScenarioDatabaseInitializationWithOrderHistoryTable) {
  EXPECT_THAT(lines_of([](const Logger& logger) { write_history_initialized(logger); }),
              ElementsAre("INFO  order_history_initialized message=\"Order history table "
                          "initialized successfully\""));
}

TEST(OrderLog, ScenarioManualBackfillTrigger) {
  EXPECT_THAT(line_of(desk::Backfilled{"okx", 12}),
              AllOf(StartsWith("INFO  "), HasSubstr("\"Backfilled 12 orders from OKX history\"")));
}

TEST(OrderLog, CannotBeReadWithoutSeeingAnUnresolvedOrder) {
  EXPECT_THAT(lines_of([](const Logger& logger) { write_unresolved(logger, 2); }),
              ElementsAre(AllOf(StartsWith("ERROR orders_unresolved "),
                                HasSubstr("2 orders are unresolved"))));
  EXPECT_THAT(lines_of([](const Logger& logger) { write_unresolved(logger, 0); }), IsEmpty());
  EXPECT_THAT(lines_of([](const Logger& logger) { write_left_open(logger, 1); }),
              ElementsAre(AllOf(StartsWith("ERROR orders_left_open "),
                                HasSubstr("1 order was left open by a process that ended"))));
  EXPECT_THAT(lines_of([](const Logger& logger) { write_left_open(logger, 0); }), IsEmpty());
  EXPECT_THAT(lines_of([](const Logger& logger) {
                write(logger, desk::Resumed{.taken = 3, .resolved = 2, .unresolved = 1});
              }),
              ElementsAre(StartsWith("INFO  orders_resumed taken=3 resolved=2 unresolved=1"),
                          StartsWith("ERROR orders_unresolved")));
}

TEST(OrderLog, SaysThatReduceOnlyIsTheCallersWord) {
  EXPECT_THAT(line_of(desk::ReduceOnlyIsAWord{ids, btc()}),
              AllOf(StartsWith("WARN  "), HasSubstr("the caller's word")));
}

std::string line_of_way(order::Told what) {
  const order::Note note{.what = what,
                         .operation = "place_order",
                         .venue = "saxo",
                         .external_reference = "ref-1",
                         .request_id = "r-1",
                         .attempt = 1,
                         .max_attempts = 3,
                         .order_id = "77",
                         .status = 429,
                         .category = "rate_limited",
                         .limits = "SessionOrders: remaining 0",
                         .delay = Duration::milliseconds(1234),
                         .message = "too fast"};
  return lines_of([&](const Logger& logger) { write(logger, note); }).at(0);
}

TEST(OrderLog, NamesEveryStepOfAnOrdersWayAndItsIds) {
  for (int i = 0; i <= static_cast<int>(order::Told::order_not_saved); ++i) {
    const auto what = static_cast<order::Told>(i);
    EXPECT_THAT(line_of_way(what), AllOf(HasSubstr(" " + std::string(to_string(what)) + " "),
                                         HasSubstr("operation=place_order"),
                                         HasSubstr("external_reference=ref-1 request_id=r-1")));
  }
}

TEST(OrderLog, TellsTheHeadersOfARefusalAndTheDelay) {
  EXPECT_EQ(line_of_way(order::Told::operation_failed),
            "WARN  operation_failed operation=place_order attempt=1 status_code=429 "
            "category=rate_limited error=\"too fast\" order_id=77 rate_limits=\"SessionOrders: "
            "remaining 0\" x_correlation=\"\" external_reference=ref-1 request_id=r-1");
  EXPECT_EQ(line_of_way(order::Told::retrying_after_delay),
            "INFO  retrying_after_delay operation=place_order delay_seconds=1.24 next_attempt=2 "
            "external_reference=ref-1 request_id=r-1");
}

}  // namespace
}  // namespace pawl::log
