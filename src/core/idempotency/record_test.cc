// Goal: the machine has the edges that docs/state-machines.md draws and no other, and whatever
// owners and clocks do, nobody who was followed is believed. Method: a test for each edge and for
// what is refused in each state; random interleavings of owners under a clock that jumps.
#include "core/idempotency/record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <utility>
#include <vector>

namespace pawl::idempotency {
namespace {

using Kept = std::optional<Record>;
using Verdict = Begun::Verdict;

constexpr Instant start = Instant::from_ns(1'700'000'000'000'000'000);
constexpr Duration second = Duration::seconds(1);
constexpr Duration lease = Duration::seconds(60);
constexpr Duration ttl = Duration::hours(1);

Begin asking(bool take_over = false) {
  return {.fingerprint = "print", .lease = lease, .ttl = ttl, .take_over = take_over};
}

Completion ending(Status status, std::string body = {}) {
  return {.status = status, .response = {.body = std::move(body)}, .ttl = ttl};
}

Kept in_flight(std::uint64_t fence = 1) {
  Kept kept;
  (void)begin(kept, asking(), fence, start);
  return kept;
}

Kept ended(Status status, std::string body = {}) {
  Kept kept = in_flight();
  EXPECT_TRUE(complete(kept, 1, ending(status, std::move(body)), start).has_value());
  return kept;
}

void expect_error(const Result<void>& result, Code code) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().outcome, Outcome::not_applied);
}

TEST(Record, BeginsWhenThereIsNone) {
  Kept kept;
  const Begun begun = begin(kept, asking(), 5, start);
  EXPECT_EQ(begun.verdict, Verdict::started);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(*kept, (Record{.status = Status::in_flight,
                           .fence = 5,
                           .fingerprint = "print",
                           .created_at = start,
                           .lease_until = start + lease,
                           .expires_at = start + lease + ttl}));
  EXPECT_EQ(begun.record, *kept);
  EXPECT_EQ(begun.retry_after, Duration());
}

TEST(Record, InFlightIsSomebodyElsesUntilTheLeaseIsOver) {
  for (const bool take_over : {false, true}) {
    Kept kept = in_flight();
    const Kept before = kept;
    const Begun wait = begin(kept, asking(take_over), 2, start + lease - second);
    EXPECT_EQ(wait.verdict, Verdict::in_flight);
    EXPECT_EQ(wait.retry_after, second);
    EXPECT_EQ(wait.record, *before);
    EXPECT_EQ(kept, before);
  }
}

TEST(Record, ALeaseThatIsOverIsUnknownAndBegunAnewByWhoSaysSo) {
  Kept kept = in_flight();
  const Kept before = kept;
  const Begun unknown = begin(kept, asking(), 2, start + lease);
  EXPECT_EQ(unknown.verdict, Verdict::unknown);
  EXPECT_EQ(unknown.record.status, Status::unknown);
  EXPECT_EQ(kept, before) << "time alone writes nothing";

  const Begun taken = begin(kept, asking(true), 2, start + lease);
  EXPECT_EQ(taken.verdict, Verdict::took_over);
  EXPECT_EQ(kept->fence, 2u);
  EXPECT_EQ(kept->status, Status::in_flight);
  EXPECT_EQ(kept->created_at, start + lease);
  EXPECT_EQ(kept->lease_until, start + lease + lease);
}

TEST(Record, AFenceIsHigherThanTheOneThatIsKeptWhateverTheStoreSays) {
  Kept kept = in_flight(9);
  EXPECT_EQ(begin(kept, asking(true), 3, start + lease).record.fence, 10u);
  EXPECT_TRUE(complete(kept, 10, ending(Status::failed), start).has_value());
  EXPECT_EQ(begin(kept, asking(), 3, start).record.fence, 11u);
  EXPECT_EQ(begin(kept, asking(), 3, start + Duration::days(1)).record.fence, 12u) << "expired";
  EXPECT_EQ(begin(kept, asking(), 30, start + Duration::days(2)).record.fence, 30u);
}

