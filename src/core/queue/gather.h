// Gather: when those who wait for a commit have waited long enough for others to share it.
//
// Why:      a commit costs a sync, or a request that is paid for, however much it holds.
// Contract: pure. At once where nobody else is to be expected: when the last commit had one caller,
//           when so many wait as `enough` says, or when nobody has come for a `gap`; in any case
//           when the first has waited for the `window`.
//           Who is patient (a worker that tells how tasks ended) asks for no commit of his own
//           while others follow each other, and goes along with the next one; but not later than
//           two windows after he came: within that, one that gathers has gone.
// Time:     comes in.
#pragma once

#include <array>
#include <cstddef>

#include "core/queue/command.h"
#include "pawl/time.h"

namespace pawl::queue {

struct GatherTerms {
  Duration window = {};    // zero: nobody waits for others
  Duration gap = {};       // those who come at all come so soon after one another
  std::size_t enough = 0;  // commands; zero: as many callers as the last commit had
};

// Those who wait.
struct Gathered {
  std::size_t callers = 0;
  std::size_t patient = 0;  // of those
  std::size_t commands = 0;
  SteadyInstant first = {};  // who has waited longest came then …
  SteadyInstant last = {};   // … and the last one then
};

class Gather {
 public:
  explicit Gather(const GatherTerms& terms) : terms_(terms) {}

  // When they are to go, if nobody else comes: now, or later. Precondition: somebody waits.
  SteadyInstant due(const Gathered& waiting, SteadyInstant now) const;
  void went(const Gathered& batch, SteadyInstant now);

 private:
  static constexpr std::size_t remembered = 4;
  bool busy(SteadyInstant now) const;

  const GatherTerms terms_;
  std::size_t last_callers_ = 0;  // of the last batch, without the patient ones
  std::array<SteadyInstant, remembered> went_ = {};
  std::size_t batches_ = 0;
};

// Whether the caller who gives this is patient.
bool is_patient(const std::vector<Command>& commands);

}  // namespace pawl::queue
