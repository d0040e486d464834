// Goal: whoever counts the tasks that put themselves off hears of each, and of no other. Method: a
//       queue in memory behind it.
#include "cli/watched_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/local_queue_fixture.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class WatchedQueueTest : public LocalQueues {
 protected:
  // A task that runs.
  queue::Task running() {
    give(*inside, {submit("mail")});
    return got(claim(*inside, {})).at(0);
  }
  Answer<Replies> watched_give(std::vector<queue::Command> commands) {
    return ask<Replies>([&](auto done) { watched.give(std::move(commands), std::move(done)); });
  }

  std::unique_ptr<Process> inside = [this] {
    settings.shards = 1;
    return process();
  }();
  std::vector<std::pair<std::string, Duration>> told;
  WatchedQueue watched{*inside->queue, [this](const std::string& type, Duration delay) {
                         told.emplace_back(type, delay);
                       }};
};

TEST_F(WatchedQueueTest, TellsOfATaskThatPutItselfOff) {
  const queue::Task task = running();
  const auto changed = reply<queue::Changed>(watched_give(
      {queue::Reschedule{.id = task.id, .fence = task.fence, .delay = Duration::seconds(60)}}));
  EXPECT_EQ(changed.status, queue::Status::pending);
  EXPECT_THAT(told, ElementsAre(Pair("mail", Duration::seconds(60))));
}

TEST_F(WatchedQueueTest, TellsOfNoneThatFailsSinceItWasPutOffTooOften) {
  queue::Submit once = submit("mail");
  once.terms.max_reschedules = 0;
  give(*inside, {once});
  const queue::Task task = got(claim(*inside, {})).at(0);
  const auto changed =
      reply<queue::Changed>(watched_give({queue::Reschedule{.id = task.id, .fence = task.fence}}));
  EXPECT_EQ(changed.status, queue::Status::failed);
  EXPECT_TRUE(told.empty());
}

TEST_F(WatchedQueueTest, TellsOfNothingElse) {
  const queue::Task back = running();
  watched_give({queue::Reschedule{.id = back.id, .fence = back.fence, .counted = false}});
  const queue::Task task = running();
  watched_give({queue::Reschedule{.id = task.id, .fence = task.fence + 1},
                queue::Complete{.id = task.id, .fence = task.fence, .output = "1"}});
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace pawl::cli