TEST(Record, DoneIsReplayedAndAnEmptyResultIsOne) {
  for (const char* body : {"null", "", "answer"}) {
    Kept kept = ended(Status::done, body);
    const Begun replay = begin(kept, asking(true), 2, start + second);
    EXPECT_EQ(replay.verdict, Verdict::replay);
    EXPECT_EQ(replay.record.response.body, body);
    EXPECT_EQ(replay.record.fence, 1u);
    EXPECT_EQ(kept->replays, 1u);
    Kept but_for_replays = ended(Status::done, body);
    but_for_replays->replays = 1;
    EXPECT_EQ(kept, but_for_replays);
  }
}

TEST(Record, FailedIsBegunAnew) {
  Kept kept = ended(Status::failed);
  const Begun begun = begin(kept, asking(), 2, start + second);
  EXPECT_EQ(begun.verdict, Verdict::started);
  EXPECT_EQ(kept->fence, 2u);
  EXPECT_EQ(kept->status, Status::in_flight);
}

TEST(Record, UnknownStaysSoUntilItIsTakenOver) {
  Kept kept = ended(Status::unknown);
  EXPECT_EQ(begin(kept, asking(), 2, start + second).verdict, Verdict::unknown);
  EXPECT_EQ(kept, ended(Status::unknown));
  EXPECT_EQ(begin(kept, asking(true), 2, start + second).verdict, Verdict::took_over);
  EXPECT_EQ(kept->response, Response());
}

TEST(Record, AnotherFingerprintIsAMismatchInEveryState) {
  Begin other = asking(true);
  other.fingerprint = "other";
  for (const Kept& each :
       {in_flight(), ended(Status::done), ended(Status::failed), ended(Status::unknown)}) {
    for (const Instant now : {start, start + lease, start + ttl - second}) {
      Kept kept = each;
      EXPECT_EQ(begin(kept, other, 2, now).verdict, Verdict::mismatch);
      EXPECT_EQ(kept, each);
    }
    Kept kept = each;
    EXPECT_EQ(begin(kept, other, 2, start + lease + ttl).verdict, Verdict::started) << "expired";
  }
}

TEST(Record, EndsAsItsOwnerSays) {
  for (const Status status : {Status::done, Status::failed, Status::unknown}) {
    // Also when the lease is over, as long as nobody has followed.
    for (const Instant now : {start + second, start + lease + second}) {
      Kept kept = in_flight(3);
      ASSERT_TRUE(complete(kept, 3, ending(status, "body"), now).has_value());
      EXPECT_EQ(*kept, (Record{.status = status,
                               .fence = 3,
                               .fingerprint = "print",
                               .created_at = start,
                               .expires_at = now + ttl,
                               .response = {.body = "body"}}));
    }
  }
}

TEST(Record, RefusesAStaleOwner) {
  Kept kept = in_flight(3);
  for (const std::uint64_t fence : {0u, 2u, 4u}) {
    expect_error(complete(kept, fence, ending(Status::done), start), Code::refused);
    expect_error(renew(kept, fence, lease * 2, start), Code::refused);
  }
  EXPECT_EQ(kept, in_flight(3));
  const auto stale = complete(kept, 2, ending(Status::done), start);
  EXPECT_TRUE(stale.error().message.starts_with("stale: fence 2")) << stale.error().message;
}

TEST(Record, WhatHasEndedIsSaidAgainAndNotChanged) {
  for (const Status status : {Status::done, Status::failed, Status::unknown}) {
    Kept kept = ended(status, "body");
    const Kept before = kept;
    EXPECT_TRUE(complete(kept, 1, ending(status, "body"), start + second).has_value());
    EXPECT_EQ(kept, before) << "the ttl does not begin anew";
    expect_error(complete(kept, 1, ending(status, "another"), start), Code::refused);
    expect_error(renew(kept, 1, lease, start), Code::refused);
    for (const Status other : {Status::done, Status::failed, Status::unknown}) {
      if (other == status) continue;
      expect_error(complete(kept, 1, ending(other, "body"), start), Code::refused);
    }
    expect_error(complete(kept, 2, ending(status, "body"), start), Code::refused);
    EXPECT_EQ(kept, before);
  }
}

