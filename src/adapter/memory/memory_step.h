// MemoryStep: one try to read the states of an ask, decide on copies of them, and write them back
// together. A part of MemoryCounterStore, in a file of its own for its length.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "base/assert.h"

namespace pawl {

// Whether a cell equals that of a key nobody has used. A full table asks this often, and most
// of its cells are of one rule.
class MemoryCounterStore::RestedCells {
 public:
  RestedCells(MemoryCounterStore& store, limit::Now now) : store_(store), now_(now) {
    now_.wall = store.clock_.wall_now();
  }
  bool operator()(limit::Cell cell, std::uint32_t shape) const {
    if (shape == 0) return true;  // nobody has filled it, or its marks are what counts
    if (rule_ == nullptr || shape != shape_) rule_ = store_.rule_of(shape_ = shape);
    return rule_ != nullptr && limit::until_unused(*rule_, {.cell = cell}, now_) == Duration();
  }

 private:
  MemoryCounterStore& store_;
  limit::Now now_;
  mutable std::uint32_t shape_ = 0;
  mutable const limit::Rule* rule_ = nullptr;
};

template <std::size_t counts_max, bool with_marks>
class MemoryCounterStore::Step {
 public:
  Step(MemoryCounterStore& store, Counts counts)
      : store_(store), counts_(counts), now_(store.read_clock(counts)) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      hashes_[i] = store.hash(*counts[i].policy, counts[i].key);
      for (std::size_t j = 0; j < i; ++j) PAWL_ASSERT(counts[j].policy->id != counts[i].policy->id);
    }
    lock_marks();
    read();
  }
  ~Step() { unlock_marks(); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // When the states were read.
  limit::Now now() const { return now_; }
  std::span<const limit::Member> members() const { return {members_.data(), counts_.size()}; }
  limit::State& state(std::size_t i) { return states_[i]; }

  // The clock is read after the states: whoever wrote them had an earlier time, so none of them is
  // ever taken for one from before a clock went back.
  void read() {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (marked(i)) {
        find_marks(i);
      } else {
        find_cell(i);
      }
    }
    now_ = store_.read_clock(counts_);
    lasts_ = false;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const limit::Policy& policy = *counts_[i].policy;
      states_[i] = {};
      if (now_.moment.ns() < store_.open_from_.load(std::memory_order_acquire)) {
        states_[i].closed_until = store_.closed_until(hashes_[i]);
      }
      if (marked(i)) {
        read_marks(i, policy);
      } else {
        states_[i].cell = readings_[i].cell;
        if (readings_[i].shape() != 0) carry_over(readings_[i].shape(), policy, states_[i]);
      }
      members_[i] = {.policy = &policy, .state = &states_[i]};
    }
  }

  // Of a refusal nothing is written but what was carried over and would else last.
  bool is_to_be_written(const limit::Answer& answer) const { return answer.allowed || lasts_; }

  // False: somebody was faster, or room had to be made; read() again.
  bool write() {
    if (!make_room()) return false;
    std::size_t held = 0;
    while (held < counts_.size() && hold(held)) ++held;
    if (held < counts_.size() || any_moved_out()) {
      while (held-- > 0) {
        if (readings_[held].place != nullptr) CellTable::let_go(readings_[held]);
      }
      return false;
    }
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const limit::Policy& policy = *counts_[i].policy;
      if (marked(i)) {
        write_marks(i);
        // From now on its marks are what counts.
        if (readings_[i].place != nullptr) CellTable::write(readings_[i], {}, 0);
      } else {
        if (readings_[i].shape() != policy.shape) store_.remember(policy);
        CellTable::write(readings_[i], states_[i].cell, policy.shape);
      }
    }
    return true;
  }

 private:
  bool marked(std::size_t i) const {
    return with_marks && limit::keeps_marks(counts_[i].policy->rule);
  }

  bool hold(std::size_t i) const {
    return (marked(i) && readings_[i].place == nullptr) || CellTable::hold(readings_[i]);
  }

  // The key's own place, or, while it has none, the one it shares with others.
  void find_cell(std::size_t i) {
    const limit::Policy& policy = *counts_[i].policy;
    readings_[i] = store_.cells_.read(hashes_[i]);
    if (readings_[i].place == nullptr || readings_[i].shape() == 0) {
      crowded_[i] = crowded_[i] && readings_[i].place == nullptr;
      CellTable::Reading shared;
      if (store_.overflow_.keys() > 0) {
        shared = store_.overflow_.read(store_.overflow_hash(policy, hashes_[i]));
      }
      readings_[i] = shared;
      if (!crowded_[i]) readings_[i].place = nullptr;
    }
  }

  // While we held the shared place, a key that was counted on it got one of its own.
  bool any_moved_out() const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (crowded_[i] && store_.cells_.has(hashes_[i])) return true;
    }
    return false;
  }

  void carry_over(std::uint32_t shape, const limit::Policy& policy, limit::State& state) {
    if (shape == policy.shape) return;
    const limit::Rule* rule = store_.rule_of(shape);
    if (rule == nullptr) return;
    limit::Now now = now_;
    if (std::holds_alternative<limit::Calendar>(*rule)) now.wall = store_.clock_.wall_now();
    lasts_ = limit::carry_over(*rule, policy, state, now) || lasts_;
  }

  // Every count gets a place, of its own or a shared one. True: all have theirs already.
  bool make_room() {
    const auto is_missing = [this](std::size_t i) {
      return !marked(i) && readings_[i].place == nullptr;
    };
    bool ready = true;
    for (std::size_t i = 0; i < counts_.size(); ++i) ready = ready && !is_missing(i);
    if (ready) return true;
    unlock_marks();  // looking into another shard with one held could lock for ever
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (is_missing(i)) insert(i, *counts_[i].policy);
    }
    lock_marks();
    return false;
  }

  void insert(std::size_t i, const limit::Policy& policy) {
    store_.remember(policy);
    const RestedCells is_rested(store_, now_);
    // A new place looks unused until it is filled, so another newcomer may take it. After some
    // tries it goes without.
    const bool has_place = store_.cells_.has(hashes_[i]) ||
                           (tries_++ < tries_max &&
                            store_.cells_.insert(hashes_[i], now_.moment, std::cref(is_rested)));
    if (has_place) {
      fill(i, policy);
      return;
    }
    crowded_[i] = true;
    const Hash128 shared = store_.overflow_hash(policy, hashes_[i]);
    PAWL_ASSERT(store_.overflow_.insert(shared, now_.moment, std::cref(is_rested)));
    const CellTable::Reading place = store_.overflow_.read(shared);
    if (place.shape() == 0 && CellTable::hold(place)) CellTable::write(place, {}, policy.shape);
  }

  // Brings what a new key was counted on so far into its place: marks under an earlier rule, or the
  // shared cell. Whoever charges that one looks for our place after holding it, and we read it
  // after having ours, so no charge gets lost between the two.
  void fill(std::size_t i, const limit::Policy& policy) {
    const CellTable::Reading own = store_.cells_.read(hashes_[i]);
    if (own.place == nullptr || own.shape() != 0 || !CellTable::hold(own)) return;
    MarkTable::Kept kept{{}, policy.rule};
    limit::State state{.marks = &kept.marks};
    switch (store_.marks_.extract(hashes_[i], kept)) {
      case MarkTable::Extracted::busy:
        CellTable::let_go(own);
        return;
      case MarkTable::Extracted::yes:
        limit::carry_over(kept.rule, policy, state, now_);
        break;
      case MarkTable::Extracted::no:
        if (store_.overflow_.keys() == 0) break;
        const auto shared = store_.overflow_.read(store_.overflow_hash(policy, hashes_[i]));
        state.cell = shared.cell;
        if (shared.place != nullptr) carry_over(shared.shape(), policy, state);
        break;
    }
    CellTable::write(own, state.cell, policy.shape);
  }

  // Its marks; while it has none, the cell that an earlier rule may have left.
  void find_marks(std::size_t i) {
    kept_[i] = store_.marks_.find(hashes_[i]);
    readings_[i] = {};
    if (kept_[i] != nullptr) return;
    readings_[i] = store_.cells_.read(hashes_[i]);
    if (readings_[i].shape() == 0) readings_[i] = {};
  }

  void read_marks(std::size_t i, const limit::Policy& policy) {
    if (store_.marks_.is_full_of_marks(hashes_[i])) {
      // Refuses more than it must: there is no room for another mark.
      states_[i].closed_until = std::max(states_[i].closed_until, now_.moment + full_for);
    }
    const MarkTable::Kept* basis = kept_[i];
    if (basis == nullptr) basis = store_.marks_.find(shared_marks(i));
    if (kept_[i] != nullptr && counts_.size() == 1 && kept_[i]->rule == policy.rule) {
      states_[i].marks = &kept_[i]->marks;
      marks_before_[i] = kept_[i]->marks.size();
      return;
    }
    // On a copy: it may have to be decided again before all can be written together.
    copies_[i] = basis == nullptr ? limit::Marks() : basis->marks;
    states_[i].marks = &copies_[i];
    if (readings_[i].place != nullptr) {
      copies_[i].clear();
      states_[i].cell = readings_[i].cell;
      carry_over(readings_[i].shape(), policy, states_[i]);
    } else if (basis != nullptr) {
      lasts_ = limit::carry_over(basis->rule, policy, states_[i], now_) || lasts_;
    }
  }

  void write_marks(std::size_t i) {
    if (states_[i].marks != &copies_[i]) {
      store_.marks_.count_marks(hashes_[i], marks_before_[i], kept_[i]->marks.size());
      return;
    }
    const limit::Policy& policy = *counts_[i].policy;
    if (kept_[i] == nullptr) kept_[i] = store_.marks_.insert(hashes_[i], policy.rule);
    if (kept_[i] == nullptr) kept_[i] = &store_.marks_.shared(shared_marks(i), policy.rule);
    store_.marks_.count_marks(hashes_[i], kept_[i]->marks.size(), copies_[i].size());
    *kept_[i] = {.marks = std::move(copies_[i]), .rule = policy.rule};
  }

  // In the same shard as the key itself, so that one lock serves both.
  Hash128 shared_marks(std::size_t i) const {
    return {.high = MarkTable::shard_of(hashes_[i]), .low = counts_[i].policy->id};
  }

  // In one order for everybody, so that nobody waits in a circle.
  void lock_marks() {
    if constexpr (with_marks) {
      shards_count_ = 0;
      for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (marked(i)) shards_[shards_count_++] = MarkTable::shard_of(hashes_[i]);
      }
      const auto used = std::span(shards_).first(shards_count_);
      std::ranges::sort(used);
      shards_count_ -= std::ranges::unique(used).size();
      const auto is_rested = [this](MarkTable::Kept& kept) { return store_.is_rested(kept, now_); };
      for (std::size_t i = 0; i < shards_count_; ++i) store_.marks_.lock(shards_[i], is_rested);
    }
  }
  void unlock_marks() {
    if constexpr (with_marks) {
      for (std::size_t i = 0; i < shards_count_; ++i) store_.marks_.unlock(shards_[i]);
    }
  }

  MemoryCounterStore& store_;
  Counts counts_;
  limit::Now now_;
  std::array<Hash128, counts_max> hashes_;
  std::array<limit::State, counts_max> states_;
  std::array<limit::Member, counts_max> members_;
  std::array<CellTable::Reading, counts_max> readings_;
  std::array<bool, counts_max> crowded_ = {};
  bool lasts_ = false;  // what was carried over, and would last for longer if it were not written
  static constexpr Duration full_for = Duration::seconds(1);
  static constexpr int tries_max = 16;
  int tries_ = 0;

  static constexpr std::size_t marks_max = with_marks ? counts_max : 1;
  std::array<MarkTable::Kept*, marks_max> kept_;
  std::array<std::size_t, marks_max> marks_before_;
  std::array<limit::Marks, marks_max> copies_;
  std::array<std::size_t, marks_max> shards_;
  std::size_t shards_count_ = 0;
};

}  // namespace pawl
