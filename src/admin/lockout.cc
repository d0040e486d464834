#include "admin/lockout.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl::admin {
namespace {

IpAddress group_of(const IpAddress& address) {
  if (address.is_v4()) return address;
  std::array<std::uint8_t, 16> bytes = address.bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return IpAddress::v6(bytes);
}

}  // namespace

Duration Lockout::wait(const IpAddress& address, SteadyInstant now) const {
  const auto found = entries_.find(group_of(address));
  if (found == entries_.end()) return {};
  return std::max(found->second.shut_until - now, Duration());
}

void Lockout::failed(const IpAddress& address, SteadyInstant now) {
  const IpAddress group = group_of(address);
  if (entries_.size() >= bounds::lockout_addresses_max && !entries_.contains(group)) forget_one();
  Entry& entry = entries_[group];
  if (entry.failures == 0 || now - entry.since >= bounds::lockout_window) {
    entry.failures = 0;
    entry.since = now;
  }
  entry.last = now;
  if (++entry.failures < bounds::lockout_failures) return;
  entry.failures = 0;
  entry.shut_until = now + bounds::lockout_wait;
}

void Lockout::succeeded(const IpAddress& address) {
  entries_.erase(group_of(address));
}

void Lockout::forget_one() {
  entries_.erase(
      std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.last; }));
}

}  // namespace pawl::admin
