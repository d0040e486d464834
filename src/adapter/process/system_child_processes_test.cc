// Goal: a command gets what it is to have and nothing else, and nothing is left of it: no process,
// no zombie, no descriptor.
// Method: real shells; what they print, and what /proc shows of them and of us.
#include "adapter/process/system_child_processes.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "port/answer_of.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

constexpr auto patience = std::chrono::seconds(60);  // the machine may be busy
constexpr Duration long_grace = Duration::minutes(5);

// A process that runs; one that is dead and was not waited for does not.
bool is_alive(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  return end != std::string::npos && text.at(end + 2) != 'Z';
}

// Killed by somebody else a moment ago.
bool dies(const std::string& pid) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (is_alive(pid) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return !is_alive(pid);
}

std::size_t descriptors() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    (void)each;
    ++count;
  }
  return count;
}

class SystemChildProcessesTest : public ::testing::Test {
 protected:
  SystemChildProcessesTest() { std::signal(SIGPIPE, SIG_IGN); }  // as pawl does
  ~SystemChildProcessesTest() override { std::signal(SIGPIPE, SIG_DFL); }

  struct Running {
    std::shared_ptr<Child> child;
    std::future<Result<ChildEnd>> end;

    Result<ChildEnd> wait() {
      EXPECT_EQ(end.wait_for(patience), std::future_status::ready);
      return end.get();
    }
  };
  Running start(ChildAsk ask) {
    if (ask.output_bytes_max == 0) ask.output_bytes_max = 100'000;
    if (ask.error_bytes_max == 0) ask.error_bytes_max = 1'000;
    Running running;
    running.end = asked<ChildEnd>(
        [&](auto done) { running.child = processes->start(std::move(ask), std::move(done)); });
    return running;
  }
  ChildEnd run(ChildAsk ask) {
    const Result<ChildEnd> end = start(std::move(ask)).wait();
    EXPECT_TRUE(end) << end.error().message;
    return end ? *end : ChildEnd();
  }
  std::string said(const std::string& command) {
    std::string output = run({.command = command}).output;
    if (output.ends_with('\n')) output.pop_back();
    return output;
  }
  // One that says its first line and goes on.
  Running started(const std::string& command, std::string& line) {
    return started(ChildAsk{.command = command}, line);
  }
  Running started(ChildAsk ask, std::string& line) {
    const std::string file = ::testing::TempDir() + "/said-" + std::to_string(::getpid());
    std::filesystem::remove(file);
    ask.command.insert(
        0, "said() { echo \"$1\" > " + file + ".new; mv " + file + ".new " + file + "; }; ");
    Running running = start(std::move(ask));
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ifstream in(file);
    std::getline(in, line);
    return running;
  }

  std::unique_ptr<SystemChildProcesses> processes = SystemChildProcesses::open().value();
};

TEST_F(SystemChildProcessesTest, RunACommandWithItsInput) {
  const ChildEnd end = run({.command = "cat; echo oh >&2; exit 7", .input = "hello"});
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.output, "hello");
  EXPECT_EQ(end.errors, "oh\n");
}

TEST_F(SystemChildProcessesTest, GiveACommandOurEnvironmentAndMore) {
  ::setenv("PAWL_TEST_OURS", "ours", 1);
  ::setenv("PAWL_TEST_BOTH", "ours", 1);
  const ChildEnd end = run({.command = "echo $PAWL_TEST_OURS $PAWL_TEST_BOTH $PAWL_TEST_NEW",
                            .environment = {{"PAWL_TEST_BOTH", "new"}, {"PAWL_TEST_NEW", "a b"}}});
  EXPECT_EQ(end.output, "ours new a b\n");
}

