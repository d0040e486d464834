// What every IntentStore must do, whatever it is made of.
#pragma once

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/calendar.h"
#include "port/answer_of.h"
#include "port/intent_store.h"

namespace pawl {

// A store under test, empty, and another that shares what it keeps, as another process would.
struct IntentStoreUnderTest {
  IntentStore& store;
  IntentStore& beside;
  std::function<void()> end_beside;  // that process is gone; `beside` is not used any more
};

namespace intent_store_suite {

using order::FrequencyLimit;
using order::Intent;
using order::Life;
using order::Progress;
using order::Quota;
using order::Status;

// A Wednesday.
inline Instant start() {
  return from_civil({{2025, 12, 3}, 15, 30, 0, 123'456'789});
}

class Client {
 public:
  explicit Client(IntentStore& store) : store_(&store) {}

  static order::Order order_of(const std::string& venue = "okx") {
    return {.venue = venue,
            .instrument = "BTC-USDT-SWAP",
            .side = order::Side::sell,
            .type = order::Type::limit,
            .size = *parse_decimal("0.10"),
            .price = *parse_decimal("64000.5")};
  }
  static NewIntent fresh(const std::string& reference, Instant now = start()) {
    return {.reference = reference,
            .order = order_of(),
            .request_id = "request of " + reference,
            .now = now};
  }
  static Progress confirmed(const std::string& order_id, Life life = Life::working) {
    return {.status = Status::confirmed,
            .request_id = "r",
            .order_id = order_id,
            .life = life,
            .evidence = {{.at = start(), .source = "place attempt 1", .says = "201"}}};
  }
  static Progress rejected() {
    return {.status = Status::rejected, .request_id = "r", .reason = "no margin"};
  }
  static HistoryRow row(const std::string& order_id, Instant placed_at = start()) {
    return {.order_id = order_id,
            .instrument = "BTC-USDT-SWAP",
            .type = "limit",
            .size = "0.1",
            .placed_at = placed_at,
            .status = "placed",
            .venue = "okx"};
  }

  Result<Opening> try_open(NewIntent ask) const {
    return answer_of<Opening>([&](auto done) { store_->open(std::move(ask), std::move(done)); });
  }
  Opening open(NewIntent ask) const {
    Result<Opening> opened = try_open(std::move(ask));
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(opened).value_or(Opening(DeniedIntent()));
  }
  // That was new and had room.
  Intent opened(NewIntent ask) const {
    const Opening opening = open(std::move(ask));
    const auto* found = std::get_if<OpenedIntent>(&opening);
    EXPECT_NE(found, nullptr);
    return found == nullptr ? Intent() : found->intent;
  }
  Intent opened(const std::string& reference) const { return opened(fresh(reference)); }
  bool is_denied(NewIntent ask) const {
    return std::holds_alternative<DeniedIntent>(open(std::move(ask)));
  }
  Result<TakenIntent> try_take(const std::string& reference) const {
    return answer_of<TakenIntent>([&](auto done) { store_->take(reference, std::move(done)); });
  }
  bool takes(const std::string& reference) const {
    const Result<TakenIntent> taken = try_take(reference);
    EXPECT_TRUE(taken.has_value());
    return taken && taken->mine;
  }
  Result<void> try_save(std::int64_t id, Progress progress) const {
    return answer_of<void>(
        [&](auto done) { store_->save(id, std::move(progress), std::move(done)); });
  }
  void save(std::int64_t id, Progress progress) const {
    const Result<void> saved = try_save(id, std::move(progress));
    EXPECT_TRUE(saved.has_value()) << saved.error().message;
  }
  // Opened, saved and let go.
  Intent ended(NewIntent ask, const Progress& progress) const {
    Intent intent = opened(std::move(ask));
    save(intent.id, progress);
    store_->release(intent.id);
    intent.progress = progress;
    return intent;
  }
  Result<Intent> get(const std::string& reference) const {
    return answer_of<Intent>([&](auto done) { store_->get(reference, std::move(done)); });
  }
  std::vector<std::string> list(IntentFilter filter) const {
    return references(answer_of<std::vector<Intent>>(
        [&](auto done) { store_->list(std::move(filter), std::move(done)); }));
  }
  std::vector<std::string> unfinished(const std::string& venue, std::size_t limit = 100,
                                      std::int64_t after = 0) const {
    return references(answer_of<std::vector<Intent>>(
        [&](auto done) { store_->unfinished(venue, after, limit, std::move(done)); }));
  }
  Quota quota(Instant now = start(), FrequencyLimit limit = {}) const {
    auto found = answer_of<Quota>([&](auto done) { store_->quota(limit, now, std::move(done)); });
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(Quota());
  }
  std::int64_t used(Instant now = start()) const { return quota(now).used; }
  std::size_t backfill(std::vector<HistoryRow> rows) const {
    const auto added = answer_of<std::size_t>(
        [&](auto done) { store_->backfill(std::move(rows), std::move(done)); });
    EXPECT_TRUE(added.has_value()) << added.error().message;
    return added.value_or(0);
  }
  bool set_life(const std::string& order_id, Life life, const std::string& venue = "okx") const {
    const auto changed = answer_of<bool>(
        [&](auto done) { store_->set_life(venue, order_id, life, std::move(done)); });
    EXPECT_TRUE(changed.has_value()) << changed.error().message;
    return changed.value_or(false);
  }
  bool history_is_empty() const {
    return answer_of<bool>([&](auto done) { store_->history_is_empty(std::move(done)); }).value();
  }
  void release(std::int64_t id) const { store_->release(id); }

