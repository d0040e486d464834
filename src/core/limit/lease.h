// Lease: allowance of one count that this process took from the store and has not used yet, and
// what the store said last.
//
// Why:      most asks are then decided here, without a trip to the store.
// Contract: pure. A lease holds at most terms.batch units, those under way included. What is taken
//           next grows from 1 to the batch while it is used up in time, and is 1 again when a lease
//           ends with something left or the store refuses: a key that is seldom used costs what it
//           costs without leases, and strands nothing. A refusal is remembered for asks of as
//           much, until it may have changed, and no longer than terms.lease_for. What is left when
//           the store says that the count is closed is forfeited.
#pragma once

#include <cstdint>

#include "core/limit/policy.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct LeaseTerms {
  std::int64_t batch = 1;
  Duration lease_for = Duration::seconds(1);
};

// What the store said to an ask of `units`.
struct Heard {
  Verdict verdict;
  Now told;            // by the store's clocks
  SteadyInstant sent;  // by this process's
  SteadyInstant now;
  std::int64_t units = 0;
};

enum class Standing : std::uint8_t {
  ready,    // there is enough here
  refused,  // the store would not give what is missing
  wanting,  // the store must be asked
};

class Lease {
 public:
  bool known() const { return known_; }
  std::int64_t left() const { return left_; }

  Standing standing(std::int64_t cost, SteadyInstant now) const;
  // What the ask is told when it is ready and charged; the units are used.
  Verdict spend(std::int64_t cost, SteadyInstant now);
  // What it is told when another count refuses; nothing is used.
  Verdict look(SteadyInstant now) const;
  // What it is told when it is refused.
  Verdict refusal(SteadyInstant now) const;

  // The units of a lease that is over: they go back to the store, and are used no more.
  std::int64_t take_ended(SteadyInstant now);
  std::int64_t take_all();
  // How many are to be taken at this moment, before anybody's need is looked at.
  std::int64_t next_take(const LeaseTerms& terms, SteadyInstant now);
  // Little is left, and it is worth taking more before somebody waits for it.
  bool is_low(SteadyInstant now) const;

  // Allowed and charged: heard.units more are here.
  void granted(const Rule& rule, const LeaseTerms& terms, const Heard& heard);
  void refused(const LeaseTerms& terms, const Heard& heard);
  // Another count has refused: nothing was charged.
  void looked_at(const Heard& heard);

  // The store may say otherwise now.
  void forget_refusal() { refused_until_ = {}; }
  // Nothing of it can be told from that of a count nobody has asked for.
  bool is_idle(SteadyInstant now) const;

 private:
  void hear(const Heard& heard);

  Verdict verdict_;  // without what is left here
  Now told_;
  SteadyInstant heard_at_;
  SteadyInstant ends_;
  SteadyInstant window_ends_ = SteadyInstant::max();  // of a calendar: its units end with it
  std::int64_t left_ = 0;
  std::int64_t take_ = 1;
  std::int64_t refused_units_ = 0;  // so many more are not to be had …
  SteadyInstant refused_until_;     // … before, as far as this process knows
  SteadyInstant retry_at_;          // what callers are told
  bool known_ = false;

  friend Now now_of(const Lease& lease, SteadyInstant now);
};

// The store's clocks, as far as a process can tell that heard from it a while ago.
Now now_of(const Lease& lease, SteadyInstant now);

}  // namespace pawl::limit
