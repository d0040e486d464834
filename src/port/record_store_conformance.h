// What every RecordStore must do, whatever it is made of.
//
// The first part says it in plain examples. Then crowds ask for one key at once, and only one may
// have it. The last part walks at random beside the pure machine (core/idempotency/record.h) and
// wants the same answer at every step.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "port/answer_of.h"
#include "port/record_store.h"

namespace pawl {

// One store under test, empty as far as scopes that begin with `prefix` are concerned.
struct RecordStoreUnderTest {
  RecordStore& store;
  // Lets so much time pass on the store's clock: by hand, or, where nobody can move it, by waiting.
  std::function<void(Duration)> advance;
  // The store's clock, when it is moved by hand and stands still otherwise. None: it goes by
  // itself, and nothing is asked that hangs on the exact moment.
  std::function<Instant()> now = {};
  // Leases and ttls are a few of these. Where one waits: as short as a call surely is, and longer.
  Duration unit = Duration::seconds(10);
  RecordStore* beside = nullptr;    // the same records, as another process would open them
  int threads = 4;                  // 1 for a store that lives in one thread
  std::function<void()> pump = {};  // lets a store that answers later answer
  std::string prefix = {};          // of scopes, so that runs on one server do not meet
  std::size_t body_bytes_max = bounds::record_bytes_max;  // what the store keeps of a response
  bool counts_replays = true;
};

namespace record_store_suite {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using idempotency::Response;
using idempotency::Status;
using Verdict = Begun::Verdict;

// The same records as `test`, asked one call after the other.
class Client {
 public:
  explicit Client(const RecordStoreUnderTest& test) : test_(test), store_(&test.store) {}
  // As the other process.
  Client beside() const {
    Client other = *this;
    if (test_.beside != nullptr) other.store_ = test_.beside;
    return other;
  }

  Begin terms(bool take_over = false) const {
    return {.fingerprint = "print",
            .lease = test_.unit * 2,
            .ttl = test_.unit * 4,
            .take_over = take_over};
  }
  Completion as(Status status, Response response = {}) const {
    return {.status = status, .response = std::move(response), .ttl = test_.unit * 4};
  }
  Completion done(std::string body) const {
    return as(Status::done, {.body = std::move(body), .metadata = R"({"status":200})"});
  }

  std::future<Result<Begun>> ask_to_begin(const RecordKey& key, const Begin& how) const {
    return asked<Begun>([&](auto then) { store_->begin(key, how, std::move(then)); });
  }
  Result<Begun> try_begin(const RecordKey& key, const Begin& how) const {
    auto future = ask_to_begin(key, how);
    return answer(future);
  }
  Begun begin(const RecordKey& key, const Begin& how) const { return try_begin(key, how).value(); }
  Begun begin(const RecordKey& key) const { return begin(key, terms()); }
  Begun take_over(const RecordKey& key) const { return begin(key, terms(true)); }
  Result<void> complete(const RecordKey& key, std::uint64_t fence, Completion how) const {
    return call<void>(
        [&](auto then) { store_->complete(key, fence, std::move(how), std::move(then)); });
  }
  Result<void> renew(const RecordKey& key, std::uint64_t fence, Duration lease) const {
    return call<void>([&](auto then) { store_->renew(key, fence, lease, std::move(then)); });
  }
  Result<void> settle(const RecordKey& key, Completion how) const {
    return call<void>([&](auto then) { store_->settle(key, std::move(how), std::move(then)); });
  }
  Result<Record> get(const RecordKey& key) const {
    return call<Record>([&](auto then) { store_->get(key, std::move(then)); });
  }
  Result<Record> look_up(const RecordKey& key, std::string_view fingerprint) const {
    return call<Record>([&](auto then) { store_->look_up(key, fingerprint, std::move(then)); });
  }
  Result<void> clear(const RecordKey& key, bool force = false) const {
    return call<void>([&](auto then) { store_->clear(key, force, std::move(then)); });
  }
  std::vector<KeptRecord> list(std::string_view scope, std::size_t limit,
                               std::string_view key_part = "") const {
    return list({.scope = std::string(scope), .key_part = std::string(key_part), .limit = limit});
  }
  std::vector<KeptRecord> list(const RecordFilter& filter) const {
    return call<std::vector<KeptRecord>>([&](auto then) { store_->list(filter, std::move(then)); })
        .value();
  }

 private:
  template <class T>
  Result<T> answer(std::future<Result<T>>& future) const {
    if (test_.pump) test_.pump();
    return future.get();
  }
  template <class T, class Call>
  Result<T> call(Call call) const {
    auto future = asked<T>(std::move(call));
    return answer(future);
  }

  RecordStoreUnderTest test_;
  RecordStore* store_;
};

inline void expect_error(const Result<void>& result, Code code) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_EQ(result.error().outcome, Outcome::not_applied);
}

class Suite {
 public:
  explicit Suite(const RecordStoreUnderTest& test)
      : test_(test), one_(test), other_(one_.beside()) {}

