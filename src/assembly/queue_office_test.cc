// Goal: an office opens the queue that a URL names, makes it once and only where it may, and ends
//       in order. Method: folders of their own, and memory.
#include "assembly/queue_office.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "core/queue/shards.h"
#include "port/answer_of.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;
using Replies = std::vector<queue::Reply>;

class QueueOfficeTest : public ::testing::Test {
 protected:
  std::string url() const { return "dir:" + (folder / "below/queue"); }
  Result<std::unique_ptr<QueueOffice>> open(QueueOfficeSettings settings) {
    return QueueOffice::open(std::move(settings), parts);
  }
  queue::TaskId submit(QueueOffice& office) {
    const auto replies = answer_of<Replies>([&](auto done) {
      office.queue().give({queue::Submit{.id = queue::make_task_id(entropy.next()),
                                         .terms = {.type = "t", .input = "{}"}}},
                          std::move(done));
    });
    EXPECT_TRUE(replies) << replies.error().message;
    return std::get<queue::Submitted>(replies->front()).id;
  }

  TempFolder folder;
  SystemClock clock;
  SystemEntropy entropy;
  QueueOffice::Parts parts{.clock = clock, .entropy = entropy};
};

TEST_F(QueueOfficeTest, MakesAQueueOnceAndFindsItsTasksAgain) {
  queue::TaskId id;
  {
    const auto office = open({.url = url(), .wanted = {.shards = 3}});
    ASSERT_TRUE(office) << office.error().message;
    id = submit(**office);
    (*office)->close();
  }
  const auto again = open({.url = url(), .makes = false, .follows = false});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->queue().view().settings.shards, 3u);
  const auto task =
      answer_of<queue::Task>([&](auto done) { (*again)->queue().find(id, std::move(done)); });
  EXPECT_TRUE(task) << task.error().message;
}

TEST_F(QueueOfficeTest, MakesNothingForWhoeverOnlyLooks) {
  const auto office = open({.url = url(), .makes = false});
  ASSERT_FALSE(office);
  EXPECT_EQ(office.error().code, Code::not_found);
  EXPECT_THAT(office.error().message, HasSubstr("it is made by the first submit, worker"));
  EXPECT_FALSE(std::filesystem::exists(folder / "below"));
}

TEST_F(QueueOfficeTest, RefusesOtherSettingsThanTheQueueHas) {
  ASSERT_TRUE(open({.url = url()}));
  const auto other = open({.url = url(), .wanted = {.shards = 2}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::invalid);
  EXPECT_THAT(other.error().message, HasSubstr("was made with shards: 1"));
}

TEST_F(QueueOfficeTest, SetsTheLimitsItIsTold) {
  const queue::SetLimit limit{.limited = queue::Limited::key, .name = "acme", .running = 2};
  const auto office = open({.url = url(), .limits = {limit}});
  ASSERT_TRUE(office) << office.error().message;
  const auto limits = answer_of<std::vector<queue::SetLimit>>(
      [&](auto done) { (*office)->queue().limits(std::move(done)); });
  ASSERT_TRUE(limits);
  EXPECT_THAT(*limits, ::testing::ElementsAre(limit));
  const std::uint64_t segments = (*office)->queue().view().segments;
  ASSERT_TRUE(open({.url = url(), .limits = {limit}}));
  const auto look = open({.url = url()});
  EXPECT_EQ((*look)->queue().view().segments, segments) << "what is so already is not written";
}

TEST_F(QueueOfficeTest, RefusesALimitThatCannotBeShared) {
  const auto office = open({.url = url(),
                            .wanted = {.shards = 4},
                            .limits = {{.limited = queue::Limited::queue, .running = 3}}});
  ASSERT_FALSE(office);
  EXPECT_THAT(office.error().message, HasSubstr("cannot be shared out among 4 shards"));
}

TEST_F(QueueOfficeTest, KeepsAQueueInMemory) {
  const auto office = open({.url = "memory:"});
  ASSERT_TRUE(office) << office.error().message;
  submit(**office);
}

TEST_F(QueueOfficeTest, SaysWhatIsWrongWithAPlace) {
  EXPECT_THAT(open({.url = "redis://x"}).error().message, HasSubstr("dir:PATH"));
  const auto s3 = open({.url = "s3://bucket?endpoint=http://127.0.0.1:1&region=r"});
  ASSERT_FALSE(s3);
  EXPECT_THAT(s3.error().message, HasSubstr("AWS_ACCESS_KEY_ID"));
}

TEST_F(QueueOfficeTest, HasAMarkThatIsTheSameForAll) {
  const auto one = open({.url = url()});
  const auto same = open({.url = url()});
  const auto other = open({.url = "dir:" + (folder / "other")});
  ASSERT_TRUE(one && same && other);
  const auto mark = (*one)->mark();
  ASSERT_TRUE(mark) << mark.error().message;
  EXPECT_FALSE(mark->empty());
  EXPECT_EQ((*same)->mark().value(), *mark);
  EXPECT_EQ((*one)->mark().value(), *mark);
  EXPECT_NE((*other)->mark().value(), *mark);
}

TEST_F(QueueOfficeTest, SaysThatNoBrokerAnswers) {
  const auto office = open({.url = "http://127.0.0.1:1", .deadline = Duration::seconds(1)});
  ASSERT_FALSE(office);
  EXPECT_EQ(office.error().code, Code::unavailable);
}

TEST_F(QueueOfficeTest, LooksLessOftenTheMoreShardsThereAre) {
  EXPECT_EQ(idle_poll(1), Duration::seconds(4));
  EXPECT_EQ(idle_poll(4), Duration::seconds(16));
  EXPECT_EQ(idle_poll(256), Duration::seconds(30));
}

}  // namespace
}  // namespace pawl
