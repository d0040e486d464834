// The decision: all policies of one ask together, all charged or none.
//
// Contract: pure. A refused ask leaves every state as it was, to the bit; so does a look (cost 0).
//           The strictest wins: the answer waits for the last policy that would refuse, and for
//           the end of the last closing. A policy in shadow is charged with the others when it has
//           room, tells what it would have said, and changes nothing else. Each state was kept
//           under the rule its policy has now: call carry_over() first where that may differ.
// Clocks:   one that went back leaves states that lie ahead of it. They are brought to now by any
//           ask that does not charge them, even a refused one (each algorithm's rewind()); else
//           every refusal would find them as far ahead as the one before, and nobody would get in
//           until the clock is back where it was. So a store writes whatever has changed, allowed
//           or not. A closing lasts for no longer than bounds::limit_period_max.
// Bounds:   1 to bounds::limit_policies_max policies; cost 0 to bounds::limit_count_max.
#pragma once

#include <span>
#include <string>

#include "core/limit/key.h"
#include "core/limit/policy.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

// One policy, counted for one key.
struct Count {
  const Policy* policy;
  Key key;
};
using Counts = std::span<const Count>;  // 1 to bounds::limit_policies_max, no two of a policy

struct Member {
  const Policy* policy = nullptr;
  State* state = nullptr;
};

Answer decide(std::span<const Member> members, Ask ask, Now now);
// Says for the whole (allowed, binding, retry_after) what the verdicts say each: for answers that
// are put together from several.
void conclude(Counts counts, Answer& answer);

// Which counts an ask has charged, a bit each, the first one's lowest. None when it was refused;
// a shadow that had no room is not among them.
std::uint8_t charged_mask(const Answer& answer);
inline bool is_charged(std::uint8_t mask, std::size_t i) {
  return (mask >> i & 1) != 0;
}

// How what was reserved ends, or goes on.
struct Settlement {
  enum class Kind : std::uint8_t {
    commit,  // `actual` was used: the rest comes back, or what is missing is taken, allowed or not
    cancel,  // nothing was used: all comes back
    renew,   // still at it: the hold and the lease of slots begin anew
  };
  Kind kind = Kind::commit;
  std::int64_t actual = 0;
  Duration hold = {};  // renew
};

// `reserved` is as it was asked for, and when. Slots are for the time of the use: they come back
// whole. False: the lease of the slots that were to be renewed is over, and nothing is changed.
bool settle(const Policy& policy, State& state, Ask reserved, Settlement how, Now now);
// What was charged too much comes back: no more of it than time has not brought back already since
// it was charged, so that never more passes than if it had not been charged at all. Slots come back
// by their holder.
void give_back(const Policy& policy, State& state, Ask ask, Now now);
// Until the state equals that of a key nobody has used.
Duration until_unused(const Rule& rule, const State& state, Now now);
// Brings a state that was kept under `from` under the rule of `to`, as its on_change says. Needs
// state.marks when either rule keeps marks. Nothing that was used gets lost, though there is no
// room for it under the new rule; nor does anybody wait for longer than under either.
//
// What was used counts as used now, so whoever carries over again and again (two programs with two
// rules on one count) makes it last. So a store keeps what was carried over when the ask is
// allowed; when it is refused, only if this says true: under the old rule it would be in use for
// as long, or longer.
bool carry_over(const Rule& from, const Policy& to, State& state, Now now);

}  // namespace pawl::limit
