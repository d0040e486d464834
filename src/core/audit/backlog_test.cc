// Goal: what is added comes out in order and in the words it would have had at once, and what it
//       points at lives as long as it is needed.
// Method: all kinds mixed, twice, so that the room of the first time is used again; owners that can
//         be watched; the largest there is.
#include "core/audit/backlog.h"

#include <gtest/gtest.h>

#include "core/audit/late_fixture.h"
#include "core/audit/sample_event.h"

namespace pawl::audit {
namespace {

Success success() {
  retry::Facts facts;
  facts.attempt = 2;
  facts.seen = {retry::Failure::none, Outcome::applied, false};
  const auto trail = std::make_shared<const Trail>(Trail{.operation = "get"});
  return {.trail = trail, .facts = facts, .decision = retry::decide(trail->policy, facts)};
}

TEST(Backlog, GivesWhatWasAddedInOrderAndInWords) {
  const LimitSample sample;
  const limit::Policy policy("p", limit::Concurrency{.slots = 2});
  const limit::Count by_id{&policy, limit::KeyId{.high = 1, .low = 2}};
  limit::Answer answer;
  answer.allowed = true;
  answer.verdicts.add({.allowed = true, .limit = 2, .remaining = 1});
  const std::vector<Late> lates = {
      sample.decided(), success(), request_sample(),
      LimitDecided{.operation = "", .counts = {&by_id, 1}, .answer = &answer, .cost = 3},
      RequestEnded{.outcome = Outcome::not_applied, .status = 429}};
  auto wording = std::make_unique<Wording>();
  Backlog backlog;
  for (int round = 0; round < 2; ++round) {
    std::vector<Draft> expected;
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 100; ++i) {
      for (const Late& late : lates) {
        expected.push_back(draft(to_event(late)).value());
        sizes.push_back(backlog.add(Late(late)));
      }
      expected.push_back(draft(sample_event()).value());
      sizes.push_back(backlog.add(expected.back()));
    }
    EXPECT_EQ(backlog.events(), expected.size());
    Draft next;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(backlog.next(*wording, next), sizes[i]) << i;
      ASSERT_EQ(next.text, expected[i].text) << i;
      ASSERT_EQ(next.hash_at, expected[i].hash_at);
      ASSERT_EQ(next.prev_at, expected[i].prev_at);
      ASSERT_EQ(next.seq_at, expected[i].seq_at);
    }
    EXPECT_TRUE(backlog.is_read());
    EXPECT_EQ(backlog.next(*wording, next), 0u);
    backlog.clear();
    EXPECT_EQ(backlog.events(), 0u);
  }
}

TEST(Backlog, KeepsWhatItsFactsPointAtUntilItIsCleared) {
  const LimitSample sample;
  std::shared_ptr<const void> first = std::make_shared<int>(1);
  std::shared_ptr<const void> second = std::make_shared<int>(2);
  const std::weak_ptr<const void> policies[] = {first, second};
  Success done = success();
  const std::weak_ptr<const Trail> trail = done.trail;
  Backlog backlog;
  for (std::shared_ptr<const void>* owner : {&first, &first, &second, &first}) {
    LimitDecided decided = sample.decided();
    decided.policies = owner;
    backlog.add(Late(decided));
  }
  EXPECT_EQ(first.use_count(), 3) << "once for what comes one behind the other";
  backlog.add(Late(std::move(done)));
  first.reset();
  second.reset();
  EXPECT_FALSE(policies[0].expired() || policies[1].expired() || trail.expired());
  backlog.clear();
  EXPECT_TRUE(policies[0].expired() && policies[1].expired() && trail.expired());
}

}  // namespace
}  // namespace pawl::audit
