// Goal: what a command says by its exit code and its output becomes of its task.
// Method: ends of commands, and a handler on processes that run nothing.
#include "runtime/exec_handler.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "base/bounds_queue.h"
#include "runtime/handled_task_fixture.h"

namespace pawl {
namespace {

using Kind = TaskEnding::Kind;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

ChildEnd end_of(int code, std::string output = "", std::string errors = "") {
  const std::size_t output_bytes = output.size();
  const std::size_t error_bytes = errors.size();
  return {.code = code,
          .output = std::move(output),
          .errors = std::move(errors),
          .output_bytes = output_bytes,
          .error_bytes = error_bytes};
}

TEST(ExecHandler, CompletesWithWhatWasPrinted) {
  const TaskEnding ending = ending_of(end_of(0, "{\"b\":1, \"a\":2}\n"));
  EXPECT_EQ(ending.kind, Kind::completed);
  EXPECT_EQ(ending.output, R"({"a":2,"b":1})");
  EXPECT_EQ(ending_of(end_of(0)).output, "null");
  EXPECT_EQ(ending_of(end_of(0, "all is well\n")).output, R"("all is well")");
}

TEST(ExecHandler, ReschedulesByWhatWasPrinted) {
  const TaskEnding ending = ending_of(end_of(75, R"({"delay_seconds":1.5,"scope":"key"})"));
  EXPECT_EQ(ending.kind, Kind::reschedule);
  EXPECT_EQ(ending.delay, Duration::milliseconds(1500));
  EXPECT_EQ(ending.scope, queue::Scope::key);
}

TEST(ExecHandler, ReschedulesWithTheInputToGoOnWith) {
  EXPECT_EQ(ending_of(end_of(75, R"({"delay_seconds":7,"input":{"page":2}})")).input,
            R"({"page":2})");
  EXPECT_EQ(ending_of(end_of(75, R"({"delay_seconds":7})")).input, "") << "as it was";
}

TEST(ExecHandler, ReschedulesByTheLastLine) {
  const TaskEnding ending = ending_of(end_of(75, "asking …\nno\n{\"delay_seconds\": 7}\n\n"));
  EXPECT_EQ(ending.kind, Kind::reschedule);
  EXPECT_EQ(ending.delay, Duration::seconds(7));
  EXPECT_EQ(ending.scope, queue::Scope::task);
}

TEST(ExecHandler, ReschedulesByAMinuteWhenNothingWasSaid) {
  for (const char* output : {"", "\n", "not now", "[1]", "{}"}) {
    const TaskEnding ending = ending_of(end_of(75, output));
    EXPECT_EQ(ending.kind, Kind::reschedule) << output;
    EXPECT_EQ(ending.delay, Duration::seconds(60)) << output;
  }
}

TEST(ExecHandler, TellsOfAWordThatItDoesNotKnow) {
  const TaskEnding ending = ending_of(end_of(75, R"({"delay_second":5,"scope":"key"})"));
  EXPECT_EQ(ending.kind, Kind::reschedule);
  EXPECT_EQ(ending.delay, Duration::seconds(60));
  EXPECT_EQ(ending.scope, queue::Scope::key);
  EXPECT_THAT(ending.error, StartsWith("'delay_second' on standard output is passed over"));
}

TEST(ExecHandler, RetriesAfterARescheduleThatMakesNoSense) {
  for (const char* output :
       {R"({"delay_seconds":"soon"})", R"({"delay_seconds":-1})", R"({"delay_seconds":null})",
        R"({"scope":"keys"})", R"({"scope":1})"}) {
    const TaskEnding ending = ending_of(end_of(75, output));
    EXPECT_EQ(ending.kind, Kind::retry) << output;
    EXPECT_THAT(ending.error, StartsWith("exit 75, but standard output has a ")) << output;
    EXPECT_THAT(ending.error, HasSubstr(R"({"delay_seconds":60)"));
  }
}

TEST(ExecHandler, FailsWhatIsRescheduledByMoreThanIsKept) {
  ChildEnd end = end_of(75, R"({"delay_seconds":7})", "page 2 comes next\n");
  end.output_bytes = bounds::task_output_bytes_max + 1;
  EXPECT_EQ(ending_of(end).kind, Kind::failed) << "its old input would do again what is done";
  EXPECT_EQ(ending_of(end).error,
            "exit 75, but standard output is longer than 262144 bytes, so what it says of the "
            "delay and the input was cut off: page 2 comes next");
}

TEST(ExecHandler, FailsForGoodOrRetriesByTheExitCode) {
  EXPECT_EQ(ending_of(end_of(65, "", "no such account\n")).kind, Kind::failed);
  EXPECT_EQ(ending_of(end_of(65, "", "no such account\n")).error, "exit 65: no such account");
  for (const int code : {1, 2, 64, 66, 74, 76, 126, 127, 255}) {
    EXPECT_EQ(ending_of(end_of(code)).kind, Kind::retry);
    EXPECT_EQ(ending_of(end_of(code)).error, "exit " + std::to_string(code));
  }
}

TEST(ExecHandler, NamesTheSignalThatKilledIt) {
  ChildEnd end = end_of(0, "", "half done");
  end.signal = SIGKILL;
  EXPECT_EQ(ending_of(end).kind, Kind::retry);
  EXPECT_EQ(ending_of(end).error, "killed by SIGKILL: half done");
}

TEST(ExecHandler, KnowsTheSignalsThatEndAWholeGroup) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ChildEnd end = end_of(0);
    end.signal = number;
    EXPECT_TRUE(ending_of(end).interrupted) << number;
    EXPECT_TRUE(ending_of(end_of(128 + number)).interrupted) << "as a shell says it";
  }
  ChildEnd killed = end_of(0);
  killed.signal = SIGKILL;
  EXPECT_FALSE(ending_of(killed).interrupted);
  for (const int code : {1, 2, 15, 128, 137}) {
    EXPECT_FALSE(ending_of(end_of(code)).interrupted) << code;
  }
}

