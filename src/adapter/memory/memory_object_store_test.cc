// Goal: the store conforms, and each fault does what its name says and nothing else.
// Method: the conformance suite with a hand-moved clock; one fault at a time.
#include "adapter/memory/memory_object_store.h"

#include <gtest/gtest.h>

#include "port/object_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using object_store_suite::Client;
using object_store_suite::If;
using object_store_suite::Names;
using object_store_suite::Verdict;
using Call = MemoryObjectStore::Call;
using Fault = MemoryObjectStore::Fault;

TEST(MemoryObjectStore, Conforms) {
  expect_object_store_conforms([](const auto& part) {
    ManualClock clock;
    const auto objects = std::make_shared<MemoryObjects>(clock);
    MemoryObjectStore store(clock, objects);
    MemoryObjectStore beside(clock, objects);
    part({.store = store, .beside = beside});
  });
}

TEST(MemoryObjectStore, TellsWhatIsGoneFromWhatHasChanged) {
  ManualClock clock;
  MemoryObjectStore store(clock);
  EXPECT_EQ(Client(store).match("a", "body", "1").verdict, Verdict::gone);
}

class WithFaults : public testing::Test {
 protected:
  void let(Fault fault) {
    store_.set_faults([fault](Call, const std::string&) { return fault; });
  }
  // As a process without faults sees it.
  std::string seen(const std::string& name) const {
    MemoryObjectStore honest(clock_, objects_);
    return Client(honest).has(name) ? Client(honest).get(name).body : "(nothing)";
  }
  Error put_error(const std::string& name) {
    const auto answer = client_.try_put({.name = name, .body = "x", .only = If::absent});
    EXPECT_FALSE(answer);
    return answer ? Error(Code::internal, Outcome::applied, "") : answer.error();
  }

  mutable ManualClock clock_;
  std::shared_ptr<MemoryObjects> objects_ = std::make_shared<MemoryObjects>(clock_);
  MemoryObjectStore store_{clock_, objects_};
  Client client_{store_};
};

TEST_F(WithFaults, APutFailsBeforeItIsDone) {
  let(Fault::failed);
  EXPECT_EQ(put_error("a").outcome, Outcome::not_applied);
  EXPECT_EQ(seen("a"), "(nothing)");
  let(Fault::lost_request);
  EXPECT_EQ(put_error("a").outcome, Outcome::unknown);
  EXPECT_EQ(seen("a"), "(nothing)");
}

TEST_F(WithFaults, APutsAnswerGetsLost) {
  let(Fault::lost_answer);
  EXPECT_EQ(put_error("a").outcome, Outcome::unknown);
  EXPECT_EQ(seen("a"), "x");
}

TEST_F(WithFaults, APutLandsAfterItWasGivenUp) {
  let(Fault::late);
  EXPECT_EQ(put_error("a").outcome, Outcome::unknown);
  EXPECT_EQ(seen("a"), "(nothing)");
  ASSERT_EQ(store_.held(), 1u);
  store_.release();
  EXPECT_EQ(seen("a"), "x");
  EXPECT_EQ(store_.held(), 0u);
  store_.release();  // nothing is left to do
}

TEST_F(WithFaults, ABusyPutDecidesNothing) {
  let(Fault::busy);
  const auto put = client_.try_put({.name = "a", .body = "x"});
  ASSERT_TRUE(put);
  EXPECT_EQ(put->verdict, Verdict::busy);
  EXPECT_EQ(seen("a"), "(nothing)");
  const auto list = client_.try_list({});
  ASSERT_FALSE(list);
  EXPECT_GT(list.error().retry_after, Duration());
}

TEST_F(WithFaults, HeldCallsAreDoneInTheOrderOfTheirRelease) {
  let(Fault::held);
  std::vector<Verdict> verdicts;
  for (const char* body : {"first", "second"}) {
    store_.put({.name = "a", .body = body, .only = If::absent},
               [&](const Result<PutAnswer>& answer) { verdicts.push_back(answer->verdict); });
  }
  EXPECT_TRUE(verdicts.empty());
  store_.release(1);
  EXPECT_EQ(seen("a"), "second");
  store_.release();
  EXPECT_EQ(verdicts, (std::vector{Verdict::stored, Verdict::exists}));
}

TEST_F(WithFaults, AHeldAnswerIsThatOfItsMoment) {
  client_.put("a", "before");
  let(Fault::held_answer);
  std::string body;
  store_.get({.name = "a"}, [&](const Result<Object>& found) { body = found->body; });
  store_.set_faults({});
  client_.put("a", "after");
  EXPECT_EQ(body, "");
  store_.release();
  EXPECT_EQ(body, "before");
}

TEST_F(WithFaults, AReadThatFailsHasNoOutcome) {
  for (const Fault fault : {Fault::failed, Fault::lost_request, Fault::lost_answer}) {
    let(fault);
    const auto got = client_.try_get({.name = "a"});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::unavailable);
    EXPECT_EQ(got.error().outcome, Outcome::not_applied);
  }
}

TEST_F(WithFaults, ARemovesAnswerGetsLost) {
  client_.put("a", "x");
  let(Fault::lost_answer);
  const auto removed = client_.remove({"a"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().outcome, Outcome::unknown);
  EXPECT_EQ(seen("a"), "(nothing)");
}

TEST_F(WithFaults, TheHookSeesEachCallOnce) {
  std::vector<std::pair<Call, std::string>> calls;
  store_.set_faults([&](Call call, const std::string& name) {
    calls.emplace_back(call, name);
    return Fault::none;
  });
  client_.put("a/1", "x");
  client_.get("a/1");
  client_.list({.under = "a/"});
  ASSERT_TRUE(client_.remove({"a/1", "a/2"}));
  EXPECT_FALSE(client_.try_get({.name = "../a"}));
  EXPECT_EQ(
      calls,
      (std::vector<std::pair<Call, std::string>>{
          {Call::put, "a/1"}, {Call::get, "a/1"}, {Call::list, "a/"}, {Call::remove, "a/1"}}));
}

TEST(MemoryObjectStore, HasAClockOfItsOwn) {
  ManualClock ours;
  ManualClock theirs;
  theirs.advance(Duration::seconds(90));
  MemoryObjectStore store(ours, std::make_shared<MemoryObjects>(theirs));
  EXPECT_FALSE(store.time_sample().has_value());
  Client(store).put("a", "x");
  EXPECT_EQ(store.time_sample()->store, theirs.wall_now());
  EXPECT_EQ(store.time_sample()->asked, ours.wall_now());
}

}  // namespace
}  // namespace pawl
