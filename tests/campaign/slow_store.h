// SlowStore: the intent store of one process, whose answers take a while, fail or get lost.
//
// Contract: what is asked is kept at once, and answered later; so a process can die in between. Now
//           and then nothing is kept, or it is and the answer is an error all the same. A process
//           that dies lets go of what it worked on.
// Threads:  one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapter/memory/memory_intent_store.h"
#include "tests/campaign/agenda.h"

namespace pawl::campaign {

class SlowStore final : public IntentStore {
 public:
  SlowStore(MemoryIntents& intents, Agenda& agenda, Dice& dice, std::shared_ptr<const bool> alive)
      : store_(intents), agenda_(agenda), dice_(dice), alive_(std::move(alive)) {}

  void calm_down() { calm_ = true; }

  void open(NewIntent intent, Done<Opening> done) override {
    if (!happens()) {
      return store_.open(std::move(intent), later(std::move(done)));
    }
    if (dice_.chance(50)) return later(std::move(done))(down(Outcome::not_applied));
    store_.open(std::move(intent), [this](const Result<Opening>& opening) {
      const auto* opened = std::get_if<OpenedIntent>(&*opening);
      if (opened != nullptr) store_.release(opened->intent.id);
    });
    later(std::move(done))(down(Outcome::unknown));
  }
  void take(std::string reference, Done<TakenIntent> done) override {
    if (happens()) return later(std::move(done))(down(Outcome::not_applied));
    store_.take(std::move(reference), later(std::move(done)));
  }
  void save(std::int64_t id, order::Progress progress, Done<void> done) override {
    if (!happens()) return store_.save(id, std::move(progress), later(std::move(done)));
    if (dice_.chance(50)) return later(std::move(done))(down(Outcome::not_applied));
    store_.save(id, std::move(progress), [](const Result<void>&) {});
    later(std::move(done))(down(Outcome::unknown));
  }
  void release(std::int64_t id) override { store_.release(id); }
  void get(std::string reference, Done<order::Intent> done) override {
    store_.get(std::move(reference), later(std::move(done)));
  }
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done) override {
    if (happens()) return later(std::move(done))(down(Outcome::not_applied));
    store_.list(std::move(filter), later(std::move(done)));
  }
  void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) override {
    store_.quota(limit, now, later(std::move(done)));
  }
  void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) override {
    store_.backfill(std::move(rows), later(std::move(done)));
  }
  void set_life(std::string venue, std::string order_id, order::Life life,
                Done<bool> done) override {
    store_.set_life(std::move(venue), std::move(order_id), life, later(std::move(done)));
  }
  void unfinished(std::string venue, std::size_t limit,
                  Done<std::vector<order::Intent>> done) override {
    store_.unfinished(std::move(venue), limit, later(std::move(done)));
  }
  void history_is_empty(Done<bool> done) override {
    store_.history_is_empty(later(std::move(done)));
  }
  Result<void> health() override { return {}; }

 private:
  bool happens() { return !calm_ && dice_.chance(3); }
  static std::unexpected<Error> down(Outcome outcome) {
    return std::unexpected(Error(Code::unavailable, outcome, "disk I/O error"));
  }
  template <class T>
  Done<T> later(Done<T> done) {
    return [this, done = std::move(done)](Result<T> result) mutable {
      agenda_.after(dice_.within(Duration::microseconds(100), Duration::milliseconds(15)),
                    [alive = alive_, done = std::move(done), result = std::move(result)]() mutable {
                      if (*alive) done(std::move(result));
                    });
    };
  }

  MemoryIntentStore store_;
  Agenda& agenda_;
  Dice& dice_;
  const std::shared_ptr<const bool> alive_;
  bool calm_ = false;
};

}  // namespace pawl::campaign
