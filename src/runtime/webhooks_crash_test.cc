// Goal: whatever endpoints answer, and wherever a process dies, nothing is sent once its
//       acknowledgement is on record, and nothing that was taken is forgotten.
// Method: two gateways with an outbox each share a record store, and live by turns. A life ends at
//         a step that is drawn: just before a call of the world takes effect, or just behind it,
//         unseen. Each message is checked where it arrives, against what the stores hold. At the
//         end all is well again, and every delivery must come to its end.
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <set>

#include "runtime/webhooks_fixture.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using webhook::Delivery;
using webhook::State;

// How long a process lives, in calls to the world.
struct Life {
  enum class Step : std::uint8_t { alive, dies_before, dies_behind, dead };

  Step step() {
    if (left < 0) return Step::alive;
    if (left == 0) return Step::dead;
    if (--left > 0) return Step::alive;
    return behind ? Step::dies_behind : Step::dies_before;
  }

  int left = -1;  // below zero: for ever
  bool behind = false;
};

// What is asked of the world by somebody who may die of it.
template <class Done, class Call>
void ask(Life& life, Done done, const Call& call) {
  const Life::Step step = life.step();
  if (step == Life::Step::alive) return call(std::move(done));
  if (step == Life::Step::dies_behind) call([](const auto&) {});
  const Outcome outcome = step == Life::Step::dies_behind ? Outcome::unknown : Outcome::not_applied;
  done(std::unexpected(Error(Code::unavailable, outcome, "nobody hears this")));
}

class MortalOutbox final : public Outbox {
 public:
  MortalOutbox(Life& life, Outbox& below) : life_(life), below_(below) {}

  void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) override {
    ask(life_, std::move(done),
        [&](Done<std::size_t> then) { below_.add(std::move(deliveries), std::move(then)); });
  }
  void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) override {
    ask(life_, std::move(done),
        [&](Done<DueDeliveries> then) { below_.due(endpoint, limit, std::move(then)); });
  }
  void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
            Done<void> done) override {
    ask(life_, std::move(done), [&](Done<void> then) {
      below_.save(endpoint, event_id, std::move(step), std::move(then));
    });
  }
  void list(std::size_t limit, std::optional<State> state,
            Done<std::vector<Delivery>> done) override {
    below_.list(limit, state, std::move(done));
  }

 private:
  Life& life_;
  Outbox& below_;
};

class MortalRecords final : public RecordStore {
 public:
  MortalRecords(Life& life, RecordStore& below) : life_(life), below_(below) {}

  void begin(const RecordKey& key, const Begin& how, Done<Begun> done) override {
    ask(life_, std::move(done), [&](Done<Begun> then) { below_.begin(key, how, std::move(then)); });
  }
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override {
    ask(life_, std::move(done),
        [&](Done<void> then) { below_.renew(key, fence, lease, std::move(then)); });
  }
  void complete(const RecordKey& key, std::uint64_t fence, Completion how,
                Done<void> done) override {
    ask(life_, std::move(done),
        [&](Done<void> then) { below_.complete(key, fence, std::move(how), std::move(then)); });
  }
  void settle(const RecordKey& key, Completion how, Done<void> done) override {
    below_.settle(key, std::move(how), std::move(done));
  }
  void get(const RecordKey& key, Done<Record> done) override { below_.get(key, std::move(done)); }
  void clear(const RecordKey& key, bool force, Done<void> done) override {
    below_.clear(key, force, std::move(done));
  }
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override {
    below_.list(filter, std::move(done));
  }
  Durability durability() const override { return below_.durability(); }

 private:
  Life& life_;
  RecordStore& below_;
};

class MortalHttp final : public HttpClient {
 public:
  MortalHttp(Life& life, HttpClient& below) : life_(life), below_(below) {}

  void send(HttpRequest request, Done done) override {
    const Life::Step step = life_.step();
    if (step == Life::Step::alive) return below_.send(std::move(request), std::move(done));
    if (step == Life::Step::dies_behind) below_.send(std::move(request), [](const auto&) {});
    silent_.push_back(std::move(done));
  }

 private:
  Life& life_;
  HttpClient& below_;
  std::vector<Done> silent_;
};

Webhooks::Options quick() {
  Webhooks::Options options;
  options.policy.delays = {Duration::seconds(1), Duration::minutes(1), Duration::minutes(10)};
  options.policy.max_attempts = 4;
  return options;
}

class World {
 public:
  World() {
    http_.answer = [this](const HttpRequest& request) { return receive(request); };
  }
  ~World() { end(); }