  void run();

 private:
  RecordKey key(std::string name, std::string scope = "acme") const {
    return {.scope = test_.prefix + std::move(scope), .key = std::move(name)};
  }
  void expect_missing(const RecordKey& key) const {
    const auto found = one_.get(key);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::not_found);
    EXPECT_EQ(found.error().outcome, Outcome::not_applied);
  }
  Duration units(std::int64_t count) const { return test_.unit * count; }
  // Half of them as another process.
  void on_all_threads(const std::function<void(const Client&)>& work) const {
    std::vector<std::thread> threads;
    for (int t = 1; t < test_.threads; ++t) {
      threads.emplace_back([&, t] { work(t % 2 == 0 ? one_ : other_); });
    }
    work(one_);
    for (std::thread& thread : threads) thread.join();
  }

  void tells_every_verdict() const;
  void replays_an_empty_result() const;
  void counts_who_repeats() const;
  void lets_a_failed_one_be_tried_again() const;
  void lets_nobody_in_before_the_lease_is_over() const;
  void refuses_a_stale_owner() const;
  void believes_a_late_owner_nobody_followed() const;
  void completes_once_however_often_it_is_said() const;
  void renews_the_lease() const;
  void settles_what_is_unknown() const;
  void clears() const;
  void forgets_when_the_ttl_is_over() const;
  void keeps_what_is_too_large_as_a_tombstone() const;
  void lists_the_newest_first() const;
  void lists_by_status() const;
  void tells_keys_apart() const;
  void refuses_what_is_out_of_bounds() const;
  void starts_one_of_a_crowd() const;
  void executes_once_for_a_thousand_callers() const;
  void walks_beside_the_machine() const;

  RecordStoreUnderTest test_;
  Client one_;
  Client other_;
};

inline void Suite::tells_every_verdict() const {
  const RecordKey k = key("verdicts");
  const Response answer{.body = std::string("line\n\0\xff", 7), .metadata = R"({"status":201})"};
  Begin wrong = one_.terms(true);
  wrong.fingerprint = "another";
  expect_missing(k);

  const Begun first = one_.begin(k);
  EXPECT_EQ(first.verdict, Verdict::started);
  EXPECT_EQ(first.record.status, Status::in_flight);
  EXPECT_EQ(first.record.fingerprint, "print");
  EXPECT_GE(first.record.fence, 1u);
  EXPECT_LE(first.record.fence, bounds::record_number_max);
  EXPECT_EQ(first.record.lease_until - first.record.created_at, units(2));
  EXPECT_EQ(first.record.expires_at - first.record.lease_until, units(4));

  const Begun second = other_.begin(k);
  EXPECT_EQ(second.verdict, Verdict::in_flight);
  EXPECT_EQ(second.record, first.record);
  EXPECT_GT(second.retry_after, Duration());
  EXPECT_LE(second.retry_after, units(2));
  EXPECT_EQ(one_.begin(k, wrong).verdict, Verdict::mismatch) << "also while it is in flight";

  EXPECT_TRUE(one_.complete(k, first.record.fence, one_.as(Status::done, answer)).has_value());
  const Begun replay = other_.begin(k);
  EXPECT_EQ(replay.verdict, Verdict::replay);
  EXPECT_EQ(replay.record.status, Status::done);
  EXPECT_EQ(replay.record.fence, first.record.fence);
  EXPECT_EQ(replay.record.response, answer);
  EXPECT_EQ(one_.begin(k, wrong).verdict, Verdict::mismatch);
  EXPECT_EQ(one_.take_over(k).verdict, Verdict::replay) << "what is done is taken from nobody";
  const Record kept = other_.get(k).value();
  EXPECT_EQ(kept.response, answer);
  EXPECT_LE(kept.replays, 2u) << "a mismatch is no replay";

  const RecordKey lost = key("lost");
  const Begun begun = one_.begin(lost);
  EXPECT_TRUE(
      one_.complete(lost, begun.record.fence, one_.as(Status::unknown, {.metadata = "\"why\""}))
          .has_value());
  const Begun unknown = other_.begin(lost);
  EXPECT_EQ(unknown.verdict, Verdict::unknown);
  EXPECT_EQ(unknown.record.response.metadata, "\"why\"");
  EXPECT_EQ(one_.begin(lost, wrong).verdict, Verdict::mismatch);
  const Begun taken = other_.take_over(lost);
  EXPECT_EQ(taken.verdict, Verdict::took_over);
  EXPECT_GT(taken.record.fence, begun.record.fence);
  EXPECT_EQ(taken.record.response, Response()) << "it begins anew";
}