TEST(Record, RenewsItsLeaseAndNeverShortensIt) {
  Kept kept = in_flight();
  ASSERT_TRUE(renew(kept, 1, lease, start + second).has_value());
  EXPECT_EQ(kept->lease_until, start + lease + second);
  EXPECT_EQ(kept->expires_at, start + lease + second + ttl);
  const Kept before = kept;
  ASSERT_TRUE(renew(kept, 1, second, start + second).has_value());
  EXPECT_EQ(kept, before);
  ASSERT_TRUE(renew(kept, 1, lease, start - Duration::days(1)).has_value())
      << "the clock went back";
  EXPECT_EQ(kept, before);
  ASSERT_TRUE(renew(kept, 1, lease, start + lease * 5).has_value()) << "late, and not followed";
  EXPECT_EQ(kept->lease_until, start + lease * 6);
}

TEST(Record, IsSettledWhenItIsUnknownAndOnlyThen) {
  for (const Status status : {Status::done, Status::failed}) {
    Kept said = ended(Status::unknown);
    EXPECT_TRUE(settle(said, ending(status, "found"), start + second).has_value());
    EXPECT_EQ(said->status, status);
    EXPECT_EQ(said->response.body, "found");
    EXPECT_EQ(said->expires_at, start + second + ttl);

    Kept lost = in_flight();
    expect_error(settle(lost, ending(status), start + lease - second), Code::refused);
    EXPECT_EQ(lost, in_flight());
    EXPECT_TRUE(settle(lost, ending(status, "found"), start + lease).has_value());
    EXPECT_EQ(lost->status, status);
    EXPECT_EQ(lost->lease_until, Instant());
    expect_error(complete(lost, 1, ending(Status::done, "late"), start + lease), Code::refused);

    Kept done = ended(Status::done);
    expect_error(settle(done, ending(status), start), Code::refused);
    Kept failed = ended(Status::failed);
    expect_error(settle(failed, ending(status), start), Code::refused);
  }
}

TEST(Record, IsClearedButNotInFlightUnlessForced) {
  for (Kept kept : {ended(Status::done), ended(Status::failed), ended(Status::unknown)}) {
    EXPECT_TRUE(clear(kept, false, start).has_value());
    EXPECT_EQ(kept, std::nullopt);
  }
  Kept kept = in_flight();
  expect_error(clear(kept, false, start + lease - second), Code::refused);
  EXPECT_EQ(kept, in_flight());
  EXPECT_TRUE(clear(kept, true, start).has_value());
  EXPECT_EQ(kept, std::nullopt);
  kept = in_flight();
  EXPECT_TRUE(clear(kept, false, start + lease).has_value()) << "its lease is over";
}

TEST(Record, NothingIsFoundOfOneThatIsNotThereOrHasExpired) {
  for (const Kept& each :
       {Kept(), in_flight(), ended(Status::done), ended(Status::failed), ended(Status::unknown)}) {
    Kept kept = each;
    const Instant late = start + lease + ttl;
    EXPECT_EQ(seen(kept, late), std::nullopt);
    expect_error(complete(kept, 1, ending(Status::done), late), Code::not_found);
    expect_error(renew(kept, 1, lease, late), Code::not_found);
    expect_error(settle(kept, ending(Status::done), late), Code::not_found);
    expect_error(clear(kept, true, late), Code::not_found);
    EXPECT_EQ(kept, each);
    const Begun begun = begin(kept, asking(), 2, late);
    EXPECT_EQ(begun.verdict, Verdict::started);
    EXPECT_EQ(begun.record.fence, 2u);
  }
}

