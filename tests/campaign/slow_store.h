// SlowStore: the intent store of one process, whose answers take a while, fail or get lost.
//
// Contract: what is asked is kept at once, and answered later; so a process can die in between. Now
//           and then nothing is kept, or it is and the answer is an error all the same. A process
//           that dies lets go of what it worked on. A store with threads of its own is waited for,
//           so that a run stays a function of its seed.
// Threads:  one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "port/answer_of.h"
#include "port/intent_store.h"
#include "tests/campaign/agenda.h"

namespace pawl::campaign {

class SlowStore final : public IntentStore {
 public:
  SlowStore(std::unique_ptr<IntentStore> store, Agenda& agenda, Dice& dice,
            std::shared_ptr<const bool> alive)
      : store_(std::move(store)), agenda_(agenda), dice_(dice), alive_(std::move(alive)) {}

  void calm_down() { calm_ = true; }

  void open(NewIntent intent, Done<Opening> done) override {
    const bool fails = happens();
    if (fails && dice_.chance(50))
      return later<Opening>(std::move(done), down(Outcome::not_applied));
    Result<Opening> opening =
        answer_of<Opening>([&](auto told) { store_->open(std::move(intent), std::move(told)); });
    if (!fails) return later<Opening>(std::move(done), std::move(opening));
    const auto* opened = opening ? std::get_if<OpenedIntent>(&*opening) : nullptr;
    if (opened != nullptr) store_->release(opened->intent.id);
    later<Opening>(std::move(done), down(Outcome::unknown));
  }
  void take(std::string reference, Done<TakenIntent> done) override {
    if (happens()) return later<TakenIntent>(std::move(done), down(Outcome::not_applied));
    ask<TakenIntent>(std::move(done),
                     [&](auto told) { store_->take(std::move(reference), std::move(told)); });
  }
  void save(std::int64_t id, order::Progress progress, Done<void> done) override {
    const bool fails = happens();
    if (fails && dice_.chance(50)) return later<void>(std::move(done), down(Outcome::not_applied));
    Result<void> saved =
        answer_of<void>([&](auto told) { store_->save(id, std::move(progress), std::move(told)); });
    later<void>(std::move(done), fails ? Result<void>(down(Outcome::unknown)) : std::move(saved));
  }
  void release(std::int64_t id) override { store_->release(id); }
  void get(std::string reference, Done<order::Intent> done) override {
    ask<order::Intent>(std::move(done),
                       [&](auto told) { store_->get(std::move(reference), std::move(told)); });
  }
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done) override {
    using Intents = std::vector<order::Intent>;
    if (happens()) return later<Intents>(std::move(done), down(Outcome::not_applied));
    ask<Intents>(std::move(done),
                 [&](auto told) { store_->list(std::move(filter), std::move(told)); });
  }
  void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) override {
    ask<order::Quota>(std::move(done),
                      [&](auto told) { store_->quota(limit, now, std::move(told)); });
  }
  void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) override {
    ask<std::size_t>(std::move(done),
                     [&](auto told) { store_->backfill(std::move(rows), std::move(told)); });
  }
  void set_life(std::string venue, std::string order_id, order::Life life,
                Done<bool> done) override {
    ask<bool>(std::move(done), [&](auto told) {
      store_->set_life(std::move(venue), std::move(order_id), life, std::move(told));
    });
  }
  void unfinished(std::string venue, std::int64_t after, std::size_t limit,
                  Done<std::vector<order::Intent>> done) override {
    ask<std::vector<order::Intent>>(std::move(done), [&](auto told) {
      store_->unfinished(std::move(venue), after, limit, std::move(told));
    });
  }
  void history_is_empty(Done<bool> done) override {
    ask<bool>(std::move(done), [&](auto told) { store_->history_is_empty(std::move(told)); });
  }
  Result<void> health() override { return {}; }

 private:
  bool happens() { return !calm_ && dice_.chance(3); }
  static std::unexpected<Error> down(Outcome outcome) {
    return std::unexpected(Error(Code::unavailable, outcome, "disk I/O error"));
  }
  template <class T, class Call>
  void ask(Done<T> done, Call call) {
    later<T>(std::move(done), answer_of<T>(call));
  }
  template <class T>
  void later(Done<T> done, Result<T> result) {
    agenda_.after(dice_.within(Duration::microseconds(100), Duration::milliseconds(15)),
                  [alive = alive_, done = std::move(done), result = std::move(result)]() mutable {
                    if (*alive) done(std::move(result));
                  });
  }

  const std::unique_ptr<IntentStore> store_;
  Agenda& agenda_;
  Dice& dice_;
  const std::shared_ptr<const bool> alive_;
  bool calm_ = false;
};

}  // namespace pawl::campaign
