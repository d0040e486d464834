// Goal: a line reaches its file or standard error whole and at once; a failure is told, not
//       thrown.
// Method: real files in a fresh folder, two threads, and the device that is always full.
#include "log/sink.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "base/bounds.h"

namespace pawl::log {
namespace {

using testing::ElementsAre;

class FileSink : public testing::Test {
 protected:
  FileSink() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pawl_log_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileSink() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "pawl.log").string(); }
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) found.push_back(line);
    return found;
  }

  std::filesystem::path folder_;
};

TEST_F(FileSink, HasTheLineInTheFileWhenWriteReturns) {
  const auto sink = file_sink(path()).value();
  EXPECT_TRUE(sink->write("first {} %v"));
  EXPECT_THAT(lines(), ElementsAre("first {} %v"));
}

TEST_F(FileSink, AppendsToWhatIsThere) {
  EXPECT_TRUE(file_sink(path()).value()->write("first"));
  EXPECT_TRUE(file_sink(path()).value()->write("second"));
  EXPECT_THAT(lines(), ElementsAre("first", "second"));
}

TEST_F(FileSink, KeepsTheLinesOfTwoThreadsApart) {
  const auto sink = file_sink(path()).value();
  // Longer than any buffer on the way, so that a line takes several writes.
  const std::string a(3 * bounds::log_field_bytes_max, 'a');
  const std::string b(3 * bounds::log_field_bytes_max, 'b');
  const auto write = [&](const std::string& line) {
    for (int i = 0; i < 200; ++i) sink->write(line);
  };
  {
    const std::jthread one(write, a);
    const std::jthread two(write, b);
  }
  const auto found = lines();
  EXPECT_EQ(found.size(), 400u);
  EXPECT_EQ(std::count(found.begin(), found.end(), a), 200);
  EXPECT_EQ(std::count(found.begin(), found.end(), b), 200);
}

TEST_F(FileSink, SaysWhyItCannotOpen) {
  const auto sink = file_sink(folder_.string());
  ASSERT_FALSE(sink.has_value());
  EXPECT_EQ(sink.error().code, Code::unavailable);
  EXPECT_THAT(sink.error().message, testing::HasSubstr(folder_.string()));
  EXPECT_THAT(sink.error().message, testing::HasSubstr("Is a directory"));
}

TEST(FullDisk, IsToldAndNotThrown) {
  const auto sink = file_sink("/dev/full").value();
  EXPECT_FALSE(sink->write("line"));
}

TEST(StderrSink, WritesOneLine) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(stderr_sink()->write("to standard error"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "to standard error\n");
}

}  // namespace
}  // namespace pawl::log