inline void Suite::replays_an_empty_result() const {
  const RecordKey k = key("null");
  const Begun begun = one_.begin(k);
  EXPECT_TRUE(one_.complete(k, begun.record.fence, one_.as(Status::done)).has_value());
  const Begun replay = other_.begin(k);
  EXPECT_EQ(replay.verdict, Verdict::replay);
  EXPECT_EQ(replay.record.response, Response());
}

inline void Suite::counts_who_repeats() const {
  const RecordKey k = key("repeated");
  EXPECT_EQ(one_.look_up(k, "print").error().code, Code::not_found);
  const Begun begun = one_.begin(k);
  EXPECT_EQ(one_.look_up(k, "print").value().status, Status::in_flight);
  EXPECT_TRUE(one_.complete(k, begun.record.fence, one_.done("answer")).has_value());
  EXPECT_EQ(one_.get(k).value().replays, 0u) << "a look is no repetition";
  for (int i = 0; i < 11; ++i) EXPECT_EQ(one_.look_up(k, "print")->response.body, "answer");
  EXPECT_EQ(one_.look_up(k, "another").value().status, Status::done);
  const std::uint64_t counted = test_.counts_replays ? 11 : 0;
  EXPECT_EQ(one_.get(k).value().replays, counted);
  EXPECT_EQ(one_.list(k.scope, 1, k.key).front().record.replays, counted);
}

inline void Suite::lets_a_failed_one_be_tried_again() const {
  const RecordKey k = key("failed");
  const Begun first = one_.begin(k);
  EXPECT_TRUE(one_.complete(k, first.record.fence, one_.as(Status::failed)).has_value());
  EXPECT_EQ(other_.get(k).value().status, Status::failed);
  const Begun second = other_.begin(k);
  EXPECT_EQ(second.verdict, Verdict::started);
  EXPECT_GT(second.record.fence, first.record.fence);
  expect_error(one_.complete(k, first.record.fence, one_.done("late")), Code::refused);
  EXPECT_TRUE(one_.complete(k, second.record.fence, one_.done("good")).has_value());
  EXPECT_EQ(one_.begin(k).record.response.body, "good");
}

inline void Suite::lets_nobody_in_before_the_lease_is_over() const {
  const RecordKey k = key("lease");
  EXPECT_EQ(one_.begin(k).verdict, Verdict::started);
  test_.advance(test_.unit);
  const Begun early = other_.take_over(k);
  EXPECT_EQ(early.verdict, Verdict::in_flight);
  EXPECT_LE(early.retry_after, units(1));
  if (test_.now) {
    EXPECT_EQ(early.retry_after, units(1));
  }
  test_.advance(units(1));
  EXPECT_EQ(other_.begin(k).verdict, Verdict::unknown) << "never begun anew without a word";
  EXPECT_EQ(other_.get(k).value().status, Status::unknown);
  EXPECT_EQ(other_.take_over(k).verdict, Verdict::took_over);
  EXPECT_EQ(one_.take_over(k).verdict, Verdict::in_flight) << "once";
}

inline void Suite::refuses_a_stale_owner() const {
  const RecordKey k = key("stale");
  const std::uint64_t stale = one_.begin(k).record.fence;
  test_.advance(units(2));
  const std::uint64_t latest = other_.take_over(k).record.fence;
  EXPECT_GT(latest, stale);
  expect_error(one_.complete(k, stale, one_.done("stale")), Code::refused);
  expect_error(one_.complete(k, stale, one_.as(Status::failed)), Code::refused);
  expect_error(one_.renew(k, stale, units(9)), Code::refused);
  expect_error(one_.complete(k, latest + 1, one_.done("forged")), Code::refused);
  EXPECT_TRUE(other_.complete(k, latest, one_.done("true")).has_value());
  expect_error(one_.complete(k, stale, one_.done("true")), Code::refused);
  EXPECT_EQ(one_.get(k).value().response.body, "true");
  expect_error(one_.complete(key("never begun"), 1, one_.done("")), Code::not_found);
  expect_error(one_.renew(key("never begun"), 1, units(1)), Code::not_found);
}

inline void Suite::believes_a_late_owner_nobody_followed() const {
  const RecordKey k = key("late");
  const std::uint64_t fence = one_.begin(k).record.fence;
  test_.advance(units(3));
  EXPECT_EQ(other_.begin(k).verdict, Verdict::unknown);
  EXPECT_TRUE(one_.renew(k, fence, units(2)).has_value());
  EXPECT_EQ(other_.take_over(k).verdict, Verdict::in_flight);
  test_.advance(units(3));
  EXPECT_TRUE(one_.complete(k, fence, one_.done("late")).has_value());
  EXPECT_EQ(other_.begin(k).verdict, Verdict::replay);
}

