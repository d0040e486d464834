// What the tests of this folder share: a disk that fails and waits on demand.
#pragma once

#include <atomic>
#include <functional>

#include "tests/temp_folder.h"

namespace pawl {

// folder_syncs_test.cc puts its own fsync() and fdatasync() in front of the C library's; they look
// here. Folders are synced by the first, files by the second.
struct Disk {
  static inline std::atomic<int> folder_error = 0;  // of fsync(); 0: none
  static inline std::atomic<int> file_error = 0;    // of fdatasync()
  static inline std::atomic<int> folder_syncs = 0;  // so far
  static inline std::atomic<int> file_syncs = 0;
  static inline std::function<void()> before_sync;  // of a folder

  static void heal() {
    folder_error = 0;
    file_error = 0;
  }
};

}  // namespace pawl
