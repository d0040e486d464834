// Goal: what is put into words late is the record it would have been at once, to the byte.
// Method: seeded decisions of every algorithm, with every kind of key, of text and of number, in
//         both ways; the text of one that is pinned.
#include "core/audit/wording.h"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "core/audit/late_fixture.h"
#include "core/audit/replay.h"
#include "core/limit/limit_fixture.h"

namespace pawl::audit {
namespace {

using limit::Chance;

void expect_same(const Late& late, Wording& wording) {
  const Draft expected = draft(to_event(late)).value();
  Draft worded{.text = "of an earlier one"};
  std::visit([&](const auto& each) { wording.word(each, worded); }, late);
  ASSERT_EQ(worded.text, expected.text);
  ASSERT_EQ(worded.hash_at, expected.hash_at);
  ASSERT_EQ(worded.prev_at, expected.prev_at);
  ASSERT_EQ(worded.seq_at, expected.seq_at);
}

std::string any_text(Chance& chance) {
  constexpr std::array<std::string_view, 14> pieces = {
      "acme",       "GET /v1/orders",
      "",           "x",
      "\"",         "\\",
      "\n",         "password=hunter2 ",
      "Bearer abc", "https://u:p@h/",
      "\xff",       "\xc2\x80",
      "\u2028",     "a text of more than sixteen bytes"};
  std::string text;
  for (std::int64_t i = chance.between(0, 3); i > 0; --i) {
    text += pieces[static_cast<std::size_t>(chance.between(0, pieces.size() - 1))];
  }
  return text;
}

std::int64_t any_number(Chance& chance) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (chance.one_in(8)) return chance.one_in(2) ? Limits::min() : Limits::max();
  return chance.any_size(0, Limits::max() - 1) * (chance.one_in(4) ? -1 : 1);
}

Duration any_wait(Chance& chance) {
  return chance.one_in(5) ? Duration::max() : chance.any_duration(Duration(), Duration::days(400));
}

limit::Policy any_policy(Chance& chance) {
  return {any_text(chance), limit::any_rule(chance), {.shadow = chance.one_in(3)}};
}

Correlation any_ids(Chance& chance) {
  return {.tenant_id = any_text(chance),
          .request_id = any_text(chance),
          .external_reference = any_text(chance),
          .correlation_id = any_text(chance),
          .trace_id = any_text(chance)};
}

limit::Answer any_answer(Chance& chance, std::size_t policies) {
  limit::Answer answer;
  answer.allowed = chance.one_in(2);
  answer.counted_by = static_cast<limit::CountedBy>(chance.between(0, 2));
  answer.as_decided = chance.one_in(2);
  answer.binding =
      static_cast<std::uint8_t>(chance.between(0, static_cast<std::int64_t>(policies) - 1));
  answer.retry_after = any_wait(chance);
  answer.now = {.moment = limit::Moment::from_ns(any_number(chance)),
                .wall = Instant::from_ns(any_number(chance))};
  for (std::size_t i = 0; i < policies; ++i) {
    answer.verdicts.add({.allowed = chance.one_in(2),
                         .closed = chance.one_in(4),
                         .limit = any_number(chance),
                         .remaining = chance.one_in(3) ? 0 : chance.any_size(0, 1'000'000),
                         .retry_after = any_wait(chance),
                         .more_after = chance.any_duration(Duration(), Duration::days(400)),
                         .before = {.a = any_number(chance), .b = any_number(chance)}});
  }
  return answer;
}

TEST(Wording, OfALimitIsTheRecordItWouldHaveBeenAtOnce) {
  Wording wording;
  limit::for_seeds(3'000, [&](Chance& chance) {
    const auto size = static_cast<std::size_t>(chance.between(1, bounds::limit_policies_max));
    std::vector<limit::Policy> policies;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < size; ++i) {
      policies.push_back(any_policy(chance));
      names.push_back(any_text(chance));
    }
    std::vector<limit::Count> counts;
    for (std::size_t i = 0; i < size; ++i) {
      const limit::Key id = limit::KeyId{.high = chance.bits(), .low = chance.bits()};
      counts.push_back({&policies[i], chance.one_in(3) ? id : limit::Key(names[i])});
    }
    const limit::Answer answer = any_answer(chance, size);
    const std::string operation = any_text(chance);
    const Correlation ids = any_ids(chance);
    expect_same(LimitDecided{.timestamp = Instant::from_ns(any_number(chance)),
                             .operation = operation,
                             .correlation = ids,
                             .counts = counts,
                             .answer = &answer,
                             .cost = chance.any_size(0, 1'000),
                             .policies = nullptr},
                wording);
  });
}

