// Goal: a signal ends the work in good order, and a second one ends the process with a word.
// Method: this process signals itself; a death test for the second.
#include "cli/interruption.h"

#include <csignal>
#include <future>
#include <gtest/gtest.h>
#include <unistd.h>

namespace pawl::cli {
namespace {

TEST(Interruption, CallsOnceWhenASignalComes) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::promise<void> heard;
    const Interruption interruption([&] { heard.set_value(); });
    std::raise(signal);
    heard.get_future().wait();
  }
}

TEST(InterruptionDeathTest, EndsTheProcessAtTheSecondSignal) {
  const auto interrupt_twice = [] {
    const Interruption interruption([] { std::raise(SIGINT); });
    std::raise(SIGINT);
    for (;;) ::pause();
  };
  EXPECT_EXIT(interrupt_twice(), ::testing::ExitedWithCode(4), "ended at once");
}

}  // namespace
}  // namespace pawl::cli
