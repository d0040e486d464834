// A campaign: the order desk and the code of a venue against its emulated exchange, by virtual
// time, with faults, lost answers, failing disks, clocks that jump, and processes that die.
//
// Contract: run() is a function of the venue and the seed. What must hold is judged by the
//           exchange's own book: at most one accepted order for an intent, no second with two,
//           never more than the weekly limit, no accepted order that pawl does not know or calls
//           rejected, and none that is missing though pawl calls it confirmed. Every caller hears
//           an outcome. An attempt counts for the second in which its first copy arrived.
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
  std::size_t calls = 0;
};

Report run(Against against, std::uint64_t seed);

}  // namespace pawl::campaign