inline void Suite::completes_once_however_often_it_is_said() const {
  const RecordKey k = key("twice");
  const std::uint64_t fence = one_.begin(k).record.fence;
  EXPECT_TRUE(one_.complete(k, fence, one_.done("answer")).has_value());
  const Record kept = one_.get(k).value();
  if (test_.now) test_.advance(Duration::milliseconds(5));
  EXPECT_TRUE(one_.complete(k, fence, one_.done("answer")).has_value());
  expect_error(one_.complete(k, fence, one_.done("another answer")), Code::refused);
  expect_error(one_.complete(k, fence, one_.as(Status::failed)), Code::refused);
  expect_error(one_.complete(k, fence, one_.as(Status::unknown)), Code::refused);
  expect_error(one_.renew(k, fence, units(1)), Code::refused);
  EXPECT_EQ(one_.get(k).value(), kept) << "what is done stays as it is";

  const RecordKey lost = key("twice unknown");
  const std::uint64_t owner = one_.begin(lost).record.fence;
  EXPECT_TRUE(one_.complete(lost, owner, one_.as(Status::unknown)).has_value());
  expect_error(one_.complete(lost, owner, one_.done("guessed")), Code::refused);
  expect_error(one_.renew(lost, owner, units(1)), Code::refused);
}

inline void Suite::renews_the_lease() const {
  const RecordKey k = key("renewed");
  const std::uint64_t fence = one_.begin(k).record.fence;
  for (int i = 0; i < 3; ++i) {
    test_.advance(units(1));
    EXPECT_TRUE(one_.renew(k, fence, units(2)).has_value());
  }
  test_.advance(units(1));
  const Begun busy = other_.take_over(k);
  EXPECT_EQ(busy.verdict, Verdict::in_flight);
  EXPECT_EQ(busy.record.fence, fence);
  const Record kept = one_.get(k).value();
  EXPECT_EQ(kept.expires_at - kept.lease_until, units(4)) << "the ttl moves with the lease";
  EXPECT_TRUE(one_.renew(k, fence, Duration::milliseconds(1)).has_value());
  EXPECT_EQ(one_.get(k).value(), kept) << "a lease is never made shorter";
  test_.advance(units(1));
  EXPECT_EQ(other_.begin(k).verdict, Verdict::unknown);
}

inline void Suite::settles_what_is_unknown() const {
  const RecordKey k = key("settled");
  expect_error(one_.settle(k, one_.done("")), Code::not_found);
  const std::uint64_t fence = one_.begin(k).record.fence;
  expect_error(other_.settle(k, one_.done("too early")), Code::refused);
  test_.advance(units(2));
  EXPECT_TRUE(other_.settle(k, one_.done("found out")).has_value());
  expect_error(one_.complete(k, fence, one_.done("late")), Code::refused);
  expect_error(other_.settle(k, one_.as(Status::failed)), Code::refused);
  EXPECT_EQ(one_.begin(k).record.response.body, "found out");

  const RecordKey absent = key("settled as failed");
  const std::uint64_t first = one_.begin(absent).record.fence;
  EXPECT_TRUE(one_.complete(absent, first, one_.as(Status::unknown)).has_value());
  EXPECT_TRUE(other_.settle(absent, one_.as(Status::failed)).has_value());
  expect_error(one_.complete(absent, first, one_.done("late")), Code::refused);
  const Begun again = one_.begin(absent);
  EXPECT_EQ(again.verdict, Verdict::started);
  EXPECT_GT(again.record.fence, first);
}

inline void Suite::clears() const {
  const RecordKey k = key("cleared");
  expect_error(one_.clear(k), Code::not_found);
  std::uint64_t fence = one_.begin(k).record.fence;
  expect_error(other_.clear(k), Code::refused);
  EXPECT_EQ(one_.get(k).value().fence, fence);
  EXPECT_TRUE(other_.clear(k, true).has_value());
  expect_missing(k);
  expect_error(one_.complete(k, fence, one_.done("gone")), Code::not_found);
  for (int i = 0; i < 3; ++i) {
    Begin changed = one_.terms();
    changed.fingerprint = "print " + std::to_string(i);
    const Begun again = (i % 2 == 0 ? one_ : other_).begin(k, changed);
    EXPECT_EQ(again.verdict, Verdict::started) << "as if it had never been used";
    EXPECT_GT(again.record.fence, fence) << "but for the fence";
    expect_error(one_.complete(k, fence, one_.done("gone")), Code::refused);
    fence = again.record.fence;
    EXPECT_TRUE(one_.complete(k, fence, one_.done("kept")).has_value());
    EXPECT_TRUE(one_.clear(k).has_value());
  }
}

