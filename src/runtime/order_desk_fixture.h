// A desk with a venue that is none: orders, answers and time are the test's.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/memory/memory_event_sink.h"
#include "adapter/memory/memory_intent_store.h"
#include "runtime/manual_clock.h"
#include "runtime/order_desk.h"
#include "runtime/timers_fixture.h"

namespace pawl {

class CountedEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    Entropy16 bytes{};
    ++count_;
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(count_ >> (8 * i));
    return bytes;
  }

 private:
  std::uint64_t count_ = 0;
};

// A store that fails when it is told to; else the one behind it.
class FlakyIntentStore final : public IntentStore {
 public:
  explicit FlakyIntentStore(MemoryIntents& intents) : store_(intents) {}

  // So many calls fail from now on.
  int opens_fail = 0;
  std::optional<int> opens_fail_after = {};  // so many calls from now one fails
  int saves_fail = 0;
  int takes_fail = 0;
  int gets_fail = 0;
  bool open_is_lost = false;  // the next one: it is kept, held by nobody, and its answer is lost
  int opens = 0;
  std::vector<order::Progress> saved;
  std::vector<std::int64_t> released;

  void open(NewIntent intent, Done<Opening> done) override {
    ++opens;
    if (opens_fail > 0 && opens_fail-- > 0) return done(down());
    if (opens_fail_after && (*opens_fail_after)-- == 0) {
      opens_fail_after.reset();
      return done(down());
    }
    if (!std::exchange(open_is_lost, false)) return store_.open(std::move(intent), std::move(done));
    store_.open(std::move(intent), [&](const Result<Opening>& opening) {
      store_.release(std::get<OpenedIntent>(*opening).intent.id);
    });
    done(std::unexpected(Error(Code::unavailable, Outcome::unknown, "disk I/O error")));
  }
  void take(std::string reference, Done<TakenIntent> done) override {
    if (takes_fail > 0 && takes_fail-- > 0) return done(down());
    store_.take(std::move(reference), std::move(done));
  }
  void save(std::int64_t id, order::Progress progress, Done<void> done) override {
    if (saves_fail > 0 && saves_fail-- > 0) return done(down());
    saved.push_back(progress);
    store_.save(id, std::move(progress), std::move(done));
  }
  void release(std::int64_t id) override {
    released.push_back(id);
    store_.release(id);
  }
  void get(std::string reference, Done<order::Intent> done) override {
    if (gets_fail > 0 && gets_fail-- > 0) return done(down());
    store_.get(std::move(reference), std::move(done));
  }
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done) override {
    store_.list(std::move(filter), std::move(done));
  }
  void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) override {
    store_.quota(limit, now, std::move(done));
  }
  void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) override {
    store_.backfill(std::move(rows), std::move(done));
  }
  void set_life(std::string venue, std::string order_id, order::Life life,
                Done<bool> done) override {
    store_.set_life(std::move(venue), std::move(order_id), life, std::move(done));
  }
  void unfinished(std::string venue, std::int64_t after, std::size_t limit,
                  Done<std::vector<order::Intent>> done) override {
    store_.unfinished(std::move(venue), after, limit, std::move(done));
  }
  void history_is_empty(Done<bool> done) override { store_.history_is_empty(std::move(done)); }
  Result<void> health() override { return {}; }

 private:
  static std::unexpected<Error> down() {
    return failure(Code::unavailable, "the database is locked");
  }
  MemoryIntentStore store_;
};

// Keeps a book; what it answers is scripted. Without a script it accepts.
class FakeVenue final : public Venue {
 public:
  explicit FakeVenue(ManualClock& clock) : clock_(clock) {
    traits_ = {.name = "okx",
               .session = "test",
               .has_reduce_only = true,
               .duplicate_window = Duration::seconds(15),
               .batch_max = 20};
  }

  struct Sent {
    SteadyInstant at = {};
    std::vector<PlaceAsk> asks = {};
  };
  struct Step {
    order::Answer answer = {};
    bool lands = false;  // an order is in the book afterwards, whatever the answer
    bool held = false;   // the answer waits for answer_held()
  };
  std::deque<Step> script;               // of placements, one an order
  std::deque<order::Answer> changes;     // of modify and cancel
  std::deque<order::Answer> unprepared;  // in the place of modifications, before their turns
  std::deque<Error> prechecks;           // those that fail
  std::optional<Error> not_ready;
  std::vector<std::pair<SteadyInstant, std::string>> prechecked;  // when, under which id
  std::deque<order::Reading> readings;                            // before the book is read
  std::vector<Sent> sent;
  std::vector<std::pair<std::string, ChangeAsk>> changed;
  std::vector<SteadyInstant> prepared;
  std::vector<order::VenueOrder> book;
  std::vector<HistoryPage> pages;
  int reads = 0;
  bool enforces = true;
  std::set<std::string> not_looked_at;  // by order id
  std::string name_begins = {};         // what the venue puts before a reference
  HeardAnswer heard;
  std::function<void(order::VenueOrder)> told;

