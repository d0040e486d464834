// Past: the versions of a task as bytes, the first one (created) left out.
//
// Why:      a history is written at every step and read by few: a version takes some ten bytes and
//           its texts, and a task that nothing has happened to yet takes none.
// Contract: read() gives what was added, but details are cut at
//           bounds::task_version_detail_bytes_max. At bounds::task_versions_max a quarter goes,
//           behind the first half; not the replays in it.
// Format:   a version: reason (u8), nanoseconds since the task was created (zigzag), and what its
//           reason has: worker; delay, count; detail.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/wire.h"
#include "core/queue/task.h"

namespace pawl::queue {

// The state that a version with this reason has.
Status status_after(Reason reason);

class Past {
 public:
  void add(const Version& version, Instant created);
  History read(Instant created) const;
  std::uint32_t replays() const { return replays_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  void shorten();

  std::string bytes_;
  std::uint32_t count_ = 0;
  std::uint32_t left_out_ = 0;
  std::uint32_t replays_ = 0;  // reckoned from the bytes
};

// A task that nothing has happened to.
History history_of_new(Instant created);

}  // namespace pawl::queue