TEST(Record, ReadsAsTimeHasMadeIt) {
  const Kept begun = in_flight();
  const auto status = [&](Instant now) { return status_at(*begun, now); };
  const Duration tick = Duration::nanoseconds(1);
  EXPECT_EQ(status(start + lease - tick), Status::in_flight);
  EXPECT_EQ(status(start + lease), Status::unknown);
  EXPECT_EQ(status(start + lease + ttl - tick), Status::unknown);
  EXPECT_EQ(status(start + lease + ttl), std::nullopt);
  EXPECT_EQ(status(Instant::from_ns(0)), Status::in_flight) << "the clock went back";
  EXPECT_EQ(seen(begun, start + lease)->status, Status::unknown);
  EXPECT_EQ(seen(begun, start + lease)->fence, 1u);

  const Kept done = ended(Status::done);
  EXPECT_EQ(status_at(*done, start + ttl - tick), Status::done);
  EXPECT_EQ(status_at(*done, start + ttl), std::nullopt);

  Record odd = *begun;
  odd.expires_at = start;
  EXPECT_EQ(status_at(odd, start), Status::in_flight) << "never gone before its lease is over";
}

TEST(Record, KeepsWhatIsTooLargeAsATombstone) {
  const auto kept_as = [](Response response) {
    Kept kept = in_flight();
    const Completion how{.response = std::move(response), .ttl = ttl};
    EXPECT_TRUE(complete(kept, 1, how, start).has_value());
    EXPECT_TRUE(complete(kept, 1, how, start).has_value()) << "said again";
    EXPECT_EQ(kept->status, Status::done);
    return kept->response;
  };
  const std::string most(bounds::record_bytes_max, 'b');
  EXPECT_TRUE(kept_as({.body = most, .metadata = "{}"}).body == most);
  EXPECT_TRUE(kept_as({.body = most + "b", .metadata = "{}"}) ==
              (Response{.metadata = "{}", .tombstone = true}));
  const std::string much(bounds::record_metadata_bytes_max + 1, 'm');
  EXPECT_TRUE(kept_as({.body = "", .metadata = much}) == Response{.tombstone = true});
  EXPECT_TRUE(kept_as({.body = "a body", .tombstone = true}) == Response{.tombstone = true});
  EXPECT_TRUE(kept_of({.body = "four"}, 3) == Response{.tombstone = true});
  EXPECT_TRUE(kept_of({.body = "four"}, 4) == Response{.body = "four"});
}

TEST(Record, ChecksWhatIsAsked) {
  EXPECT_TRUE(check(asking()).has_value());
  const auto refused = [](auto change) {
    Begin ask = asking();
    change(ask);
    const auto result = check(ask);
    return !result && result.error().code == Code::invalid;
  };
  EXPECT_TRUE(refused([](Begin& ask) { ask.lease = Duration(); }));
  EXPECT_TRUE(refused([](Begin& ask) { ask.lease = Duration::max(); }));
  EXPECT_TRUE(refused([](Begin& ask) { ask.ttl = -second; }));
  EXPECT_TRUE(refused([](Begin& ask) { ask.ttl = Duration::max(); }));
  EXPECT_TRUE(refused([](Begin& ask) { ask.fingerprint = std::string(129, 'f'); }));
}

TEST(Record, NamesItsStatusesAndVerdicts) {
  for (const Status status : {Status::in_flight, Status::done, Status::failed, Status::unknown}) {
    EXPECT_EQ(status_of(to_string(status)), status);
  }
  EXPECT_EQ(status_of("absent"), std::nullopt);
  EXPECT_EQ(to_string(Verdict::started), "started");
  EXPECT_EQ(to_string(Verdict::took_over), "took_over");
  EXPECT_EQ(to_string(Verdict::unknown), "unknown");
}