inline void Suite::forgets_when_the_ttl_is_over() const {
  const RecordKey finished = key("expired");
  const RecordKey lost = key("expired in flight");
  const std::uint64_t fence = one_.begin(finished).record.fence;
  const std::uint64_t owner = one_.begin(lost).record.fence;
  EXPECT_TRUE(one_.complete(finished, fence, one_.done("old")).has_value());
  test_.advance(units(3));
  EXPECT_EQ(one_.begin(finished).verdict, Verdict::replay);
  EXPECT_EQ(one_.begin(lost).verdict, Verdict::unknown);
  test_.advance(units(1));
  expect_missing(finished);
  const Begun anew = other_.begin(finished);
  EXPECT_EQ(anew.verdict, Verdict::started);
  EXPECT_GT(anew.record.fence, fence);
  expect_error(one_.complete(finished, fence, one_.done("old")), Code::refused);
  EXPECT_EQ(one_.begin(lost).verdict, Verdict::unknown) << "for a ttl after the lease";
  test_.advance(units(2));
  expect_missing(lost);
  expect_error(one_.complete(lost, owner, one_.done("late")), Code::not_found);
  expect_error(one_.settle(lost, one_.done("late")), Code::not_found);
  expect_error(one_.clear(lost), Code::not_found);
  EXPECT_GT(one_.begin(lost).record.fence, owner);
}

inline void Suite::keeps_what_is_too_large_as_a_tombstone() const {
  const auto kept = [&](const std::string& name, const Response& response) {
    const RecordKey k = key(name);
    const std::uint64_t fence = one_.begin(k).record.fence;
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(one_.complete(k, fence, one_.as(Status::done, response)).has_value());
    }
    const Begun replay = other_.begin(k);
    EXPECT_EQ(replay.verdict, Verdict::replay) << "protected";
    return replay.record.response;
  };
  const Response largest{.body = std::string(test_.body_bytes_max, 'b'), .metadata = "{}"};
  EXPECT_TRUE(kept("largest", largest) == largest);
  Response larger = largest;
  larger.body.push_back('b');
  EXPECT_TRUE(kept("too large", larger) == Response({.metadata = "{}", .tombstone = true}));
  const Response talkative{.body = "short",
                           .metadata = std::string(bounds::record_metadata_bytes_max + 1, ' ')};
  EXPECT_TRUE(kept("too much said", talkative) == Response({.tombstone = true}));
}

inline void Suite::lists_the_newest_first() const {
  std::vector<RecordKey> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(key("listed " + std::to_string(i), i % 2 == 0 ? "list even" : "list odd"));
    Begin how = one_.terms();
    how.ttl = test_.unit * 40;
    const std::uint64_t fence = one_.begin(made.back(), how).record.fence;
    if (i == 2) {
      EXPECT_TRUE(one_.complete(made[2], fence, one_.done("body")).has_value());
    }
    test_.advance(test_.unit);
  }
  using Names = std::vector<std::string>;
  // A shared server may hold what other runs have listed.
  const auto names = [&](std::string_view scope, std::size_t limit, std::string_view part = "") {
    Names found;
    for (const KeptRecord& each : other_.list(scope, limit, part)) {
      if (each.key.scope.starts_with(test_.prefix + "list ")) found.push_back(each.key.key);
    }
    return found;
  };
  const std::string even = test_.prefix + "list even";
  EXPECT_EQ(names(even, 10), (Names{"listed 4", "listed 2", "listed 0"}));
  EXPECT_EQ(names(even, 2), (Names{"listed 4", "listed 2"}));
  EXPECT_EQ(names(test_.prefix + "list", 10), Names()) << "a scope is not a prefix";
  EXPECT_EQ(names("", bounds::record_list_max),
            (Names{"listed 4", "listed 3", "listed 2", "listed 1", "listed 0"}));
  EXPECT_EQ(names(even, 1, "ed 0"), (Names{"listed 0"})) << "behind newer ones that do not fit";
  EXPECT_EQ(names(even, 10, "ed 1"), Names()) << "that one has another scope";
  EXPECT_EQ(names("", bounds::record_list_max, "ed 3"), (Names{"listed 3"}));
  EXPECT_EQ(names(even, 10, "list even"), Names()) << "the scope is no part of the key";

  const std::vector<KeptRecord> listed = other_.list(even, 10);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].record, one_.get(made[4]).value());
  EXPECT_EQ(listed[1].record.status, Status::done);
  EXPECT_EQ(listed[1].record.response.metadata, R"({"status":200})");
  EXPECT_EQ(listed[1].record.response.body, "") << "bodies are left out";
  EXPECT_EQ(listed[2].record.status, Status::unknown) << "as it reads now";
  EXPECT_TRUE(one_.clear(made[4], true).has_value());
  test_.advance(units(1));
  EXPECT_EQ(names(even, 10), (Names{"listed 0"})) << "neither cleared nor expired ones";
}