 private:
  static std::vector<std::string> references(const Result<std::vector<Intent>>& found) {
    EXPECT_TRUE(found.has_value()) << found.error().message;
    std::vector<std::string> all;
    if (!found) return all;
    for (const Intent& intent : *found) all.push_back(intent.reference);
    return all;
  }

  IntentStore* store_;
};

using References = std::vector<std::string>;

inline void keeps_an_intent_as_it_was_opened(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  NewIntent ask = Client::fresh("a");
  ask.order = {.venue = "saxo",
               .instrument = "211",
               .asset_type = "Stock",
               .side = order::Side::buy,
               .type = order::Type::stop_limit,
               .size = *parse_decimal("10"),
               .price = *parse_decimal("1.10"),
               .stop_price = *parse_decimal("1.05"),
               .validity = order::Validity::gtc,
               .reduce_only = true};
  ask.counts = false;
  const Opening opening = client.open(ask);
  const auto* opened = std::get_if<OpenedIntent>(&opening);
  ASSERT_NE(opened, nullptr);
  const Intent& intent = opened->intent;
  EXPECT_GT(intent.id, 0);
  EXPECT_EQ(intent.reference, "a");
  EXPECT_EQ(intent.order, ask.order);
  EXPECT_FALSE(intent.counts);
  EXPECT_EQ(intent.created, start());
  EXPECT_EQ(intent.progress, (Progress{.request_id = "request of a"}));
  EXPECT_EQ(client.get("a").value(), intent);
  EXPECT_EQ(Client(test.beside).get("a").value(), intent);
  EXPECT_EQ(client.get("b").error().code, Code::not_found);
}

inline void knows_a_reference_again(const IntentStoreUnderTest& test) {
  const Intent first = Client(test.store).opened("a");
  NewIntent other = Client::fresh("a");
  other.order.size = *parse_decimal("7");
  for (IntentStore* store : {&test.store, &test.beside}) {
    const Opening again = Client(*store).open(other);
    const auto* known = std::get_if<KnownIntent>(&again);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->intent, first) << "nothing was changed";
  }
  EXPECT_EQ(Client(test.store).used(), 1);
}

inline void keeps_progress(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  Intent intent = client.opened("a");
  intent.progress = {.status = Status::unresolved,
                     .attempts = 3,
                     .request_id = "third",
                     .order_id = "77",
                     .reason = "two orders carry it: \"77\" and ‘78’",
                     .expires = start() + Duration::nanoseconds(1),
                     .evidence = {{.at = start(), .source = "place attempt 1", .says = "503"},
                                  {.at = start(), .source = "person", .says = "looked"}}};
  client.save(intent.id, intent.progress);
  EXPECT_EQ(client.get("a").value(), intent);
  EXPECT_EQ(Client(test.beside).get("a").value(), intent);
}

inline void gives_work_to_one_at_a_time(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const Client other(test.beside);
  const Intent intent = client.opened("a");
  EXPECT_FALSE(client.takes("a")) << "it is held already, by this store's own caller";
  EXPECT_FALSE(other.takes("a"));
  EXPECT_EQ(other.try_take("a").value().intent, intent);
  other.release(intent.id);  // not its own: passed over
  EXPECT_FALSE(other.takes("a"));
  client.release(intent.id);
  client.release(intent.id);
  EXPECT_TRUE(other.takes("a"));
  EXPECT_FALSE(client.takes("a"));
  other.save(intent.id, {.status = Status::unresolved, .request_id = "r", .reason = "who knows"});
  other.release(intent.id);
  const TakenIntent taken = client.try_take("a").value();
  EXPECT_TRUE(taken.mine) << "unresolved is open";
  EXPECT_EQ(taken.intent.progress.status, Status::unresolved) << "as the other one left it";
  client.save(intent.id, Client::confirmed("1"));
  client.release(intent.id);
  EXPECT_FALSE(client.takes("a")) << "there is nothing left to do";
  EXPECT_EQ(client.try_take("b").error().code, Code::not_found);
}

inline void lets_go_of_what_a_dead_process_worked_on(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const IntentFilter unattended{.unattended = true};
  (void)Client(test.beside).opened("a");
  (void)client.opened("b");
  EXPECT_FALSE(client.takes("a"));
  EXPECT_EQ(client.list(unattended), References()) << "both are worked on";
  test.end_beside();
  EXPECT_EQ(client.list(unattended), (References{"a"}));
  EXPECT_TRUE(client.takes("a"));
  EXPECT_EQ(client.list(unattended), References());
  EXPECT_EQ(client.get("a")->progress.status, Status::sending);
}

inline void holds_slots_and_gives_them_back(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const FrequencyLimit two{.weekly_max_orders = 2};
  const auto ask = [&](const std::string& reference) {
    NewIntent asked = Client::fresh(reference);
    asked.limit = two;
    return asked;
  };
  const Opening first = client.open(ask("a"));
  EXPECT_EQ(std::get<OpenedIntent>(first).quota,
            (Quota{.used = 0, .limit = 2, .week_start = week_start(start()), .enabled = true}));
  const Intent held = client.opened(ask("b"));
  const Opening third = client.open(ask("c"));
  ASSERT_TRUE(std::holds_alternative<DeniedIntent>(third));
  EXPECT_EQ(std::get<DeniedIntent>(third).quota.used, 2);
  EXPECT_EQ(client.get("c").error().code, Code::not_found) << "nothing is kept of it";
  client.save(held.id, Client::rejected());
  EXPECT_EQ(client.used(), 1);
  (void)client.opened(ask("c"));
  EXPECT_TRUE(client.is_denied(ask("d")));
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(client.open(ask("a")))) << "costs none";
}

