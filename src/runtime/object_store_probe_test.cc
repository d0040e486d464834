// Goal: a store that keeps its promises passes and is left as it was; each broken promise is found
//       and told with what to do.
// Method: the store in memory, and one in front of it that lies in one way at a time.
#include "runtime/object_store_probe.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "adapter/memory/memory_object_store.h"
#include "port/answer_of.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using If = PutObject::If;
using Verdict = PutAnswer::Verdict;
using Fault = MemoryObjectStore::Fault;
using Call = MemoryObjectStore::Call;

// Passes everything on to the store in memory, unless a test says otherwise.
class LyingStore final : public ObjectStore {
 public:
  explicit LyingStore(Clock& clock) : honest(clock) {}

  void put(PutObject put, Done<PutAnswer> done) override {
    if (ask) ask(put);
    auto answer = answer_of<PutAnswer>([&](auto then) { honest.put(put, std::move(then)); });
    if (answer && tell) tell(put, *answer);
    done(std::move(answer));
  }
  void get(GetObject get, Done<Object> done) override {
    auto found = answer_of<Object>([&](auto then) { honest.get(get, std::move(then)); });
    if (found && show) show(get, *found);
    done(std::move(found));
  }
  void list(ListObjects list, Done<Listing> done) override {
    auto found = answer_of<Listing>([&](auto then) { honest.list(list, std::move(then)); });
    if (found && enumerate) enumerate(*found);
    done(std::move(found));
  }
  void remove(std::vector<std::string> names, Done<void> done) override {
    if (keeps) return done({});
    honest.remove(std::move(names), std::move(done));
  }
  std::optional<TimeSample> time_sample() const override { return honest.time_sample(); }
  RequestCounts counts() const override { return honest.counts(); }
  std::string name() const override { return "a liar"; }

  MemoryObjectStore honest;
  std::function<void(PutObject&)> ask;                     // before it is done
  std::function<void(const PutObject&, PutAnswer&)> tell;  // before it is answered
  std::function<void(const GetObject&, Object&)> show;
  std::function<void(Listing&)> enumerate;
  bool keeps = false;
};

class ProbeTest : public testing::Test {
 protected:
  std::string refusal() {
    const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
    EXPECT_FALSE(probed);
    if (probed) return "(passed)";
    EXPECT_EQ(probed.error().code, Code::invalid);
    EXPECT_NE(probed.error().message.find("tried a liar: "), std::string::npos);
    EXPECT_NE(probed.error().message.find("use another store"), std::string::npos);
    return probed.error().message;
  }
  void expect_found(const std::string& words) {
    const std::string message = refusal();
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(left(), store_.keeps ? left() : 0u) << "what it wrote is removed";
  }
  std::size_t left() {
    return answer_of<Listing>([&](auto done) { store_.honest.list({}, std::move(done)); })
        ->entries.size();
  }

  ManualClock clock_;
  LyingStore store_{clock_};
};

TEST_F(ProbeTest, AnHonestStorePassesAndIsLeftAsItWas) {
  const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_EQ(*probed, (std::vector<std::string>{
                         "what was put is read back at once",
                         "put-if-absent refuses the second, and the first one's bytes stay",
                         "of several that create one name at once, one wins",
                         "put-if-match refuses an old tag",
                         "of several that replace one object at once, one wins",
                         "what was put is listed", "what was removed is gone"}));
  EXPECT_EQ(left(), 0u);
  const RequestCounts counts = store_.counts();
  EXPECT_LE(counts.puts + counts.gets + counts.lists + counts.deletes, 60u);
}

TEST_F(ProbeTest, FindsAStoreThatIgnoresAbsent) {
  store_.ask = [](PutObject& put) {
    if (put.only == If::absent) put.only = If::always;
  };
  expect_found("a second put-if-absent of one name is said to be stored");
}

TEST_F(ProbeTest, FindsAStoreThatRefusesTheSecondAndKeepsItsBytes) {
  store_.ask = [](PutObject& put) {
    if (put.only == If::absent) put.only = If::always;
  };
  store_.tell = [](const PutObject& put, PutAnswer& answer) {
    if (put.body == "second") answer = {.verdict = Verdict::exists};
  };
  expect_found("is refused, but its bytes are there");
}

TEST_F(ProbeTest, FindsAStoreThatLetsACrowdIn) {
  store_.ask = [](PutObject& put) {
    if (put.name.find("race-absent") != std::string::npos) put.only = If::always;
  };
  expect_found("4 of 4 that put one name at once");
}

TEST_F(ProbeTest, FindsAStoreThatTellsTheWrongOne) {
  store_.tell = [](const PutObject& put, PutAnswer& answer) {
    if (put.name.find("race-absent") == std::string::npos) return;
    answer.verdict = put.body == "by 3" ? Verdict::stored : Verdict::exists;
  };
  expect_found("the bytes of a loser are there");
}

TEST_F(ProbeTest, FindsAStoreThatRefusesACrowd) {
  store_.tell = [](const PutObject& put, PutAnswer& answer) {
    if (put.name.find("race-") != std::string::npos) answer.verdict = Verdict::exists;
  };
  expect_found("all were refused");
}

