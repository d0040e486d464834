#include "cli/durability_probes.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "adapter/redis/record_key.h"
#include "adapter/redis/redis_client.h"
#include "adapter/redis/redis_durability.h"
#include "adapter/sqlite/power_cut.h"
#include "base/queue_url.h"
#include "base/redis_url.h"

namespace pawl::cli {
namespace {

using Found = DurabilityProbes::Found;

constexpr auto probe_every = std::chrono::minutes(1);
constexpr Duration patience = Duration::seconds(2);

Result<Found> found_at_redis(const Secret<std::string>& text, Clock& clock) {
  const redis::RedisUrl url = PAWL_TRY(redis::parse_redis_url(text.reveal()));
  const auto client = PAWL_TRY(redis::Client::make(url, clock));
  std::vector<std::string> keys;  // so many that every server of a cluster has one
  for (int group = 0; group < (url.cluster ? redis::record_groups : 1); ++group) {
    keys.push_back(redis::fence_key(redis::group_prefix(group)));
  }
  redis::FoundDurability found = PAWL_TRY(redis::probe_durability(*client, keys, patience));
  return Found{.durability = found.durability, .seen = std::move(found.seen)};
}

}  // namespace

DurabilityProbes::~DurabilityProbes() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    ending_.notify_all();
  }
  if (prober_.joinable()) prober_.join();
}

void DurabilityProbes::add(std::string name, Probe probe) {
  probes_.insert_or_assign(std::move(name), std::move(probe));
}

void DurabilityProbes::note(std::string name, Found found) {
  found.at = clock_.wall_now();
  const std::lock_guard lock(mutex_);
  found_.insert_or_assign(std::move(name), std::move(found));
}

void DurabilityProbes::begin() {
  prober_ = std::thread([this] { probe_until_the_end(); });
}

void DurabilityProbes::probe_until_the_end() {
  while (true) {
    probe();
    std::unique_lock lock(mutex_);
    if (ending_.wait_for(lock, probe_every, [this] { return is_ending_; })) return;
  }
}

void DurabilityProbes::probe() {
  for (const auto& [name, ask] : probes_) {
    if (Result<Found> found = ask()) note(name, *std::move(found));
  }
}

DurabilityProbes::Found DurabilityProbes::found(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(name);
  return known == found_.end() ? Found() : known->second;
}

DurabilityProbes::Probe disk_probe(std::string path) {
  return [path = std::move(path)]() -> Result<Found> {
    if (lies_in_memory(path)) {
      return Found{.durability = Durability::process, .seen = "it lies in memory (tmpfs)"};
    }
    return Found{.durability = Durability::fsync, .seen = "synced to a disk of this machine"};
  };
}

DurabilityProbes::Probe redis_probe(const StoreSetting& store, Clock& clock) {
  return [url = store.url, &clock] { return found_at_redis(url, clock); };
}

DurabilityProbes::Probe counts_probe(const StoreSetting& store, Clock& clock) {
  if (store.kind == StoreSetting::Kind::redis) return redis_probe(store, clock);
  if (store.kind == StoreSetting::Kind::sqlite) return disk_probe(store.path);
  return []() -> Result<Found> {
    return Found{.durability = Durability::none, .seen = "the memory of this process"};
  };
}

DurabilityProbes::Probe queue_probe(const std::string& url) {
  const Result<QueueUrl> place = parse_queue_url(url);
  if (place && place->kind == QueueUrl::Kind::directory) return disk_probe(place->path);
  return []() -> Result<Found> {
    return Found{.durability = std::nullopt, .seen = "what a bucket has taken, its provider keeps"};
  };
}

}  // namespace pawl::cli