inline void counts_a_placement_whatever_becomes_of_it(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  EXPECT_TRUE(client.history_is_empty());
  const Intent intent = client.opened("a");
  EXPECT_TRUE(client.history_is_empty()) << "not placed yet";
  for (const Status open : {Status::reconciling, Status::unresolved}) {
    client.save(intent.id, {.status = open, .request_id = "r", .reason = "?"});
    EXPECT_EQ(client.used(), 1);
  }
  client.save(intent.id, Client::confirmed("1"));
  client.save(intent.id, Client::confirmed("1"));
  EXPECT_EQ(client.used(), 1) << "the slot became the row";
  EXPECT_FALSE(client.history_is_empty());
  (void)client.ended(Client::fresh("b"), Client::confirmed("2", Life::canceled));
  (void)client.ended(Client::fresh("c"), Client::rejected());
  EXPECT_EQ(client.used(), 2);
  EXPECT_TRUE(client.set_life("1", Life::filled));
  EXPECT_EQ(client.used(), 2);
}

inline void counts_by_weeks(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const Instant monday = week_start(start());
  const Instant last = monday - Duration::nanoseconds(1);
  (void)client.opened(Client::fresh("before", last));
  const Intent late = client.opened(Client::fresh("late", last));
  (void)client.opened(Client::fresh("first", monday));
  (void)client.backfill({Client::row("x", last), Client::row("y", monday)});
  client.save(late.id, Client::confirmed("1"));
  EXPECT_EQ(client.used(last), 3) << "confirmed on Monday, it is still of the week it began in";
  EXPECT_EQ(client.used(monday), 2);
  EXPECT_EQ(client.used(monday + Duration::days(7)), 0);
  EXPECT_EQ(client.quota(last).week_start, monday - Duration::days(7));
}

