// Goal: an intent is worked on by one store at a time, and a lock file that was taken away lets
//       nobody begin.
// Method: several stores' locks on one database's name; files deleted and put back.
#include "adapter/sqlite/work_locks.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "tests/temp_folder.h"

namespace pawl {
namespace {

using sqlite::FileId;
using testing::HasSubstr;

class World {
 public:
  World() { std::ofstream(path()).flush(); }

  std::unique_ptr<WorkLocks> opened() {
    auto locks = WorkLocks::open(path()).value();
    const Result<void> claimed = locks->claim(noted);
    EXPECT_TRUE(claimed.has_value()) << claimed.error().message;
    noted = locks->id();
    return locks;
  }
  std::string path() const { return folder / "orders.db"; }

  const TempFolder folder;
  std::optional<FileId> noted;
};

TEST(WorkLocks, GivesAnIntentToOneStoreAtATime) {
  World world;
  std::filesystem::create_directory(world.folder / "sub");
  std::filesystem::create_symlink(world.path(), world.folder / "sub/link.db");
  const auto one = world.opened();
  const auto two = WorkLocks::open(world.folder / "sub/link.db").value();
  EXPECT_TRUE(one->take(1).value());
  EXPECT_FALSE(one->take(1).value()) << "its own callers are two, as well";
  EXPECT_FALSE(two->take(1).value()) << "a link is the same database";
  EXPECT_TRUE(one->holds(1));
  EXPECT_FALSE(two->holds(1));
  two->release(1);
  EXPECT_FALSE(two->take(1).value()) << "it was not its to release";
  one->release(1);
  EXPECT_FALSE(one->holds(1));
  EXPECT_TRUE(two->take(1).value());
}

TEST(WorkLocks, TakesNothingOnceItsFileIsGone) {
  World world;
  const auto locks = world.opened();
  EXPECT_TRUE(locks->take(1).value());
  std::filesystem::remove(world.path() + "-work");
  EXPECT_FALSE(locks->take(2).has_value());
  EXPECT_FALSE(locks->check().has_value());
  locks->release(1);
  EXPECT_FALSE(locks->take(1).has_value());
}

TEST(WorkLocks, LetsNobodyInBesideThoseWhoseFileIsGone) {
  World world;
  auto old = world.opened();
  std::filesystem::remove(world.path() + "-work");
  {
    const auto next = WorkLocks::open(world.path()).value();
    const Result<void> claimed = next->claim(world.noted);
    ASSERT_FALSE(claimed.has_value());
    EXPECT_EQ(claimed.error().code, Code::unavailable);
    EXPECT_THAT(claimed.error().message, HasSubstr("end all of them, then start again"));
  }
  old.reset();
  const auto next = world.opened();
  EXPECT_TRUE(next->take(1).value()) << "nobody is left who could work on it";
  EXPECT_TRUE(world.opened()->take(2).value()) << "and it is the file of all from then on";
}

TEST(WorkLocks, TakesTheFileOfADatabaseThatWasMovedForItsOwn) {
  World world;
  world.noted = FileId{.device = 1, .inode = 2};
  const auto locks = world.opened();
  EXPECT_TRUE(locks->take(1).value());
}

}  // namespace
}  // namespace pawl
