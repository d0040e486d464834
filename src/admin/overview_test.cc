// Goal: who watches sees what was counted, as rates, and is told of every second. Method: metrics
// and time moved by hand.
#include "admin/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/queue_fixture.h"
#include "base/bounds.h"
#include "base/bounds_panel.h"
#include "core/audit/retry_event.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OverviewTest : public AdminFixture {
 protected:
  void decide(int allowed, int refused) {
    const auto counter = [&](metrics::LabelValue word) -> metrics::Counter& {
      return metrics.counter("pawl_limit_decisions_total", "Decisions of the limiter.",
                             {{"decision", word}});
    };
    counter("allowed").add(static_cast<std::uint64_t>(allowed));
    counter("refused").add(static_cast<std::uint64_t>(refused));
  }
  void pass(Duration time) {
    clock.advance(time);
    admin.sample();
  }
};

TEST_F(OverviewTest, TellsRatesASecond) {
  decide(100, 10);
  pass(Duration::seconds(1));
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("allowed":0,)"))
      << "what was before the first sample is no rate";
  decide(30, 4);
  pass(Duration::seconds(2));
  EXPECT_THAT(get("/v1/overview").body,
              HasSubstr(R"("rates":{"allowed":15,"refused":2,"replayed":0})"));
  pass(Duration::seconds(1));
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("rates":{"allowed":0,"refused":0)"));
}

TEST_F(OverviewTest, CountsWritesThatOnlyAPersonSettles) {
  const auto begin = [&](const std::string& key) {
    records.begin({.scope = "acme", .key = key},
                  {.fingerprint = "f", .lease = Duration::minutes(1), .ttl = Duration::hours(1)},
                  [](const Result<idempotency::Begun>& begun) { EXPECT_TRUE(begun); });
  };
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("idempotency":{"unknown":null})"))
      << "nobody has looked yet";
  begin("a");
  begin("b");
  pass(Duration::seconds(1));
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("idempotency":{"unknown":0})"));
  pass(Duration::minutes(2));  // their owners are gone
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("idempotency":{"unknown":2})"));
  for (std::size_t i = 0; i < bounds::record_list_max; ++i) begin("new-" + std::to_string(i));
  pass(Duration::seconds(10));
  EXPECT_THAT(get("/v1/overview").body, HasSubstr(R"("idempotency":{"unknown":2})"))
      << "however many are newer";
}

TEST_F(OverviewTest, LeavesOutWhatIsNotHere) {
  EXPECT_THAT(get("/v1/overview").body,
              AllOf(HasSubstr(R"("queue":null)"), HasSubstr(R"("orders":null)"),
                    HasSubstr(R"("breakers":[])"), HasSubstr(R"("ready":true)")));
}

TEST_F(OverviewTest, TellsOfTroubleWithStoresAndBreakers) {
  stores = {{.name = "Limits",
             .health = StoreState::Health::degraded,
             .durability = "none",
             .seen = "in memory",
             .probed = clock.wall_now(),
             .detail = "lost"},
            {.name = "Queue"}};
  const std::string probed = to_string(clock.wall_now());
  ready = failure(Code::unavailable, "it is draining");
  RetryTally tally(audit);
  context.retries = &tally;
  ASSERT_TRUE(tally.append(to_event(audit::Breaker{
      .subject = {.category = "RETRY_API_REQUEST", .operation = "send"}, .key = "shop"})));
  ASSERT_TRUE(tally.append(to_event(audit::RetryAttempt{
      .subject = {.category = "RETRY_KV_PUT", .operation = "x", .timestamp = clock.wall_now()}})));
  pass(Duration::seconds(1));
  const std::string told = get("/v1/overview").body;
  EXPECT_THAT(told,
              HasSubstr(R"({"detail":"lost","durability":"none","name":"Limits","probed_at":")" +
                        probed + R"(","seen":"in memory","state":"degraded"})"));
  EXPECT_THAT(told,
              HasSubstr(R"({"detail":null,"durability":null,"name":"Queue","probed_at":null,)"));
  EXPECT_THAT(told, HasSubstr(R"("name":"shop")"));
  EXPECT_THAT(told, HasSubstr(R"("categories":{"RETRY_KV_PUT":1})"));
  EXPECT_THAT(told, AllOf(HasSubstr(R"("ready":false)"), HasSubstr("it is draining")));
  context.retries = nullptr;
}

TEST_F(OverviewTest, GivesTheLinesOfEachSpan) {
  for (int i = 0; i < 3; ++i) {
    decide(10, 0);
    pass(Duration::seconds(1));
  }
  EXPECT_THAT(get("/v1/series?span=15m").body,
              AllOf(HasSubstr(R"("allowed":[0,10,10])"), HasSubstr(R"("step_seconds":1)")));
  EXPECT_THAT(get("/v1/series?span=1d").body, HasSubstr(R"("step_seconds":240)"));
  EXPECT_EQ(get("/v1/series?span=2d").status, 400);
}

TEST_F(OverviewTest, StreamsOneASecondToWhoListens) {
  const auto stream = connect();
  stream->receive(wire("GET", "/v1/live", "", ""));
  EXPECT_THAT(stream->sent, AllOf(HasSubstr("text/event-stream"), HasSubstr("event: overview\n")));
  stream->sent.clear();
  pass(Duration::seconds(1));
  EXPECT_THAT(stream->sent, HasSubstr("event: overview\ndata: {"));
}

TEST_F(OverviewTest, ListensToSoManyAndNoMore) {
  std::vector<std::shared_ptr<net::FakeStream>> all;
  for (std::size_t i = 0; i <= bounds::panel_listeners_max; ++i) {
    all.push_back(connect());
    all.back()->receive(wire("GET", "/v1/live", "", ""));
  }
  EXPECT_EQ(read(all.back()->sent).status, 503);
  EXPECT_EQ(read(all.front()->sent).status, 200);
}

class QueueOverviewTest : public QueueFixture {};

TEST_F(QueueOverviewTest, SumsTheQueueOverItsTypes) {
  const auto set = [&](metrics::LabelValue type, metrics::LabelValue status, double value) {
    metrics
        .gauge("pawl_queue_tasks", "Tasks in the queue, by status.",
               {{"task_type", type}, {"status", status}})
        .set(value);
  };
  set("a", "pending", 3);
  set("b", "pending", 4);
  set("b", "failed", 1);
  metrics.gauge("pawl_queue_due_tasks", "Pending tasks that are due.", {{"task_type", "b"}}).set(2);
  admin.sample();
  EXPECT_THAT(get("/v1/overview").body,
              HasSubstr(R"("queue":{"due":2,"failed":1,"oldest_due_seconds":0,"pending":7,)"));
}

TEST_F(QueueOverviewTest, DrawsNoLineOfAQueueThatWasNotReadYet) {
  admin.sample();
  metrics.counter("pawl_tasks_total", "What became of tasks since the queue was made.",
                  {{"event", "submitted"}});
  clock.advance(Duration::seconds(1));
  admin.sample();
  EXPECT_THAT(get("/v1/series?span=15m").body, HasSubstr(R"("queue.due":[null,0])"));
}

}  // namespace
}  // namespace pawl::admin