// Processes of which a test says how they end.
class FakeProcesses final : public ChildProcesses {
 public:
  std::shared_ptr<Child> start(ChildAsk ask, Done done) override {
    struct Fake final : Child {
      explicit Fake(std::vector<Duration>& stops_) : stops(stops_) {}
      void stop(Duration grace) override { stops.push_back(grace); }
      std::vector<Duration>& stops;
    };
    asks.push_back(std::move(ask));
    dones.push_back(std::move(done));
    return std::make_shared<Fake>(stops);
  }
  std::vector<ChildAsk> asks;
  std::vector<Done> dones;
  std::vector<Duration> stops;
};

TEST(ExecHandler, GivesTheCommandItsTask) {
  FakeProcesses processes;
  const auto task = std::make_shared<FakeHandledTask>();
  task->given.terms = {.type = "mail", .input = R"({"to":"x"})", .key = "acme"};
  task->given.attempt = 3;
  task->given.fence = 17;
  std::optional<TaskEnding> ending;
  exec_handler(processes, "./send")(task, [&](TaskEnding end) { ending = std::move(end); });
  ASSERT_EQ(processes.asks.size(), 1U);
  const ChildAsk& ask = processes.asks[0];
  EXPECT_EQ(ask.command, "./send");
  EXPECT_EQ(ask.input, R"({"to":"x"})");
  EXPECT_THAT(ask.environment, Contains(Pair("PAWL_TASK_ID", to_string(task->given.id))));
  EXPECT_THAT(ask.environment, Contains(Pair("PAWL_TASK_TYPE", "mail")));
  EXPECT_THAT(ask.environment, Contains(Pair("PAWL_TASK_KEY", "acme")));
  EXPECT_THAT(ask.environment, Contains(Pair("PAWL_ATTEMPT", "3")));
  EXPECT_THAT(ask.environment, Contains(Pair("PAWL_FENCE", "17")));
  task->stop();
  EXPECT_THAT(processes.stops, ::testing::ElementsAre(task->grace));
  EXPECT_FALSE(ending) << "it ends when the command has";
  processes.dones[0](end_of(0, "1"));
  EXPECT_EQ(ending->output, "1");
}

TEST(ExecHandler, GivesBackWhatCouldNotBeStarted) {
  FakeProcesses processes;
  std::optional<TaskEnding> ending;
  exec_handler(processes, "x")(std::make_shared<FakeHandledTask>(),
                               [&](TaskEnding end) { ending = std::move(end); });
  processes.dones[0](failure(Code::unavailable, "too many files"));
  EXPECT_EQ(ending->kind, Kind::reschedule) << "the task has done nothing wrong";
  EXPECT_FALSE(ending->tried);
  EXPECT_EQ(ending->delay, bounds::handler_reschedule);
  EXPECT_EQ(ending->error, "too many files");
}

}  // namespace
}  // namespace pawl
