// Goal: many share a sync, nobody gets one that began before his change, and what failed is owed.
// Method: an fsync() that waits and fails on demand.
#include "adapter/directory/folder_syncs.h"

#include <cerrno>
#include <fcntl.h>
#include <future>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "adapter/directory/disk_fixture.h"
#include "adapter/file/descriptor.h"

extern "C" int fsync(int fd) {
  ++pawl::Disk::folder_syncs;
  if (pawl::Disk::before_sync) pawl::Disk::before_sync();
  errno = pawl::Disk::folder_error;
  return errno != 0 ? -1 : static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  ++pawl::Disk::file_syncs;
  errno = pawl::Disk::file_error;
  return errno != 0 ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace pawl {
namespace {

class FolderSyncsTest : public testing::Test {
 protected:
  ~FolderSyncsTest() override {
    Disk::before_sync = nullptr;
    Disk::heal();
  }

  TempFolder folder_;
  Descriptor fd_{::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  FolderSyncs syncs_;
};

TEST_F(FolderSyncsTest, ThoseWhoComeWhileOneRunsShareTheNext) {
  std::promise<void> first_runs;
  std::promise<void> go_on;
  std::atomic<int> began = 0;
  Disk::before_sync = [&] {
    if (began++ > 0) return;
    first_runs.set_value();
    go_on.get_future().wait();
  };
  const int before = Disk::folder_syncs;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { EXPECT_EQ(syncs_.sync("a", fd_.get()), 0); });
  first_runs.get_future().wait();
  std::atomic<int> asked = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ++asked;
      EXPECT_EQ(syncs_.sync("a", fd_.get()), 0);
      ++ended;
    });
  }
  EXPECT_EQ(syncs_.sync("b", fd_.get()), 0) << "another folder waits for nobody";
  while (asked < 8) std::this_thread::yield();
  EXPECT_EQ(ended, 0) << "the one that runs may have begun too early for them";
  go_on.set_value();
  for (std::thread& thread : threads) thread.join();
  // Three, unless one of the eight was slow to get into the queue; ten is one for each.
  EXPECT_GE(Disk::folder_syncs - before, 3);
  EXPECT_LT(Disk::folder_syncs - before, 10);
  EXPECT_TRUE(syncs_.all_owed().empty());
}

TEST_F(FolderSyncsTest, WhatFailedIsOwedUntilASyncGoesWell) {
  EXPECT_FALSE(syncs_.owed("a"));
  Disk::folder_error = EIO;
  EXPECT_EQ(syncs_.sync("a", fd_.get()), EIO);
  EXPECT_EQ(syncs_.sync("a", fd_.get()), EIO);
  EXPECT_TRUE(syncs_.owed("a"));
  EXPECT_FALSE(syncs_.owed("b"));
  Disk::heal();
  EXPECT_EQ(syncs_.sync("b", fd_.get()), 0);
  EXPECT_EQ(syncs_.all_owed(), std::vector<std::string>{"a"}) << "another folder pays nothing";
  EXPECT_EQ(syncs_.sync("a", fd_.get()), 0);
  EXPECT_FALSE(syncs_.owed("a"));
}

TEST_F(FolderSyncsTest, ASyncThatWasInterruptedIsDoneAgain) {
  Disk::folder_error = EINTR;
  Disk::before_sync = [calls = 0]() mutable {
    if (++calls == 3) Disk::heal();
  };
  EXPECT_EQ(syncs_.sync("a", fd_.get()), 0);
}

}  // namespace
}  // namespace pawl
