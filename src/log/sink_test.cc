// Goal: a line reaches standard error whole and at once; a failure is told, not thrown.
// Method: standard error caught in a file, two threads, and the device that is always full.
#include "log/sink.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/bounds.h"

namespace pawl::log {
namespace {

TEST(StderrSink, WritesOneLineAsItIs) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(stderr_sink()->write("to standard error {} %v"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "to standard error {} %v\n");
}

TEST(StderrSink, KeepsTheLinesOfTwoThreadsApart) {
  const auto sink = stderr_sink();
  // Longer than any buffer on the way, so that a line takes several writes.
  const std::string a(3 * bounds::log_field_bytes_max, 'a');
  const std::string b(3 * bounds::log_field_bytes_max, 'b');
  const auto write = [&](const std::string& line) {
    for (int i = 0; i < 200; ++i) sink->write(line);
  };
  testing::internal::CaptureStderr();
  {
    const std::jthread one(write, a);
    const std::jthread two(write, b);
  }
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);) found.push_back(line);
  EXPECT_EQ(found.size(), 400u);
  EXPECT_EQ(std::ranges::count(found, a), 200);
  EXPECT_EQ(std::ranges::count(found, b), 200);
}

TEST(StderrSink, TellsThatALineWasNotTakenAndGoesOn) {
  const int before = ::dup(STDERR_FILENO);
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_GE(full, 0);
  const auto sink = stderr_sink();
  ::dup2(full, STDERR_FILENO);
  const bool taken = sink->write("line");
  ::dup2(before, STDERR_FILENO);
  ::close(full);
  ::close(before);
  EXPECT_FALSE(taken);

  testing::internal::CaptureStderr();
  EXPECT_TRUE(sink->write("next"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "next\n");
}

}  // namespace
}  // namespace pawl::log
