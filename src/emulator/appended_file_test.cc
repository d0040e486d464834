// Goal: what was appended is there again after the file was opened anew, whatever a kill left.
// Method: files in a folder of the test's own.
#include "emulator/appended_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace pawl::emulator {
namespace {

class AppendedFileTest : public testing::Test {
 protected:
  AppendedFileTest() : folder_(::mkdtemp(name_)), path_(folder_ + "/book") {}
  ~AppendedFileTest() override { std::filesystem::remove_all(folder_); }

  AppendedFile opened() {
    Result<AppendedFile> file = AppendedFile::open(path_);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
  std::vector<std::string> kept() { return opened().take_lines(); }

  char name_[32] = "/tmp/appended_file_XXXXXX";
  std::string folder_;
  std::string path_;
};

TEST_F(AppendedFileTest, KeepsItsLines) {
  EXPECT_TRUE(opened().append({"a", "b"}, true));
  EXPECT_TRUE(opened().append({"c"}, false));
  EXPECT_EQ(kept(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(AppendedFileTest, CutsOffALineWithoutItsEnd) {
  EXPECT_TRUE(opened().append({"whole"}, true));
  std::ofstream(path_, std::ios::app) << "torn";
  EXPECT_EQ(kept(), std::vector<std::string>{"whole"});
  EXPECT_TRUE(opened().append({"next"}, true));
  EXPECT_EQ(kept(), (std::vector<std::string>{"whole", "next"}));
}

TEST_F(AppendedFileTest, SaysWhyItCannotBeOpened) {
  const Result<AppendedFile> file = AppendedFile::open(folder_ + "/none/book");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::unavailable);
  EXPECT_NE(file.error().message.find("none/book"), std::string::npos);
}

}  // namespace
}  // namespace pawl::emulator
