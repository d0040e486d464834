// A campaign: the order desk and the code of a venue against its emulated exchange, by virtual
// time, with faults, lost answers, failing disks, clocks that jump, and processes that die.
//
// Contract: run() is a function of the venue and the seed. Orders are placed alone and in batches,
//           some to reduce; those that stand are modified and canceled. What must hold is judged by
//           the exchange's own book (facts.h). Most runs keep their intents in memory, some in a
//           SQLite file; in some of those on Saxo, tokens end.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::campaign {

enum class Against : std::uint8_t { saxo, okx };

struct Report {
  std::vector<std::string> broken = {};  // what did not hold, for people
  // What the run was made of, so that a campaign that tests nothing shows.
  std::size_t intents = 0;
  std::size_t accepted = 0;
  std::size_t adopted = 0;  // of unknown outcome, found by a reading
  std::size_t resent = 0;   // attempts after the first
  std::size_t rejected = 0;
  std::size_t denied = 0;
  std::size_t unresolved = 0;  // at the end
  std::size_t kills = 0;
  std::size_t batches = 0;
  std::size_t reducing = 0;  // accepted
  std::size_t modified = 0;  // that their callers heard were
  std::size_t canceled = 0;  // likewise
  std::size_t doubtful = 0;  // changes of which nobody knew in the end
  std::size_t renewals = 0;  // of tokens
  std::size_t on_disk = 0;   // 1: with SQLite
  std::size_t calls = 0;
};

Report run(Against against, std::uint64_t seed);

}  // namespace pawl::campaign
