// What every Outbox must do, whatever it is made of.
#pragma once

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "port/answer_of.h"
#include "port/outbox.h"

namespace pawl {

// One outbox under test, empty, that holds 8 pending ones and 4 that have ended.
struct OutboxUnderTest {
  Outbox& outbox;
  std::function<void(Duration)> advance;  // moves the store's clock, which stands still otherwise
  Outbox* beside = nullptr;               // the same deliveries, as another process would open them
};

namespace outbox_suite {

using webhook::Delivery;
using webhook::State;

class Client {
 public:
  explicit Client(Outbox& outbox) : outbox_(&outbox) {}

  static NewDelivery fresh(const std::string& id, const std::string& endpoint = "one") {
    return {.endpoint = endpoint,
            .event_id = id,
            .type = "a.b",
            .tenant = "acme",
            .body = "body of " + id};
  }
  Result<std::size_t> try_add(std::vector<NewDelivery> deliveries) const {
    return answer_of<std::size_t>(
        [&](auto done) { outbox_->add(std::move(deliveries), std::move(done)); });
  }
  std::size_t add(const std::string& id, const std::string& endpoint = "one") const {
    const auto added = try_add({fresh(id, endpoint)});
    EXPECT_TRUE(added.has_value());
    return added.value_or(0);
  }
  DueDeliveries due(const std::string& endpoint = "one", std::size_t limit = 10) const {
    auto found = answer_of<DueDeliveries>(
        [&](auto done) { outbox_->due(endpoint, limit, std::move(done)); });
    EXPECT_TRUE(found.has_value());
    return std::move(found).value_or(DueDeliveries());
  }
  std::vector<std::string> due_ids(const std::string& endpoint = "one",
                                   std::size_t limit = 10) const {
    std::vector<std::string> ids;
    for (const KeptDelivery& kept : due(endpoint, limit).items) {
      ids.push_back(kept.delivery.event_id);
    }
    return ids;
  }
  Result<void> save(const std::string& id, DeliveryStep step,
                    const std::string& endpoint = "one") const {
    return answer_of<void>(
        [&](auto done) { outbox_->save(endpoint, id, std::move(step), std::move(done)); });
  }
  std::vector<Delivery> list(std::size_t limit = 100, std::optional<State> state = {}) const {
    auto all = answer_of<std::vector<Delivery>>(
        [&](auto done) { outbox_->list(limit, state, std::move(done)); });
    EXPECT_TRUE(all.has_value());
    return std::move(all).value_or(std::vector<Delivery>());
  }
  std::vector<std::string> listed_ids(std::size_t limit = 100,
                                      std::optional<State> state = {}) const {
    std::vector<std::string> ids;
    for (const Delivery& one : list(limit, state)) ids.push_back(one.event_id);
    return ids;
  }

