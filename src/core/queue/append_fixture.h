// A log in a store that is a table, some appenders that share it, and whatever may go wrong on the
// way. Time is the world's; each call takes some of it.
#pragma once

#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "core/queue/append.h"

namespace pawl::queue {

// What becomes of a call of the store.
enum class Fate : std::uint8_t {
  well = 0,
  away,           // it never left
  busy,           // another write is under way
  lost_before,    // no answer, and it never arrived
  lost_behind,    // no answer, but it took effect
  late,           // no answer, and it takes effect later
  dies_before,    // so does whoever asked
  dies_behind,    // it took effect
  dies_answered,  // the answer had come, and nothing was made of it
  sleeps_before,  // two hours pass on the way
  sleeps_behind,  // two hours pass before the answer is seen
  paused_before,  // likewise, and whoever asked has a clock that does not know of it
  paused_behind,
  end,
};

struct Written {
  Nonce nonce = {};
  Nonce before = {};
  int batch = 0;
};

class AppendWorld {
 public:
  struct Snapshot {
    SteadyInstant at = {};
    std::vector<int> batches = {};  // of the segments 1, 2, …
    Nonce last = {};
  };
  struct Actor {
    std::unique_ptr<Append> append = {};
    std::vector<int> replica = {};  // batch of each segment, as it was applied
    AppendSteps steps = {};         // what is to be done next
    bool under_way = false;
    SteadyInstant wakes = {};
    Nonce last = {};       // of what was applied last
    Duration paused = {};  // by so much its clock is behind the world's
    std::optional<Written> sending = {};
    std::optional<Written> got = {};
    std::deque<int> batches = {};  // still to be committed; the first one is under way
    int batch_sent = 0;
  };

  explicit AppendWorld(std::uint64_t seed) : dice_(seed) {}

  std::uint64_t roll(std::uint64_t sides) {
    dice_ = hash_of(Hash128{.high = dice_, .low = 77}, 5).low;
    return dice_ % sides;
  }
  void add(int batches) {
    actors_.emplace_back();
    for (int i = 0; i < batches; ++i) actors_.back().batches.push_back(++last_batch_);
    begin(actors_.back());
  }
  std::size_t actors() const { return actors_.size(); }
  Actor& actor(std::size_t i) { return actors_[i]; }
  SteadyInstant now() const { return now_; }
  void pass(Duration by) { now_ = now_ + by; }
  int calls() const { return calls_; }

  bool idle(std::size_t i) const {
    return actors_[i].batches.empty() && actors_[i].append->resting();
  }
  // One step of an actor: the fate is that of the call it makes, if it makes one.
  void turn(std::size_t i, Fate fate) {
    Actor& a = actors_[i];
    now_ = now_ + Duration::milliseconds(1 + static_cast<std::int64_t>(roll(5)));
    land_late();
    if (!a.under_way) {
      if (!a.append->wanted() && !a.batches.empty()) return run(a, a.append->want(time_of(a)));
      return run(a, a.append->look(time_of(a)));
    }
    const AppendStep step = a.steps.steps.back();
    const std::uint64_t number = a.steps.number;
    if (std::holds_alternative<Wait>(step)) {
      if (now_ < a.wakes) now_ = a.wakes;
      a.under_way = false;
      return run(a, a.append->answered(number, Waited{}, time_of(a)));
    }
    ++calls_;
    if (fate == Fate::dies_before) return begin(a);
    if (fate == Fate::sleeps_before) now_ = now_ + Duration::hours(2);
    if (fate == Fate::paused_before) pause(a);
    const SteadyInstant at = now_;
    std::optional<AppendAnswer> answer = std::visit(
        [&](const auto& s) -> std::optional<AppendAnswer> {
          if constexpr (requires { call(a, s, fate); }) {
            return call(a, s, fate);
          } else {
            ADD_FAILURE() << "a step without an answer was waited for";
            return Waited{};
          }
        },
        step);
    if (fate == Fate::dies_behind || fate == Fate::dies_answered) return begin(a);
    if (fate == Fate::sleeps_behind) now_ = now_ + Duration::hours(2);
    if (fate == Fate::paused_behind) pause(a);
    a.under_way = false;
    // Whoever got no answer was not told the time either.
    if (arrives(fate) && fate != Fate::lost_behind) a.append->heard(Instant::from_ns(at.ns()));
    run(a, a.append->answered(number, *answer, time_of(a)));
  }
  void drop(std::size_t i) {
    Actor& a = actors_[i];
    if (!a.append->wanted()) return;
    dropped_.insert(a.batches.front());
    if (!a.append->may_have_landed()) never_.insert(a.batches.front());
    a.batches.pop_front();
    run(a, a.append->drop(time_of(a)));
  }
  void snapshot(std::size_t i) {
    const Actor& a = actors_[i];
    if (a.replica.empty()) return;
    snapshots_[a.replica.size()] = {.at = now_, .batches = a.replica, .last = a.last};
  }
  // As the log's owner collects: what the second newest snapshot covers, and one that is older than
  // the grace time.
  void collect() {
    std::uint64_t cover = 0;
    for (const auto& [sequence, snapshot] : snapshots_) {
      if (now_ - snapshot.at > grace) cover = sequence;
    }
    if (snapshots_.size() < 2) return;
    cover = std::min(cover, std::next(snapshots_.rbegin())->first);
    std::erase_if(store_, [&](const auto& entry) { return entry.first <= cover; });
    std::erase_if(snapshots_, [&](const auto& entry) { return entry.first < cover; });
  }