TEST_F(SystemChildProcessesTest, KeepTheBeginningOfTheOutputAndTheEndOfTheErrors) {
  const ChildEnd end = run(
      {.command = "seq 1 200000; seq 1 200000 >&2", .output_bytes_max = 10, .error_bytes_max = 14});
  EXPECT_EQ(end.code, 0) << "nobody waited for us to read";
  EXPECT_EQ(end.output, "1\n2\n3\n4\n5\n");
  EXPECT_EQ(end.errors, "199999\n200000\n");
  EXPECT_EQ(end.output_bytes, 1'288'895U);
  EXPECT_EQ(end.error_bytes, 1'288'895U);
}

TEST_F(SystemChildProcessesTest, DoNotMindAnInputThatNobodyReads) {
  EXPECT_EQ(run({.command = "exec <&-; exit 3", .input = std::string(1'000'000, 'x')}).code, 3);
  EXPECT_EQ(run({.command = "wc -c", .input = std::string(1'000'000, 'x')}).output, "1000000\n");
}

TEST_F(SystemChildProcessesTest, NameTheSignalThatKilledIt) {
  EXPECT_EQ(run({.command = "kill -9 $$"}).signal, SIGKILL);
}

TEST_F(SystemChildProcessesTest, StartEachInAGroupOfItsOwnWithTheUsualSignals) {
  EXPECT_EQ(
      said("read -r pid name state parent group rest < /proc/$$/stat; test $group = $$; echo $?"),
      "0");
  EXPECT_EQ(run({.command = "yes | head -n 1"}).errors, "") << "a broken pipe ends a command";
}

TEST_F(SystemChildProcessesTest, GiveNoneOfOurFiles) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int fd = ::fcntl(null, F_DUPFD, 50);  // without O_CLOEXEC
  ASSERT_GE(fd, 50);
  EXPECT_EQ(said("test -e /proc/$$/fd/" + std::to_string(fd) + "; echo $?"), "1");
  ::close(fd);
  ::close(null);
}