// The oldest are those of unknown end: each stands behind newer ones that do not fit.
inline void Suite::lists_by_status() const {
  const std::string scope = test_.prefix + "statuses";
  const auto make = [&](const std::string& name, Status status, std::int64_t lease) {
    test_.advance(test_.unit / 100);  // no two begin at once
    const RecordKey k = key(name, "statuses");
    const Begin how{.fingerprint = "print", .lease = units(lease), .ttl = units(40)};
    const std::uint64_t fence = one_.begin(k, how).record.fence;
    if (status == Status::in_flight) return;
    const Completion end{.status = status, .response = {.body = "body"}, .ttl = units(40)};
    EXPECT_TRUE(one_.complete(k, fence, end).has_value());
  };
  make("said", Status::unknown, 2);
  make("left", Status::in_flight, 1);
  make("no", Status::failed, 2);
  make("at work", Status::in_flight, 40);
  make("yes", Status::done, 2);
  make("yes too", Status::done, 2);
  test_.advance(units(1));

  using Names = std::vector<std::string>;
  const auto names = [&](std::optional<Status> status, std::size_t limit = 10,
                         const std::string& part = "") {
    Names found;
    const RecordFilter filter{.scope = scope, .key_part = part, .status = status, .limit = limit};
    for (const KeptRecord& each : other_.list(filter)) {
      EXPECT_TRUE(!status || each.record.status == *status);
      EXPECT_EQ(each.record.response.body, "");
      found.push_back(each.key.key);
    }
    return found;
  };
  EXPECT_EQ(names(Status::unknown), (Names{"left", "said"}));
  EXPECT_EQ(names(Status::unknown, 1), (Names{"left"}));
  EXPECT_EQ(names(Status::unknown, 1, "ai"), (Names{"said"}));
  EXPECT_EQ(names(Status::in_flight), (Names{"at work"}));
  EXPECT_EQ(names(Status::failed, 1), (Names{"no"}));
  EXPECT_EQ(names(Status::done), (Names{"yes too", "yes"}));
  EXPECT_EQ(names(std::nullopt).size(), 6u);
  // Of all scopes: a shared server may hold what other runs have left.
  const auto all = other_.list({.status = Status::unknown});
  EXPECT_EQ(std::ranges::count(all, scope, [](const KeptRecord& each) { return each.key.scope; }),
            2);
}

inline void Suite::tells_keys_apart() const {
  const std::string nul("nul\0", 4);
  const RecordKey keys[] = {
      key("b/c", "a"), key("c", "a/b"),   key("c", "a"),   key("b.c", "a"), key("b c", "a"),
      key("b:c", "a"), key("b*", "a"),    key("b>", "a"),  key("B/C", "a"), key("{b}", "a"),
      key("b\n", "a"), key("b", "a\n"),   key("nul", "a"), key(nul, "a"),   key("\xff\xfe", "a"),
      key("b/c", ""),  key("b%2Fc", "a"), key("é", "ü"),   key("b=c", "a"), key("'; DROP", "a'"),
      key("..", "a"),  key("$KV.b", "a"), key(" ", "a")};
  for (const RecordKey& each : keys) {
    const Begun begun = one_.begin(each);
    EXPECT_EQ(begun.verdict, Verdict::started) << each.scope << " " << each.key;
    EXPECT_TRUE(one_.complete(each, begun.record.fence, one_.done(each.key)).has_value());
  }
  for (const RecordKey& each : keys) EXPECT_EQ(other_.get(each).value().response.body, each.key);
  const std::vector<KeptRecord> listed = one_.list(test_.prefix + "a", 100);
  for (const RecordKey& each : keys) {
    const auto same = [&](const KeptRecord& kept) { return kept.key == each; };
    EXPECT_EQ(std::ranges::count_if(listed, same), each.scope == test_.prefix + "a" ? 1 : 0);
  }
  const RecordKey longest = key(std::string(bounds::record_key_bytes_max, '\xff'));
  EXPECT_EQ(one_.begin(longest).verdict, Verdict::started);
  EXPECT_EQ(other_.begin(longest).verdict, Verdict::in_flight);
}

inline void Suite::refuses_what_is_out_of_bounds() const {
  const auto refused = [&](const RecordKey& k, const Begin& how) {
    const auto result = one_.try_begin(k, how);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Code::invalid);
    EXPECT_EQ(result.error().outcome, Outcome::not_applied);
  };
  refused(key(""), one_.terms());
  refused(key(std::string(bounds::record_key_bytes_max + 1, 'k')), one_.terms());
  refused(key("k", std::string(bounds::tenant_bytes_max + 1, 's')), one_.terms());
  const RecordKey k = key("out of bounds");
  Begin how = one_.terms();
  how.lease = Duration();
  refused(k, how);
  how = one_.terms();
  how.ttl = bounds::record_ttl_max + Duration::nanoseconds(1);
  refused(k, how);
  how = one_.terms();
  how.fingerprint = std::string(bounds::record_fingerprint_bytes_max + 1, 'f');
  refused(k, how);
  expect_missing(k);
}

