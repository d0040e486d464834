// Goal: the header lines are exactly what the drafts ask for, no time in them is early, and what is
// written is what a client reads. Method: pinned lines; rounding at the edges of a second; random
// policies, decided for real and read back with pushback.h.
#include "core/limit/headers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/text.h"
#include "core/limit/pushback.h"

namespace pawl::limit {
namespace {

using Standard = HeaderDialects::Standard;

constexpr HeaderDialects silent{.standard = Standard::none, .legacy = false};
constexpr HeaderDialects ratelimit{.standard = Standard::ratelimit, .legacy = false};
constexpr HeaderDialects draft7{.standard = Standard::draft7, .legacy = false};
constexpr HeaderDialects draft6{.standard = Standard::draft6, .legacy = false};
constexpr HeaderDialects legacy{.standard = Standard::none, .legacy = true};

constexpr Instant wall = Instant::from_ns(1'700'000'000'500'000'000);  // November 2023
constexpr Now now{.moment = Moment::from_ns(5'000'000'000'000), .wall = wall};

const Policy global{"global", SlidingWindow{{.count = 100, .period = Duration::minutes(1)}}};
const Policy login{"login", TokenBucket({.count = 5, .period = Duration::milliseconds(1500)}, 2)};
const Policy uploads{"uploads", Concurrency{.slots = 3, .lease = Duration::seconds(30)}};
const Policy monthly{"monthly", Calendar{.count = 1000, .rule = {}}};
const Policy strict{
    "strict", SlidingWindow{{.count = 10, .period = Duration::minutes(1)}}, {.shadow = true}};

const Verdict global_verdict{.allowed = true,
                             .limit = 100,
                             .remaining = 20,
                             .more_after = Duration::milliseconds(600),
                             .full_after = Duration::milliseconds(47'600)};
const Verdict login_verdict{.allowed = true,
                            .limit = 5,
                            .remaining = 2,
                            .more_after = Duration::milliseconds(300),
                            .full_after = Duration::milliseconds(300)};
const Verdict uploads_verdict{.allowed = true,
                              .limit = 3,
                              .remaining = 1,
                              .more_after = Duration::milliseconds(29'001),
                              .full_after = Duration::seconds(30)};

struct Case {
  std::vector<Count> counts;
  Answer answer;

  Case(std::initializer_list<const Policy*> policies, std::initializer_list<Verdict> verdicts) {
    for (const Policy* policy : policies) counts.push_back({.policy = policy, .key = "acme"});
    for (const Verdict& verdict : verdicts) answer.verdicts.add(verdict);
    answer.allowed = true;
    answer.now = now;
  }
  Case& bound_by(std::uint8_t which) {
    answer.binding = which;
    return *this;
  }
  std::string in(HeaderDialects dialects) const {
    std::string out;
    append_headers(out, dialects, counts, answer);
    return out;
  }
};

TEST(Headers, SayEveryPolicyInDraft10AndTheTightestInLegacyForm) {
  const Case two = Case({&global, &login}, {global_verdict, login_verdict}).bound_by(1);
  EXPECT_EQ(two.in({}),
            "RateLimit-Policy: \"global\";q=100;w=60, \"login\";q=5;w=2\r\n"
            "RateLimit: \"global\";r=20;t=1, \"login\";r=2;t=1\r\n"
            "X-RateLimit-Limit: 5\r\n"
            "X-RateLimit-Remaining: 2\r\n"
            "X-RateLimit-Reset: 1700000001\r\n");
}

TEST(Headers, SayOfSlotsThatTheyHaveNoWindow) {
  const Case one({&uploads}, {uploads_verdict});
  EXPECT_EQ(one.in(ratelimit),
            "RateLimit-Policy: \"uploads\";q=3;qu=\"concurrent-requests\"\r\n"
            "RateLimit: \"uploads\";r=1;t=30\r\n");
  EXPECT_EQ(one.in(draft7), "RateLimit: limit=3, remaining=1, reset=30\r\n");
}

TEST(Headers, SayOfACalendarLimitHowLongItsWindowIsNow) {
  const Case one({&monthly}, {Verdict{.allowed = true, .limit = 1000, .remaining = 999}});
  EXPECT_NE(one.in(ratelimit).find("\"monthly\";q=1000;w=2592000\r\n"), std::string::npos)
      << one.in(ratelimit);  // November has 30 days
}

TEST(Headers, SayTheTightestPolicyFirstWherePoliciesHaveNoNames) {
  const Case three =
      Case({&global, &uploads, &login}, {global_verdict, uploads_verdict, login_verdict})
          .bound_by(2);
  EXPECT_EQ(three.in(draft7),
            "RateLimit: limit=5, remaining=2, reset=1\r\n"
            "RateLimit-Policy: 5;w=2, 100;w=60\r\n");
  EXPECT_EQ(three.in(draft6),
            "RateLimit-Limit: 5\r\n"
            "RateLimit-Remaining: 2\r\n"
            "RateLimit-Reset: 1\r\n"
            "RateLimit-Policy: 5;w=2, 100;w=60\r\n");
}

TEST(Headers, SayNothingOfCountsThatNobodyKeeps) {
  Case one({&global}, {global_verdict});
  one.answer.counted_by = CountedBy::nobody;
  EXPECT_EQ(one.in({}), "");
  one.answer.counted_by = CountedBy::process;
  EXPECT_NE(one.in({}), "");
}

TEST(Headers, AppearOnlyInTheDialectsAskedFor) {
  const Case one({&global}, {global_verdict});
  EXPECT_EQ(one.in(silent), "");
  EXPECT_EQ(one.in(legacy),
            "X-RateLimit-Limit: 100\r\n"
            "X-RateLimit-Remaining: 20\r\n"
            "X-RateLimit-Reset: 1700000049\r\n");
}

TEST(Headers, TellNobodyOfAPolicyInShadow) {
  const Case mixed = Case({&strict, &global}, {Verdict{.limit = 10}, global_verdict}).bound_by(1);
  const Case same({&global}, {global_verdict});
  for (const HeaderDialects dialects : {ratelimit, draft7, draft6, legacy}) {
    EXPECT_EQ(mixed.in(dialects), same.in(dialects));
    EXPECT_EQ(Case({&strict}, {Verdict{.limit = 10}}).in(dialects), "");
  }
}

TEST(Headers, AreNotBrokenByAName) {
  const Policy odd{"a\"b\\c\r\nSet-Cookie: d\x7f\xc3\xa9", SlidingWindow{{}}};
  const Case one({&odd}, {Verdict{.limit = 1}});
  EXPECT_EQ(one.in(ratelimit),
            "RateLimit-Policy: \"a\\\"b\\\\c??Set-Cookie: d???\";q=1;w=1\r\n"
            "RateLimit: \"a\\\"b\\\\c??Set-Cookie: d???\";r=0;t=0\r\n");
}

// The room is made before the names are looked at.
TEST(Headers, HaveRoomForNamesOfNothingButEscapes) {
  const std::string name(300, '"');
  const Policy odd{name, Concurrency{.slots = 3, .lease = Duration::seconds(30)}};
  Case most({}, {});
  for (std::size_t i = 0; i < bounds::limit_policies_max; ++i) {
    most.counts.push_back({.policy = &odd, .key = "acme"});
    most.answer.verdicts.add({.allowed = true, .limit = INT64_MAX, .remaining = INT64_MAX});
  }
  EXPECT_GT(most.in({}).size(), 2 * 2 * name.size() * bounds::limit_policies_max);
  EXPECT_TRUE(most.in(draft6).starts_with("RateLimit-Limit: "));
}

TEST(Headers, NumbersStayWithinWhatAStructuredFieldMayHold) {
  const Case huge({&global}, {Verdict{.limit = 9'000'000'000'000'000,
                                      .remaining = -3,
                                      .more_after = Duration::max(),
                                      .full_after = Duration::max()}});
  EXPECT_EQ(huge.in(ratelimit),
            "RateLimit-Policy: \"global\";q=999999999999999;w=60\r\n"
            "RateLimit: \"global\";r=0;t=9223372037\r\n");
  // Ten digits would be a date in 1970 plus what was meant as a wait.
  EXPECT_EQ(huge.in(draft7).substr(0, 63),
            "RateLimit: limit=999999999999999, remaining=0, reset=999999999\r");
}

Answer refused(Duration retry_after, Duration more_after) {
  Answer answer;
  answer.retry_after = retry_after;
  answer.verdicts.add({.more_after = more_after});
  return answer;
}

TEST(RetryAfter, IsRoundedUpAndAtLeastOneSecond) {
  EXPECT_EQ(retry_after_seconds(refused({}, {})), 1);
  EXPECT_EQ(retry_after_seconds(refused(Duration::nanoseconds(1), {})), 1);
  EXPECT_EQ(retry_after_seconds(refused(Duration::seconds(2), {})), 2);
  EXPECT_EQ(retry_after_seconds(refused(Duration::nanoseconds(2'000'000'001), {})), 3);
}

TEST(RetryAfter, IsNeitherEarlierThanMoreComesNorThanTheHint) {
  const Answer answer = refused(Duration::seconds(2), Duration::milliseconds(4'001));
  EXPECT_EQ(retry_after_seconds(answer), 5);
  EXPECT_EQ(retry_after_seconds(answer, Duration::milliseconds(7'500)), 8);
}

TEST(RetryAfter, IsNotSentWhereNoWaitWouldDo) {
  const std::int64_t never = retry_after_seconds(refused(Duration::max(), {}));
  EXPECT_EQ(never, 0);
  std::string out;
  append_retry_after(out, never);
  EXPECT_EQ(out, "");
  append_retry_after(out, 12);
  EXPECT_EQ(out, "Retry-After: 12\r\n");
}

Rule any_rule() {
  const Rate rate{.count = *rc::gen::inRange<std::int64_t>(1, 50),
                  .period = Duration::milliseconds(*rc::gen::inRange<std::int64_t>(1, 200'000))};
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return TokenBucket(rate, *rc::gen::inRange<std::int64_t>(0, 20));
    case 1:
      return SlidingWindow{rate};
    case 2:
      return SlidingLog{rate};
    case 3:
      return Concurrency{.slots = rate.count, .lease = rate.period};
    default:
      return Calendar{.count = rate.count, .rule = {}};
  }
}

struct Decided {
  std::vector<Policy> policies;
  std::vector<Count> counts;
  Answer answer;
};

// Some policies that were asked a few times, and for more than most of them have in the end.
Decided any_decision() {
  Decided decided;
  const auto size = *rc::gen::inRange<std::size_t>(1, 6);
  for (std::size_t i = 0; i < size; ++i) {
    std::string name = "\"policy\\ " + std::to_string(i);
    decided.policies.emplace_back(std::move(name), any_rule(),
                                  PolicyOptions{.shadow = *rc::gen::inRange(0, 4) == 0});
  }
  std::vector<Marks> marks(size);
  std::vector<State> states(size);
  std::vector<Member> members;
  for (std::size_t i = 0; i < size; ++i) {
    states[i].marks = &marks[i];
    if (*rc::gen::inRange(0, 8) == 0) {
      states[i].closed_until = now.moment + Duration::seconds(*rc::gen::inRange(1, 60'000'000));
    }
    members.push_back({.policy = &decided.policies[i], .state = &states[i]});
    decided.counts.push_back({.policy = &decided.policies[i], .key = "acme"});
  }
  Now at = now;
  for (int asks = *rc::gen::inRange(0, 20); asks >= 0; --asks) {
    const Duration passed = Duration::microseconds(*rc::gen::inRange(0, 300'000));
    at = {.moment = at.moment + passed, .wall = at.wall + passed};
    const std::int64_t cost = *rc::gen::inRange<std::int64_t>(0, asks == 0 ? 60 : 4);
    decided.answer = decide(members, {.cost = cost, .holder = 1}, at);
  }
  return decided;
}

Pushback read_back(const std::string& lines, Instant at) {
  std::vector<Field> fields;
  std::string_view rest = lines;
  while (!rest.empty()) {
    std::string_view line = take_until(rest, '\n');
    const std::string_view name = take_until(line, ':');
    fields.push_back({.name = name, .value = line.substr(0, line.size() - 1)});
  }
  return parse_pushback(fields, at);
}

// Never earlier than it is, and later by less than the rounding to a second, which is at least one.
void expect_reset(const Reading& reading, Instant at, Duration wait) {
  RC_ASSERT(reading.resets_at.has_value());
  RC_ASSERT(*reading.resets_at >= at + wait);
  RC_ASSERT(*reading.resets_at <= at + wait + Duration::seconds(1));
}

// Nor earlier than RateLimit's t, of all that refused.
void expect_retry_after(const Decided& decided) {
  const std::int64_t seconds = retry_after_seconds(decided.answer);
  for (std::size_t i = 0; i < decided.counts.size(); ++i) {
    const Verdict& verdict = decided.answer.verdicts[i];
    if (verdict.allowed || decided.policies[i].options.shadow || seconds == 0) continue;
    RC_ASSERT(Duration::seconds(seconds) >= verdict.retry_after);
    RC_ASSERT(seconds >= verdict.more_after.seconds_up());
  }
  RC_ASSERT((seconds == 0) == (decided.answer.retry_after == Duration::max()));
}

RC_GTEST_PROP(Headers, AreReadBackAsTheyWereMeant, ()) {
  const Decided decided = any_decision();
  RC_TAG(decided.answer.allowed ? "allowed" : "refused");
  if (!decided.answer.allowed) expect_retry_after(decided);
  const Answer& answer = decided.answer;
  const Instant at = answer.now.wall;
  const auto read = [&](HeaderDialects dialects) {
    std::string out;
    append_headers(out, dialects, decided.counts, answer);
    const Pushback pushback = read_back(out, at);
    RC_ASSERT(pushback.malformed == 0);
    return pushback;
  };
  const Pushback all = read(ratelimit);
  std::size_t told = 0;
  for (std::size_t i = 0; i < decided.counts.size(); ++i) {
    const Policy& policy = decided.policies[i];
    if (policy.options.shadow) continue;
    const Reading& reading = all.readings.at(told++);
    RC_ASSERT(reading.dimension == policy.name);
    RC_ASSERT(reading.limit == answer.verdicts[i].limit);
    RC_ASSERT(reading.remaining == answer.verdicts[i].remaining);
    expect_reset(reading, at, answer.verdicts[i].more_after);
    const bool slots = std::holds_alternative<Concurrency>(policy.rule);
    RC_ASSERT(reading.unit == (slots ? "concurrent-requests" : ""));
    const Duration period = period_of(policy.rule, at);
    RC_ASSERT(reading.window.value_or(Duration()) == Duration::seconds(period.seconds_up()));
  }
  RC_ASSERT(all.readings.size() == told);
  for (const HeaderDialects dialects : {draft7, draft6, legacy}) {
    const Pushback tightest = read(dialects);
    if (told == 0) {
      RC_ASSERT(tightest.readings.empty());
      continue;
    }
    const Reading& reading = tightest.readings.at(0);
    RC_ASSERT(reading.limit == answer.bound().limit);
    RC_ASSERT(reading.remaining == answer.bound().remaining);
    expect_reset(reading, at, answer.bound().full_after);
    const Duration period = period_of(decided.policies[answer.binding].rule, at);
    const bool has_window = dialects != legacy && period > Duration();
    if (has_window) RC_ASSERT(reading.window == Duration::seconds(period.seconds_up()));
  }
}

}  // namespace
}  // namespace pawl::limit