  const VenueTraits& traits() const override { return traits_; }
  Result<void> check(const order::Order&, const std::string& reference) const override {
    if (reference.size() > 32) return failure(Code::invalid, "the reference is too long for okx");
    return {};
  }
  std::string name_of(const std::string& reference) const override {
    return name_begins + reference;
  }
  bool enforces_reduce_only(const order::Order& order) const override {
    return order.reduce_only && enforces;
  }
  void place(std::vector<PlaceAsk> asks, Done<std::vector<order::Answer>> done) override {
    sent.push_back({.at = clock_.steady_now(), .asks = asks});
    std::vector<order::Answer> answers;
    bool is_held = false;
    for (const PlaceAsk& ask : asks) {
      Step step{.answer = {.sent = order::Sent::accepted}, .lands = true};
      if (!script.empty()) {
        step = script.front();
        script.pop_front();
      }
      is_held = is_held || step.held;
      if (step.lands) {
        const std::string id = add(ask).order_id;
        if (step.answer.sent == order::Sent::accepted) step.answer.order_id = id;
      }
      answers.push_back(step.answer);
    }
    if (!is_held) return done(std::move(answers));
    held_.push_back([answers = std::move(answers), done = std::move(done)]() mutable {
      done(std::move(answers));
    });
  }
  void answer_held() {
    for (auto& each : std::exchange(held_, {})) each();
  }
  void ready(Leaving, Done<Result<void>> done) override {
    done(not_ready ? Result<void>(std::unexpected(*not_ready)) : Result<void>());
  }
  void pace_prechecks() { traits_.paces_prechecks = true; }
  void precheck(PlaceAsk ask, Done<Result<Precheck>> done) override {
    prechecked.emplace_back(clock_.steady_now(), ask.request_id);
    if (prechecks.empty()) return done(Precheck{.ok = true, .message = "enough margin"});
    const Error error = prechecks.front();
    prechecks.pop_front();
    done(std::unexpected(error));
  }
  void prepare(ChangeAsk ask, Done<Prepared> done) override {
    prepared.push_back(clock_.steady_now());
    if (unprepared.empty()) return Venue::prepare(std::move(ask), std::move(done));
    const order::Answer answer = unprepared.front();
    unprepared.pop_front();
    done(std::unexpected(answer));
  }
  void modify(ChangeAsk ask, Done<order::Answer> done) override {
    changed.emplace_back("modify", std::move(ask));
    done(next_change());
  }
  void cancel(ChangeAsk ask, Done<order::Answer> done) override {
    const order::Answer answer = next_change();
    if (answer.sent == order::Sent::accepted) {
      for (order::VenueOrder& order : book) {
        if (order.order_id == ask.order_id) order.life = order::Life::canceled;
      }
    }
    changed.emplace_back("cancel", std::move(ask));
    done(answer);
  }
  void read(ReadAsk ask, Done<order::Reading> done) override {
    ++reads;
    if (!readings.empty()) {
      order::Reading reading = readings.front();
      readings.pop_front();
      return done(std::move(reading));
    }
    order::Reading reading{.whole = true};
    for (const order::VenueOrder& order : book) {
      if (order.reference == name_of(ask.reference)) reading.orders.push_back(order);
    }
    const auto found = reading.orders.empty() ? order::SourceRead::Found::absent
                                              : order::SourceRead::Found::present;
    reading.sources = {{.source = "book", .at = ask.now, .found = found}};
    done(std::move(reading));
  }
  void look(ReadAsk ask, Done<Result<order::VenueOrder>> done) override {
    if (not_looked_at.contains(ask.order_id)) return done(failure(Code::unavailable, "busy"));
    for (const order::VenueOrder& order : book) {
      if (order.order_id == ask.order_id) return done(order);
    }
    done(failure(Code::not_found, "no such order"));
  }
  void history(Instant, Instant, std::string page, Done<Result<HistoryPage>> done) override {
    const std::size_t number = page.empty() ? 0 : static_cast<std::size_t>(std::stoi(page));
    done(number < pages.size() ? pages[number] : HistoryPage{});
  }
  void probe(Done<Result<std::string>> done) override { done("fine"); }
  void watch(std::function<void(order::VenueOrder)> hears) override { told = std::move(hears); }
  void on_heard(HeardAnswer hears) override { heard = std::move(hears); }

