// Goal: nothing gets into the log that cannot be read back, or makes no sense by itself.
// Method: a command by hand for every rule; random commands that keep them all.
#include "core/queue/command_check.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/queue_generators_fixture.h"
#include "core/queue/segment.h"

namespace pawl::queue {
namespace {

std::string error_of(const Command& command) {
  const auto checked = check(command);
  return checked ? "" : checked.error().message;
}

Submit some_submit() {
  return {.terms = {.type = "mail", .input = "{}"}};
}

template <class Change>
std::string error_with(const Change& change) {
  Submit submit = some_submit();
  change(submit.terms);
  const auto alone = check(submit.terms);
  EXPECT_EQ(alone ? "" : alone.error().message, error_of(submit));
  return error_of(submit);
}

TEST(CommandCheck, ATaskNeedsATypeAndJson) {
  EXPECT_EQ(error_of(some_submit()), "");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.type = ""; }),
            "task_type is empty: it needs a name");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.type = "a\nb"; }),
            "task_type has characters that cannot be printed, or no UTF-8");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.key = "\xff"; }),
            "key has characters that cannot be printed, or no UTF-8");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.unique = std::string(256, 'a'); }),
            "unique has 256 bytes: 255 are the most");
  EXPECT_TRUE(
      error_with([](TaskTerms& terms) { terms.input = "{"; }).starts_with("input is not JSON: "));
  EXPECT_TRUE(
      error_with([](TaskTerms& terms) { terms.input = ""; }).starts_with("input is not JSON: "));
  EXPECT_EQ(error_with([](TaskTerms& terms) {
              terms.input = std::string(bounds::task_input_bytes_max + 1, '1');
            }),
            "input has 262145 bytes: 262144 are the most");
}

TEST(CommandCheck, AmountsAreWithinTheirBounds) {
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.priority = 101; }),
            "priority is 101: -100 … 100 is allowed");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.max_retries = 1'000'001; }),
            "max_retries is 1000001: 0 … 1000000 is allowed");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.timeout = Duration::days(8); }),
            "timeout is 8d: at most 7d is allowed");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.timeout = Duration(); }),
            "timeout is nothing: an attempt needs time");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.retry.multiplier_milli = 999; }),
            "multiplier in thousandths is 999: 1000 … 10000 is allowed");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.retry.jitter_milli = -1; }),
            "jitter in thousandths is -1: 0 … 1000 is allowed");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.retry.base_delay = Duration::days(1); }),
            "base_delay is 1d, and max_delay is less: 1m");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.retry.delays = {Duration::seconds(-1)}; }),
            "delays is less than nothing");
  EXPECT_EQ(error_with([](TaskTerms& terms) { terms.retry.delays.resize(65); }),
            "delays has 65 entries: 64 are the most");
}

TEST(CommandCheck, AWaitMayBeAsLongAsItLikes) {
  Submit submit = some_submit();
  submit.delay = Duration::max();
  submit.time_to_live = Duration::max();
  EXPECT_EQ(error_of(submit), "");
  EXPECT_EQ(error_of(Reschedule{.delay = Duration::max()}), "");
  EXPECT_EQ(error_of(Reschedule{.delay = Duration::seconds(-1)}), "delay is less than nothing");
  EXPECT_EQ(error_of(Reschedule{.input = R"({"at":2})"}), "");
  EXPECT_TRUE(error_of(Reschedule{.input = "{"}).starts_with("input is not JSON"));
}

TEST(CommandCheck, AClaimSaysWhoHowManyAndHowLong) {
  EXPECT_EQ(error_of(Claim{.worker = "w"}), "");
  EXPECT_EQ(error_of(Claim{}), "worker is empty: it needs a name");
  EXPECT_EQ(error_of(Claim{.worker = "w", .types = {""}}), "types is empty: it needs a name");
  EXPECT_EQ(error_of(Claim{.worker = "w", .count = 0}), "count is 0: 1 … 1000 is allowed");
  EXPECT_EQ(error_of(Claim{.worker = "w", .lease = Duration()}),
            "lease is nothing: whoever claims a task needs time");
  EXPECT_EQ(error_of(Renew{.lease = Duration::hours(2)}), "lease is 2h: at most 1h is allowed");
  EXPECT_EQ(error_of(Renew{.lease = Duration()}),
            "lease is nothing: whoever claims a task needs time");
  EXPECT_EQ(error_of(Claim{.worker = "w",
                           .types = std::vector<std::string>(bounds::claim_types_max + 1, "a")}),
            "types has 257 entries: 256 are the most");
}

TEST(CommandCheck, ATaskIsNoScopeToClose) {
  EXPECT_EQ(error_of(Close{.scope = Scope::key, .name = "k"}), "");
  EXPECT_EQ(error_of(Close{.scope = Scope::queue}), "");
  EXPECT_EQ(error_of(Close{.scope = Scope::task, .name = "k"}),
            "scope is task: close a key, type or queue");
  EXPECT_EQ(error_of(Close{.scope = Scope::type}), "name is empty: which type?");
  EXPECT_EQ(error_of(Close{.scope = Scope{9}, .name = "k"}), "scope is none that there is");
}

TEST(CommandCheck, ARateNeedsATime) {
  EXPECT_EQ(error_of(SetLimit{.name = "k"}), "");
  EXPECT_EQ(error_of(SetLimit{.limited = Limited::each_key, .running = 1}), "");
  EXPECT_EQ(error_of(SetLimit{.limited = Limited::type, .running = 1}),
            "name is empty: which type or key?");
  EXPECT_EQ(error_of(SetLimit{.name = "k", .rate = 1}),
            "period is nothing: a rate is so many in a time, as in 100/1m");
}

TEST(CommandCheck, AScheduleNeedsACronAndATaskUnlessItGoes) {
  const SetSchedule schedule = {
      .name = "s", .cron = "@daily", .zone = "UTC", .terms = some_submit().terms};
  EXPECT_EQ(error_of(schedule), "");
  SetSchedule wrong = schedule;
  wrong.cron = "0 25 * * *";
  EXPECT_EQ(error_of(wrong), "cron is wrong: hour: '25' is not one of 0 … 23");
  wrong = schedule;
  wrong.terms.type = "";
  EXPECT_EQ(error_of(wrong), "task_type is empty: it needs a name");
  EXPECT_EQ(error_of(SetSchedule{.name = "s"}), "");
  EXPECT_EQ(error_of(SetSchedule{}), "name is empty: it needs a name");
}

TEST(CommandCheck, AnOutputIsJsonAndAnErrorIsBounded) {
  EXPECT_EQ(error_of(Complete{.output = "null"}), "");
  EXPECT_TRUE(error_of(Complete{.output = "nul"}).starts_with("output is not JSON: "));
  EXPECT_EQ(error_of(Fail{.error = std::string(4097, 'x')}),
            "error has 4097 bytes: 4096 are the most");
  EXPECT_EQ(error_of(Cancel{.why = std::string(4097, 'x')}),
            "why has 4097 bytes: 4096 are the most");
}

RC_GTEST_PROP(CommandCheck, WhatPassesIsReadBack, ()) {
  Command command = *any::command();
  RC_ASSERT(error_of(command) == "");
  const Segment segment = {.sequence = 1, .commands = {std::move(command)}};
  const auto parsed = parse_segment(write_segment(segment, write_commands(segment.commands)));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == segment);
}

}  // namespace
}  // namespace pawl::queue