inline void leaves_out_what_does_not_count(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  NewIntent ask = Client::fresh("a");
  ask.limit = {.weekly_max_orders = 1};
  (void)client.opened(ask);
  ask.reference = "b";
  ask.counts = false;
  const Opening free = client.open(ask);
  ASSERT_TRUE(std::holds_alternative<OpenedIntent>(free)) << "takes no slot, so needs none";
  EXPECT_EQ(std::get<OpenedIntent>(free).quota.used, 1);
  client.save(std::get<OpenedIntent>(free).intent.id, Client::confirmed("1"));
  HistoryRow row = Client::row("2");
  row.counts = false;
  EXPECT_EQ(client.backfill({row}), 1u);
  EXPECT_EQ(client.used(), 1);
  ask.reference = "c";
  ask.counts = true;
  ask.limit.enabled = false;
  const Opening unlimited = client.open(ask);
  ASSERT_TRUE(std::holds_alternative<OpenedIntent>(unlimited));
  EXPECT_EQ(std::get<OpenedIntent>(unlimited).quota.used, 0) << "not even counted";
  EXPECT_EQ(client.used(), 2) << "but recorded";
  EXPECT_EQ(client.quota(start(), {.enabled = false}).used, 0);
}

inline void fills_in_what_is_missing_once(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  EXPECT_EQ(client.backfill({}), 0u);
  EXPECT_EQ(client.backfill({Client::row("1"), Client::row("2"), Client::row("1")}), 2u);
  HistoryRow elsewhere = Client::row("1");
  elsewhere.venue = "saxo";
  EXPECT_EQ(client.backfill({Client::row("2"), elsewhere, Client::row("3")}), 2u);
  EXPECT_EQ(client.used(), 4);
  (void)client.ended(Client::fresh("a"), Client::confirmed("3"));
  EXPECT_EQ(client.used(), 4) << "one order, one row";
  EXPECT_EQ(client.backfill({Client::row("3")}), 0u);
}

// The venue shows it before pawl has found out.
inline void counts_an_open_order_that_was_filled_in_once(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const Intent by_reference = client.opened("a");
  const Intent by_id = client.opened("b");
  client.save(by_id.id, {.status = Status::unresolved,
                         .request_id = "r",
                         .order_id = "2",
                         .reason = "not completed"});
  HistoryRow first = Client::row("1");
  first.reference = "a";
  HistoryRow stranger = Client::row("3");
  stranger.reference = "b";
  stranger.venue = "saxo";
  EXPECT_EQ(client.backfill({first, Client::row("2"), stranger}), 3u);
  EXPECT_EQ(client.used(), 3);
  client.save(by_reference.id, Client::confirmed("1"));
  client.save(by_id.id, Client::rejected());
  EXPECT_EQ(client.used(), 3) << "what the venue has is counted, whatever was made of the intent";
}