  void obey(std::uint32_t word) {
    const std::uint32_t verb = word % 8;
    const std::uint32_t rest = word / 8;
    if (verb <= 2) return emit("evt_" + std::to_string(rest % 4));
    if (verb == 3) return advance(Duration::seconds(rest % 120));
    if (verb == 4) return advance(Duration::milliseconds(rest % 3'000));
    if (verb == 5) {
      mode_ = static_cast<int>(rest % 7);
    } else if (verb == 6) {
      life_ = {.left = 1 + static_cast<int>(rest % 12), .behind = rest / 12 % 2 == 1};
    } else {
      start(rest % 2);
    }
  }

  void start(std::size_t gateway) {
    end();
    life_ = {};
    at_ = gateway;
    timers_ = std::make_unique<ManualTimers>(clock_);
    mortal_outbox_.emplace(life_, outboxes_[gateway]);
    webhooks_ = std::make_unique<Webhooks>(
        quick(),
        Webhooks::Ports{clock_, *timers_, *mortal_outbox_, mortal_http_, &mortal_records_});
    RC_ASSERT(webhooks_->set_endpoints({endpoint_named("billing")}).has_value());
    webhooks_->start();
  }

  void check_the_end() {
    mode_ = 0;
    for (const std::size_t gateway : {0u, 1u}) {
      start(gateway);
      advance(Duration::hours(1));
      std::map<std::string, Delivery> found = deliveries_of(gateway);
      for (const auto& [id, one] : found) {
        RC_ASSERT(one.state != State::pending);
        if (one.state == State::acknowledged) RC_ASSERT(acknowledged_.contains(id));
        if (one.state == State::given_up) RC_ASSERT(refused_.contains(id) || one.attempts == 4);
      }
      for (const std::string& id : taken_[gateway]) RC_ASSERT(found.contains(id));
    }
    RC_ASSERT(may_all_be_sent_);
  }

 private:
  // A process that dies says nothing more; the rest of it is cleared away.
  void end() {
    if (webhooks_ == nullptr) return;
    life_.left = 0;
    timers_->close();
    webhooks_.reset();
  }

  void advance(Duration by) {
    if (timers_ != nullptr) return timers_->advance(by);
    clock_.advance(by);
  }

  void emit(const std::string& id) {
    if (webhooks_ == nullptr) return;
    webhooks_->emit(event_with(id), [&](const Result<bool>& taken) {
      if (taken) taken_[at_].insert(id);
    });
  }

  std::map<std::string, Delivery> deliveries_of(std::size_t gateway) {
    std::map<std::string, Delivery> all;
    outboxes_[gateway].list(100, std::nullopt, [&](const Result<std::vector<Delivery>>& found) {
      for (const Delivery& one : *found) all.emplace(one.event_id, one);
    });
    return all;
  }

  bool may_be_sent(const std::string& id) {
    bool is_claimed = false;
    records_.get({.scope = "acme", .key = webhook::record_key("billing", id)},
                 [&](const Result<Record>& record) {
                   is_claimed = record && record->status == idempotency::Status::in_flight;
                 });
    return is_claimed && deliveries_of(at_).at(id).state == State::pending;
  }

  FakeEndpoints::Reply receive(const HttpRequest& request) {
    const std::string id = field_of(request, "webhook-id");
    may_all_be_sent_ = may_all_be_sent_ && may_be_sent(id);
    switch (mode_) {
      case 0:
      case 1:
        acknowledged_.insert(id);
        return status_answer(204);
      case 2:
        return status_answer(503);
      case 3:
        return status_answer(429, {{"retry-after", "30"}});
      case 4:
        refused_.insert(id);
        return status_answer(410);
      case 5:
        return no_answer(Outcome::unknown);
      default:
        return {};
    }
  }

  ManualClock clock_;
  std::array<MemoryOutbox, 2> outboxes_ = {MemoryOutbox(clock_), MemoryOutbox(clock_)};
  MemoryRecordStore records_{clock_};
  FakeEndpoints http_;
  Life life_;
  MortalRecords mortal_records_{life_, records_};
  MortalHttp mortal_http_{life_, http_};
  std::optional<MortalOutbox> mortal_outbox_;
  std::unique_ptr<ManualTimers> timers_;
  std::unique_ptr<Webhooks> webhooks_;
  std::size_t at_ = 0;
  int mode_ = 0;
  bool may_all_be_sent_ = true;  // what an attempt throws is caught, so it is told at the end
  std::array<std::set<std::string>, 2> taken_;
  std::set<std::string> acknowledged_;
  std::set<std::string> refused_;
};

RC_GTEST_PROP(WebhooksCrash, NothingIsSentOnceItsAcknowledgementIsOnRecord, ()) {
  const auto words = *rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::inRange<std::uint32_t>(0, 1'000'000));
  World world;
  world.start(0);
  for (const std::uint32_t word : words) world.obey(word);
  world.check_the_end();
}

// Every step of one delivery, before and behind it: no chance needed.
TEST(WebhooksCrash, AtEveryStepOfADeliveryIsSurvived) {
  for (const bool behind : {false, true}) {
    for (std::uint32_t step = 0; step < 12; ++step) {
      World world;
      world.start(0);
      world.obey(6 + 8 * (step + (behind ? 12u : 0u)));
      world.obey(0);
      world.obey(7);
      world.obey(0);
      world.check_the_end();
    }
  }
}

}  // namespace
}  // namespace pawl
