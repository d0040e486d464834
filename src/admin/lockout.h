// Lockout: who may not try another token for now.
//
// Why:      a token that somebody chose by hand can be guessed by a program that asks all day.
// Contract: pure. bounds::lockout_failures wrong tokens of one address within
//           bounds::lockout_window shut it out for bounds::lockout_wait. While it is shut out the
//           right token is refused too: else a guess would still be told by its answer. A right
//           token clears what was counted. IPv6 addresses are one where their first 64 bits are: a
//           network has more of them than anybody could try.
// Bounds:   bounds::lockout_addresses_max addresses; beyond, the one whose last failure is oldest
//           is forgotten.
// Threads:  none.
#pragma once

#include <cstddef>
#include <map>

#include "base/address.h"
#include "pawl/time.h"

namespace pawl::admin {

class Lockout {
 public:
  // Until it may try again; zero: it may now.
  Duration wait(const IpAddress& address, SteadyInstant now) const;
  void failed(const IpAddress& address, SteadyInstant now);
  void succeeded(const IpAddress& address);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    int failures = 0;
    SteadyInstant since;  // of the first failure that is counted
    SteadyInstant last;
    SteadyInstant shut_until;
  };

  void forget_one();

  std::map<IpAddress, Entry> entries_;
};

}  // namespace pawl::admin