// What the venue shows of an order says less of how it was counted than its intent does.
inline void counts_what_was_filled_in_as_its_open_intent(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  (void)client.opened("a");
  NewIntent free = Client::fresh("b");
  free.counts = false;
  (void)client.opened(free);
  EXPECT_EQ(client.used(), 1);
  HistoryRow of_a = Client::row("1");
  of_a.reference = "a";
  of_a.counts = false;
  HistoryRow of_b = Client::row("2");
  of_b.reference = "b";
  EXPECT_EQ(client.backfill({of_a, of_b}), 2u);
  EXPECT_EQ(client.used(), 1);
}

// All that is left of it after the store was lost is what the venue showed.
inline void refuses_a_reference_that_was_filled_in(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  (void)client.ended(Client::fresh("mine"), Client::confirmed("1"));
  HistoryRow row = Client::row("77");
  row.reference = "a";
  EXPECT_EQ(client.backfill({row, Client::row("78")}), 2u);
  NewIntent ask = Client::fresh("a");
  for (const std::int64_t limit : {5, 3}) {  // with room, and without
    ask.limit.weekly_max_orders = limit;
    const Result<Opening> refused = Client(test.beside).try_open(ask);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(),
              Error(Code::refused, Outcome::not_applied,
                    "The reference 'a' is taken: okx has the order '77' under it, which was found "
                    "by backfilling. Nothing was sent. Give a new order a reference of its own."));
  }
  EXPECT_EQ(client.get("a").error().code, Code::not_found) << "nothing is kept";
  EXPECT_EQ(client.used(), 3);
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(client.open(Client::fresh("mine"))));
  (void)client.opened("b");
  ask.limit = {};
  ask.order = Client::order_of("saxo");
  (void)client.opened(ask);  // another venue's
  EXPECT_EQ(client.used(), 5);
}

// A venue that takes no such reference calls the order by a name of its own.
inline void knows_a_reference_by_the_venues_name(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const auto named = [](const std::string& reference) {
    NewIntent ask = Client::fresh(reference);
    ask.venue_name = "name of " + reference;
    return ask;
  };
  const auto row_named = [](const std::string& order_id, const std::string& reference) {
    HistoryRow row = Client::row(order_id);
    row.reference = "name of " + reference;
    return row;
  };
  const Intent open = client.opened(named("a"));
  HistoryRow elsewhere = row_named("1", "a");
  elsewhere.venue = "saxo";
  EXPECT_EQ(client.backfill({elsewhere}), 1u);
  EXPECT_EQ(client.used(), 2) << "another venue's is another order";
  EXPECT_EQ(client.backfill({row_named("1", "a")}), 1u);
  EXPECT_EQ(client.used(), 2) << "the row has the slot of the open intent";
  client.save(open.id, Client::confirmed("1"));
  EXPECT_EQ(client.used(), 2);
  EXPECT_EQ(client.backfill({row_named("2", "b")}), 1u);
  const Result<Opening> refused = Client(test.beside).try_open(named("b"));
  ASSERT_FALSE(refused.has_value()) << "all that is left of it is what the venue showed";
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_NE(refused.error().message.find("has the order '2'"), std::string::npos);
  EXPECT_EQ(client.get("b").error().code, Code::not_found);
  (void)client.opened(named("c"));
  NewIntent unnamed = Client::fresh("d");
  unnamed.limit.weekly_max_orders = 6;
  EXPECT_EQ(client.backfill({Client::row("3")}), 1u);
  (void)client.opened(unnamed);  // a row without a reference is nobody's
  EXPECT_EQ(client.used(), 6);
}

