// DirectoryWatch: calls when something got a name in a folder, by inotify.
//
// Contract: as ObjectStore::watch(). One thread serves all watches of a store; it starts with the
//           first.
// Threads:  any. Nobody is called with a lock held: a call may do anything with this store but
//           block, and may end its own watch. Ending one from elsewhere waits for a call of it that
//           runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapter/file/descriptor.h"
#include "port/object_store.h"

namespace pawl {

class DirectoryWatch {
 public:
  DirectoryWatch() = default;
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;
  ~DirectoryWatch();

  // None: the kernel gives no more of them, or not for this folder.
  std::unique_ptr<ObjectWatch> watch(const std::string& path, std::function<void()> changed);

 private:
  class Handle;
  struct Watched {
    int folder = -1;  // the kernel's number; the same for all who watch one folder
    std::shared_ptr<const std::function<void()>> changed;
  };

  bool start();
  void tell();
  std::vector<std::uint64_t> changed_ones();
  void end(std::uint64_t id);

  std::mutex mutex_;  // guards what follows
  std::condition_variable called_;
  std::uint64_t calling_ = 0;  // the watch that is being called; zero: none
  Descriptor events_{-1};
  Descriptor close_{-1};
  std::map<std::uint64_t, Watched> watched_;
  std::uint64_t last_id_ = 0;
  std::thread thread_;
};

}  // namespace pawl
