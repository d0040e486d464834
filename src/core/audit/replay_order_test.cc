// Goal: what pawl has decided on orders comes out again, and whatever was changed in a record does
//       not.
// Method: records of a whole placement as the machine writes them; every fact edited in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/audit/chain.h"
#include "core/audit/replay.h"
#include "core/order/order_fixture.h"
#include "core/order/record.h"

namespace pawl::audit {
namespace {

using How = Replayed::How;
using ::testing::HasSubstr;

const limit::Zones no_zones = [](std::string_view name) -> Result<Zone> {
  return failure(Code::invalid, "unknown time zone '" + std::string(name) + "'");
};

json::Value as_logged(const Event& event) {
  return json::parse(draft(event).value().text).value();
}

Replayed replayed(const json::Value& record) {
  return replay(record, no_zones);
}

// An order that got lost, was absent, was sent again, was turned away by a limit and found at last.
std::vector<json::Value> records_of_a_placement() {
  order::Driven it;
  std::vector<json::Value> records;
  const auto decide = [&](const order::Event& event) {
    it.decide(event);
    for (const order::Effect& effect : it.effects()) {
      const auto* keep = std::get_if<order::Keep>(&effect);
      if (keep != nullptr) records.push_back(as_logged(keep->event));
    }
  };
  const auto read = [&](const order::Reading& reading) {
    decide(order::ReadDone{reading});
    const auto is_resting = [&] {
      return it.machine().state() == order::Placement::State::resting;
    };
    for (int i = 0; i < 100 && is_resting(); ++i) {
      it.wake();
      decide(order::ReadDone{reading});
    }
  };
  decide(order::Begun{});
  decide(order::PaceGranted{});
  decide(order::Answered{order::answered_with(order::Sent::unknown)});
  decide(order::Saved{});
  read(order::empty_reading());
  decide(order::Saved{});
  decide(order::PaceGranted{});
  decide(order::Answered{order::answered_with(order::Sent::rate_limited)});
  it.wake();
  decide(order::Saved{});
  decide(order::PaceGranted{});
  decide(order::Answered{order::answered_with(order::Sent::duplicate)});
  decide(order::Saved{});
  read(order::reading_of({order::shown("77")}));
  decide(order::Saved{});
  EXPECT_TRUE(it.machine().is_over());
  return records;
}

json::Value edited(const json::Value& record, std::vector<std::string> path, json::Value value) {
  if (path.empty()) return value;
  json::Object members = *record.if_object();
  const std::string name = path.front();
  path.erase(path.begin());
  members[name] = edited(members[name], std::move(path), std::move(value));
  return members;
}

TEST(ReplayOrder, TakesEveryDecisionOfAPlacementAgain) {
  int decisions = 0;
  for (const json::Value& record : records_of_a_placement()) {
    const Replayed again = replayed(record);
    const bool decided = record.find("decision") != nullptr;
    EXPECT_EQ(again.how, decided ? How::agrees : How::no_decision) << json::print(record);
    if (decided) ++decisions;
  }
  EXPECT_GT(decisions, 8);
}

TEST(ReplayOrder, SeesADecisionThatDoesNotFollowFromItsFacts) {
  for (const json::Value& record : records_of_a_placement()) {
    const json::Value* decision = record.find("decision");
    if (decision == nullptr) continue;
    const auto differs = [&](std::vector<std::string> path, json::Value value) {
      const Replayed again = replayed(edited(record, path, std::move(value)));
      EXPECT_EQ(again.how, How::differs) << path.back() << " of " << json::print(record);
    };
    const bool confirmed = *decision->find("next") == json::Value("confirm");
    differs({"decision", "next"}, confirmed ? "reject" : "confirm");
    differs({"decision", "reason"}, "found_refused");
    differs({"decision", "delay_ns"}, "123");
    differs({"state"}, "unresolved");
    differs({"attempt_number"}, 9);
    differs({"decision", "facts"}, json::Object{});
    differs({"decision"}, json::Object{});
    differs({"decision"}, "placed");
    differs({"event_type"}, "retry_attempt");
    differs({"event_type"}, "request");
    if (*record.find("event_type") == json::Value("reconcile")) differs({"found"}, "perhaps");
  }
}

TEST(ReplayOrder, SeesAnAbsenceThatWasNotEarned) {
  for (const json::Value& record : records_of_a_placement()) {
    const json::Value* decision = record.find("decision");
    if (decision == nullptr || *decision->find("reason") != json::Value("absence_earned")) continue;
    for (const char* fact : {"whole", "expired", "absent_before"}) {
      const Replayed again = replayed(edited(record, {"decision", "facts", fact}, false));
      EXPECT_EQ(again.how, How::differs) << fact;
      EXPECT_THAT(json::print(again.again), Not(HasSubstr("send_again")));
    }
    EXPECT_EQ(replayed(edited(record, {"decision", "facts", "quiet_ns"}, "1")).how, How::differs);
    EXPECT_EQ(replayed(edited(record, {"decision", "facts", "probable"}, 1)).how, How::differs);
    return;
  }
  FAIL() << "no absence was earned";
}

TEST(ReplayOrder, KnowsAnAttemptToChangeAnOrderFromAState) {
  Event change = order::state_event(order::fresh_intent(), "why", order::noon);
  change.operation = "cancel_order";
  std::erase_if(change.details, [](const auto& each) { return each.first == "state"; });
  EXPECT_EQ(replayed(as_logged(change)).how, How::no_decision);
  change.operation = "place_order";
  EXPECT_EQ(replayed(as_logged(change)).how, How::differs);
  EXPECT_THAT(replayed(as_logged(change)).why, HasSubstr("state"));
}

TEST(ReplayOrder, DecidesTheQuotaAgain) {
  const auto record = [](std::int64_t used, bool counts, bool allowed) {
    return as_logged(order::quota_event({.reference = "r",
                                         .order = order::swap_order(),
                                         .counts = counts,
                                         .quota = {.used = used, .limit = 5},
                                         .allowed = allowed},
                                        order::noon));
  };
  EXPECT_EQ(replayed(record(4, true, true)).how, How::agrees);
  EXPECT_EQ(replayed(record(5, true, false)).how, How::agrees);
  EXPECT_EQ(replayed(record(9, false, true)).how, How::agrees) << "reduce-only";
  EXPECT_EQ(replayed(record(5, true, true)).how, How::differs);
  EXPECT_EQ(replayed(record(4, true, false)).how, How::differs);
  for (const char* name : {"used", "limit", "enabled", "counts", "allowed"}) {
    const Replayed again = replayed(edited(record(4, true, true), {name}, json::Value()));
    EXPECT_EQ(again.how, How::differs) << name;
    EXPECT_THAT(again.why, HasSubstr(name));
  }
}

}  // namespace
}  // namespace pawl::audit