// What any number of owners did to one key, under a clock that jumps either way.
class Interleaving {
 public:
  void step() {
    now_ = now_ + Duration::milliseconds(
                      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 3'000),
                                      rc::gen::inRange<std::int64_t>(-100'000'000, 100'000'000)));
    const Kept before = kept_;
    switch (*rc::gen::weightedElement<int>({{4, 0}, {4, 1}, {2, 2}, {1, 3}, {1, 4}})) {
      case 0:
        begin_anew();
        break;
      case 1:
        complete_by_somebody();
        break;
      case 2:
        renew_by_somebody();
        break;
      case 3:
        settle_it();
        break;
      default:
        clear_it();
        break;
    }
    if (std::exchange(cleared_, false) || !before || !status_at(*before, now_)) return;
    if (status_at(*before, now_) == Status::in_flight) {
      // Nobody else has it, and it is not dropped, before its lease is over.
      RC_ASSERT(kept_->fence == before->fence);
      RC_ASSERT((kept_->status != Status::in_flight || kept_->lease_until >= before->lease_until));
    }
    if (before->status == Status::done) {
      RC_ASSERT((kept_->status == Status::done && kept_->response == before->response));
      RC_ASSERT(kept_->expires_at == before->expires_at);
    }
  }

 private:
  std::uint64_t somebody() const { return owners_.empty() ? 1 : *rc::gen::elementOf(owners_); }
  Duration some_time() const { return second * *rc::gen::inRange<std::int64_t>(1, 5); }

  void begin_anew() {
    const Begin ask{.fingerprint = *rc::gen::element<std::string>("print", "print", "other"),
                    .lease = some_time(),
                    .ttl = some_time(),
                    .take_over = *rc::gen::arbitrary<bool>()};
    const Kept before = kept_;
    const Begun begun = begin(kept_, ask, highest_ + 1, now_);
    if (begun.verdict == Verdict::started || begun.verdict == Verdict::took_over) {
      RC_ASSERT(begun.record.fence > highest_);
      highest_ = begun.record.fence;
      owners_.push_back(highest_);
      return;
    }
    if (begun.verdict == Verdict::replay) {
      RC_ASSERT((before->status == Status::done && before->fingerprint == ask.fingerprint));
      RC_ASSERT(begun.record.response == before->response);
    } else {
      RC_ASSERT(kept_ == before);
    }
  }
  void complete_by_somebody() {
    const std::uint64_t owner = somebody();
    const Completion how{.status = *rc::gen::element(Status::done, Status::failed, Status::unknown),
                         .response = {.body = *rc::gen::element<std::string>("", "a", "b")},
                         .ttl = some_time()};
    const Kept before = kept_;
    const auto result = complete(kept_, owner, how, now_);
    if (!result) RC_ASSERT(kept_ == before);
    if (!result) return;
    RC_ASSERT(owner == owners_.back());
    if (kept_ == before) return;  // said again
    RC_ASSERT(before->status == Status::in_flight);
    RC_ASSERT(ended_.insert(owner).second);
  }
  void renew_by_somebody() {
    const std::uint64_t owner = somebody();
    const Kept before = kept_;
    if (renew(kept_, owner, some_time(), now_)) {
      RC_ASSERT(owner == owners_.back());
      RC_ASSERT(!ended_.contains(owner));
    } else {
      RC_ASSERT(kept_ == before);
    }
  }
  void settle_it() {
    const Kept before = kept_;
    if (settle(kept_, {.status = Status::done, .ttl = some_time()}, now_)) {
      RC_ASSERT((before->status != Status::done && before->status != Status::failed));
      ended_.insert(before->fence);
    } else {
      RC_ASSERT(kept_ == before);
    }
  }
  void clear_it() {
    const bool force = *rc::gen::arbitrary<bool>();
    const bool in_flight = kept_ && status_at(*kept_, now_) == Status::in_flight;
    cleared_ = clear(kept_, force, now_).has_value();
    RC_ASSERT((force || !in_flight || !cleared_));
  }

  Kept kept_;
  Instant now_ = start;
  std::vector<std::uint64_t> owners_;  // by their fences, the latest last
  std::set<std::uint64_t> ended_;      // whose word was taken
  std::uint64_t highest_ = 0;          // of all fences, as a store remembers it
  bool cleared_ = false;
};

RC_GTEST_PROP(Record, BelievesNoOwnerThatWasFollowedAndNoneTwice, ()) {
  Interleaving interleaving;
  const int steps = *rc::gen::inRange(1, 80);
  for (int i = 0; i < steps; ++i) interleaving.step();
}

}  // namespace
}  // namespace pawl::idempotency
