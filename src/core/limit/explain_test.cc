// Goal: a person who reads one or two sentences knows which limit decided, what is left, and how
// long to wait at least. Method: whole texts, pinned, of decisions made for real; waits at the
// edges of their units, and random ones read back.
#include "core/limit/explain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/text.h"

namespace pawl::limit {
namespace {

constexpr Now start{.moment = Moment::from_ns(6'000'000'000'000),
                    .wall = Instant::from_ns(1'700'000'000'000'000'000)};

Policy log_of(std::string name, std::int64_t count, bool shadow = false) {
  return {std::move(name),
          SlidingLog{{.count = count, .period = Duration::minutes(1)}},
          {.shadow = shadow}};
}

// Policies and what they remember of one key.
class Limits {
 public:
  explicit Limits(std::vector<Policy> policies)
      : policies_(std::move(policies)), marks_(policies_.size()), states_(policies_.size()) {
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      states_[i].marks = &marks_[i];
      members_.push_back({.policy = &policies_[i], .state = &states_[i]});
      counts_.push_back({.policy = &policies_[i], .key = "acme"});
    }
  }

  std::string ask(std::int64_t cost, Duration after = {}, CountedBy by = CountedBy::store) {
    const Now now{.moment = start.moment + after, .wall = start.wall + after};
    Answer answer = decide(members_, {.cost = cost}, now);
    answer.counted_by = by;
    return explain(counts_, answer, cost);
  }
  void close(std::size_t which, Duration lasting) {
    states_[which].closed_until = start.moment + lasting;
  }

