// DurabilityProbes: what the stores of a running pawl survive, as it was found when they were last
// asked.
//
// Why:      a server may be away when pawl starts, or be set up otherwise while it runs; a claim of
//           durability is worth what it was found by, and when.
// Contract: probe() asks all, and waits for them; between begin() and the end a thread of its own
//           does so once a minute. A store that cannot be asked keeps what was found last, with the
//           instant of that.
// Threads:  any.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "config/config.h"
#include "pawl/clock.h"
#include "pawl/durability.h"

namespace pawl::cli {

class DurabilityProbes {
 public:
  struct Found {
    std::optional<Durability> durability = {};  // nothing: that is not for us to see
    std::string seen = {};                      // for people: what that was found by
    Instant at = {};
  };
  using Probe = std::function<Result<Found>()>;  // `at` is filled in

  explicit DurabilityProbes(Clock& clock) : clock_(clock) {}
  ~DurabilityProbes();
  DurabilityProbes(const DurabilityProbes&) = delete;
  DurabilityProbes& operator=(const DurabilityProbes&) = delete;

  // Before begin().
  void add(std::string name, Probe probe);
  // As it was found now, once and for all.
  void note(std::string name, Found found);
  void begin();
  void probe();
  Found found(const std::string& name) const;

 private:
  void probe_until_the_end();

  Clock& clock_;
  std::map<std::string, Probe> probes_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable ending_;
  bool is_ending_ = false;
  std::map<std::string, Found> found_;
  std::thread prober_;
};

// Of a file, or a folder of them, that is synced before anything is acknowledged.
DurabilityProbes::Probe disk_probe(std::string path);
// Of the server, asked anew on a connection of its own.
DurabilityProbes::Probe redis_probe(const StoreSetting& store, Clock& clock);
// Of the counts of limits, and of the tasks of a queue, as their settings name them.
DurabilityProbes::Probe counts_probe(const StoreSetting& store, Clock& clock);
DurabilityProbes::Probe queue_probe(const std::string& url);

}  // namespace pawl::cli
