#include "runtime/object_store_probe.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "port/answer_of.h"

namespace pawl {
namespace {

using If = PutObject::If;
using Verdict = PutAnswer::Verdict;

constexpr std::size_t crowd = 4;  // that put at once
constexpr int rounds = 3;         // of a crowd
constexpr int busy_tries = 5;     // until a store that is always busy is taken for none

class Probe {
 public:
  Probe(ObjectStore& store, const ProbeOptions& options)
      : store_(store), options_(options), begin_("probe/" + options.id + "-") {}

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
    if (first.verdict != Verdict::stored) {
      return broken("a name that nobody has used cannot be created");
    }
    if (PAWL_TRY(body_of(name)) != "first") {
      return broken("what was put is not what is read back at once");
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
    const PutAnswer second =
        PAWL_TRY(put({.name = name, .body = "2", .only = If::match, .tag = first.tag}));
    if (second.verdict != Verdict::stored || PAWL_TRY(body_of(name)) != "2") {
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
    for (int round = 0; round < rounds; ++round) {
      const std::string name = use(kind + "-" + std::to_string(round));
      std::string tag;
      if (only == If::match) tag = PAWL_TRY(put({.name = name, .body = "before"})).tag;
      PAWL_TRY(race({.name = name, .only = only, .tag = std::move(tag)}));
    }
    found_.emplace_back(only == If::absent
                            ? "of several that create one name at once, one wins"
                            : "of several that replace one object at once, one wins");
    return {};
  }

  Result<void> race(const PutObject& ask) {
    std::vector<std::future<Result<PutAnswer>>> asked_all;
    for (std::size_t i = 0; i < crowd; ++i) {
      PutObject own = ask;
      own.body = "by " + std::to_string(i);
      asked_all.push_back(
          asked<PutAnswer>([&](auto done) { store_.put(std::move(own), std::move(done)); }));
    }
    std::vector<std::string> winners;
    bool is_decided = true;
    std::optional<Error> trouble;
    for (std::size_t i = 0; i < crowd; ++i) {
      Result<PutAnswer> answer = asked_all[i].get();
      if (!answer) {
        trouble = std::move(answer).error();
      } else if (answer->verdict == Verdict::stored) {
        winners.push_back("by " + std::to_string(i));
      } else {
        is_decided = is_decided && answer->verdict != Verdict::busy;
      }
    }
    if (winners.size() > 1) {
      return broken(std::to_string(winners.size()) + " of " + std::to_string(crowd) +
                    " that put one name at once, each on a condition that only one of them can "
                    "meet, were told that it is stored");
    }
    if (winners.empty()) {
      // Whoever got no answer may have won.
      if (trouble) return std::unexpected(*std::move(trouble));
      if (!is_decided) return {};
      return broken("of several that put one name at once, all were refused");
    }
    if (PAWL_TRY(body_of(ask.name)) == winners[0]) return {};
    return broken("of several that put one name at once, the bytes of a loser are there");
  }

  Result<void> try_list() {
    const Listing listing = PAWL_TRY(
        answer_of<Listing>([&](auto done) { store_.list({.under = begin_}, std::move(done)); }));
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
    return answer_of<void>([&](auto done) { store_.remove(used_, std::move(done)); });
  }

  Result<PutAnswer> put(const PutObject& ask) {
    Result<PutAnswer> answer = PutAnswer{.verdict = Verdict::busy};
    for (int tries = 0; tries < busy_tries && answer && answer->verdict == Verdict::busy; ++tries) {
      answer = answer_of<PutAnswer>([&](auto done) { store_.put(ask, std::move(done)); });
    }
    if (answer && answer->verdict == Verdict::busy) {
      return failure(Code::unavailable, "it says again and again that another write of '" +
                                            ask.name + "' is under way, though there is none");
    }
    return answer;
  }

  // None: there is no such object.
  Result<std::optional<std::string>> body_of(const std::string& name) {
    Result<Object> found =
        answer_of<Object>([&](auto done) { store_.get({.name = name}, std::move(done)); });
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
  const ProbeOptions& options_;
  const std::string begin_;  // of all names: a folder of its own would stay
  std::vector<std::string> used_ = {};
  std::vector<std::string> found_ = {};
};

}  // namespace

Result<std::vector<std::string>> probe_object_store(ObjectStore& store,
                                                    const ProbeOptions& options) {
  return Probe(store, options).run();
}

}  // namespace pawl
