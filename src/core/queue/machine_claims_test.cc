// Goal: a submission is taken once, and claims bring what is due in its order.
// Method: one machine, one command a segment, time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(MachineTest, KnowsATaskByItsIdAndByItsUniqueName) {
  TaskTerms terms = plain();
  terms.unique = "invoice-7";
  submit(1, terms);
  EXPECT_FALSE(std::get<Submitted>(one(Submit{.id = id_of(1), .terms = terms})).fresh);
  const auto again = std::get<Submitted>(one(Submit{.id = id_of(2), .terms = terms}));
  EXPECT_EQ(again.id, id_of(1));
  EXPECT_FALSE(again.fresh);
  TaskTerms other = terms;
  other.input = "[2]";
  EXPECT_THAT(refusal(one(Submit{.id = id_of(3), .terms = other})), HasSubstr("invoice-7"));
  other.key = "another";
  EXPECT_TRUE(std::get<Submitted>(one(Submit{.id = id_of(4), .terms = other})).fresh)
      << "a name is unique among the tasks of its key";
}

TEST_F(MachineTest, KnowsAnInputHoweverItIsWritten) {
  TaskTerms terms = plain();
  terms.unique = "invoice-7";
  terms.input = R"({"a":9007199254740992,"b":[2e1]})";
  submit(1, terms);
  const auto again = [&](std::string input) {
    terms.input = std::move(input);
    return one(Submit{.id = id_of(2), .terms = terms});
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(std::get<Submitted>(again(R"({ "b":[20], "a":9007199254740992.0 })")).id, id_of(1));
    for (const char* other :
         {R"({"a":9007199254740992,"b":[21]})", R"({"b":[1e999]})", "{",
          R"({"a":9007199254740993,"b":[20]})"}) {  // of which a double has none
      EXPECT_THAT(refusal(again(other)), HasSubstr("invoice-7")) << other;
    }
    claim();
    one(Reschedule{.id = id_of(1), .fence = fence(1), .input = "[3]"});  // and then it has another
  }
}

TEST_F(MachineTest, DelaysASubmissionByALengthOrToAMoment) {
  one(Submit{.id = id_of(1), .terms = plain(), .delay = Duration::seconds(10)});
  one(Submit{.id = id_of(2), .terms = plain(), .at = now() + Duration::seconds(5)});
  one(Submit{.id = id_of(3), .terms = plain(), .at = now() - Duration::seconds(5)});
  EXPECT_EQ(task(3).available_at, now()) << "the past does not overtake what is due";
  EXPECT_THAT(claim(9), ElementsAre(3));
  EXPECT_EQ(machine_.next_change({}, now()), now() + Duration::seconds(5));
  pass(Duration::seconds(10));
  EXPECT_THAT(claim(9), ElementsAre(2, 1));
}

TEST_F(MachineTest, ClaimsByPriorityAcrossTypesAndOnlyWhatWasNamed) {
  TaskTerms high = plain();
  high.priority = 5;
  high.type = "trade";
  submit(1, plain());
  submit(2, high);
  submit(3, plain());
  EXPECT_THAT(claim(1, {"mail", "unheard of"}), ElementsAre(1));
  EXPECT_THAT(claim(9), ElementsAre(2, 3));
}

TEST_F(MachineTest, PutsADelayOfZeroBehindEverythingThatIsDue) {
  for (std::uint32_t i = 1; i <= 3; ++i) submit(i);
  EXPECT_THAT(claim(), ElementsAre(1));
  reschedule(1, {});
  EXPECT_THAT(claim(3), ElementsAre(2, 3, 1));
}

TEST_F(MachineTest, RefusesWhatIsOutOfRange) {
  const auto wrong = [&](auto change) {
    TaskTerms terms = plain();
    change(terms);
    return refusal(one(Submit{.id = id_of(1), .terms = terms}), Code::invalid);
  };
  EXPECT_THAT(wrong([](auto& terms) { terms.type = ""; }), HasSubstr("needs a type"));
  EXPECT_THAT(wrong([](auto& terms) { terms.key = std::string(256, 'k'); }), HasSubstr("key"));
  EXPECT_THAT(wrong([](auto& terms) { terms.priority = 101; }), HasSubstr("-100 … 100"));
  EXPECT_THAT(wrong([](auto& terms) { terms.max_retries = 2'000'000; }), HasSubstr("max_retries"));
  EXPECT_THAT(wrong([](auto& terms) { terms.timeout = {}; }), HasSubstr("timeout"));
  EXPECT_THAT(wrong([](auto& terms) { terms.retry.jitter_milli = 1001; }), HasSubstr("jitter"));
  EXPECT_THAT(wrong([](auto& terms) { terms.retry.delays.resize(65); }), HasSubstr("delays"));
  TaskId elsewhere = id_of(1);
  elsewhere.bytes[0] = 3;
  EXPECT_THAT(refusal(one(Submit{.id = elsewhere, .terms = plain()}), Code::invalid),
              HasSubstr("shard 3"));
  refusal(one(Claim{.worker = ""}), Code::invalid);
  refusal(one(Claim{.worker = "w", .lease = {}}), Code::invalid);
  EXPECT_EQ(machine_.tasks(), 0U);
  EXPECT_EQ(machine_.stats(now()).totals.refused, 10U);
}

TEST_F(MachineTest, ExpiresAtOnceWhatIsSubmittedTooLate) {
  const Reply reply =
      one(Submit{.id = id_of(1), .terms = plain(), .expires = now() - Duration::seconds(1)});
  EXPECT_TRUE(std::get<Submitted>(reply).fresh);
  EXPECT_EQ(status(1), Status::expired);
}

TEST_F(MachineTest, GoesOnCountingFromWhatATaskBringsWithIt) {
  TaskTerms terms = plain(2);
  terms.max_reschedules = 5;
  one(Submit{
      .id = id_of(1), .terms = terms, .counts = {.attempts = 7, .retries = 2, .reschedules = 4}});
  claim();
  EXPECT_EQ(task(1).attempt, 8U);
  EXPECT_EQ(reschedule(1, {}).status, Status::pending);
  EXPECT_EQ(task(1).reschedule_count, 5U);
  claim();
  EXPECT_EQ(fail(1).status, Status::failed) << "its retries were used up before";
}

}  // namespace
}  // namespace pawl::queue