 private:
  Outbox* outbox_;
};

using Ids = std::vector<std::string>;

inline void keeps_what_was_added_once(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  EXPECT_EQ(client.add("e1"), 1u);
  EXPECT_EQ(client.add("e1"), 0u) << "twice is once";
  EXPECT_EQ(client.add("e1", "two"), 1u) << "another endpoint is another delivery";
  NewDelivery changed = Client::fresh("e1");
  changed.body = "something else";
  EXPECT_EQ(*client.try_add({changed, Client::fresh("e2"), Client::fresh("e2")}), 1u);
  const DueDeliveries due = client.due();
  ASSERT_EQ(due.items.size(), 2u);
  EXPECT_EQ(due.pending, 3u);
  EXPECT_FALSE(due.next.has_value());
  EXPECT_EQ(due.items[0].body, "body of e1") << "the first one stays";
  EXPECT_EQ(due.items[0].trail, "");
  const Delivery& first = due.items[0].delivery;
  EXPECT_EQ(first.event_id, "e1");
  EXPECT_EQ(first.endpoint, "one");
  EXPECT_EQ(first.type, "a.b");
  EXPECT_EQ(first.tenant, "acme");
  EXPECT_EQ(first.state, State::pending);
  EXPECT_EQ(first.attempts, 0);
  EXPECT_EQ(first.next_at, first.created_at);
}

inline void gives_what_is_due_in_its_order(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  for (const char* id : {"e1", "e2", "e3"}) client.add(id);
  const DeliveryStep later{.attempts = 1,
                           .wait = Duration::seconds(10),
                           .last_status = 503,
                           .last_error = "busy",
                           .trail = "go on"};
  ASSERT_TRUE(client.save("e1", later));
  EXPECT_EQ(client.due_ids(), (Ids{"e2", "e3"}));
  EXPECT_EQ(client.due().next, Duration::seconds(10));
  EXPECT_EQ(client.due_ids("one", 1), (Ids{"e2"}));
  EXPECT_EQ(client.due("one", 1).next, Duration()) << "another is due as well";
  EXPECT_EQ(client.due_ids("two"), Ids{});
  test.advance(Duration::seconds(10) - Duration::nanoseconds(1));
  EXPECT_EQ(client.due_ids(), (Ids{"e2", "e3"}));
  test.advance(Duration::nanoseconds(1));
  EXPECT_EQ(client.due_ids(), (Ids{"e2", "e3", "e1"}));
  const KeptDelivery kept = client.due().items[2];
  EXPECT_EQ(kept.delivery.attempts, 1);
  EXPECT_EQ(kept.delivery.last_status, 503);
  EXPECT_EQ(kept.delivery.last_error, "busy");
  EXPECT_EQ(kept.trail, "go on");
  EXPECT_EQ(kept.body, "body of e1");
}

inline void never_goes_back_from_an_end(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  client.add("e1");
  client.add("e2");
  test.advance(Duration::seconds(1));
  ASSERT_TRUE(client.save("e1", {.state = State::acknowledged, .attempts = 2, .last_status = 204}));
  ASSERT_TRUE(client.save("e2", {.state = State::given_up, .attempts = 1, .last_error = "gone"}));
  EXPECT_TRUE(client.due().items.empty());
  EXPECT_EQ(client.due().pending, 0u);
  for (const State state : {State::pending, State::acknowledged, State::given_up}) {
    for (const char* id : {"e1", "e2"}) {
      const auto saved = client.save(id, {.state = state});
      ASSERT_FALSE(saved);
      EXPECT_EQ(saved.error().code, Code::refused);
    }
  }
  EXPECT_EQ(client.add("e1"), 0u) << "what has ended is remembered";
  EXPECT_TRUE(client.due().items.empty());
  const std::vector<Delivery> all = client.list();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].state, State::acknowledged);
  EXPECT_EQ(all[1].attempts, 2);
  EXPECT_EQ(all[1].last_status, 204);
  EXPECT_EQ(all[1].ended_at, all[1].created_at + Duration::seconds(1));
  EXPECT_EQ(all[0].state, State::given_up);
  EXPECT_EQ(all[0].last_error, "gone");
  const auto missing = client.save("e3", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
}

inline void lists_the_newest_first(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  for (const char* id : {"e1", "e2", "e3", "e4"}) client.add(id);
  ASSERT_TRUE(client.save("e2", {.state = State::acknowledged}));
  ASSERT_TRUE(client.save("e3", {.state = State::given_up}));
  EXPECT_EQ(client.listed_ids(), (Ids{"e4", "e3", "e2", "e1"}));
  EXPECT_EQ(client.listed_ids(2), (Ids{"e4", "e3"}));
  EXPECT_EQ(client.listed_ids(100, State::pending), (Ids{"e4", "e1"}));
  EXPECT_EQ(client.listed_ids(100, State::acknowledged), (Ids{"e2"}));
  EXPECT_EQ(client.listed_ids(100, State::given_up), (Ids{"e3"}));
}

inline void drops_nothing_that_is_pending(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  for (int i = 0; i < 7; ++i) client.add("e" + std::to_string(i));
  const auto two = client.try_add({Client::fresh("x1"), Client::fresh("x2")});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, Code::unavailable);
  EXPECT_EQ(two.error().outcome, Outcome::not_applied);
  EXPECT_EQ(client.due().pending, 7u) << "all or none";
  EXPECT_EQ(client.add("e7"), 1u);
  EXPECT_FALSE(client.try_add({Client::fresh("e8")}));
  EXPECT_EQ(client.add("e0"), 0u) << "what is there already needs no place";
  ASSERT_TRUE(client.save("e0", {.state = State::acknowledged}));
  EXPECT_EQ(client.add("e8"), 1u);
}

