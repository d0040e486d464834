// What the tests of this folder share: a disk that fails on demand.
#pragma once

#include <atomic>
#include <sys/stat.h>

#include "tests/temp_folder.h"
#include "tests/without_privilege.h"

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

}  // namespace pawl
