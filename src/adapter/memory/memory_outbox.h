// MemoryOutbox: deliveries in this process's memory, for tests and simulation.
//
// Contract: Outbox; every call answers before it returns. Nothing survives the process.
// Threads:  any; one lock, never held while `done` runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "pawl/clock.h"
#include "port/outbox.h"

namespace pawl {

class MemoryOutbox final : public Outbox {
 public:
  struct Options {
    std::size_t pending_max = bounds::webhook_pending_max;
    std::size_t ended_max = bounds::webhook_ended_max;
  };
  explicit MemoryOutbox(Clock& clock) : MemoryOutbox(clock, Options{}) {}
  MemoryOutbox(Clock& clock, Options options) : clock_(clock), options_(options) {}

  void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) override;
  void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) override;
  void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
            Done<void> done) override;
  void list(std::size_t limit, std::optional<webhook::State> state,
            Done<std::vector<webhook::Delivery>> done) override;

 private:
  using Key = std::pair<std::string, std::string>;  // endpoint, event

  Result<std::size_t> try_add(std::vector<NewDelivery> deliveries);
  DueDeliveries find_due(const std::string& endpoint, std::size_t limit);
  Result<void> try_save(const Key& key, DeliveryStep step);
  void forget_some();

  Clock& clock_;
  const Options options_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, KeptDelivery> kept_;
  std::map<Key, std::uint64_t> numbers_;
  std::set<std::pair<Instant, std::uint64_t>> ended_;
};

}  // namespace pawl