inline void forgets_the_oldest_that_have_ended(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  client.add("waits");
  for (int i = 0; i < 6; ++i) {
    const std::string id = "e" + std::to_string(i);
    client.add(id);
    test.advance(Duration::seconds(1));
    ASSERT_TRUE(client.save(id, {.state = State::acknowledged}));
  }
  EXPECT_EQ(client.listed_ids(), (Ids{"e5", "e4", "e3", "e2", "waits"}));
  EXPECT_EQ(client.due().pending, 1u);
  EXPECT_EQ(client.add("e5"), 0u);
  EXPECT_EQ(client.add("e0"), 1u) << "it was forgotten";
}

inline void is_shared(const OutboxUnderTest& test) {
  if (test.beside == nullptr) return;
  const Client client(test.outbox);
  const Client other(*test.beside);
  client.add("e1");
  EXPECT_EQ(other.add("e1"), 0u);
  EXPECT_EQ(other.due_ids(), (Ids{"e1"}));
  ASSERT_TRUE(other.save("e1", {.state = State::acknowledged}));
  EXPECT_EQ(client.due().pending, 0u);
  EXPECT_FALSE(client.save("e1", {}));
}

// Bytes, not words: what a caller sends must come back as it was.
inline void keeps_every_byte(const OutboxUnderTest& test) {
  const Client client(test.outbox);
  NewDelivery odd = Client::fresh(std::string("\0'\xff", 3));
  odd.body = std::string("\0\xff\"; DROP TABLE deliveries", 26);
  odd.tenant = "t\xc3\xa9";
  ASSERT_EQ(*client.try_add({odd}), 1u);
  const auto due = client.due();
  ASSERT_EQ(due.items.size(), 1u);
  EXPECT_EQ(due.items[0].body, odd.body);
  EXPECT_EQ(due.items[0].delivery.event_id, odd.event_id);
  EXPECT_EQ(due.items[0].delivery.tenant, odd.tenant);
}

// Of a crowd that adds one event, one has added it; of a crowd that ends it, one has ended it.
inline void serves_a_crowd(const OutboxUnderTest& test) {
  std::atomic<std::size_t> added = 0;
  std::atomic<std::size_t> ended = 0;
  const auto crowd = [&](const std::function<void(const Client&)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { work(Client(test.outbox)); });
    for (std::thread& thread : threads) thread.join();
  };
  crowd([&](const Client& client) { added += client.add("e1"); });
  crowd([&](const Client& client) {
    ended += client.save("e1", {.state = State::acknowledged}).has_value() ? 1 : 0;
  });
  EXPECT_EQ(added, 1u);
  EXPECT_EQ(ended, 1u);
}

}  // namespace outbox_suite

// `with` makes an outbox for each part and calls back.
inline void expect_outbox_conforms(
    const std::function<void(const std::function<void(const OutboxUnderTest&)>&)>& with) {
  using namespace outbox_suite;
  for (const auto& part :
       {keeps_what_was_added_once, gives_what_is_due_in_its_order, never_goes_back_from_an_end,
        lists_the_newest_first, drops_nothing_that_is_pending, forgets_the_oldest_that_have_ended,
        is_shared, keeps_every_byte, serves_a_crowd}) {
    with(part);
  }
}

}  // namespace pawl
