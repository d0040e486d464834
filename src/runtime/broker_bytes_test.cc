// Goal: a broker and those who ask it understand each other, and neither believes what the other
//       did not write. Method: everything there and back; bytes that are cut, longer, or of another
//       version.
#include "runtime/broker_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::broker {
namespace {

using ::testing::HasSubstr;

queue::TaskId an_id() {
  return {.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
}

TEST(BrokerBytes, CommandsAreReadBack) {
  const std::vector<queue::Command> commands = {
      queue::Submit{.id = an_id(), .terms = {.type = "t", .input = "{}"}},
      queue::Complete{.id = an_id(), .fence = 7, .output = "1"}};
  const auto read = read_commands(write_commands(commands));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, commands);
}

TEST(BrokerBytes, ClaimsAreReadBack) {
  const ClaimAsk ask{.claim = {.worker = "w", .types = {"a", "b"}, .count = 3},
                     .wait = Duration::seconds(5)};
  const auto read = read_claim(write_claim(ask));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->claim, ask.claim);
  EXPECT_EQ(read->wait, ask.wait);
}

TEST(BrokerBytes, WhatWasClaimedIsReadBack) {
  ClaimedTasks claimed{.waited = Duration::milliseconds(1'500)};
  claimed.tasks.push_back({.id = an_id(), .terms = {.type = "t", .input = "{}"}, .fence = 7});
  const auto read = read_result<ClaimedTasks>(write_result<ClaimedTasks>(claimed));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->waited, claimed.waited);
  EXPECT_EQ(read->tasks, claimed.tasks);
}

TEST(BrokerBytes, LooksAreReadBack) {
  const auto task = read_look(write_look({.kind = Look::Kind::why, .id = an_id()}));
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->kind, Look::Kind::why);
  EXPECT_EQ(task->id, an_id());
  const Look list{.kind = Look::Kind::list,
                  .filter = {.status = queue::Status::failed,
                             .type = "t",
                             .key = "k",
                             .after = an_id(),
                             .updated_after = Instant::from_ns(5),
                             .limit = 12}};
  const auto read = read_look(write_look(list));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->filter.status, queue::Status::failed);
  EXPECT_EQ(read->filter.type, "t");
  EXPECT_EQ(read->filter.key, "k");
  EXPECT_EQ(read->filter.after, an_id());
  EXPECT_EQ(read->filter.updated_after, Instant::from_ns(5));
  EXPECT_EQ(read->filter.limit, 12U);
}

TEST(BrokerBytes, AnswersAreReadBack) {
  const Result<Hello> hello = Hello{.view = {.settings = {.shards = 3, .kept = Duration::hours(1)},
                                             .store = "dir:q",
                                             .requests = {.puts = 1, .bytes_down = 6},
                                             .commits = 7,
                                             .commands = 8,
                                             .commit_time = Duration::seconds(9),
                                             .segments = 10,
                                             .now = Instant::from_ns(11)},
                                    .mark = "m"};
  const auto read = read_result<Hello>(write_result(hello));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->view.settings, hello->view.settings);
  EXPECT_EQ(read->view.now, hello->view.now);
  EXPECT_EQ(read->view.requests.bytes_down, 6U);
  EXPECT_EQ(read->view.commit_time, Duration::seconds(9));
  EXPECT_EQ(read->view.segments, 10U);
  EXPECT_EQ(read->mark, "m");
}

TEST(BrokerBytes, AnErrorOfTheQueueArrivesAsItWas) {
  Error error(Code::unavailable, Outcome::unknown, "the store is away");
  error.retry_after = Duration::seconds(3);
  const Result<queue::Task> result = std::unexpected(error);
  const auto read = read_result<queue::Task>(write_result(result));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error(), error);
}

TEST(BrokerBytes, WhatIsNoRequestIsRefused) {
  for (const std::string_view bytes : {"", "{}", "\x01", "\x02", "\x01\x01", "\xff"}) {
    EXPECT_EQ(read_commands(bytes).error().code, Code::invalid) << bytes;
    EXPECT_EQ(read_claim(bytes).error().code, Code::invalid) << bytes;
  }
  EXPECT_FALSE(read_look("\x01\x0a").has_value());
  EXPECT_FALSE(read_look(write_look({}) + "x").has_value());
  EXPECT_FALSE(read_claim(write_commands({{queue::Replay{.id = an_id()}}})).has_value());
}

TEST(BrokerBytes, AnotherVersionIsToldByItsNumber) {
  std::string bytes = write_look({});
  bytes[0] = 9;
  EXPECT_THAT(read_look(bytes).error().message, HasSubstr("version 9 is spoken, and 1 understood"));
}

TEST(BrokerBytes, AnAnswerThatCannotBeReadMayHaveBeenOne) {
  const std::string good = write_result(Result<Hello>(Hello()));
  for (const std::string& bytes :
       {std::string(), good + "x", good.substr(0, good.size() - 1), std::string("\x01\x03", 2),
        std::string("\x01\x02\x05\x09", 4)}) {
    const auto read = read_result<Hello>(bytes);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, Code::unavailable);
    EXPECT_EQ(read.error().outcome, Outcome::unknown);
    EXPECT_THAT(read.error().message, HasSubstr("the broker's answer cannot be read"));
  }
}

}  // namespace
}  // namespace pawl::broker