// Ended with nothing sent: whoever asks for the same order again begins it anew.
inline void opens_again_what_never_left(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  const Client other(test.beside);
  Progress unsent = Client::rejected();
  unsent.attempts = 3;
  unsent.unsent = true;
  unsent.evidence = {{.at = start(), .source = "place attempt 3", .says = "not_sent"}};
  const Intent first = client.opened("a");
  client.save(first.id, unsent);
  EXPECT_EQ(client.used(), 0);
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(other.open(Client::fresh("a"))))
      << "somebody still holds it";
  client.release(first.id);
  NewIntent changed = Client::fresh("a");
  changed.order.size = *parse_decimal("7");
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(other.open(changed))) << "another order";

  const Instant next_week = start() + Duration::days(7);
  NewIntent again = Client::fresh("a", next_week);
  again.request_id = "second";
  again.limit.weekly_max_orders = 1;
  const Intent fills_the_week = other.opened(Client::fresh("b", next_week));
  EXPECT_TRUE(other.is_denied(again));
  EXPECT_EQ(client.get("a")->progress, unsent) << "nothing was changed";
  other.save(fills_the_week.id, Client::rejected());
  const Intent second = other.opened(again);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.created, next_week);
  EXPECT_EQ(second.progress, order::opened_again(unsent, "second", next_week));
  EXPECT_EQ(client.get("a").value(), second);
  EXPECT_EQ(client.used(), 0);
  EXPECT_EQ(client.used(next_week), 1) << "its slot is of the week it was opened in again";
  EXPECT_FALSE(client.takes("a")) << "who opened it holds it";
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(client.open(again)));
  EXPECT_EQ(client.list({.statuses = {Status::sending}}), (References{"a"}));
  other.save(second.id, Client::rejected());
  other.release(second.id);
  EXPECT_TRUE(std::holds_alternative<KnownIntent>(client.open(again))) << "something had left";

  (void)client.ended(Client::fresh("c"), unsent);
  HistoryRow row = Client::row("1");
  row.reference = "c";
  EXPECT_EQ(client.backfill({row}), 1u);
  EXPECT_EQ(client.try_open(Client::fresh("c")).error().code, Code::refused)
      << "the venue has an order of that reference, whoever sent it";
}

inline void follows_an_order_to_its_end(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  (void)client.ended(Client::fresh("a"), Client::confirmed("1"));
  (void)client.ended(Client::fresh("b"), Client::confirmed("2", Life::unknown));
  (void)client.ended(Client::fresh("c"), Client::confirmed("3", Life::filled));
  NewIntent saxo = Client::fresh("d");
  saxo.order = Client::order_of("saxo");
  (void)client.ended(saxo, Client::confirmed("1"));
  (void)client.opened("e");
  (void)client.backfill({Client::row("9")});
  EXPECT_EQ(client.unfinished("okx"), (References{"a", "b"}));
  EXPECT_EQ(client.unfinished("okx", 1), (References{"a"}));
  EXPECT_EQ(client.unfinished("okx", 1, client.get("a")->id), (References{"b"}));
  EXPECT_EQ(client.unfinished("okx", 100, client.get("b")->id), (References{}));
  EXPECT_EQ(client.unfinished("saxo"), (References{"d"}));
  EXPECT_FALSE(client.set_life("1", Life::working));
  EXPECT_FALSE(client.set_life("7", Life::filled));
  EXPECT_TRUE(client.set_life("1", Life::canceled));
  EXPECT_FALSE(Client(test.beside).set_life("1", Life::canceled)) << "it is known";
  EXPECT_FALSE(client.set_life("1", Life::filled)) << "an end is an end";
  EXPECT_EQ(client.get("a")->progress.life, Life::canceled);
  EXPECT_EQ(client.get("a")->progress.evidence, Client::confirmed("1").evidence);
  EXPECT_EQ(client.get("d")->progress.life, Life::working) << "another venue's";
  EXPECT_TRUE(client.set_life("9", Life::filled)) << "one of the history alone";
  EXPECT_FALSE(client.set_life("9", Life::filled));
  EXPECT_EQ(client.unfinished("okx"), (References{"b"}));
}

