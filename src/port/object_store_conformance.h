// What every ObjectStore must do, whatever it is made of.
#pragma once

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounds_queue.h"
#include "port/answer_of.h"
#include "port/object_store.h"

namespace pawl {

// A store under test, empty, and the same objects as another process would open them.
struct ObjectStoreUnderTest {
  ObjectStore& store;
  ObjectStore& beside;
  std::size_t prefix_bytes = 0;  // what the store puts before names, and which counts like them
};

namespace object_store_suite {

using If = PutObject::If;
using Verdict = PutAnswer::Verdict;
using Names = std::vector<std::string>;

class Client {
 public:
  explicit Client(ObjectStore& store) : store_(&store) {}

  Result<PutAnswer> try_put(PutObject put) const {
    return answer_of<PutAnswer>([&](auto done) { store_->put(std::move(put), std::move(done)); });
  }
  PutAnswer put(PutObject ask) const {
    // A store may say that it is busy with another write for no good reason, but not for ever.
    for (int tries = 0; tries < 100; ++tries) {
      auto answer = try_put(ask);
      EXPECT_TRUE(answer.has_value()) << answer.error().message;
      if (!answer) return {.verdict = Verdict::busy};
      if (answer->verdict != Verdict::busy) return *std::move(answer);
    }
    ADD_FAILURE() << "busy for ever";
    return {.verdict = Verdict::busy};
  }
  PutAnswer put(const std::string& name, const std::string& body, If only = If::always) const {
    return put(PutObject{.name = name, .body = body, .only = only});
  }
  PutAnswer match(const std::string& name, const std::string& body, const std::string& tag) const {
    return put(PutObject{.name = name, .body = body, .only = If::match, .tag = tag});
  }

  Result<Object> try_get(GetObject get) const {
    return answer_of<Object>([&](auto done) { store_->get(std::move(get), std::move(done)); });
  }
  Object get(const std::string& name) const { return range(name, 0, 0); }
  Object range(const std::string& name, std::uint64_t offset, std::uint64_t bytes) const {
    auto found = try_get({.name = name, .offset = offset, .bytes = bytes});
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return std::move(found).value_or(Object());
  }
  bool has(const std::string& name) const {
    const auto found = try_get({.name = name});
    if (!found) {
      EXPECT_EQ(found.error().code, Code::not_found) << found.error().message;
    }
    return found.has_value();
  }

  Result<Listing> try_list(ListObjects list) const {
    return answer_of<Listing>([&](auto done) { store_->list(std::move(list), std::move(done)); });
  }
  Listing list(ListObjects ask) const {
    auto found = try_list(std::move(ask));
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return std::move(found).value_or(Listing());
  }
  Names names(const std::string& under, const std::string& after = "") const {
    const Listing found = list({.under = under, .after = after});
    EXPECT_FALSE(found.more);
    return names_of(found);
  }
  static Names names_of(const Listing& listing) {
    Names names;
    for (const Listing::Entry& entry : listing.entries) names.push_back(entry.name);
    return names;
  }

  Result<void> remove(Names names) const {
    return answer_of<void>([&](auto done) { store_->remove(std::move(names), std::move(done)); });
  }

