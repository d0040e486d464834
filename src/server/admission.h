// Admission: how many clients may be connected at once, in all and from one address.
//
// Why:      connections are cheap for who opens them. Without a bound a single client could take
//           every place there is.
// Contract: whoever is let in gets a place, and leaves by giving it up. Addresses of IPv6 are one
//           client as far as they share their first `ipv6_prefix` bits. A proxy that speaks for
//           many is named in `excepted`: it is counted in all, but not by its address.
// Bounds:   an entry for each address that is connected.
// Threads:  any; all loops share one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/bounds.h"

namespace pawl::server {

class Admission {
 public:
  struct Rule {
    std::int64_t connections = static_cast<std::int64_t>(bounds::connections_max);
    std::int64_t per_address = static_cast<std::int64_t>(bounds::connections_max);
    std::vector<Prefix> excepted = {};
    int ipv6_prefix = 64;
  };

  // One connection; the admission outlives it.
  class Place {
   public:
    Place(Admission& admission, const IpAddress& client)
        : admission_(&admission), client_(client) {}
    Place(Place&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)), client_(other.client_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (admission_ != nullptr) admission_->leave(client_);
    }

   private:
    Admission* admission_;
    IpAddress client_;  // as it was counted: a rule may change while it is here
  };

  explicit Admission(Rule rule);

  // From now on. Nobody who is in is sent away.
  void change(Rule rule);
  // Nothing: there is no room.
  std::optional<Place> enter(const IpAddress& address);

  std::int64_t connections() const { return connections_; }
  std::uint64_t turned_away() const { return turned_away_; }

 private:
  bool has_room(const IpAddress& client, const IpAddress& address) const;
  void leave(const IpAddress& client);

  mutable std::mutex mutex_;
  Rule rule_;
  std::map<IpAddress, std::int64_t> by_client_;
  std::atomic<std::int64_t> connections_ = 0;
  std::atomic<std::uint64_t> turned_away_ = 0;
};

}  // namespace pawl::server
