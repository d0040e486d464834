#include "runtime/object_store_probe.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "port/answer_of.h"

namespace pawl {
namespace {

using If = PutObject::If;
using Verdict = PutAnswer::Verdict;

constexpr std::size_t crowd = 4;  // that put at once
constexpr int rounds = 3;         // of a crowd, that decided something
constexpr int rounds_max = 12;
constexpr int tries = 6;                              // of a call
constexpr Duration patience = Duration::seconds(10);  // then no call is tried again

class Probe {
 public:
  Probe(ObjectStore& store, Clock& clock, const ProbeOptions& options)
      : store_(store),
        clock_(clock),
        options_(options),
        begin_("probe/" + options.id + "-"),
        patient_until_(clock.steady_now() + patience) {}

  Result<std::vector<std::string>> run() {
    Result<void> tried = try_all();
    const Result<void> removed = clean_up();
    if (!tried) {
      std::string& message = tried.error().message;
      const bool named = message.starts_with(store_.name());
      message.insert(0, named ? "tried " : "tried " + store_.name() + ": ");
      return std::unexpected(std::move(tried).error());
    }
    PAWL_TRY(removed);
    return std::move(found_);
  }

 private:
  Result<void> try_all() {
    PAWL_TRY(try_absent());
    PAWL_TRY(try_race("race-absent", If::absent));
    if (options_.with_match) {
      PAWL_TRY(try_match());
      PAWL_TRY(try_race("race-match", If::match));
    }
    return try_list();
  }

  Result<void> try_absent() {
    const std::string name = use("absent");
    const PutAnswer first = PAWL_TRY(put({.name = name, .body = "first", .only = If::absent}));
    if (PAWL_TRY(body_of(name)) != "first") {
      return broken(first.verdict == Verdict::stored
                        ? "what was put is not what is read back at once"
                        : "a name that nobody has used cannot be created");
    }
    found_.emplace_back("what was put is read back at once");
    const PutAnswer second = PAWL_TRY(put({.name = name, .body = "second", .only = If::absent}));
    if (second.verdict == Verdict::stored) {
      return broken("a second put-if-absent of one name is said to be stored");
    }
    if (PAWL_TRY(body_of(name)) != "first") {
      return broken("a second put-if-absent of one name is refused, but its bytes are there");
    }
    found_.emplace_back("put-if-absent refuses the second, and the first one's bytes stay");
    return {};
  }

  Result<void> try_match() {
    const std::string name = use("match");
    const PutAnswer first = PAWL_TRY(put({.name = name, .body = "1"}));
    PAWL_TRY(put({.name = name, .body = "2", .only = If::match, .tag = first.tag}));
    if (PAWL_TRY(body_of(name)) != "2") {
      return broken("put-if-match is refused although the tag is right");
    }
    const PutAnswer third =
        PAWL_TRY(put({.name = name, .body = "3", .only = If::match, .tag = first.tag}));
    if (third.verdict == Verdict::stored) {
      return broken("put-if-match is said to be stored although the tag is an old one");
    }
    if (PAWL_TRY(body_of(name)) != "2") {
      return broken("put-if-match with an old tag is refused, but its bytes are there");
    }
    found_.emplace_back("put-if-match refuses an old tag");
    return {};
  }

  Result<void> try_race(const std::string& kind, If only) {
    int decided = 0;
    Error trouble(Code::unavailable, Outcome::not_applied,
                  "of several that put one name at once, all were told again "
                  "and again that another was under way");
    for (int round = 0; round < rounds_max && decided < rounds; ++round) {
      const std::string name = use(kind + "-" + std::to_string(round));
      std::string tag;
      if (only == If::match) tag = PAWL_TRY(put({.name = name, .body = "before"})).tag;
      if (PAWL_TRY(race({.name = name, .only = only, .tag = std::move(tag)}, trouble))) ++decided;
    }
    if (decided < rounds) return std::unexpected(trouble);
    found_.emplace_back(only == If::absent
                            ? "of several that create one name at once, one wins"
                            : "of several that replace one object at once, one wins");
    return {};
  }

