// DirectoryObjectStore: the objects are files below a folder ("dir:PATH"), shared by all processes
// that can reach it.
//
// Contract: as ObjectStore. What the files are, how a name is created once, what a tag is and what
//           survives what: object_files.h. A local disk; on a network file system it is as good as
//           that one's link(), rename(), flock() and fsync().
// Time:     samples are the times that the file system gave to what was written, in ticks of some
//           milliseconds. There is one from the start, where a file can be made: a clock that is
//           wrong would do its damage with the first thing that is written.
// Bounds:   bounds::directory_calls_max calls wait for a thread; one more fails at once with
//           unavailable, not_applied.
// Threads:  any. `done` is called by a thread of the store, or by the caller when the call is
//           refused at once; it must not destroy the store. The destructor answers all that waits.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapter/directory/directory_watch.h"
#include "adapter/directory/io_threads.h"
#include "adapter/directory/object_files.h"
#include "base/bounds_queue.h"
#include "pawl/clock.h"
#include "port/object_store.h"

namespace pawl {

struct DirectoryOptions {
  std::string path = {};  // made where it is missing, for its owner alone
  std::size_t threads = 8;
  std::size_t calls_max = bounds::directory_calls_max;
};

class DirectoryObjectStore final : public ObjectStore {
 public:
  // `clock` must outlive the store.
  static Result<std::unique_ptr<DirectoryObjectStore>> open(DirectoryOptions options, Clock& clock);

  void put(PutObject put, Done<PutAnswer> done) override;
  void get(GetObject get, Done<Object> done) override;
  void list(ListObjects list, Done<Listing> done) override;
  void remove(std::vector<std::string> names, Done<void> done) override;
  std::unique_ptr<ObjectWatch> watch(std::string folder, std::function<void()> changed) override;

  std::optional<TimeSample> time_sample() const override;
  RequestCounts counts() const override;
  std::string name() const override { return "dir:" + options_.path; }

 private:
  DirectoryObjectStore(DirectoryOptions options, std::unique_ptr<ObjectFiles> files, Clock& clock);

  // Has `work` done by a thread and its result handed to `done`.
  template <class T, class Work>
  void run(Done<T> done, Work work);
  void sample(Instant written, Instant asked);

  const DirectoryOptions options_;
  const std::unique_ptr<ObjectFiles> files_;
  Clock& clock_;

  mutable std::mutex mutex_;  // guards what follows
  RequestCounts counts_;
  std::optional<TimeSample> sample_;

  DirectoryWatch watch_;
  IoThreads threads_;  // last: what they do ends before the rest does
};

}  // namespace pawl
