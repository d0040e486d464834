// Goal: a program that links pawl submits tasks, follows and changes them, and hears what is wrong
//       as a value. Method: a queue in memory on a clock that the test moves, and one in a folder
//       that is opened again.
#include "pawl/queue.h"

#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "library/moved_clock_fixture.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class QueueTest : public ::testing::Test {
 protected:
  std::string submitted(std::string_view type, const SubmitOptions& options = {}) {
    const auto task = queue.submit(type, "{}", options);
    EXPECT_TRUE(task.has_value()) << task.error().message;
    return task ? task->id : "";
  }

  MovedClock clock;
  Queue queue = Queue::open("memory:", &clock).value();
};

TEST_F(QueueTest, KeepsWhatATaskWasToldAtItsSubmission) {
  const std::string id = submitted("call_api", {.key = "acme",
                                                .priority = 5,
                                                .max_retries = 7,
                                                .max_reschedules = 9,
                                                .timeout = Duration::seconds(20),
                                                .delay = Duration::minutes(1),
                                                .time_to_live = Duration::minutes(10)});
  const TaskInfo task = queue.get(id).value();
  EXPECT_EQ(task.id, id);
  EXPECT_EQ(task.type, "call_api");
  EXPECT_EQ(task.input, "{}");
  EXPECT_EQ(task.key, "acme");
  EXPECT_EQ(task.status, TaskStatus::pending);
  EXPECT_EQ(to_string(task.status), "pending");
  EXPECT_EQ(task.priority, 5);
  EXPECT_EQ(task.max_retries, 7U);
  EXPECT_EQ(task.max_reschedules, 9U);
  EXPECT_EQ(task.timeout, Duration::seconds(20));
  EXPECT_EQ(task.available_at, clock.wall_now() + Duration::minutes(1));
  EXPECT_EQ(task.expires_at, clock.wall_now() + Duration::minutes(10));
}

TEST_F(QueueTest, SubmitsOneTaskUnderOneNameOrId) {
  const std::string id = submitted("t", {.id = "00000000000000000000abcd"});
  EXPECT_EQ(id, "00000000000000000000abcd");
  EXPECT_FALSE(queue.submit("t", "{}", {.id = id})->fresh);
  const auto first = queue.submit("t", R"({"a": 1})", {.unique = "u"});
  const auto again = queue.submit("t", R"({"a":1})", {.unique = "u"});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->id, first->id) << "the same input, written in another way";
  EXPECT_EQ(queue.submit("t", R"({"a":2})", {.unique = "u"}).error().code, Code::refused);
}

TEST_F(QueueTest, SaysWhatIsWrongWithEachOfMany) {
  const auto all = queue.submit_many({{.type = "a"},
                                      {.type = "b", .input = "no JSON"},
                                      {.type = ""},
                                      {.type = "c", .options = {.priority = 1000}},
                                      {.type = "d"}});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->size(), 5U);
  EXPECT_TRUE((*all)[0].has_value());
  for (const std::size_t wrong : {1U, 2U, 3U}) {
    ASSERT_FALSE((*all)[wrong].has_value()) << wrong;
    EXPECT_EQ((*all)[wrong].error().code, Code::invalid) << wrong;
  }
  EXPECT_EQ(queue.get((*all)[4]->id)->type, "d");
  EXPECT_TRUE(queue.submit_many({})->empty());
}