TEST(Wording, OfARequestIsTheRecordItWouldHaveBeenAtOnce) {
  Wording wording;
  limit::for_seeds(2'000, [&](Chance& chance) {
    const std::string operation = any_text(chance);
    const Correlation ids = any_ids(chance);
    expect_same(RequestEnded{.timestamp = Instant::from_ns(any_number(chance)),
                             .operation = operation,
                             .correlation = ids,
                             .outcome = static_cast<Outcome>(chance.between(1, 3)),
                             .status = static_cast<int>(chance.between(0, 599))},
                wording);
  });
}

Duration any_time(Chance& chance) {
  return chance.one_in(4) ? Duration::max() : Duration::nanoseconds(any_number(chance));
}

retry::Facts any_facts(Chance& chance) {
  const auto any_outcome = [&] { return static_cast<Outcome>(chance.between(1, 3)); };
  return {
      .attempt = static_cast<int>(chance.between(0, 9)),
      .seen = {static_cast<retry::Failure>(chance.between(0, 7)), any_outcome(), chance.one_in(2)},
      .listed = static_cast<retry::Listed>(chance.between(0, 2)),
      .reconciles = static_cast<int>(chance.between(0, 3)),
      .found = any_outcome(),
      .may_be_applied = chance.one_in(2),
      .harmless = chance.one_in(2),
      .can_reconcile = chance.one_in(2),
      .key = chance.bits(),
      .previous_delay = any_time(chance),
      .elapsed = any_time(chance),
      .pushback = any_time(chance),
      .sleep_from = any_time(chance),
      .budget_allows = chance.one_in(2),
      .breaker_open = chance.one_in(2),
      .cancelled = chance.one_in(2)};
}

TEST(Wording, OfASuccessIsTheRecordItWouldHaveBeenAtOnce) {
  Wording wording;
  limit::for_seeds(2'000, [&](Chance& chance) {
    Trail trail{.category = any_text(chance),
                .operation = any_text(chance),
                .correlation = any_ids(chance)};
    if (chance.one_in(4)) trail.context = {{"desk", any_text(chance)}};
    if (chance.one_in(2)) {
      trail.policy.max_attempts = static_cast<int>(chance.between(1, 99));
      trail.policy.delays = {any_time(chance), any_time(chance)};
      trail.policy.deadline = any_time(chance);
      trail.policy.jitter_milli = chance.between(0, 1'000);
    }
    expect_same(Success{.trail = std::make_shared<const Trail>(std::move(trail)),
                        .facts = chance.one_in(8) ? retry::Facts() : any_facts(chance),
                        .decision = {.next = static_cast<retry::Next>(chance.between(0, 5)),
                                     .reason = static_cast<retry::Reason>(chance.between(0, 13)),
                                     .outcome = static_cast<Outcome>(chance.between(1, 3)),
                                     .delay = any_time(chance)},
                        .timestamp = Instant::from_ns(any_number(chance))},
                wording);
  });
}

TEST(Wording, TellsInstantsOfOneMillisecondAndOfTheNextApart) {
  Wording wording;
  for (const std::int64_t ns : {0, 1, 999'999, 1'000'000, -1, -1'000'001, 1, -1, 0}) {
    RequestEnded ended = request_sample();
    ended.timestamp = Instant::from_ns(ns);
    expect_same(ended, wording);
  }
}

TEST(Wording, OfAUsualRequestIsPinnedAndCanBeReplayed) {
  Wording wording;
  Draft draft;
  const LimitSample sample;
  wording.word(sample.decided(), draft);
  EXPECT_EQ(
      draft.text,
      R"({"allowed":true,"cost":1,"event_type":"limit","now_ns":["50123456789012",)"
      R"("1769375700123456789"],"operation":"GET /v1/orders/4711","policies":[{"algorithm":)"
      R"("token_bucket","allowed":true,"before":["50123456781234","12"],"key":"tenant:acme",)"
      R"("limit":100,"name":"tenant","remaining":43,"rule":"1000/1m burst 99"},{"algorithm":)"
      R"("sliding_window","allowed":true,"before":["50123456781234","12"],"key":)"
      R"("address:192.0.2.7","limit":500,"name":"address","remaining":443,"rule":"500/10s"}],)"
      R"("policy":"tenant","request_id":"01a1df91-c72e-7ded-a655-e86056e9b2e8",)"
      R"("retry_after_ms":0,"tenant_id":"acme","timestamp":"2026-01-25T21:15:00.123Z",)"
      R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","why":"Allowed. Tightest is 'tenant' )"
      R"((1000/1m burst 99): 57 of 100 used, 43 left."})");
  EXPECT_NE(replay(json::parse(draft.text).value(), {}).how, Replayed::How::no_decision);
  wording.word(request_sample(), draft);
  EXPECT_EQ(draft.text,
            R"({"event_type":"request","operation":"GET /v1/orders/4711","outcome":"applied",)"
            R"("request_id":"01a1df91-c72e-7ded-a655-e86056e9b2e8","status":200,"tenant_id":)"
            R"("acme","timestamp":"2026-01-25T21:15:00.123Z",)"
            R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"})");
}

}  // namespace
}  // namespace pawl::audit
