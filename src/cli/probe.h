// A look at the network from the outside: is an address free to listen on, does somebody answer
// there?
//
// Why:      pawl's own listeners share their port (one a thread), and the system lets a second pawl
//           of the same user share it too. Then two processes would count half of the traffic each,
//           so before listening pawl asks whether anybody is there.
// Contract: leaves nothing behind. May block, for probe_deadline at most where a deadline is said.
#pragma once

#include <string>
#include <string_view>

#include "base/address.h"
#include "net/loop.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::cli {

inline constexpr Duration probe_deadline = Duration::seconds(2);

// False: another program listens there. An error: nobody may listen there, whoever is there or not.
Result<bool> is_free(const Endpoint& endpoint);

// Fails with what to do when `endpoint` is not free. `setting` is where it comes from
// ("server.listen").
Result<void> require_free(const Endpoint& endpoint, std::string_view setting);

// Connects and closes.
Result<void> reach(const net::Target& target);

// Sends the request and gives all that comes back until the other side closes or the deadline is
// over.
Result<std::string> ask(const net::Target& target, std::string_view request);

}  // namespace pawl::cli