 private:
  ObjectStore* store_;
};

inline void keeps_what_was_put(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const Client beside(test.beside);
  const auto missing = client.try_get({.name = "a/b"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().outcome, Outcome::not_applied);

  const PutAnswer first = client.put("a/b", "one");
  EXPECT_EQ(first.verdict, Verdict::stored);
  EXPECT_FALSE(first.tag.empty());
  EXPECT_EQ(beside.get("a/b").body, "one") << "another process sees it at once";
  EXPECT_EQ(beside.get("a/b").tag, first.tag) << "and by the same tag";

  const PutAnswer second = beside.put("a/b", "two");
  EXPECT_EQ(second.verdict, Verdict::stored) << "always: over what is there";
  EXPECT_NE(second.tag, first.tag);
  EXPECT_EQ(client.get("a/b").body, "two");
  EXPECT_EQ(client.get("a/b").tag, second.tag);
  EXPECT_FALSE(client.has("a/c"));
  EXPECT_FALSE(client.has("a")) << "what names begin with is no object";
}

inline void creates_a_name_once(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const Client beside(test.beside);
  const PutAnswer first = client.put("n/1", "mine", If::absent);
  EXPECT_EQ(first.verdict, Verdict::stored);
  EXPECT_EQ(beside.put("n/1", "theirs", If::absent).verdict, Verdict::exists);
  EXPECT_EQ(client.put("n/1", "mine", If::absent).verdict, Verdict::exists)
      << "the same bytes again are no exception: the caller reads and knows its own";
  EXPECT_EQ(client.get("n/1").body, "mine");
  EXPECT_EQ(client.get("n/1").tag, first.tag);
  ASSERT_TRUE(beside.remove({"n/1"}));
  EXPECT_EQ(beside.put("n/1", "theirs", If::absent).verdict, Verdict::stored) << "free again";
  EXPECT_EQ(client.get("n/1").body, "theirs");
}

inline void replaces_what_it_has_seen(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const Client beside(test.beside);
  const std::string first = client.put("m", "1").tag;
  const PutAnswer second = beside.match("m", "2", first);
  EXPECT_EQ(second.verdict, Verdict::stored);
  EXPECT_EQ(client.get("m").tag, second.tag);
  EXPECT_EQ(client.match("m", "3", first).verdict, Verdict::exists) << "that was before";
  EXPECT_EQ(client.get("m").body, "2");
  EXPECT_EQ(client.match("m", "3", second.tag).verdict, Verdict::stored);
  EXPECT_EQ(client.match("m", "4", client.get("m").tag).verdict, Verdict::stored);
  EXPECT_EQ(beside.get("m").body, "4");

  const std::string last = client.get("m").tag;
  ASSERT_TRUE(client.remove({"m"}));
  // Some servers have one answer for both, and a store cannot know better.
  const Verdict gone = client.match("m", "5", last).verdict;
  EXPECT_TRUE(gone == Verdict::gone || gone == Verdict::exists);
  EXPECT_FALSE(client.has("m")) << "match makes nothing";
}

inline void reads_parts(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  client.put("r", "0123456789");
  EXPECT_EQ(client.range("r", 0, 3).body, "012");
  EXPECT_EQ(client.range("r", 3, 4).body, "3456");
  EXPECT_EQ(client.range("r", 7, 0).body, "789") << "zero: to the end";
  EXPECT_EQ(client.range("r", 8, 100).body, "89") << "there is no more";
  EXPECT_EQ(client.range("r", 9, 1).body, "9");
  EXPECT_EQ(client.range("r", 10, 1).body, "");
  EXPECT_EQ(client.range("r", 10, 0).body, "");
  EXPECT_EQ(client.range("r", 1'000'000, 5).body, "");
  const auto missing = client.try_get({.name = "none", .offset = 5, .bytes = 5});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
}

inline void keeps_every_byte(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  client.put("empty", "");
  EXPECT_EQ(client.get("empty").body, "");
  EXPECT_FALSE(client.get("empty").tag.empty());
  EXPECT_EQ(client.put("empty", "x", If::absent).verdict, Verdict::exists) << "empty, but there";

  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  client.put("every", every, If::absent);
  EXPECT_EQ(client.get("every").body, every);

  std::string large(bounds::segment_bytes_max, '\0');
  std::uint32_t state = 1;
  for (char& c : large) c = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  EXPECT_EQ(client.put("large", large, If::absent).verdict, Verdict::stored);
  EXPECT_TRUE(client.get("large").body == large);  // not EQ: it would be printed
  EXPECT_TRUE(client.range("large", 5'000'000, 1000).body == large.substr(5'000'000, 1000));
  const Listing listing = client.list({.under = "large"});
  ASSERT_EQ(listing.entries.size(), 1u);
  EXPECT_EQ(listing.entries[0].bytes, large.size());
}

inline void lists_by_the_bytes_of_names(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  EXPECT_EQ(client.names(""), Names{});
  EXPECT_EQ(client.names("nobody/here/"), Names{});
  // '-' and '.' come before '/', '0' behind it: so a folder is not listed where its own name is.
  const Names all = {"L/x",   "a-b",   "a.b",   "a/1", "a/10",
                     "a/2/x", "a/2/y", "a/2-z", "a0",  "b/c/d/e"};
  for (const std::string& name : all) client.put(name, name);
  Names sorted = all;
  std::ranges::sort(sorted);
  EXPECT_EQ(client.names(""), sorted);
  EXPECT_EQ(client.names("a/"), (Names{"a/1", "a/10", "a/2-z", "a/2/x", "a/2/y"}));
  EXPECT_EQ(client.names("a/1"), (Names{"a/1", "a/10"}));
  EXPECT_EQ(client.names("a/2"), (Names{"a/2-z", "a/2/x", "a/2/y"}));
  EXPECT_EQ(client.names("a/2/"), (Names{"a/2/x", "a/2/y"}));
  EXPECT_EQ(client.names("b/c"), (Names{"b/c/d/e"}));
  EXPECT_EQ(client.names("l"), Names{}) << "case counts";
  EXPECT_EQ(client.names("a", "a/1"), (Names{"a/10", "a/2-z", "a/2/x", "a/2/y", "a0"}));
  EXPECT_EQ(client.names("a", "a/15"), (Names{"a/2-z", "a/2/x", "a/2/y", "a0"}))
      << "behind a name that is not there";
  EXPECT_EQ(client.names("a", "a/2/x"), (Names{"a/2/y", "a0"}));
  EXPECT_EQ(client.names("a/", "Z"), client.names("a/")) << "before all of them";
  EXPECT_EQ(client.names("a/", "b"), Names{}) << "behind all of them";
  for (const Listing::Entry& entry : client.list({}).entries) {
    EXPECT_EQ(entry.bytes, entry.name.size());
    EXPECT_GT(entry.modified, Instant());
  }
}

inline void lists_in_pages(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  Names all;
  for (int i = 0; i < 25; ++i) {
    all.push_back("log/" + std::to_string(i % 3) + "/" + std::to_string(100 + i));
    client.put(all.back(), "x");
  }
  std::ranges::sort(all);
  for (const std::size_t limit : {1U, 7U, 24U}) {
    Names found;
    Listing page = {.more = true};
    while (page.more && found.size() <= all.size()) {
      page = client.list(
          {.under = "log/", .after = found.empty() ? "" : found.back(), .limit = limit});
      EXPECT_LE(page.entries.size(), limit);
      ASSERT_FALSE(page.entries.empty());
      for (const std::string& name : Client::names_of(page)) found.push_back(name);
    }
    EXPECT_EQ(found, all) << limit;
  }
  for (const std::size_t limit :
       {std::size_t{0}, all.size(), bounds::objects_listed_max, bounds::objects_listed_max + 1}) {
    const Listing page = client.list({.limit = limit});
    EXPECT_EQ(page.entries.size(), all.size());
    EXPECT_FALSE(page.more);
  }
}

inline void removes(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const Client beside(test.beside);
  for (const char* name : {"x/1", "x/2", "x/3", "y"}) client.put(name, "body");
  ASSERT_TRUE(client.remove({"x/1", "never/there", "x/3", "y"}));
  EXPECT_EQ(beside.names(""), (Names{"x/2"}));
  EXPECT_FALSE(beside.has("x/1"));
  EXPECT_TRUE(client.remove({"x/1"})) << "gone already is gone";
  EXPECT_TRUE(client.remove({}));
  ASSERT_TRUE(client.remove({"x/2"}));
  EXPECT_EQ(client.names(""), Names{});
  EXPECT_EQ(client.put("x/2", "again", If::absent).verdict, Verdict::stored);

  const auto many = client.remove(Names(bounds::objects_removed_max + 1, "x/2"));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Code::invalid);
  EXPECT_TRUE(client.has("x/2"));
}

inline void expect_invalid(const Error& error) {
  EXPECT_EQ(error.code, Code::invalid) << error.message;
  EXPECT_EQ(error.outcome, Outcome::not_applied);
  EXPECT_FALSE(error.message.empty());
}

inline void takes_names_up_to_their_bounds(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const std::string part(bounds::object_part_bytes_max, 'p');
  const std::string parts = "l/" + part + "/" + part + "/" + part + "/";
  const std::string longest =
      parts +
      std::string(bounds::object_key_bytes_max - test.prefix_bytes - parts.size() - 2, 'l') + "/l";
  for (const std::string& name : {std::string("Az09._-"), part, longest, "q/" + part}) {
    EXPECT_EQ(client.put(name, "body", If::absent).verdict, Verdict::stored) << name;
    EXPECT_EQ(client.get(name).body, "body") << name;
    EXPECT_EQ(client.names(name), Names{name});
  }
}

inline void refuses_hostile_names(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  for (const std::string& name :
       {std::string(""), std::string("../x"), std::string("a/../../x"), std::string("/etc/x"),
        std::string("a//b"), std::string("a/"), std::string("."), std::string("a/."),
        std::string(".tmp/x"), std::string("a\0", 2), std::string("a\0b", 3), std::string("a b"),
        std::string("a\r\nb"), std::string("a%2e"), std::string("\xff"),
        std::string(bounds::object_part_bytes_max + 1, 'a'),
        std::string(bounds::object_key_bytes_max, 'a') + "/b"}) {
    for (const If only : {If::always, If::absent, If::match}) {
      const auto put = client.try_put({.name = name, .body = "x", .only = only, .tag = "\"0\""});
      ASSERT_FALSE(put) << name;
      expect_invalid(put.error());
    }
    const auto got = client.try_get({.name = name});
    ASSERT_FALSE(got) << name;
    expect_invalid(got.error());
    const auto removed = client.remove({"fine", name});
    ASSERT_FALSE(removed) << name;
    expect_invalid(removed.error());
    if (name.empty() || name == "a/") continue;  // names may begin so
    const auto listed = client.try_list({.under = name});
    ASSERT_FALSE(listed) << name;
    expect_invalid(listed.error());
  }
  EXPECT_EQ(client.names(""), Names{});
}

// What eight threads were told who put at once, half of them through the store beside.
struct Race {
  std::vector<std::string> winners = {};  // the bodies that were stored
  std::size_t losers = 0;
};
inline Race race(const ObjectStoreUnderTest& test, const PutObject& put) {
  constexpr int count = 8;
  std::vector<std::string> bodies;
  std::vector<Result<PutAnswer>> answers(count, PutAnswer());
  for (int i = 0; i < count; ++i) {
    // Other bytes in each race: equal ones may have an equal tag, and so more than one winner.
    bodies.push_back(put.name + put.tag + " by " + std::to_string(i) + std::string(1000, 'x'));
  }
  std::latch start(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      PutObject own = put;
      own.body = bodies[i];
      start.arrive_and_wait();
      answers[i] = Client(i % 2 == 0 ? test.store : test.beside).try_put(std::move(own));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Race result;
  for (std::size_t i = 0; i < count; ++i) {
    if (answers[i] && answers[i]->verdict == Verdict::stored) {
      result.winners.push_back(bodies[i]);
    } else {
      // Servers answer some of a crowd with an error. Then the outcome says that nothing is sure.
      EXPECT_TRUE(answers[i] || answers[i].error().code == Code::unavailable);
      ++result.losers;
    }
  }
  return result;
}

inline void has_one_winner_of_a_crowd(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "race/" + std::to_string(round);
    const Race created = race(test, {.name = name, .only = If::absent});
    ASSERT_EQ(created.winners.size(), 1u);
    EXPECT_EQ(created.losers, 7u);
    const Object kept = client.get(name);
    EXPECT_EQ(kept.body, created.winners[0]) << "what is there is the winner's";

    const Race changed = race(test, {.name = name, .only = If::match, .tag = kept.tag});
    ASSERT_EQ(changed.winners.size(), 1u);
    EXPECT_EQ(client.get(name).body, changed.winners[0]);
  }
}

inline void counts_what_it_does(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  const RequestCounts before = test.store.counts();
  client.put("c", std::string(1000, 'c'));
  client.get("c");
  client.list({});
  ASSERT_TRUE(client.remove({"c", "d"}));
  const RequestCounts after = test.store.counts();
  EXPECT_GE(after.puts, before.puts + 1);
  EXPECT_GE(after.gets, before.gets + 1);
  EXPECT_GE(after.lists, before.lists + 1);
  EXPECT_GE(after.deletes, before.deletes + 1);
  EXPECT_GE(after.bytes_up, before.bytes_up + 1000);
  EXPECT_GE(after.bytes_down, before.bytes_down + 1000);
  EXPECT_FALSE(test.store.name().empty());
}

inline void tells_the_time(const ObjectStoreUnderTest& test) {
  const Client client(test.store);
  client.put("t", "tick");
  const auto sample = test.store.time_sample();
  ASSERT_TRUE(sample.has_value());
  EXPECT_LE(sample->asked, sample->answered);
  EXPECT_GE(sample->resolution, Duration());
  EXPECT_LE(sample->resolution, Duration::seconds(2));
  // These tests and the store are on one machine.
  EXPECT_LE(sample->store, sample->answered);
  EXPECT_GE(sample->store + sample->resolution, sample->asked);
  const Listing listing = client.list({.under = "t"});
  ASSERT_EQ(listing.entries.size(), 1u);
  EXPECT_GE(listing.entries[0].modified + Duration::seconds(2), sample->store);
}

}  // namespace object_store_suite

// `with` makes a store for each part and calls back.
inline void expect_object_store_conforms(
    const std::function<void(const std::function<void(const ObjectStoreUnderTest&)>&)>& with) {
  using namespace object_store_suite;
  for (const auto& part :
       {keeps_what_was_put, creates_a_name_once, replaces_what_it_has_seen, reads_parts,
        keeps_every_byte, lists_by_the_bytes_of_names, lists_in_pages, removes,
        takes_names_up_to_their_bounds, refuses_hostile_names, has_one_winner_of_a_crowd,
        counts_what_it_does, tells_the_time}) {
    with(part);
  }
}

}  // namespace pawl
