// Goal: whoever wants to see the queue as it is waits for the end of the log, no longer and no
//       shorter. Method: as queue_log_test.cc.
#include <gtest/gtest.h>
#include <optional>

#include "runtime/queue_log_fixture.h"

namespace pawl {
namespace {

class QueueLogRefresh : public QueueLogs {
 protected:
  using Answer = std::shared_ptr<std::optional<Result<void>>>;

  QueueLogRefresh() { options.follows = false; }
  static Answer refresh(Process& process, Duration at_most) {
    auto answer = std::make_shared<std::optional<Result<void>>>();
    process.log->refresh(at_most, [answer](Result<void> result) {
      EXPECT_FALSE(*answer) << "answered twice";
      answer->emplace(std::move(result));
    });
    return answer;
  }
  static bool well(const Answer& answer) { return *answer && **answer; }
};

TEST_F(QueueLogRefresh, IsDoneAtOnceWhileTheLookIsYoung) {
  const auto one = opened_process();
  const auto gets = one->store->counts().gets;
  clock.advance(Duration::seconds(2));
  EXPECT_TRUE(well(refresh(*one, Duration::seconds(2))));
  EXPECT_EQ(one->store->counts().gets, gets);
}

TEST_F(QueueLogRefresh, ReadsToTheEndWhenItIsOlder) {
  const auto one = opened_process();
  const auto other = opened_process();
  for (std::uint32_t i = 1; i <= 3; ++i) EXPECT_TRUE(submit(*other, {task(i)})->well());
  clock.advance(Duration::seconds(3));
  EXPECT_FALSE(has(*one, 3));
  EXPECT_TRUE(well(refresh(*one, Duration::seconds(2))));
  EXPECT_TRUE(has(*one, 3));
}

TEST_F(QueueLogRefresh, TakesAnOwnCommitForALook) {
  const auto one = opened_process();
  clock.advance(Duration::seconds(3));
  EXPECT_TRUE(submit(*one, {task(1)})->well());
  const auto gets = one->store->counts().gets;
  EXPECT_TRUE(well(refresh(*one, Duration::seconds(2))));
  EXPECT_EQ(one->store->counts().gets, gets);
}

// A look that is let go for a batch may come back behind it, and shows what was before it.
TEST_F(QueueLogRefresh, IsNotDoneByALookThatIsOlder) {
  const auto one = opened_process();
  const auto other = opened_process();
  clock.advance(Duration::seconds(3));
  faults(*one, Call::get, {Fault::held_answer});
  one->log->poll();
  clock.advance(Duration::seconds(1));
  ASSERT_TRUE(submit(*other, {task(1)})->well());
  clock.advance(Duration::seconds(1));
  faults(*one, Call::put, {Fault::held});
  const auto told = submit(*one, {task(2)});
  ASSERT_EQ(one->store->held(), 2U);
  one->store->release(0);
  const Answer answer = refresh(*one, Duration());
  EXPECT_FALSE(well(answer) && !has(*one, 1)) << "of a second ago, and it is not there";
  one->store->release(0);
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(well(answer) && told->well() && has(*one, 1));
}

TEST_F(QueueLogRefresh, IsNotDoneByAnEndWithSomethingBeyondIt) {
  const auto one = opened_process();
  for (std::uint32_t i = 1; i <= 3; ++i) ASSERT_TRUE(submit(*one, {task(i)})->well());
  objects->remove({queue::segment_name(0, 2)});
  const auto two = process();
  const Answer answer = refresh(*two, Duration());
  open(*two);
  ASSERT_TRUE(*answer);
  EXPECT_FALSE(**answer);
}

TEST_F(QueueLogRefresh, SaysThatTheStoreIsAwayAfterTheDeadline) {
  const auto one = opened_process();
  clock.advance(Duration::seconds(3));
  one->store->set_faults([](Call call, const std::string&) {
    return call == Call::get ? Fault::failed : Fault::none;
  });
  const Answer answer = refresh(*one, Duration::seconds(2));
  timers.advance(options.deadline - Duration::milliseconds(1));
  EXPECT_FALSE(*answer);
  timers.advance(Duration::milliseconds(2));
  ASSERT_TRUE(*answer && !**answer);
  EXPECT_EQ((**answer).error().code, Code::unavailable);
}

TEST_F(QueueLogRefresh, IsAnsweredWhenTheLogGoes) {
  const auto one = opened_process();
  clock.advance(Duration::seconds(3));
  one->store->set_faults([](Call, const std::string&) { return Fault::held; });
  const Answer answer = refresh(*one, Duration());
  one->log.reset();
  ASSERT_TRUE(*answer && !**answer);
}

}  // namespace
}  // namespace pawl
