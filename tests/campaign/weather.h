// Weather: what goes wrong in a run, and by which rules the exchange plays where nobody knows them.
//
// Contract: a function of the venue, the seed and the dice. Nothing in it breaks what pawl counts
//           on: an order is shown, and a call is done or not, within the settle time; a change is
//           done at once, or not at all.
#pragma once

#include <cstdint>

#include "emulator/core/faults.h"
#include "tests/campaign/agenda.h"
#include "tests/campaign/campaign.h"

namespace pawl::campaign {

// Tokens end within the run, and are kept in a file for all processes.
bool tokens_end(Against against, std::uint64_t seed);

emulator::Script weather_of(Against against, std::uint64_t seed, Dice& dice);

}  // namespace pawl::campaign
