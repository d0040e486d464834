// FolderSyncs: what was done in a folder gets onto the disk, many at once by one fsync().
//
// Why:      a link or a rename is durable when its folder is synced, and one sync covers all that
//           was done before it began. So those who come while one runs share the next.
// Contract: sync() returns when a sync that began after the call has ended, with its error. After a
//           failed one the folder owes a sync: nobody may believe what it shows before owed() has
//           become false, which the next good sync does. A failed sync may have dropped what it
//           should have written, and the next one may not know: fsync() tells no more than that.
// Threads:  any. sync() blocks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pawl {

class FolderSyncs {
 public:
  // 0, or the errno. `fd` is the folder, open; `folder` its name.
  int sync(const std::string& folder, int fd);
  bool owed(const std::string& folder) const;
  std::vector<std::string> all_owed() const;

 private:
  struct Batch {
    bool done = false;
    int error = 0;
  };
  struct State {
    std::shared_ptr<Batch> next;  // of those who came while another was under way
    std::size_t users = 0;
    bool syncing = false;
    bool owed = false;
  };

  std::atomic<std::size_t> owing_ = 0;  // folders; most of the time there is none
  mutable std::mutex mutex_;            // guards what follows
  std::condition_variable changed_;
  std::map<std::string, State> states_;  // of folders that are in use or owe a sync
};

}  // namespace pawl
