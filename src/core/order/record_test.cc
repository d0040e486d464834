// Goal: audit events of orders say what was decided, about what, and carry both ids.
// Method: events of each kind compared member by member.
#include "core/order/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/bounds.h"
#include "core/audit/chain.h"
#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

json::Value as_logged(const audit::Event& event) {
  return json::parse(audit::draft(event).value().text).value();
}

std::string member(const json::Value& record, std::string_view name) {
  const json::Value* found = record.find(name);
  return found == nullptr ? "none" : json::print(*found);
}

TEST(OrderRecord, OfAState) {
  Intent intent = fresh_intent();
  intent.progress.order_id = "77";
  const json::Value record = as_logged(state_event(intent, "it was opened", noon));
  EXPECT_EQ(member(record, "event_type"), R"("order")");
  EXPECT_EQ(member(record, "operation"), R"("place_order")");
  EXPECT_EQ(member(record, "external_reference"), R"("ref-1")");
  EXPECT_EQ(member(record, "request_id"), R"("ref-1_place_1_aaaaaaaa")");
  EXPECT_EQ(member(record, "state"), R"("sending")");
  EXPECT_EQ(member(record, "order_id"), R"("77")");
  EXPECT_EQ(member(record, "order"), R"("BTC-USDT-SWAP buy 0.1")");
  EXPECT_EQ(member(record, "why"), R"("it was opened")");
  EXPECT_EQ(member(record, "decision"), "none");
}

TEST(OrderRecord, OfAnAttempt) {
  const Ended facts{.sent = Sent::refused};
  const Decided decided{{}, facts, decide({}, facts), "no money"};
  const json::Value record = as_logged(decision_event(fresh_intent(), decided, {}, noon));
  EXPECT_EQ(member(record, "event_type"), R"("order")");
  EXPECT_EQ(member(record, "state"), R"("rejected")");
  EXPECT_EQ(member(record, "attempt_number"), "1");
  EXPECT_EQ(member(record, "found"), "none");
  EXPECT_TRUE(read_decision(*record.find("decision")));
}

TEST(OrderRecord, OfAReading) {
  const Read facts{.orders = 1};
  const Decided decided{{}, facts, decide({}, facts), "there"};
  const std::vector<SourceRead> sources = {
      {"orders-history", noon, SourceRead::Found::present, "1 row"}};
  const json::Value record = as_logged(decision_event(fresh_intent(), decided, sources, noon));
  EXPECT_EQ(member(record, "event_type"), R"("reconcile")");
  EXPECT_EQ(member(record, "state"), R"("confirmed")");
  EXPECT_EQ(member(record, "found"), R"("applied")");
  EXPECT_EQ(member(record, "sources"),
            R"([{"at":"2025-12-03T12:00:00.000Z","found":"present","says":"1 row",)"
            R"("source":"orders-history"}])");
}

TEST(OrderRecord, FitsTheLogHoweverMuchAVenueSays) {
  const Read facts{.orders = 1};
  const std::string much(5'000, 'x');
  const Decided decided{{}, facts, decide({}, facts), much};
  const std::vector<SourceRead> sources(500, {much, noon, SourceRead::Found::present, much});
  const auto draft = audit::draft(decision_event(fresh_intent(), decided, sources, noon));
  ASSERT_TRUE(draft);
  EXPECT_LE(draft->text.size(), bounds::audit_event_bytes_max);
}

TEST(OrderRecord, OfTheQuota) {
  const QuotaCheck check{.reference = "ref-1",
                         .request_id = "r",
                         .order = swap_order(),
                         .quota = {.used = 5, .limit = 5, .week_start = noon},
                         .allowed = false};
  const json::Value record = as_logged(quota_event(check, noon));
  EXPECT_EQ(member(record, "event_type"), R"("quota")");
  EXPECT_EQ(member(record, "external_reference"), R"("ref-1")");
  EXPECT_EQ(member(record, "used"), "5");
  EXPECT_EQ(member(record, "limit"), "5");
  EXPECT_EQ(member(record, "allowed"), "false");
  EXPECT_EQ(member(record, "week_start"), R"("2025-12-01")");
}

TEST(OrderRecord, KnowsWhatEveryDecisionLeadsTo) {
  EXPECT_EQ(status_after(Next::confirm), Status::confirmed);
  EXPECT_EQ(status_after(Next::reject), Status::rejected);
  EXPECT_EQ(status_after(Next::send_again), Status::sending);
  EXPECT_EQ(status_after(Next::read), Status::reconciling);
  EXPECT_EQ(status_after(Next::unresolved), Status::unresolved);
  EXPECT_EQ(outcome_after({.next = Next::confirm}), Outcome::applied);
  EXPECT_EQ(outcome_after({.next = Next::send_again}), Outcome::not_applied);
  EXPECT_EQ(outcome_after({.next = Next::reject}), Outcome::not_applied);
  EXPECT_EQ(outcome_after({.next = Next::unresolved}), Outcome::unknown);
  EXPECT_EQ(outcome_after({.next = Next::read}), Outcome::unknown);
  EXPECT_TRUE(is_allowed({.used = 9, .limit = 5}, false));
  EXPECT_FALSE(is_allowed({.used = 5, .limit = 5}, true));
}

TEST(OrderRecord, ExplainsEveryReason) {
  std::set<std::string_view> all;
  for (int i = 0; i <= static_cast<int>(Reason::patience_over); ++i) {
    all.insert(explain(static_cast<Reason>(i)));
  }
  EXPECT_EQ(all.size(), 26u);
  EXPECT_EQ(explain(Reason::found), "the venue shows it");
}

}  // namespace
}  // namespace pawl::order
