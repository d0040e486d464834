#include "server/admission.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pawl::server {
namespace {

// The address that stands for all that are one client.
IpAddress client_of(const IpAddress& address, int ipv6_prefix) {
  return address.is_v4() ? address : prefix_of(address, ipv6_prefix).address;
}

}  // namespace

Admission::Admission(Rule rule) : rule_(std::move(rule)) {}

void Admission::change(Rule rule) {
  const std::lock_guard lock(mutex_);
  rule_ = std::move(rule);
}

std::optional<Admission::Place> Admission::enter(const IpAddress& address) {
  const std::lock_guard lock(mutex_);
  const IpAddress client = client_of(address, rule_.ipv6_prefix);
  if (!has_room(client, address)) {
    ++turned_away_;
    return std::nullopt;
  }
  ++connections_;
  ++by_client_[client];
  return Place(*this, client);
}

bool Admission::has_room(const IpAddress& client, const IpAddress& address) const {
  if (connections_ >= rule_.connections) return false;
  const auto known = by_client_.find(client);
  if (known == by_client_.end() || known->second < rule_.per_address) return true;
  return std::ranges::any_of(rule_.excepted,
                             [&address](const Prefix& prefix) { return prefix.contains(address); });
}

void Admission::leave(const IpAddress& client) {
  const std::lock_guard lock(mutex_);
  const auto known = by_client_.find(client);
  PAWL_ASSERT(known != by_client_.end() && connections_ > 0);
  --connections_;
  if (--known->second == 0) by_client_.erase(known);
}

}  // namespace pawl::server