inline void Suite::starts_one_of_a_crowd() const {
  constexpr int keys = 50;
  std::atomic<int> started = 0, waiting = 0;
  std::barrier together(test_.threads);
  const auto ask_for_all = [&](const Client& client) {
    for (int i = 0; i < keys; ++i) {
      const RecordKey k = key("crowd " + std::to_string(i));
      together.arrive_and_wait();
      const Begun begun = client.begin(k);
      started += begun.verdict == Verdict::started ? 1 : 0;
      waiting += begun.verdict == Verdict::in_flight ? 1 : 0;
    }
  };
  on_all_threads(ask_for_all);
  EXPECT_EQ(started, keys);
  EXPECT_EQ(waiting, keys * (test_.threads - 1));
}

// Each asks until it has the answer. The one that is started does the work, and none but it.
inline void Suite::executes_once_for_a_thousand_callers() const {
  const RecordKey k = key("thousand");
  const int callers = (1'000 + test_.threads - 1) / test_.threads;  // of each thread
  const Begin patient{
      .fingerprint = "print", .lease = Duration::hours(1), .ttl = Duration::hours(1)};
  const Completion answer{.response = {.body = "the answer"}, .ttl = Duration::hours(1)};
  std::atomic<int> executed = 0, answered = 0, wrong = 0;
  std::barrier together(test_.threads);
  const auto serve = [&](const Client& client) {
    together.arrive_and_wait();
    for (int waiting = callers; waiting > 0;) {
      std::vector<std::future<Result<Begun>>> asked;
      for (int i = 0; i < waiting; ++i) asked.push_back(client.ask_to_begin(k, patient));
      if (test_.pump) test_.pump();
      for (auto& each : asked) {
        const Begun begun = each.get().value();
        if (begun.verdict == Verdict::in_flight) continue;
        if (begun.verdict == Verdict::started) {
          ++executed;
          wrong += client.complete(k, begun.record.fence, answer).has_value() ? 0 : 1;
        } else {
          wrong += begun.record.response == answer.response ? 0 : 1;
        }
        ++answered;
        --waiting;
      }
    }
  };
  on_all_threads(serve);
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(answered, callers * test_.threads);
  EXPECT_EQ(wrong, 0);
}

// The same records, kept in the plainest way: by the machine itself.
class Walk {
 public:
  Walk(const RecordStoreUnderTest& test, std::vector<RecordKey> keys)
      : test_(test), client_(test), keys_(std::move(keys)) {}

  void step() {
    if (test_.now) {
      test_.advance(test_.unit / 100 * static_cast<std::int64_t>(roll(150)));
    }
    now_ = test_.now ? test_.now() : Instant();
    const RecordKey& key = keys_[roll(keys_.size())];
    Kept& kept = kept_[key];
    const Client client = roll(2) == 0 ? client_ : client_.beside();
    switch (roll(8)) {
      case 0:
      case 1:
      case 2:
        return begin(client, key, kept);
      case 3:
      case 4:
        return complete(client, key, kept);
      case 5:
        return renew(client, key, kept);
      case 6:
        return settle(client, key, kept);
      default:
        return roll(4) == 0 ? clear(client, key, kept) : look(client, key, kept);
    }
  }
  const std::map<Verdict, int>& verdicts() const { return verdicts_; }
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  struct Kept {
    std::optional<Record> record;
    std::vector<std::uint64_t> fences;  // every one there ever was
  };

  std::uint64_t roll(std::uint64_t below) {
    dice_ = dice_ * 6364136223846793005u + 1442695040888963407u;
    return (dice_ >> 33) % below;
  }
  Completion some_end() {
    const Status ends[] = {Status::done, Status::failed, Status::unknown};
    return {.status = ends[roll(3)],
            .response = {.body = std::string(roll(3), 'x'), .metadata = roll(2) == 0 ? "" : "{}"},
            .ttl = test_.unit * static_cast<std::int64_t>(1 + roll(5))};
  }
  // Mostly the latest owner's, sometimes a stale one's.
  std::uint64_t some_fence(const Kept& kept) {
    if (kept.fences.empty()) return 1;
    return roll(3) != 0 ? kept.fences.back() : kept.fences[roll(kept.fences.size())];
  }

  void begin(const Client& client, const RecordKey& key, Kept& kept) {
    const Begin how{.fingerprint = roll(10) == 0 ? "other" : "print",
                    .lease = test_.unit * static_cast<std::int64_t>(1 + roll(3)),
                    .ttl = test_.unit * static_cast<std::int64_t>(1 + roll(5)),
                    .take_over = roll(2) == 0};
    const Begun found = client.begin(key, how);
    const Begun wanted = idempotency::begin(kept.record, how, found.record.fence, now_);
    ++verdicts_[wanted.verdict];
    ASSERT_EQ(to_string(found.verdict), to_string(wanted.verdict));
    if (test_.now) {
      ASSERT_EQ(found.retry_after, wanted.retry_after);
    }
    expect_same(found.record, wanted.record);
    if (wanted.verdict != Verdict::started && wanted.verdict != Verdict::took_over) return;
    if (!kept.fences.empty()) {
      ASSERT_GT(found.record.fence, kept.fences.back());
    }
    kept.fences.push_back(found.record.fence);
  }
  void complete(const Client& client, const RecordKey& key, Kept& kept) {
    const std::uint64_t fence = some_fence(kept);
    const Completion how = some_end();
    expect_same(client.complete(key, fence, how),
                idempotency::complete(kept.record, fence, how, now_));
    look(client, key, kept);
  }
  void renew(const Client& client, const RecordKey& key, Kept& kept) {
    const std::uint64_t fence = some_fence(kept);
    const Duration lease = test_.unit * static_cast<std::int64_t>(1 + roll(3));
    expect_same(client.renew(key, fence, lease),
                idempotency::renew(kept.record, fence, lease, now_));
    look(client, key, kept);
  }
  void settle(const Client& client, const RecordKey& key, Kept& kept) {
    Completion how = some_end();
    if (how.status == Status::unknown) how.status = Status::done;
    expect_same(client.settle(key, how), idempotency::settle(kept.record, how, now_));
    look(client, key, kept);
  }
  void clear(const Client& client, const RecordKey& key, Kept& kept) {
    const bool force = roll(4) == 0;
    expect_same(client.clear(key, force), idempotency::clear(kept.record, force, now_));
    look(client, key, kept);
  }
  void look(const Client& client, const RecordKey& key, const Kept& kept) const {
    const auto found = client.get(key);
    const std::optional<Record> wanted = idempotency::seen(kept.record, now_);
    ASSERT_EQ(found.has_value(), wanted.has_value());
    if (wanted) expect_same(*found, *wanted);
  }

  void expect_same(const Result<void>& found, const Result<void>& wanted) {
    ++(wanted ? accepted_ : refused_);
    ASSERT_EQ(found.has_value(), wanted.has_value()) << (found ? "" : found.error().message);
    if (wanted) return;
    ASSERT_EQ(found.error().code, wanted.error().code) << found.error().message;
    ASSERT_EQ(found.error().outcome, Outcome::not_applied);
  }
  void expect_same(Record found, Record wanted) const {
    ASSERT_LE(found.replays, wanted.replays);
    found.replays = wanted.replays = 0;
    if (!test_.now) {
      found.created_at = found.lease_until = found.expires_at = {};
      wanted.created_at = wanted.lease_until = wanted.expires_at = {};
    }
    ASSERT_EQ(to_string(found.status), to_string(wanted.status));
    ASSERT_EQ(found.fence, wanted.fence);
    ASSERT_EQ(found.created_at.ns(), wanted.created_at.ns());
    ASSERT_EQ(found.lease_until.ns(), wanted.lease_until.ns());
    ASSERT_EQ(found.expires_at.ns(), wanted.expires_at.ns());
    ASSERT_TRUE(found == wanted);
  }

  RecordStoreUnderTest test_;
  Client client_;
  std::vector<RecordKey> keys_;
  std::map<RecordKey, Kept> kept_;
  Instant now_ = {};
  std::uint64_t dice_ = 20'261'116;
  std::map<Verdict, int> verdicts_;
  int accepted_ = 0;
  int refused_ = 0;
};

inline void Suite::walks_beside_the_machine() const {
  RecordStoreUnderTest test = test_;
  // Where time cannot stand still, it must not matter.
  if (!test.now) test.unit = Duration::hours(1);
  Walk walk(test, {key("walk a"), key("walk b"), key("walk a", "walker")});
  for (int step = 0; step < 600; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    walk.step();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(walk.verdicts().size(), 6u) << "every verdict was met";
  EXPECT_GT(walk.accepted(), 30);
  EXPECT_GT(walk.refused(), 30);
}

inline void Suite::run() {
  tells_every_verdict();
  replays_an_empty_result();
  counts_who_repeats();
  lets_a_failed_one_be_tried_again();
  lets_nobody_in_before_the_lease_is_over();
  refuses_a_stale_owner();
  believes_a_late_owner_nobody_followed();
  completes_once_however_often_it_is_said();
  renews_the_lease();
  settles_what_is_unknown();
  clears();
  forgets_when_the_ttl_is_over();
  keeps_what_is_too_large_as_a_tombstone();
  lists_the_newest_first();
  lists_by_status();
  tells_keys_apart();
  refuses_what_is_out_of_bounds();
  starts_one_of_a_crowd();
  executes_once_for_a_thousand_callers();
  walks_beside_the_machine();
}

}  // namespace record_store_suite

inline void expect_record_store_conforms(const RecordStoreUnderTest& test) {
  record_store_suite::Suite(test).run();
}

}  // namespace pawl
