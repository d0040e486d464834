// CounterStores: the store of the limits as a configuration asks for it, put together of its parts.
//
//   calendar limits ─▶ limits.calendar_store ─┐
//                                             ├─▶ split ─▶ what the engine asks
//   all others ─▶ limits.store ─▶ leased ─▶ fallback ─┘
//
// Each layer is there only where the configuration needs it.
#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "log/logger.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/entropy.h"

namespace pawl::cli {

class CounterStores {
 public:
  struct Parts {
    Clock& clock;
    Entropy& entropy;
    const log::Logger& logger;
    metrics::Registry& metrics;
  };
  static Result<std::unique_ptr<CounterStores>> open(const config::Limits& limits,
                                                     const Parts& parts);
  ~CounterStores();

  CounterStore& store();
  // Empty, or what works less well than it should, in words.
  std::string degraded() const;
  // Once a second: gives idle leases back, and brings the metrics up to date.
  void tick();
  // The end: waits until all that was asked is answered, gives back what is leased, and ends the
  // stores; bounds::store_drain_deadline is the longest wait. Nobody may ask any more, and whoever
  // asked must still be there: answers come meanwhile.
  void drain();

 private:
  struct Layers;
  explicit CounterStores(std::unique_ptr<Layers> layers);

  std::unique_ptr<Layers> layers_;
};

}  // namespace pawl::cli
