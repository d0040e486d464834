// SeenTenants: whose requests have come, and when the last one did.
//
// Why:      a panel lists tenants that no configuration names; each request notes its own, so it
//           must cost next to nothing.
// Contract: a tenant that is known takes no lock and no memory, and writes once a second. Once it
//           is full, the quarter that was not seen for longest is forgotten. Tenants are told apart
//           by 63 bits of a seeded hash.
// Bounds:   as many tenants as it was made for. A place has 16 bytes; those of 100,000 tenants are
//           131,072, taken at once. Beside it stand the name and one byte.
// Threads:  any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "pawl/time.h"

namespace pawl::gateway {

class SeenTenants {
 public:
  // `seed`: what strangers who choose names must not know.
  explicit SeenTenants(std::uint64_t seed, std::size_t most = bounds::tenants_seen_max);

  // `name` is that of a tenant: no longer than bounds::tenant_bytes_max.
  void note(std::string_view name, Instant now);
  // In no order. The name is good until `visit` returns.
  void for_each(const std::function<void(std::string_view name, Instant last_seen)>& visit) const;
  std::size_t bytes() const;

 private:
  struct Place {
    std::atomic<std::uint64_t> hash = 0;  // 0: nobody's
    std::atomic<std::uint32_t> second = 0;
    std::uint32_t name = 0;  // where it stands in names_
  };
  // One after the other, a byte for its length before each.
  class Names {
   public:
    std::uint32_t add(std::string_view name);
    std::string_view at(std::uint32_t place) const;
    std::size_t bytes() const;

   private:
    std::vector<std::unique_ptr<char[]>> pieces_;
    std::size_t used_ = 0;  // of the last piece
  };

  Place& find(std::uint64_t hash);
  void add(std::string_view name, std::uint64_t hash, std::uint32_t second);
  void put(std::uint64_t hash, std::uint32_t second, std::uint32_t name);
  void forget_oldest();

  const std::uint64_t seed_;
  const std::size_t most_;
  std::vector<Place> places_;
  mutable std::mutex mutex_;  // whoever changes more than `second`
  std::size_t count_ = 0;
  Names names_;
};

}  // namespace pawl::gateway