  // One log: whoever applied a number applied the same there; nothing is in it twice; what was
  // acknowledged is in it; what was told not to be is not.
  void check() const {
    std::map<int, std::uint64_t> where;
    for (std::size_t n = 0; n < log_.size(); ++n) {
      EXPECT_TRUE(where.emplace(log_[n], n + 1).second) << "batch " << log_[n] << " is there twice";
    }
    for (const int batch : acknowledged_) EXPECT_TRUE(where.contains(batch)) << batch << " is lost";
    for (const int batch : never_) EXPECT_FALSE(where.contains(batch)) << batch << " was not sent";
    for (const Actor& a : actors_) {
      ASSERT_LE(a.replica.size(), log_.size());
      for (std::size_t n = 0; n < a.replica.size(); ++n) {
        ASSERT_EQ(a.replica[n], log_[n]) << "the log forks at " << n + 1;
      }
    }
  }
  std::size_t acknowledged() const { return acknowledged_.size(); }
  std::size_t log_size() const { return log_.size(); }
  bool missing() const { return missing_; }
  static constexpr Duration grace = Duration::hours(1);

 private:
  SteadyInstant time_of(const Actor& a) const { return now_ - a.paused; }
  void pause(Actor& a) {
    now_ = now_ + Duration::hours(2);
    a.paused = a.paused + Duration::hours(2);
  }

  void begin(Actor& a) {
    a.append = std::make_unique<Append>(
        AppendTerms{.first_nonce = {.high = ++processes_, .low = roll(1000)}, .grace = grace});
    // Whoever begins anew knows nothing, and what was under way has nobody who waits for it.
    a.replica.clear();
    a.last = {};
    if (a.batch_sent != 0 && !a.batches.empty() && a.batches.front() == a.batch_sent) {
      dropped_.insert(a.batches.front());
      a.batches.pop_front();
    }
    a.batch_sent = 0;
    a.sending.reset();
    a.under_way = false;
    run(a, a.append->open(time_of(a)));
  }

  void run(Actor& a, AppendSteps steps) {
    for (const AppendStep& step : steps.steps) {
      if (const auto* apply = std::get_if<Apply>(&step)) applied(a, *apply);
      if (std::holds_alternative<Missing>(step)) missing_ = true;
      if (std::holds_alternative<Forked>(step)) missing_ = true;
      if (std::holds_alternative<Lost>(step)) {
        dropped_.insert(a.batches.front());
        a.batches.pop_front();
      }
      if (const auto* wait = std::get_if<Wait>(&step)) a.wakes = now_ + wait->wait;
      const auto* put = std::get_if<Put>(&step);
      if (put != nullptr && put->fresh) {
        a.sending = Written{.nonce = put->nonce, .before = put->before, .batch = a.batches.front()};
      }
    }
    if (steps.number == 0) return;
    a.steps = std::move(steps);
    a.under_way = true;
  }

