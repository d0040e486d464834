// Goal: a byte is locked by one at a time, and a file that was taken away is noticed.
// Method: several LockFiles of one process; a child that is killed; a real folder.
#include "adapter/sqlite/lock_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/temp_folder.h"

namespace pawl::sqlite {
namespace {

using testing::HasSubstr;

std::unique_ptr<LockFile> opened(const std::string& path) {
  return LockFile::open(path).value();
}

TEST(LockFile, LocksAByteForOneAtATime) {
  const TempFolder folder;
  const auto one = opened(folder / "lock");
  const auto two = opened(folder / "lock");
  EXPECT_TRUE(one->try_lock(7).value());
  EXPECT_TRUE(one->try_lock(7).value()) << "its own";
  EXPECT_FALSE(two->try_lock(7).value()) << "also within one process";
  EXPECT_TRUE(two->try_lock(8).value()) << "another byte";
  one->unlock(7);
  EXPECT_TRUE(two->try_lock(7).value());
  EXPECT_FALSE(one->try_lock(8).value());
  EXPECT_EQ(std::filesystem::file_size(folder / "lock"), 0u);
}

TEST(LockFile, LetsGoWithItsOwnerAndNotWithADescriptorBesideIt) {
  const TempFolder folder;
  const auto one = opened(folder / "lock");
  {
    const auto two = opened(folder / "lock");
    EXPECT_TRUE(two->try_lock(1).value());
    EXPECT_TRUE(one->try_lock(2).value());
    std::ifstream(folder / "lock").get();
    EXPECT_FALSE(one->try_lock(1).value());
  }
  EXPECT_TRUE(one->try_lock(1).value());
  EXPECT_FALSE(opened(folder / "lock")->try_lock(2).value());
}

TEST(LockFile, LetsGoWhenItsProcessIsKilled) {
  const TempFolder folder;
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // should the parent die
    const auto file = opened(folder / "lock");
    const bool locked = file->try_lock(1).value();
    if (::write(pipe[1], &locked, 1) == 1) ::pause();
    ::_exit(1);
  }
  bool locked = false;
  ASSERT_EQ(::read(pipe[0], &locked, 1), 1);
  EXPECT_TRUE(locked);
  const auto mine = opened(folder / "lock");
  EXPECT_FALSE(mine->try_lock(1).value());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(mine->try_lock(1).value());
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(LockFile, NoticesThatItWasTakenAway) {
  const TempFolder folder;
  const std::string path = folder / "lock";
  const auto file = opened(path);
  EXPECT_TRUE(file->check().has_value());
  std::filesystem::rename(path, folder / "elsewhere");
  EXPECT_THAT(file->check().error().message, HasSubstr("was deleted or replaced while in use"));
  const auto other = opened(path);
  EXPECT_FALSE(file->check().has_value()) << "another file is in its place";
  EXPECT_TRUE(other->check().has_value());
  std::filesystem::rename(folder / "elsewhere", path);
  EXPECT_TRUE(file->check().has_value());
  EXPECT_FALSE(other->check().has_value());
}

TEST(LockFile, KnowsAFileByMoreThanItsName) {
  const TempFolder folder;
  std::ofstream(folder / "a").flush();
  std::filesystem::create_symlink("a", folder / "link");
  EXPECT_EQ(real_path(folder / "link").value(), real_path(folder / "a").value());
  EXPECT_EQ(id_of(folder / "link").value(), id_of(folder / "a").value());
  EXPECT_EQ(real_path(folder / "b").error().code, Code::unavailable);
  EXPECT_EQ(id_of(folder / "b").error().code, Code::unavailable);
  std::filesystem::create_hard_link(folder / "a", folder / "b");
  EXPECT_THAT(id_of(folder / "a").error().message, HasSubstr("leave it one name"));
}

TEST(LockFile, SaysThatItCannotBeMade) {
  const TempFolder folder;
  const auto failed = LockFile::open(folder / "missing/lock");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::unavailable);
  EXPECT_THAT(failed.error().message, HasSubstr(folder / "missing/lock"));
}

}  // namespace
}  // namespace pawl::sqlite
