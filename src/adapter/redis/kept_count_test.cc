// Goal: the texts that Redis keeps mean one thing each, and no text can do harm. Method: pinned
// examples, round trips of any rule and state, and texts that are not what they must be.
#include "adapter/redis/kept_count.h"

#include <gtest/gtest.h>
#include <set>

#include "adapter/redis/slots.h"
#include "core/limit/limit_fixture.h"

namespace pawl::redis {
namespace {

const limit::Rule once = limit::TokenBucket({1, Duration::hours(1)}, 0);

std::string key_of(const std::string& policy, const std::string& key) {
  const limit::Policy named(policy, once);
  return count_key({&named, key});
}

TEST(KeptCount, KeysReadAsTheyAreNamed) {
  EXPECT_EQ(key_of("orders", "acme"), "rate:orders:{acme}");
  EXPECT_EQ(key_of("a:b", "2001:db8::1"), "rate:a:b:{2001:db8::1}");
  EXPECT_EQ(key_of("per minute", "a}b{c%\xff"), "rate:per%20minute:{a%7db%7bc%25%ff}");
  EXPECT_EQ(key_of("p", ""), "rate:p:{%}");
  const limit::Policy policy("p", once);
  EXPECT_EQ(count_key({&policy, limit::KeyId{1, 0xab}}),
            "rate:p:{%00000000000000000100000000000000ab}");
  EXPECT_EQ(reservation_key("rate:p:{k}", 0xbeef), "rate:p:{k}:beef");
}

TEST(KeptCount, NoTwoCountsShareAKeyAndAllOfOneKeyShareASlot) {
  const std::string names[] = {"",   "%",   "%7b",  "{",   "}",  "{}", "a",     "{a}",  ":",
                               "a:", ":{a", "a}:1", "a\n", "\n", " ",  "a:{b}", "\xc3", "b}"};
  std::set<std::string> keys;
  std::size_t count = 0;
  for (const std::string& key : names) {
    for (const std::string& policy : names) {
      keys.insert(key_of(policy, key));
      keys.insert(reservation_key(key_of(policy, key), 1));
      count += 2;
      EXPECT_EQ(key_slot(key_of(policy, key)), key_slot(key_of("other", key)));
      EXPECT_EQ(key_slot(key_of(policy, key)), key_slot(reservation_key(key_of(policy, key), 1)));
    }
  }
  EXPECT_EQ(keys.size(), count);
}

TEST(KeptCount, RulesAreRoundedUpToMicroseconds) {
  const Duration odd = Duration::nanoseconds(1'000'001);
  EXPECT_EQ(rule_text(limit::TokenBucket({3, Duration::seconds(1)}, 20)), "t 21 333334");
  EXPECT_EQ(rule_text(limit::SlidingWindow{{7, odd}}), "w 7 1001");
  EXPECT_EQ(rule_text(limit::SlidingLog{{7, odd}}), "l 7 1001");
  EXPECT_EQ(rule_text(limit::Concurrency{7, odd}), "s 7 1001");
  EXPECT_EQ(rule_text(limit::Calendar{7, {}}), "c 7 month 2001 1 1 0 0 0 0 UTC");
  EXPECT_FALSE(is_whole(limit::TokenBucket({3, Duration::seconds(1)}, 20)));
  EXPECT_TRUE(is_whole(limit::TokenBucket({4, Duration::seconds(1)}, 20)));
  const limit::Rule rounded = rounded_up(limit::TokenBucket({3, Duration::seconds(1)}, 20));
  const auto& bucket = std::get<limit::TokenBucket>(rounded);
  EXPECT_EQ(bucket.interval, Duration::microseconds(333'334));
  EXPECT_EQ(bucket.rate.count, 3) << "as it is told";
}

TEST(KeptCount, WindowsAreThoseAroundNow) {
  const auto us = [](const char* text) {
    return std::to_string(parse_instant(text).value().ns() / 1000);
  };
  const limit::CalendarRule monthly;
  EXPECT_EQ(window_starts(monthly, parse_instant("2026-02-01T00:00:00Z").value()),
            us("2026-01-01T00:00:00Z") + " " + us("2026-02-01T00:00:00Z") + " " +
                us("2026-03-01T00:00:00Z") + " " + us("2026-04-01T00:00:00Z"));
}

TEST(KeptCount, AnyCountComesBackAsItWas) {
  const Zones zones = [](std::string_view) -> Result<Zone> { return limit::zurich(); };
  limit::for_seeds(300, [&](limit::Chance& chance) {
    const limit::Rule rule = rounded_up(limit::any_rule(chance));
    const limit::Policy policy("p", rule);
    limit::Kept kept;
    limit::Now now = limit::start;
    for (std::uint64_t i = 1; i < 9; ++i) {
      const std::int64_t cost = limit::any_cost(chance, limit::capacity_of(rule));
      const limit::Member member{&policy, &kept.state};
      (void)limit::decide({&member, 1}, {.cost = cost, .holder = i}, now);
      now = limit::later(now, Duration::microseconds(chance.any_size(0, 1'000'000'000)));
    }
    kept.state.closed_until = now.moment;
    const std::string text = count_text(rule, kept.state);
    SCOPED_TRACE(text);
    auto again = parse_count(text, zones);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(rule_text(again->rule), rule_text(rule));
    EXPECT_EQ(again->marks, kept.marks);
    EXPECT_EQ(again->state.closed_until, kept.state.closed_until);
    // A window of the calendar may begin within a microsecond.
    EXPECT_EQ(again->state.cell.a, microseconds_up(kept.state.cell.a) * 1000);
    EXPECT_EQ(again->state.cell.b, kept.state.cell.b);
    again->state.marks = &again->marks;
    EXPECT_EQ(count_text(again->rule, again->state), text);
  });
}

TEST(KeptCount, RefusesWhatIsNotACount) {
  for (const char* text : {"",
                           "hello",
                           "1",
                           "1 2 3 4",
                           "1 2 3 4 ",
                           "1 2 3 4 t",
                           "1 2 3 4 t 1",
                           "1 2 3 4 t 0 1",
                           "1 2 3 4 t 1 0",
                           "1 2 3 4 x 1 1",
                           "-1 2 3 4 t 1 1",
                           "1 2 3 9007199254740993 t 1 1",
                           "1 2 3 4 w 1 99999999999999",
                           "1 2 3 4 c 1 month 2001 2 30 0 0 0 0 UTC",
                           "1 2 3 4 c 1 moon 2001 1 1 0 0 0 0 UTC",
                           "1 2 3 4 c 1 month 2001 1 1 0 0 0 0 ",
                           "1 2 3 4 c 1 month 2001 1 1 0 0 0 0 Mars/Base",
                           "0 1 0 0 l 1 1\n1 1",
                           "0 1 0 0 l 1 1\n1 0 0",
                           "0 1 0 0 l 1 1\n1 1 xyz",
                           "0 1 0 0 t 1 1\n1 1 0",
                           "?hash"}) {
    const auto kept = parse_count(text, {});
    ASSERT_FALSE(kept.has_value()) << text;
    EXPECT_EQ(kept.error().code, Code::invalid) << text;
  }
}

}  // namespace
}  // namespace pawl::redis