TEST_F(SystemChildProcessesTest, LeaveNothingBehind) {
  run({.command = "true"});
  const std::size_t before = descriptors();
  for (int i = 0; i < 50; ++i) run({.command = "cat > /dev/null; exit 1", .input = "x"});
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was not waited for";
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(SystemChildProcessesTest, EndWithTheShellAndTakeItsChildrenAlong) {
  const std::string pid = said("sleep 1000 & echo $!");
  EXPECT_TRUE(dies(pid));
}

TEST_F(SystemChildProcessesTest, StopTheWholeGroup) {
  std::string pid;
  Running running = started("sleep 1000 & said $!; wait", pid);
  ASSERT_TRUE(is_alive(pid));
  running.child->stop(long_grace);
  EXPECT_EQ(running.wait()->signal, SIGTERM);
  EXPECT_TRUE(dies(pid));
}

TEST_F(SystemChildProcessesTest, StopThoseWhoHaveLeftTheGroup) {
  std::string pid;
  Running running = started("setsid sleep 1000 & said $!; wait", pid);
  ASSERT_TRUE(is_alive(pid));
  running.child->stop(long_grace);
  EXPECT_EQ(running.wait()->signal, SIGTERM);
  EXPECT_TRUE(dies(pid));
}

TEST_F(SystemChildProcessesTest, KillThoseWhoHaveLeftTheGroupAndOutliveTheShell) {
  const std::string file = ::testing::TempDir() + "/kin-" + std::to_string(::getpid());
  std::filesystem::remove(file);
  std::string pid;
  Running running = started("setsid sh -c 'trap \"\" TERM; sleep 1000 & echo $! > " + file +
                                ".new; mv " + file + ".new " + file + "; wait' & until [ -e " +
                                file + " ]; do sleep 0.01; done; said $(cat " + file + "); wait",
                            pid);
  ASSERT_TRUE(is_alive(pid));
  running.child->stop(long_grace);
  EXPECT_EQ(running.wait()->signal, SIGTERM) << "the shell hears of it";
  EXPECT_TRUE(dies(pid));
}

TEST_F(SystemChildProcessesTest, KillThoseWhomTheirParentsHaveLeft) {
  const std::string file = ::testing::TempDir() + "/left-" + std::to_string(::getpid());
  std::filesystem::remove(file);
  std::string pids;
  // The shell in between is gone when the command says so: these have another parent.
  Running running =
      started({.command = "(setsid sh -c 'sleep 1000 & echo $$ $! > " + file + ".new; mv " + file +
                          ".new " + file + "; sleep 1000' &); until [ -e " + file +
                          " ]; do sleep 0.01; done; said \"$(cat " + file + ")\"; sleep 1000",
               .environment = {{"PAWL_TEST_MARK", file}}},
              pids);
  const std::string one = pids.substr(0, pids.find(' '));
  const std::string other = pids.substr(pids.find(' ') + 1);
  ASSERT_TRUE(is_alive(one) && is_alive(other)) << pids;
  running.child->stop({});
  EXPECT_EQ(running.wait()->signal, SIGKILL);
  EXPECT_TRUE(dies(one));
  EXPECT_TRUE(dies(other));
}

TEST_F(SystemChildProcessesTest, LeaveADaemonToACommandThatEndsByItself) {
  const std::string pid = said(
      "setsid sleep 1000 > /dev/null 2>&1 & "
      "until [ \"$(cut -d' ' -f6 /proc/$!/stat)\" = $! ]; do :; done; echo $!");
  EXPECT_TRUE(is_alive(pid));
  ::kill(std::stoi(pid), SIGKILL);
}

TEST_F(SystemChildProcessesTest, LetACommandEndByItself) {
  std::string ready;
  Running running = started("trap 'exit 9' TERM; said ready; while :; do sleep 0.01; done", ready);
  running.child->stop(long_grace);
  EXPECT_EQ(running.wait()->code, 9);
}

TEST_F(SystemChildProcessesTest, KillWhatDoesNotEndInTime) {
  std::string pid;
  Running running = started("trap '' TERM; sleep 1000 & said $!; wait", pid);
  running.child->stop(long_grace);
  running.child->stop(Duration::milliseconds(10));
  EXPECT_EQ(running.wait()->signal, SIGKILL);
  EXPECT_TRUE(dies(pid));
}

TEST_F(SystemChildProcessesTest, StopAGroupThatStandsStill) {
  std::string ready;
  Running running = started("said ready; kill -STOP $$", ready);
  running.child->stop(long_grace);
  EXPECT_EQ(running.wait()->signal, SIGTERM);
}

TEST_F(SystemChildProcessesTest, MayBeStoppedTooLate) {
  Running running = start({.command = "true"});
  EXPECT_EQ(running.wait()->code, 0);
  running.child->stop({});
  EXPECT_EQ(said("echo still here"), "still here");
}

TEST_F(SystemChildProcessesTest, KillAllAtOnce) {
  std::vector<Running> all;
  for (int i = 0; i < 5; ++i) all.push_back(start({.command = "trap '' TERM; sleep 1000"}));
  processes->kill_all();
  for (Running& each : all) EXPECT_EQ(each.wait()->signal, SIGKILL);
}

TEST_F(SystemChildProcessesTest, SayThatACommandCouldNotBeStarted) {
  const Result<ChildEnd> end =
      start({.command = "true", .environment = {{"BIG", std::string(1'000'000, 'x')}}}).wait();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::unavailable);
  EXPECT_EQ(end.error().outcome, Outcome::not_applied);
  EXPECT_THAT(end.error().message, HasSubstr("could not be started"));
}

TEST_F(SystemChildProcessesTest, AnswerWhatRunsWhenTheyGo) {
  Running running = start({.command = "sleep 1000"});
  processes.reset();
  EXPECT_EQ(running.wait()->signal, SIGKILL);
  running.child->stop({});
}

}  // namespace
}  // namespace pawl
