// Goal: rates and prices are reckoned exactly, and said so that they can be read. Method: pinned
//       numbers.
#include "cli/queue_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

config::QueuePrices aws() {
  return {.currency = "USD",
          .put_per_1000 = parse_decimal("0.005").value(),
          .get_per_1000 = parse_decimal("0.0004").value(),
          .list_per_1000 = parse_decimal("0.005").value(),
          .delete_per_1000 = Decimal()};
}

TEST(QueueView, ReckonsRates) {
  const queue::Totals before{.submitted = 100, .completed = 50};
  const queue::Totals after{.submitted = 125, .completed = 51};
  const Rates rates = rates_of(before, after, Duration::seconds(2));
  EXPECT_EQ(rates_text(rates),
            "submitted 12.5/s  claimed 0.0/s  completed 0.5/s  failed 0.0/s  retried 0.0/s  "
            "rescheduled 0.0/s\n");
  EXPECT_EQ(*to_json(rates).find("submitted")->if_number(), json::Number{"12.5"});
  EXPECT_EQ(rates_of(after, before, Duration::seconds(1)).submitted, 0u);
  EXPECT_EQ(rates_of(before, after, Duration()).submitted, 0u);
}

TEST(QueueView, DrawsValuesAsHighAsTheHighest) {
  EXPECT_EQ(sparkline({0, 7, 14}), "▁▄█");
  EXPECT_EQ(sparkline({0, 0}), "▁▁");
}

TEST(QueueView, ShowsAsMuchAsFitsOnAScreen) {
  const std::string text = "rates\na\nb\nc\n";
  EXPECT_EQ(clipped(text, {}), text) << "there is no screen";
  EXPECT_EQ(clipped(text, {.lines = 5, .columns = 80}), text);
  EXPECT_EQ(clipped(text, {.lines = 4, .columns = 80}), "rates\na\n2 more lines\n");
  EXPECT_EQ(clipped(text, {.lines = 5, .columns = 3}), "rates\na\n2 more lines\n")
      << "the first takes two lines there";
  EXPECT_EQ(clipped("▁▁▁\n", {.lines = 2, .columns = 3}), "▁▁▁\n");
}

TEST(QueueView, TakesTheCostOfATaskFromTheLog) {
  const CostAsk ask{
      .segments = 3'000, .submitted = 100'000, .shards = 1, .idle_poll = Duration::seconds(4)};
  const Requests task = requests_of_a_task(ask);
  EXPECT_EQ(task.puts, 30'030u) << "0.03003";
  EXPECT_EQ(task.gets, 30'000u);
  EXPECT_EQ(requests_of_an_idle_hour(ask).gets, 900u * 1'000'000);
  EXPECT_EQ(cost_text(ask, {.gets = 3, .lists = 1}, aws()),
            "by its log so far: 3000 commits for 100000 tasks; GET is for each worker that "
            "follows\n"
            "                     PUT    GET     LIST   DELETE            USD\n"
            "a task           0.03003   0.03  0.00006  0.00003  0.00000016245\n"
            "a million tasks    30030  30000       60       30        0.16245\n"
            "an idle hour           0    900        0        0        0.00036\n"
            "this command           0      3        1        0      0.0000062\n");
}

TEST(QueueView, SaysWhoseRequestsTheyAre) {
  const CostAsk own{.segments = 1, .submitted = 1, .shards = 1, .idle_poll = Duration::seconds(4)};
  CostAsk brokered = own;
  brokered.by_broker = true;
  EXPECT_THAT(cost_text(own, {.puts = 7}, {}),
              AllOf(HasSubstr("1 commit for 1 task;"), HasSubstr("\nthis command")));
  EXPECT_THAT(cost_text(brokered, {.puts = 7}, {}),
              AllOf(HasSubstr("GET is for each broker, and none for its workers"),
                    HasSubstr("\nthe broker so far")));
  EXPECT_NE(cost_json(own, {.puts = 7}, {}).find("this_command"), nullptr);
  EXPECT_EQ(cost_json(brokered, {.puts = 7}, {}).find("this_command"), nullptr);
  EXPECT_NE(cost_json(brokered, {.puts = 7}, {}).find("broker"), nullptr);
}

TEST(QueueView, HasNoPriceForAFolder) {
  const CostAsk ask{.segments = 1,
                    .submitted = 1,
                    .shards = 1,
                    .idle_poll = Duration::seconds(4),
                    .priced = false};
  EXPECT_THAT(cost_text(ask, {.puts = 7}, aws()), Not(HasSubstr("USD")));
  const json::Value json = cost_json(ask, {.puts = 7}, aws());
  EXPECT_TRUE(json.find("currency")->is_null());
  EXPECT_TRUE(json.find("idle_hour")->find("price")->is_null());
}

TEST(QueueView, SaysThatNothingWasMeasuredYet) {
  const CostAsk ask{.idle_poll = Duration::seconds(4)};
  EXPECT_THAT(cost_text(ask, {}, aws()), HasSubstr("no task was submitted yet"));
  EXPECT_TRUE(cost_json(ask, {}, aws()).find("task")->is_null());
}

}  // namespace
}  // namespace pawl::cli
