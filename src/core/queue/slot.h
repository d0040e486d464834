// Slot: a task as the machine keeps it, and what stands behind its numbers.
//
// Why:      a million tasks must fit: names are numbers, texts that most tasks lack stand apart,
//           and a history is bytes (past.h).
// Threads:  one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "core/queue/gate.h"
#include "core/queue/past.h"
#include "core/queue/place_heap.h"
#include "core/queue/task.h"
#include "core/retry/policy.h"

namespace pawl::queue {

// Bytes that stay as they are; half the size of a string.
class Blob {
 public:
  Blob() = default;
  explicit Blob(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
    if (text.empty()) return;
    bytes_ = std::make_unique_for_overwrite<char[]>(text.size());
    std::memcpy(bytes_.get(), text.data(), text.size());
  }
  std::string_view view() const { return {bytes_.get(), size_}; }
  std::string text() const { return std::string(view()); }

 private:
  std::unique_ptr<char[]> bytes_;
  std::uint32_t size_ = 0;
};

// What ended the last claim: the same command, given again, gets the same answer.
enum class Ended : std::uint8_t { no_claim, complete, fail, reschedule, lease, replay };

struct Cold {
  Blob unique;
  // Of the input it was submitted with, once a reschedule has put another in its place: whoever
  // submits the same again means this task.
  std::optional<Hash128> first_input;
  Blob output;
  Blob last_error;
  Blob cancelled_by;
};

struct Slot {
  TaskId id;
  Status status = Status{};  // none: free
  std::int8_t priority = 0;
  Ended ended = Ended::no_claim;
  bool due : 1 = false;  // pending, and its time has come
  bool cancel_requested : 1 = false;
  bool counts_reschedules : 1 = false;  // has a maximum of them
  std::uint32_t type = 0;
  std::uint32_t key = 0;     // 0: none
  std::uint32_t worker = 0;  // 0: never claimed
  std::uint32_t rule = 0;
  std::uint32_t max_retries = 0;
  std::uint32_t max_reschedules = 0;
  std::uint32_t attempt = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t reschedule_count = 0;
  std::uint64_t fence = 0;
  std::uint64_t arrival = 0;  // anew whenever it becomes pending; never twice
  Instant created;
  Instant available;
  Instant updated;
  Instant expires = Instant::max();  // that: never
  Instant claimed;                   // while it runs
  Instant until;                     // running: the end of the lease; over: since when
  Duration timeout;
  Blob input;
  std::unique_ptr<Past> past;  // none: created, and no more
  std::unique_ptr<Cold> cold;
};

// Tasks of a key that had to wait at its gate, in one type.
struct Lane {
  enum class Wait : std::uint8_t { none, time, end_of_another };
  std::uint32_t type = 0;
  std::uint32_t key = 0;
  std::uint32_t place = 0;  // among the lanes of its type
  Wait wait = Wait::none;
  Instant until;  // of a wait for time
  Place placed;   // where it stands among the lanes without a wait
  PlaceHeap<Higher> places;
};

struct OpenLane {
  Place place;
  std::uint32_t lane = 0;
  bool operator<(const OpenLane& other) const { return Higher()(place, other.place); }
};

struct KeyState {
  std::string name;
  std::uint32_t uses = 0;  // tasks
  std::uint32_t running = 0;
  std::uint32_t due = 0;
  bool limited = false;  // has a limit of its own
  std::vector<std::uint32_t> lanes;
  std::unique_ptr<Gate> gate;  // none: open
};

struct TypeState {
  std::string name;
  std::uint32_t uses = 0;
  std::uint32_t worker = 0;  // the last one that claimed
  std::uint32_t due = 0;
  std::uint32_t gone = 0;  // places whose tasks are elsewhere, at the most
  std::int8_t lowest = std::numeric_limits<std::int8_t>::max();  // priority of what is due
  bool limited = false;
  bool alarmed = false;
  Instant alarm;  // when the first of `waiting` is due
  std::array<std::uint32_t, 7> counts = {};
  std::unique_ptr<Gate> gate;
  PlaceHeap<Sooner> waiting;  // not due
  PlaceHeap<Higher> ready;    // due, and not in a lane
  std::vector<std::uint32_t> lanes;
  std::set<OpenLane> open;
  std::set<std::pair<Instant, std::uint32_t>> blocked;  // lanes that wait for time

  std::uint32_t& count(Status status) { return counts[static_cast<std::size_t>(status)]; }
  std::uint32_t count(Status status) const { return counts[static_cast<std::size_t>(status)]; }
};

struct WorkerName {
  std::string name;
  std::uint32_t uses = 0;
};

struct KeptRule {
  std::string name;  // its bytes
  std::uint32_t uses = 0;
  RetryRule rule;
  retry::Policy policy;
};

}  // namespace pawl::queue
