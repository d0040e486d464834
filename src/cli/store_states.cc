#include "cli/store_states.h"

#include <utility>

namespace pawl::cli {
namespace {

using admin::StoreState;
using Health = StoreState::Health;

StoreState probed(const Stores& stores, std::string name) {
  DurabilityProbes::Found found = stores.probes.found(name);
  StoreState state{.name = std::move(name), .seen = std::move(found.seen), .probed = found.at};
  if (found.durability) state.durability = to_string(*found.durability);
  return state;
}

StoreState down(StoreState state, const Result<void>& health) {
  if (health) return state;
  state.health = Health::down;
  state.detail = health.error().message;
  return state;
}

StoreState degraded(StoreState state, const std::string& said) {
  if (said.empty() || state.health == Health::down) return state;
  state.health = Health::degraded;
  state.detail = said;
  return state;
}

}  // namespace

std::vector<StoreState> store_states(const Stores& stores) {
  std::vector<StoreState> out = {
      degraded(down(probed(stores, limits_name), stores.counters.store().health()),
               stores.counters.degraded()),
      down(probed(stores, records_name), stores.records.health()),
      down(probed(stores, audit_name), stores.audit.health())};
  if (stores.orders) out.push_back(degraded(probed(stores, orders_name), *stores.orders));
  if (stores.queue) out.push_back(degraded(probed(stores, queue_name), *stores.queue));
  return out;
}

void add_probes(DurabilityProbes& probes, const config::Config& config, const Opened& opened) {
  probes.add(limits_name, counts_probe(config.limits.store, opened.clock));
  if (config.idempotency.store.kind == StoreSetting::Kind::redis) {
    probes.add(records_name, redis_probe(config.idempotency.store, opened.clock));
  } else {
    probes.note(records_name, {.durability = opened.records.durability(), .seen = when_opened});
  }
  probes.note(audit_name, {.durability = opened.audit, .seen = when_opened});
  if (opened.has_orders) probes.add(orders_name, disk_probe(config.orders.database));
  if (opened.has_queue) probes.add(queue_name, queue_probe(config.queue.url));
}

}  // namespace pawl::cli
