// Goal: the configuration that was named is the one in force, and a reload never falls back to
// another. Method: files in a folder of the test's own. tests/e2e covers pawl.yaml in the working
// directory.
#include "cli/configuration.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Configuration : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "pawl_cli_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = (folder_ / "any.yaml").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string file_;
};

TEST_F(Configuration, IsTheOneThatWasNamed) {
  Arguments arguments(*find_verb(all_verbs(), "serve"));
  arguments.set("--config", file_);
  EXPECT_EQ(config_file(arguments), file_);
  EXPECT_EQ(config_name(file_), file_);
  std::ofstream(file_) << "server: {threads: 7}\n";
  EXPECT_EQ(load_config(file_)->server.threads, 7);
}

TEST_F(Configuration, IsTheBuiltInDefaultsWithoutAFile) {
  EXPECT_EQ(config_name(""), "the built-in defaults");
  EXPECT_EQ(load_config("")->server.threads, 0);
}

TEST_F(Configuration, IsReadAgain) {
  std::ofstream(file_) << "server: {threads: 7}\n";
  EXPECT_EQ(reload_config(file_)->server.threads, 7);
}

TEST_F(Configuration, IsNotReplacedByOneThatIsBrokenOrGone) {
  EXPECT_THAT(reload_config(file_).error(), ElementsAre(HasSubstr("cannot be read")));
  std::ofstream(file_) << "one: 1\ntwo: 2\n";
  EXPECT_THAT(reload_config(file_).error(),
              ElementsAre(StartsWith(file_ + ":1: one: "), StartsWith(file_ + ":2: two: ")));
  EXPECT_THAT(reload_config("").error(), ElementsAre(HasSubstr("without a configuration file")));
}

}  // namespace
}  // namespace pawl::cli
