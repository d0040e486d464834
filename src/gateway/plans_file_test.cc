// Goal: plans survive a restart, and a file that makes no sense is told, never passed over.
// Method: a folder of its own; files written by hand.
#include "gateway/plans_file.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bounds.h"

namespace pawl::gateway {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class PlansFileTest : public ::testing::Test {
 protected:
  PlansFileTest()
      : folder(fs::temp_directory_path() / ("pawl_plans_file_test." + std::to_string(getpid()))),
        path(folder / "data" / "plans.json") {
    fs::remove_all(folder);
  }
  ~PlansFileTest() override { fs::remove_all(folder); }

  void put(std::string_view text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  fs::path folder;
  fs::path path;
};

TEST_F(PlansFileTest, GivesWhatWasWritten) {
  EXPECT_EQ(read_plans(path), LivePlans());
  ASSERT_TRUE(write_plans(path, {{"acme", "pro"}, {"a\"b\\", "free"}}));
  EXPECT_THAT(read_plans(path).value(), ElementsAre(Pair("a\"b\\", "free"), Pair("acme", "pro")));
  ASSERT_TRUE(write_plans(path, {{"acme", "free"}}));
  EXPECT_THAT(read_plans(path).value(), ElementsAre(Pair("acme", "free")));
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1) << "nothing is left";
}

TEST_F(PlansFileTest, LeavesTheOldFileWhereTheNewOneCannotBeWritten) {
  ASSERT_TRUE(write_plans(path, {{"acme", "pro"}}));
  fs::create_directories(path.string() + ".next/in the way");
  const Result<void> written = write_plans(path, {{"acme", "free"}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::unavailable);
  EXPECT_THAT(written.error().message, HasSubstr("plans.json"));
  EXPECT_THAT(read_plans(path).value(), ElementsAre(Pair("acme", "pro")));
}

TEST_F(PlansFileTest, SaysWhatIsWrongWithAFile) {
  for (const char* text :
       {"", "{", "[]", "{\"plans\":{\"acme\":\"pro\"}}", "{\"plans\":{},\"version\":2}",
        "{\"version\":1}", "{\"plans\":[],\"version\":1}", "{\"plans\":{\"acme\":1},\"version\":1}",
        "{\"plans\":{\"a b\":\"pro\"},\"version\":1}", "{\"plans\":{\"\":\"pro\"},\"version\":1}",
        "{\"plans\":{\"acme\":\"pro\"},\"version\":1"}) {
    put(text);
    const Result<LivePlans> plans = read_plans(path);
    ASSERT_FALSE(plans) << text;
    EXPECT_EQ(plans.error().code, Code::invalid) << text;
    EXPECT_THAT(plans.error().message, HasSubstr(path.string()));
    EXPECT_THAT(plans.error().message, HasSubstr("put the file right"));
  }
  put("{\"plans\":{\"acme\":\"pro\"},\"version\":1}");
  EXPECT_TRUE(read_plans(path));
}

TEST_F(PlansFileTest, DoesNotTakeAFolderForNoFile) {
  fs::create_directories(path);
  const Result<LivePlans> plans = read_plans(path);
  ASSERT_FALSE(plans);
  EXPECT_EQ(plans.error().code, Code::unavailable);
}

}  // namespace
}  // namespace pawl::gateway
