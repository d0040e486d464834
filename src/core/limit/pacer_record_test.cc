// Goal: each decision of a pacer is explained in words that name what decided, and nothing else is
// recorded. Method: notes written by hand, and the whole of what is made of them.
#include "core/limit/pacer_record.h"

#include <gtest/gtest.h>

namespace pawl::limit::pacer {
namespace {

using Word = RateLimitResetScheduled::Word;

const Policy orders("orders", TokenBucket({.count = 1, .period = Duration::seconds(1)}, 0));
const Instant at = parse_instant("2026-01-25T21:15:01.000Z").value();

// "operation/ticket {details}", the members that are always the same left out.
std::string text_of(const Note& note) {
  const auto made = record(note, orders, "saxo");
  if (!made) return "";
  json::Object details;
  for (const auto& [name, value] : made->details) details.emplace(name, value);
  EXPECT_EQ(details.extract("policy").mapped(), json::Value("orders"));
  EXPECT_EQ(details.extract("rule").mapped(), json::Value(to_string(orders.rule)));
  EXPECT_EQ(details.extract("key").mapped(), json::Value("saxo"));
  return made->operation + "/" + std::to_string(made->ticket) + " " +
         json::print(json::Value(std::move(details)));
}

TEST(PacerRecord, ExplainsWhatBecomesOfACall) {
  EXPECT_EQ(text_of(RateLimitWaiting{"place", Duration::seconds(90), 7}),
            R"(place/7 {"decision":"waiting","wait_ms":90000,)"
            R"("why":"'place' waits 1m 30s: 'orders' is closed by a server's word."})");
  EXPECT_EQ(text_of(RateLimitTokenWait{"place", Duration::milliseconds(520), 0.48, 8}),
            R"(place/8 {"decision":"waiting","wait_ms":520,)"
            R"("why":"'place' waits 520ms for the pace of 'orders' (1/1s)."})");
  EXPECT_EQ(text_of(RateLimitTokenAcquired{"cancel", 2, 9}),
            R"(cancel/9 {"decision":"allowed","remaining":2,)"
            R"("why":"'cancel' may leave by 'orders' (1/1s): 2 more may leave at once."})");
  EXPECT_EQ(
      text_of(RateLimitNotSent{"place", Error(Code::refused, Outcome::not_applied, "Late."), 3}),
      R"(place/3 {"decision":"refused","why":"Late."})");
}

TEST(PacerRecord, NamesTheHeaderThatClosed) {
  RateLimitResetScheduled note{
      .reset_at = at,
      .wait = Duration::seconds(1),
      .operation = "place",
      .status = 429,
      .word = Word::reset,
      .reading = {.dimension = "SessionOrders", .limit = 1, .remaining = 0, .resets_at = at}};
  EXPECT_EQ(text_of(note),
            R"(place/0 {"decision":"closed",)"
            R"("header":"SessionOrders: limit 1, remaining 0, reset 2026-01-25T21:15:01.000Z",)"
            R"("reset_at":"2026-01-25T21:15:01.000Z","status":429,"wait_ms":1000,)"
            R"("why":"'orders' is closed for 1s: the 429 to 'place' says that 'SessionOrders' has )"
            R"(0 of 1 left."})");
  note.reading = {.resets_at = at};
  EXPECT_NE(text_of(note).find("says that its limit resets then."), std::string::npos);
  note.word = Word::none;
  EXPECT_NE(text_of(note).find("the 429 to 'place' names no instant."), std::string::npos);
  EXPECT_EQ(text_of(note).find("header"), std::string::npos);
}

TEST(PacerRecord, SaysForHowLongAWordIsBelieved) {
  const RateLimitResetScheduled note{.reset_at = at,
                                     .wait = Duration::hours(24),
                                     .operation = "place",
                                     .status = 503,
                                     .word = Word::retry_after,
                                     .named = at + Duration::days(99)};
  EXPECT_EQ(text_of(note),
            R"(place/0 {"decision":"closed","header":"Retry-After",)"
            R"("reset_at":"2026-01-25T21:15:01.000Z","status":503,"wait_ms":86400000,)"
            R"("why":"'orders' is closed for 1d: the 503 to 'place' says so in Retry-After. It )"
            R"(names 2026-05-04T21:15:01.000Z, and is believed for no longer than this."})");
}

TEST(PacerRecord, SaysWhoReopened) {
  EXPECT_EQ(text_of(RateLimitReopened{.elsewhere = false, .wait = Duration::seconds(1)}),
            R"(reopen/0 {"decision":"reopened",)"
            R"("why":"'orders' was reopened by an operator: the first may leave in 1s."})");
  EXPECT_EQ(text_of(RateLimitReopened{.elsewhere = true}),
            R"(reopen/0 {"decision":"reopened",)"
            R"("why":"'orders' was reopened by another process."})");
}

TEST(PacerRecord, IsNotMadeOfWhatIsNoDecision) {
  const Error error(Code::unavailable, Outcome::unknown, "gone");
  for (const Note& note :
       {Note(RateLimitRefused{}), Note(ApproachingRateLimit{}), Note(RateLimitHeadersIgnored{}),
        Note(RateLimitStoreFailed{error}), Note(RateLimitUnrecorded{error})}) {
    EXPECT_EQ(text_of(note), "") << note.index();
  }
}

}  // namespace
}  // namespace pawl::limit::pacer