TEST_F(ProbeTest, FindsAStoreThatIgnoresMatch) {
  store_.ask = [](PutObject& put) {
    if (put.only == If::match) put.only = If::always;
  };
  expect_found("although the tag is an old one");
  EXPECT_TRUE(probe_object_store(store_, clock_, {.id = "2", .with_match = false, .pause = {}}))
      << "nobody asked for it";
}

TEST_F(ProbeTest, FindsAStoreThatNeverMatches) {
  store_.ask = [](PutObject& put) { put.tag += "?"; };
  expect_found("put-if-match is refused although the tag is right");
}

TEST_F(ProbeTest, FindsAStoreThatRefusesAnOldTagAndKeepsItsBytes) {
  store_.ask = [](PutObject& put) {
    if (put.only == If::match) put.only = If::always;
  };
  store_.tell = [](const PutObject& put, PutAnswer& answer) {
    if (put.body == "3") answer = {.verdict = Verdict::exists};
  };
  expect_found("put-if-match with an old tag is refused, but its bytes are there");
}

TEST_F(ProbeTest, FindsACrowdThatAllReplace) {
  store_.ask = [](PutObject& put) {
    if (put.name.find("race-match") != std::string::npos) put.only = If::always;
  };
  expect_found("4 of 4 that put one name at once");
}

TEST_F(ProbeTest, FindsAStoreThatReadsWhatWas) {
  store_.show = [](const GetObject&, Object& found) { found.body = "old"; };
  expect_found("is not what is read back at once");
}

TEST_F(ProbeTest, FindsAStoreThatCreatesNothing) {
  store_.ask = [](PutObject& put) { put = {.name = put.name, .only = If::match, .tag = "none"}; };
  expect_found("cannot be created");
}

TEST_F(ProbeTest, FindsAStoreThatListsLate) {
  store_.enumerate = [](Listing& listing) { listing.entries.pop_back(); };
  expect_found("can be read, but is not listed");
}

TEST_F(ProbeTest, FindsAStoreThatListsInAnOrderOfItsOwn) {
  store_.enumerate = [](Listing& listing) { std::ranges::reverse(listing.entries); };
  expect_found("not listed in their order");
}

TEST_F(ProbeTest, FindsAStoreThatKeepsWhatWasRemoved) {
  store_.keeps = true;
  expect_found("what was removed is still there");
}

TEST_F(ProbeTest, AStoreThatDoesNotAnswerIsNotCalledBroken) {
  for (const Fault fault : {Fault::failed, Fault::lost_answer, Fault::busy}) {
    int calls = 0;
    store_.honest.set_faults(
        [&](Call, const std::string&) { return ++calls > 4 ? fault : Fault::none; });
    const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
    ASSERT_FALSE(probed);
    EXPECT_EQ(probed.error().code, Code::unavailable) << probed.error().message;
    store_.honest.set_faults({});
    ASSERT_TRUE(answer_of<void>([&](auto done) {
      store_.honest.remove({"probe/1-absent", "probe/1-race-absent-0"}, std::move(done));
    }));
  }
}

// In a call or a crowd, before or behind what the call does; whatever it is, the store is sound.
TEST_F(ProbeTest, ASoundStoreInPassingTroublePasses) {
  for (const Fault fault : {Fault::failed, Fault::lost_request, Fault::lost_answer}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937 dice(seed);
      store_.honest.set_faults(
          [&](Call, const std::string&) { return dice() % 5 == 0 ? fault : Fault::none; });
      const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
      EXPECT_TRUE(probed) << probed.error().message;
      store_.honest.set_faults({});
      EXPECT_EQ(left(), 0u);
    }
  }
}

// Its answer to a request that went out twice: refused, though the bytes are ours.
TEST_F(ProbeTest, AStoreThatRefusesWhatItHasStoredIsSoundIfNotAlways) {
  int puts = 0;
  store_.tell = [&](const PutObject&, PutAnswer& answer) {
    if (++puts % 3 == 1) answer.verdict = Verdict::exists;
  };
  const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
  EXPECT_TRUE(probed) << probed.error().message;
}

TEST_F(ProbeTest, WhoHangsIsNotAskedForLong) {
  int calls = 0;
  store_.honest.set_faults([&](Call, const std::string&) {
    clock_.advance(Duration::seconds(11));
    ++calls;
    return Fault::failed;
  });
  const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, Code::unavailable);
  EXPECT_EQ(calls, 2) << "a put, and one that tidies up";
}

TEST_F(ProbeTest, ABusyStoreIsAskedAgain) {
  int calls = 0;
  store_.honest.set_faults([&](Call call, const std::string&) {
    return call == Call::put && ++calls % 3 == 0 ? Fault::busy : Fault::none;
  });
  const auto probed = probe_object_store(store_, clock_, {.id = "1", .pause = {}});
  EXPECT_TRUE(probed) << probed.error().message;
  EXPECT_EQ(left(), 0u);
}

}  // namespace
}  // namespace pawl