 private:
  std::vector<Policy> policies_;
  std::vector<Marks> marks_;
  std::vector<State> states_;
  std::vector<Member> members_;
  std::vector<Count> counts_;
};

TEST(Explain, SaysOfWhatWasAllowedHowMuchTheTightestPolicyHasLeft) {
  Limits limits({log_of("global", 100), log_of("login", 5)});
  EXPECT_EQ(limits.ask(3), "Allowed. Tightest is 'login' (5/1m exactly): 3 of 5 used, 2 left.");
  EXPECT_EQ(limits.ask(2, Duration::seconds(12)),
            "Allowed. Tightest is 'login' (5/1m exactly): 5 of 5 used, nothing left; more comes in "
            "48s.");
}

TEST(Explain, SaysOfALookThatNothingWasCharged) {
  Limits limits({log_of("login", 5)});
  EXPECT_EQ(limits.ask(0),
            "Looked at, nothing was charged. Tightest is 'login' (5/1m exactly): 0 of 5 used, 5 "
            "left.");
}

TEST(Explain, SaysWhoCountedWhenTheStoreDidNotAnswer) {
  Limits limits({log_of("login", 5)});
  EXPECT_EQ(limits.ask(3, {}, CountedBy::process),
            "Allowed. Tightest is 'login' (5/1m exactly): 3 of 5 used, 2 left. The store did not "
            "answer: this process alone has counted.");
  EXPECT_EQ(limits.ask(1, {}, CountedBy::nobody),
            "Allowed. The store did not answer: nobody has counted.");
}

TEST(Explain, SaysWhichPolicyRefusedAndTheEarliestThatWouldDo) {
  Limits limits({log_of("global", 100), log_of("login", 5)});
  limits.ask(5);
  EXPECT_EQ(limits.ask(1, Duration::milliseconds(47'650)),
            "Refused by 'login' (5/1m exactly): 5 of 5 used, nothing left. The earliest that would "
            "do is in 12.4s.");
}

TEST(Explain, SaysHowManyWereAskedForWhenSomeAreLeft) {
  Limits limits({log_of("login", 5)});
  limits.ask(3);
  EXPECT_EQ(limits.ask(4),
            "Refused by 'login' (5/1m exactly): 3 of 5 used, 2 left; 4 are asked for. The earliest "
            "that would do is in 1m.");
}

TEST(Explain, SaysThatNoWaitWouldDo) {
  Limits limits({log_of("login", 5)});
  EXPECT_EQ(limits.ask(6),
            "Refused by 'login' (5/1m exactly): 6 are asked for, and there are never more than 5. "
            "No wait would do.");
}

TEST(Explain, SaysThatItWasClosed) {
  Limits limits({Policy("orders", TokenBucket({}, 0))});
  limits.close(0, Duration::seconds(30));
  EXPECT_EQ(limits.ask(1),
            "Refused by 'orders' (1/1s): closed by a server's or an operator's word. The earliest "
            "that would do is in 30s.");
  EXPECT_EQ(limits.ask(0, Duration::seconds(10)),
            "Looked at, nothing was charged. Tightest is 'orders' (1/1s): closed by a server's "
            "or an operator's word; it opens in 20s.");
  EXPECT_EQ(limits.ask(1, Duration::seconds(30)),
            "Allowed. Tightest is 'orders' (1/1s): 1 of 1 used, nothing left; more comes in 1s.");
}

TEST(Explain, SaysWhoElseRefused) {
  Limits limits({log_of("a", 1), log_of("b", 1), log_of("c", 1), log_of("d", 9)});
  limits.ask(1);
  EXPECT_EQ(
      limits.ask(1),
      "Refused by 'a' (1/1m exactly): 1 of 1 used, nothing left. The earliest that would do is "
      "in 1m. Refused by 'b' (1/1m exactly) and 'c' (1/1m exactly) too.");
}

TEST(Explain, TellsClientsNothingOfPoliciesInShadow) {
  const Policy real{"real", TokenBucket({1, Duration::hours(1)}, 0)};
  const Policy shadow{"shadow", TokenBucket({1, Duration::hours(1)}, 0), {.shadow = true}};
  const Count counts[] = {{&real, ""}, {&shadow, ""}};
  State states[2];
  const Member members[] = {{&real, &states[0]}, {&shadow, &states[1]}};
  EXPECT_TRUE(decide(members, {}, {}).allowed);
  const Answer refused = decide(members, {}, {});
  EXPECT_NE(explain(counts, refused).find("Shadow 'shadow'"), std::string::npos);
  EXPECT_EQ(explain(counts, refused, 1, Audience::clients),
            "Refused by 'real' (1/1h): 1 of 1 used, nothing left. The earliest that would do is in "
            "1h.");
}

TEST(Explain, SaysWhatPoliciesInShadowWouldHaveDone) {
  Limits limits({log_of("strict", 1, true), log_of("global", 2), log_of("loose", 9, true)});
  EXPECT_EQ(limits.ask(1), "Allowed. Tightest is 'global' (2/1m exactly): 1 of 2 used, 1 left.");
  EXPECT_EQ(
      limits.ask(1),
      "Allowed. Tightest is 'global' (2/1m exactly): 2 of 2 used, nothing left; more comes in "
      "1m. Shadow 'strict' (1/1m exactly) would have refused.");
  EXPECT_EQ(
      limits.ask(1),
      "Refused by 'global' (2/1m exactly): 2 of 2 used, nothing left. The earliest that would "
      "do is in 1m. Shadow 'strict' (1/1m exactly) would have refused too.");
}

TEST(Explain, SaysWhenNoPolicyIsEnforced) {
  Limits limits({log_of("strict", 1, true)});
  limits.ask(1);
  EXPECT_EQ(limits.ask(1),
            "Allowed. No policy is enforced. Shadow 'strict' (1/1m exactly) would have refused.");
}

// The wait in the text of a refusal.
std::string told(Duration wait) {
  const Policy policy = log_of("login", 5);
  const Count count{.policy = &policy, .key = "acme"};
  Answer answer;
  answer.verdicts.add({.retry_after = wait});
  const std::string text = explain({&count, 1}, answer);
  const auto begin = text.rfind(" in ") + 4;
  return text.substr(begin, text.size() - 1 - begin);
}

TEST(Explain, TellsWaitsShortlyAndRoundedUp) {
  EXPECT_EQ(told(Duration::nanoseconds(1)), "1ms");
  EXPECT_EQ(told(Duration::nanoseconds(998'000'001)), "999ms");
  EXPECT_EQ(told(Duration::nanoseconds(999'000'001)), "1s");
  EXPECT_EQ(told(Duration::milliseconds(1'001)), "1.1s");
  EXPECT_EQ(told(Duration::milliseconds(59'900)), "59.9s");
  EXPECT_EQ(told(Duration::milliseconds(59'901)), "1m");
  EXPECT_EQ(told(Duration::milliseconds(60'001)), "1m 1s");
  EXPECT_EQ(told(Duration::milliseconds(3'599'001)), "1h");
  EXPECT_EQ(told(Duration::seconds(3'601)), "1h 1m");
  EXPECT_EQ(told(Duration::seconds(86'341)), "1d");
  EXPECT_EQ(told(Duration::hours(49)), "2d 1h");
}

Duration read_wait(std::string_view text) {
  Duration sum;
  while (!text.empty()) {
    std::string_view part = take_until(text, ' ');
    const std::size_t unit = part.find_first_not_of("0123456789");
    const auto point = part.find('.');
    if (point != std::string_view::npos) {
      const Duration whole = *parse_duration(std::string(part.substr(0, point)) + "s");
      sum = sum + whole + Duration::milliseconds(100) * (part[point + 1] - '0');
    } else {
      RC_ASSERT(unit != std::string_view::npos);
      sum = sum + *parse_duration(part);
    }
  }
  return sum;
}

RC_GTEST_PROP(Explain, NeverTellsAWaitTooShortNorMuchTooLong, ()) {
  const auto digits = *rc::gen::inRange(0, 62);
  const Duration wait =
      Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(1, (std::int64_t{1} << digits) + 1));
  const Duration read = read_wait(told(wait));
  RC_ASSERT(read >= wait);
  RC_ASSERT(read <= wait + wait / 10 + Duration::milliseconds(1));
}

}  // namespace
}  // namespace pawl::limit
