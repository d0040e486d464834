// What the tests of this folder share: a disk that fails on demand, and a process without rights.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/temp_folder.h"

namespace pawl {

// database_test.cc puts its own pwrite64() and fdatasync() in front of the C library's: SQLite
// writes and syncs through them, and they look here.
struct Disk {
  static inline std::atomic<int> steps = 0;              // writes and syncs so far
  static inline std::atomic<int> syncs = 0;              // of which syncs
  static inline std::atomic<bool> ended_synced = false;  // the last step was a sync
  static inline std::atomic<int> fail_from = 0;          // this step fails; 0: none
  static inline std::atomic<int> fail_until = 0;         // and those up to here

  // The next `after`-th step fails, and `more` behind it.
  static void fail(int after, int more = 0) {
    fail_until = steps + after + more;
    fail_from = steps + after;
  }
  static void heal() { fail_from = 0; }
  static bool failing(int step) {
    return fail_from != 0 && step >= fail_from && step <= fail_until;
  }
};

// Root may write anywhere; while this lives, this process is nobody.
class WithoutPrivilege {
 public:
  WithoutPrivilege() { EXPECT_TRUE(!was_root_ || ::seteuid(65534) == 0); }
  WithoutPrivilege(const WithoutPrivilege&) = delete;
  WithoutPrivilege& operator=(const WithoutPrivilege&) = delete;
  ~WithoutPrivilege() { EXPECT_TRUE(!was_root_ || ::seteuid(0) == 0); }

 private:
  const bool was_root_ = ::geteuid() == 0;
};

}  // namespace pawl