  // Whether it has shown something. Whoever got no answer may have won, and so may one who was
  // refused, if its request went out twice.
  Result<bool> race(const PutObject& ask, Error& trouble) {
    std::vector<std::future<Result<PutAnswer>>> asked_all;
    for (std::size_t i = 0; i < crowd; ++i) {
      PutObject own = ask;
      own.body = "by " + std::to_string(i);
      asked_all.push_back(
          asked<PutAnswer>([&](auto done) { store_.put(std::move(own), std::move(done)); }));
    }
    std::vector<std::string> winners;
    bool is_decided = true;
    for (std::size_t i = 0; i < crowd; ++i) {
      const Result<PutAnswer> answer = asked_all[i].get();
      if (!answer) trouble = answer.error();
      is_decided = is_decided && answer && answer->verdict != Verdict::busy;
      if (answer && answer->verdict == Verdict::stored)
        winners.push_back("by " + std::to_string(i));
    }
    if (winners.size() > 1) {
      return broken(std::to_string(winners.size()) + " of " + std::to_string(crowd) +
                    " that put one name at once, each on a condition that only one of them can "
                    "meet, were told that it is stored");
    }
    if (winners.empty()) {
      if (is_decided)
        trouble = broken("of several that put one name at once, all were refused").error();
      return false;
    }
    if (PAWL_TRY(body_of(ask.name)) == winners[0]) return true;
    return broken("of several that put one name at once, the bytes of a loser are there");
  }

  Result<void> try_list() {
    const Listing listing = PAWL_TRY(
        tried<Listing>([&](auto done) { store_.list({.under = begin_}, std::move(done)); }));
    std::vector<std::string> listed;
    for (const Listing::Entry& entry : listing.entries) listed.push_back(entry.name);
    for (const std::string& name : used_) {
      // Of a crowd that was busy nobody may have created it.
      if (std::ranges::find(listed, name) != listed.end()) continue;
      if (PAWL_TRY(body_of(name)).has_value()) {
        return broken("the object '" + name + "' can be read, but is not listed");
      }
    }
    if (!std::ranges::is_sorted(listed)) return broken("names are not listed in their order");
    found_.emplace_back("what was put is listed");
    PAWL_TRY(remove());
    for (const std::string& name : used_) {
      if (PAWL_TRY(body_of(name)).has_value()) return broken("what was removed is still there");
    }
    found_.emplace_back("what was removed is gone");
    return {};
  }

  Result<void> clean_up() { return used_.empty() ? Result<void>() : remove(); }

  Result<void> remove() {
    return tried<void>([&](auto done) { store_.remove(used_, std::move(done)); });
  }

  // A store in trouble is no broken one.
  template <class T>
  Result<T> tried(auto ask) {
    Result<T> answer = answer_of<T>(ask);
    for (int i = 1; !answer && answer.error().code == Code::unavailable && may_try_again(i); ++i) {
      answer = answer_of<T>(ask);
    }
    return answer;
  }

  bool may_try_again(int tried) {
    if (tried >= tries || clock_.steady_now() > patient_until_) return false;
    const Duration pause = options_.pause * tried;
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause.ns()));
    return true;
  }

  // Whoever got no answer may have been heard: then its bytes are there.
  Result<PutAnswer> put(const PutObject& ask) {
    for (int i = 1;; ++i) {
      Result<PutAnswer> answer =
          answer_of<PutAnswer>([&](auto done) { store_.put(ask, std::move(done)); });
      const bool is_busy = answer && answer->verdict == Verdict::busy;
      if (answer && !is_busy) return answer;
      if (!answer && answer.error().code != Code::unavailable) return answer;
      if (!may_try_again(i)) {
        if (!is_busy) return answer;
        return failure(Code::unavailable, "it says again and again that another write of '" +
                                              ask.name + "' is under way, though there is none");
      }
      if (is_busy) continue;
      Result<Object> there =
          tried<Object>([&](auto done) { store_.get({.name = ask.name}, std::move(done)); });
      if (there && there->body == ask.body) return PutAnswer{.tag = std::move(there->tag)};
    }
  }

  // None: there is no such object.
  Result<std::optional<std::string>> body_of(const std::string& name) {
    Result<Object> found =
        tried<Object>([&](auto done) { store_.get({.name = name}, std::move(done)); });
    if (found) return std::move(found->body);
    if (found.error().code == Code::not_found) return std::nullopt;
    return std::unexpected(std::move(found).error());
  }

  std::string use(const std::string& name) {
    used_.push_back(begin_ + name);
    return used_.back();
  }

  static std::unexpected<Error> broken(const std::string& what) {
    return failure(Code::invalid,
                   what +
                       ". A queue on such a store would lose tasks, so it is not used: keep "
                       "versioning of the bucket off, bring the server up to date, or use "
                       "another store");
  }

  ObjectStore& store_;
  Clock& clock_;
  const ProbeOptions& options_;
  const std::string begin_;  // of all names: a folder of its own would stay
  const SteadyInstant patient_until_;
  std::vector<std::string> used_ = {};
  std::vector<std::string> found_ = {};
};

}  // namespace

Result<std::vector<std::string>> probe_object_store(ObjectStore& store, Clock& clock,
                                                    const ProbeOptions& options) {
  return Probe(store, clock, options).run();
}

}  // namespace pawl
