// How the stores of a running pawl are, one by one, for who watches: their health as they tell it,
// and their durability as it was last probed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admin/context.h"
#include "cli/counter_stores.h"
#include "cli/durability_probes.h"
#include "config/config.h"
#include "port/event_sink.h"
#include "port/record_store.h"

namespace pawl::cli {

inline constexpr const char* limits_name = "Limits";
inline constexpr const char* records_name = "Idempotency";
inline constexpr const char* audit_name = "Audit log";
inline constexpr const char* orders_name = "Orders";
inline constexpr const char* queue_name = "Queue";
inline constexpr const char* when_opened = "found when it was opened";

struct Stores {
  const DurabilityProbes& probes;
  CounterStores& counters;
  RecordStore& records;
  EventSink& audit;
  // What works less well, empty where nothing does; nothing: there are none here.
  std::optional<std::string> orders = {};
  std::optional<std::string> queue = {};
};
std::vector<admin::StoreState> store_states(const Stores& stores);

// What there is to probe, by the settings of the start: stores do not change without one.
struct Opened {
  Clock& clock;
  const RecordStore& records;
  Durability audit;  // as it was found
  bool has_orders = false;
  bool has_queue = false;
};
void add_probes(DurabilityProbes& probes, const config::Config& config, const Opened& opened);

}  // namespace pawl::cli