TEST_F(QueueTest, ListsPageAfterPage) {
  for (int i = 0; i < 5; ++i) submitted("mail", {.key = i < 2 ? "a" : "b"});
  submitted("call");
  EXPECT_EQ(queue.list()->size(), 6U);
  EXPECT_EQ(queue.list({.type = "mail"})->size(), 5U);
  EXPECT_EQ(queue.list({.key = "a"})->size(), 2U);
  EXPECT_EQ(queue.list({.status = TaskStatus::failed})->size(), 0U);
  EXPECT_EQ(queue.list({.limit = 5'000}).error().code, Code::invalid) << "and not cut to fewer";
  const auto page = queue.list({.limit = 4});
  ASSERT_EQ(page->size(), 4U);
  EXPECT_EQ(queue.list({.after = page->back().id})->size(), 2U);
}

TEST_F(QueueTest, CancelsAndReplays) {
  const std::string id = submitted("t");
  EXPECT_EQ(queue.cancel(id, "not needed").value(), TaskStatus::cancelled);
  EXPECT_THAT(queue.get(id)->cancelled_by,
              HasSubstr("-" + std::to_string(::getpid()) + ": not needed"));
  EXPECT_EQ(queue.replay(id).value(), TaskStatus::pending);
  EXPECT_EQ(queue.replay(id).value(), TaskStatus::pending) << "said again";
  const auto other = queue.replay(submitted("t"));
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Code::refused);
  const auto history = queue.history(id);
  ASSERT_EQ(history->size(), 3U);
  EXPECT_EQ((*history)[0].text, "Version 1: pending (created)");
  EXPECT_EQ((*history)[1].status, TaskStatus::cancelled);
}

TEST_F(QueueTest, SaysWhyATaskWaits) {
  const std::string id = submitted("t", {.key = "acme", .delay = Duration::seconds(5)});
  EXPECT_EQ(queue.why(id)->hold, TaskWhy::Hold::not_due);
  clock.advance(Duration::seconds(5));
  EXPECT_EQ(queue.why(id)->hold, TaskWhy::Hold::waits);
  EXPECT_EQ(queue.why(id)->scope, "") << "no scope holds it";
  const Instant until = clock.wall_now() + Duration::minutes(1);
  ASSERT_TRUE(queue.close({.scope = TaskScope::key, .name = "acme", .until = until}).has_value());
  const TaskWhy why = queue.why(id).value();
  EXPECT_EQ(why.hold, TaskWhy::Hold::closed);
  EXPECT_EQ(why.scope, "key");
  EXPECT_EQ(why.name, "acme");
  EXPECT_EQ(why.until, until);
}

TEST_F(QueueTest, TellsTheNumbers) {
  submitted("mail");
  submitted("mail", {.delay = Duration::hours(1)});
  const auto stats = queue.stats();
  ASSERT_EQ(stats->types.size(), 1U);
  EXPECT_EQ(stats->types[0].pending, 2U);
  EXPECT_EQ(stats->types[0].due, 1U);
  EXPECT_EQ(stats->submitted, 2U);
  EXPECT_EQ(stats->commits, 2U);
}

TEST_F(QueueTest, KnowsNothingOfTasksThatAreNotThere) {
  EXPECT_EQ(queue.get(std::string(24, '0')).error().code, Code::not_found);
  EXPECT_EQ(queue.get("none").error().code, Code::invalid);
  EXPECT_EQ(queue.cancel(std::string(24, '0')).error().code, Code::not_found);
}

TEST(Queue, IsStillThereWhenItIsOpenedAgain) {
  const TempFolder folder;
  const std::string url = "dir:" + (folder / "queue");
  std::string id;
  {
    auto queue = Queue::open({.url = url, .shards = 4});
    ASSERT_TRUE(queue.has_value()) << queue.error().message;
    id = queue->submit("t", R"({"n":1})")->id;
  }
  EXPECT_EQ(Queue::open(url)->get(id)->input, R"({"n":1})");
  const auto other = Queue::open({.url = url, .shards = 2});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Code::invalid);
}

TEST(Queue, IsNotMadeWithMoreShardsThanThereMayBe) {
  const TempFolder folder;
  const auto queue = Queue::open({.url = "dir:" + (folder / "queue"), .shards = 257});
  ASSERT_FALSE(queue.has_value());
  EXPECT_EQ(queue.error().code, Code::invalid);
  EXPECT_EQ(queue.error().message, "shards is 257: 1 to 256 is allowed");
}

TEST(Queue, IsNotMadeForWhoeverOnlyLooks) {
  const TempFolder folder;
  const auto none = Queue::open({.url = "dir:" + (folder / "queue"), .makes = false});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(Queue::open("ftp://somewhere").error().code, Code::invalid);
}

// Each call that does not wait says the same as the one that does.
class QueueLaterTest : public QueueTest {
 protected:
  // What `call` says to its `done`, however late.
  template <class T>
  Result<T> later(std::function<void(Queue::Done<T>)> call) {
    std::promise<Result<T>> promise;
    call([&](Result<T> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
};

TEST_F(QueueLaterTest, SubmitsAndShowsWithoutWaiting) {
  const auto task = later<SubmittedTask>([&](auto done) {
    queue.submit({.type = "t", .input = "[1]", .options = {.key = "acme"}}, std::move(done));
  });
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const auto info = later<TaskInfo>([&](auto done) { queue.get(task->id, std::move(done)); });
  EXPECT_EQ(info->input, "[1]");
  EXPECT_EQ(info->key, "acme");
  const auto listed = later<std::vector<TaskInfo>>(
      [&](auto done) { queue.list({.key = "acme"}, std::move(done)); });
  EXPECT_EQ(listed->size(), 1U);
  const auto versions =
      later<std::vector<TaskVersion>>([&](auto done) { queue.history(task->id, std::move(done)); });
  EXPECT_EQ(versions->front().text, "Version 1: pending (created)");
  const auto why = later<TaskWhy>([&](auto done) { queue.why(task->id, std::move(done)); });
  EXPECT_EQ(why->hold, TaskWhy::Hold::waits);
  EXPECT_EQ(later<QueueStats>([&](auto done) { queue.stats(std::move(done)); })->submitted, 1U);
}

TEST_F(QueueLaterTest, ChangesWithoutWaiting) {
  const std::string id = submitted("t", {.key = "acme"});
  const ScopeClosing closing{.name = "acme", .until = clock.wall_now() + Duration::minutes(1)};
  EXPECT_TRUE(later<void>([&](auto done) { queue.close(closing, std::move(done)); }).has_value());
  EXPECT_EQ(queue.why(id)->hold, TaskWhy::Hold::closed);
  const auto cancelled =
      later<TaskStatus>([&](auto done) { queue.cancel(id, "no longer wanted", std::move(done)); });
  EXPECT_EQ(*cancelled, TaskStatus::cancelled);
  EXPECT_EQ(*later<TaskStatus>([&](auto done) { queue.replay(id, std::move(done)); }),
            TaskStatus::pending);
}

TEST_F(QueueLaterTest, SaysWhatIsWrongWithoutWaiting) {
  using Many = std::vector<Result<SubmittedTask>>;
  const auto many = later<Many>([&](auto done) {
    queue.submit_many({{.type = "a"}, {.type = "b", .input = "no JSON"}}, std::move(done));
  });
  ASSERT_TRUE(many.has_value()) << many.error().message;
  EXPECT_TRUE((*many)[0].has_value());
  EXPECT_EQ((*many)[1].error().code, Code::invalid);
  EXPECT_TRUE(later<Many>([&](auto done) { queue.submit_many({}, std::move(done)); })->empty());
  const auto no_id = later<TaskInfo>([&](auto done) { queue.get("none", std::move(done)); });
  EXPECT_EQ(no_id.error().code, Code::invalid);
  const std::string absent(24, '0');
  const auto none = later<TaskInfo>([&](auto done) { queue.get(absent, std::move(done)); });
  EXPECT_EQ(none.error().code, Code::not_found);
  const auto later_none =
      later<TaskStatus>([&](auto done) { queue.cancel(absent, "", std::move(done)); });
  EXPECT_EQ(later_none.error().code, Code::not_found);
}

}  // namespace
}  // namespace pawl