 private:
  const order::VenueOrder& add(const PlaceAsk& ask) {
    book.push_back({.order_id = std::to_string(1000 + book.size()),
                    .reference = name_of(ask.reference),
                    .instrument = order::instrument_name(ask.order),
                    .side = ask.order.side,
                    .type = std::string(order::to_string(ask.order.type)),
                    .size = ask.order.size,
                    .price = ask.order.price,
                    .life = order::Life::working,
                    .placed_at = clock_.wall_now()});
    return book.back();
  }
  order::Answer next_change() {
    if (changes.empty()) return {.sent = order::Sent::accepted};
    order::Answer answer = changes.front();
    changes.pop_front();
    return answer;
  }

  ManualClock& clock_;
  VenueTraits traits_;
  std::vector<std::move_only_function<void()>> held_;
};

class OrderDeskTest : public ::testing::Test {
 protected:
  OrderDeskTest() { open(); }
  ~OrderDeskTest() override {
    desk.reset();
    timers.close();
  }

  // Another process in place of the one before, which died where it was.
  void open() {
    desk.reset();
    store = std::make_unique<FlakyIntentStore>(intents);
    desk = make(*store);
  }
  std::unique_ptr<OrderDesk> make(IntentStore& on) {
    return std::make_unique<OrderDesk>(
        options,
        OrderDesk::Ports{.clock = clock,
                         .timers = timers,
                         .entropy = entropy,
                         .store = on,
                         .counters = counters,
                         .audit = audit,
                         .note = [this](const desk::Note& note) { notes.push_back(note); }},
        std::vector<OrderDesk::VenueSeat>{
            {.venue = venue, .pace = {.rate = {1, Duration::seconds(1)}, .burst = burst}}});
  }

  static order::Order an_order(const std::string& size = "0.1") {
    return {.venue = "okx",
            .instrument = "BTC-USDT-SWAP",
            .side = order::Side::buy,
            .type = order::Type::limit,
            .size = *parse_decimal(size),
            .price = *parse_decimal("50000")};
  }
  // A call whose answer is looked at later.
  template <class T>
  struct Later {
    std::shared_ptr<std::optional<Result<T>>> slot = std::make_shared<std::optional<Result<T>>>();
    bool is_over() const { return slot->has_value(); }
    const auto& value() const
      requires(!std::is_void_v<T>)
    {
      EXPECT_TRUE(is_over()) << "it has not ended";
      EXPECT_TRUE((*slot)->has_value()) << (*slot)->error().message;
      return ***slot;
    }
    const Error& error() const {
      EXPECT_TRUE(is_over() && !(*slot)->has_value()) << "it has not failed";
      return (*slot)->error();
    }
    OrderDesk::Done<T> done() const {
      return [slot = slot](Result<T> result) {
        EXPECT_FALSE(slot->has_value()) << "it has ended twice";
        *slot = std::move(result);
      };
    }
  };
  Later<Placed> place(const std::string& reference, order::Order order = an_order(),
                      Duration wait_max = Duration::max()) {
    Later<Placed> later;
    desk->place({.reference = reference, .order = std::move(order), .wait_max = wait_max},
                later.done());
    return later;
  }
  order::Intent kept(const std::string& reference) const {
    for (const order::Intent& intent : intents.intents()) {
      if (intent.reference == reference) return intent;
    }
    return {};
  }
  std::size_t sent() const {
    std::size_t count = 0;
    for (const FakeVenue::Sent& each : venue.sent) count += each.asks.size();
    return count;
  }
  template <class T>
  std::vector<T> told() const {
    std::vector<T> found;
    for (const desk::Note& note : notes) {
      if (const T* one = std::get_if<T>(&note)) found.push_back(*one);
    }
    return found;
  }
  bool was_told(order::Told what) const {
    return std::ranges::any_of(told<order::Note>(),
                               [what](const order::Note& note) { return note.what == what; });
  }

  ManualClock clock{Instant::from_ns(1'764'772'200'000'000'000)};  // a Wednesday
  ManualTimers timers{clock};
  CountedEntropy entropy;
  MemoryIntents intents;
  MemoryCounterStore counters{clock, {}};
  MemoryEventSink sink;
  EventSink* audit = &sink;
  FakeVenue venue{clock};
  OrderDesk::Options options;
  std::int64_t burst = 0;
  std::vector<desk::Note> notes;
  std::unique_ptr<FlakyIntentStore> store;
  std::unique_ptr<OrderDesk> desk;
};

}  // namespace pawl