inline void lists_the_newest_first(const IntentStoreUnderTest& test) {
  const Client client(test.store);
  (void)client.ended(Client::fresh("a"), Client::confirmed("1"));
  (void)client.ended(Client::fresh("b"), Client::rejected());
  NewIntent saxo = Client::fresh("c");
  saxo.order = Client::order_of("saxo");
  (void)client.ended(saxo, Client::rejected());
  const Intent open = client.opened("d");
  (void)client.opened("e");
  client.save(open.id, {.status = Status::unresolved, .request_id = "r", .reason = "?"});
  EXPECT_EQ(client.list({}), (References{"e", "d", "c", "b", "a"}));
  EXPECT_EQ(client.list({.limit = 2}), (References{"e", "d"}));
  EXPECT_EQ(client.list({.venue = "saxo"}), (References{"c"}));
  EXPECT_EQ(client.list({.statuses = {Status::rejected}}), (References{"c", "b"}));
  EXPECT_EQ(client.list({.venue = "okx", .statuses = {Status::rejected}}), (References{"b"}));
  EXPECT_EQ(client.list({.statuses = {Status::unresolved}}), (References{"d"}));
  EXPECT_EQ(client.list({.statuses = {Status::sending, Status::unresolved}}),
            (References{"e", "d"}));
  EXPECT_EQ(client.list({.statuses = {Status::confirmed, Status::unresolved}}),
            (References{"d", "a"}));
  EXPECT_EQ(client.list({.venue = "okx", .statuses = {Status::confirmed, Status::rejected}}),
            (References{"b", "a"}));
}

// Of a crowd on both sides that wants a slot, as many get one as there are.
inline void serves_a_crowd(const IntentStoreUnderTest& test) {
  constexpr int each = 25;
  std::atomic<int> opened = 0;
  std::atomic<int> known = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const Client client(i % 2 == 0 ? test.store : test.beside);
      for (int n = 0; n < each; ++n) {
        const std::string own = std::to_string(i) + "." + std::to_string(n);
        const Opening mine = client.open(Client::fresh(own));
        opened += std::holds_alternative<OpenedIntent>(mine) ? 1 : 0;
        NewIntent shared = Client::fresh("shared " + std::to_string(n));
        shared.counts = false;
        const Opening ours = client.open(shared);
        known += std::holds_alternative<KnownIntent>(ours) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, FrequencyLimit().weekly_max_orders);
  EXPECT_EQ(known, 3 * each) << "one of four opened it";
  EXPECT_EQ(Client(test.store).used(), FrequencyLimit().weekly_max_orders);
}

}  // namespace intent_store_suite

// `with` makes stores for each part and calls back.
inline void expect_intent_store_conforms(
    const std::function<void(const std::function<void(const IntentStoreUnderTest&)>&)>& with) {
  using namespace intent_store_suite;
  for (const auto& part :
       {keeps_an_intent_as_it_was_opened, knows_a_reference_again, keeps_progress,
        gives_work_to_one_at_a_time, lets_go_of_what_a_dead_process_worked_on,
        holds_slots_and_gives_them_back, counts_a_placement_whatever_becomes_of_it, counts_by_weeks,
        leaves_out_what_does_not_count, fills_in_what_is_missing_once,
        counts_an_open_order_that_was_filled_in_once, counts_what_was_filled_in_as_its_open_intent,
        refuses_a_reference_that_was_filled_in, knows_a_reference_by_the_venues_name,
        opens_again_what_never_left, follows_an_order_to_its_end, lists_the_newest_first,
        serves_a_crowd}) {
    with(part);
  }
}

}  // namespace pawl
