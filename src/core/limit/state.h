// What a policy remembers of one key, and the time it is measured in.
//
// Why:      every store keeps the same few numbers, whatever it is made of, so one pure decision
//           serves memory, SQLite and Redis, and a decision can be shown again from what was kept.
// Contract: a state of all zeros and no marks is that of a key nobody has used. What the numbers
//           mean is the algorithm's business (token_bucket.h, sliding_window.h, calendar.h for the
//           cell; sliding_log.h, concurrency.h for the marks).
#pragma once

#include <cstdint>
#include <vector>

#include "pawl/time.h"

namespace pawl::limit {

// A point on the timeline of the store that keeps the counts: steady time in memory, the server's
// clock where several processes share it. It never mixes with the world's clock by accident. It is
// not before zero, the moment of a state that nobody has used.
struct StoreTimeline;
using Moment = TimePoint<StoreTimeline>;

// One reading of both clocks. Calendar windows follow the world's, everything else the store's.
struct Now {
  Moment moment;
  Instant wall;
};

struct Cell {
  std::int64_t a = 0;
  std::int64_t b = 0;
  bool operator==(const Cell&) const = default;
};

// One use that is remembered by itself. Kept in the order of `at`.
struct Mark {
  Moment at;  // sliding_log: when it was used; concurrency: when the slot comes back
  std::int64_t cost = 0;
  std::uint64_t holder = 0;  // whose slot it is; sliding_log: whose reservation, 0 for a plain use
  bool operator==(const Mark&) const = default;
};
using Marks = std::vector<Mark>;

// What is asked of a policy, or given back to it.
struct Ask {
  std::int64_t cost = 1;
  std::uint64_t holder = 0;  // to whom slots are lent, or whose reservation it is; 0: nobody's
  Now charged = {};          // when it was charged, for what is given back
};

struct State {
  Cell cell = {};
  Moment closed_until = {};   // nothing passes before
  Marks* marks = nullptr;     // of the algorithms that keep some; owned by the store
  Duration carried_for = {};  // not kept: carry_over() says how long its old rule has it in use
};

}  // namespace pawl::limit