  void applied(Actor& a, const Apply& apply) {
    const Written& written = apply.ours ? *a.sending : *a.got;
    ASSERT_EQ(apply.number, a.replica.size() + 1);
    a.replica.push_back(written.batch);
    EXPECT_EQ(written.before, a.last);
    a.last = written.nonce;
    if (log_.size() < apply.number) log_.push_back(written.batch);
    if (!apply.ours) return;
    ASSERT_FALSE(a.batches.empty());
    ASSERT_EQ(written.batch, a.batches.front());
    acknowledged_.insert(written.batch);
    a.batches.pop_front();
  }

  static bool arrives(Fate fate) {
    return fate != Fate::away && fate != Fate::busy && fate != Fate::lost_before &&
           fate != Fate::late;
  }
  std::optional<AppendAnswer> call(Actor& a, const Put& put, Fate fate) {
    using How = PutAnswered::How;
    EXPECT_EQ(a.sending->nonce, put.nonce);
    a.batch_sent = a.sending->batch;
    if (fate == Fate::late) late_.push_back({put.number, *a.sending});
    const bool free = !store_.contains(put.number);
    if (arrives(fate)) store_.emplace(put.number, *a.sending);
    if (fate == Fate::away) return PutAnswered{.how = How::not_applied};
    if (fate == Fate::busy) return PutAnswered{.how = How::busy};
    if (!arrives(fate) || fate == Fate::lost_behind) return PutAnswered{.how = How::unknown};
    return PutAnswered{.how = free ? How::stored : How::exists};
  }
  std::optional<AppendAnswer> call(Actor& a, const Get& get, Fate fate) {
    if (!arrives(fate) || fate == Fate::lost_behind) return GetFailed{};
    const auto found = store_.find(get.number);
    if (found == store_.end()) return GotNothing{};
    a.got = found->second;
    return Got{.nonce = found->second.nonce, .before = found->second.before};
  }
  std::optional<AppendAnswer> call(Actor& a, const Reopen&, Fate fate) {
    if (!arrives(fate) || fate == Fate::lost_behind) return ReopenFailed{};
    const std::uint64_t newest = snapshots_.empty() ? 0 : snapshots_.rbegin()->first;
    if (newest > a.replica.size()) {
      a.replica = snapshots_.rbegin()->second.batches;
      a.last = snapshots_.rbegin()->second.last;
    }
    return Reopened{.sequence = a.replica.size(), .newest = newest, .last = a.last};
  }
  std::optional<AppendAnswer> call(Actor&, const LookBeyond& look, Fate fate) {
    if (!arrives(fate) || fate == Fate::lost_behind) return ReopenFailed{};
    const auto found = store_.upper_bound(look.number);
    return LookedBeyond{.found = found == store_.end() ? 0 : found->first};
  }

  // A write that was on its way arrives sooner or later.
  void land_late() {
    while (!late_.empty() && roll(4) == 0) {
      store_.emplace(late_.front().number, late_.front().written);
      late_.pop_front();
    }
  }

  struct Late {
    std::uint64_t number = 0;
    Written written = {};
  };
  std::uint64_t dice_;
  SteadyInstant now_ = SteadyInstant::from_ns(1);
  std::deque<Actor> actors_;
  std::map<std::uint64_t, Written> store_;
  std::map<std::uint64_t, Snapshot> snapshots_;
  std::vector<int> log_;  // as the first one who applied a number did
  std::deque<Late> late_;
  std::set<int> acknowledged_, dropped_, never_;
  std::uint64_t processes_ = 0;
  int last_batch_ = 0;
  int calls_ = 0;
  bool missing_ = false;
};

}  // namespace pawl::queue
