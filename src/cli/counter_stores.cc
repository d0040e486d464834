#include "cli/counter_stores.h"

#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/redis/redis_counter_store.h"
#include "adapter/sqlite/sqlite_counter_store.h"
#include "adapter/system/system_zones.h"
#include "base/id.h"
#include "runtime/drainable_counter_store.h"
#include "runtime/fallback_counter_store.h"
#include "runtime/leased_counter_store.h"
#include "runtime/split_counter_store.h"

namespace pawl::cli {
namespace {

std::unique_ptr<CounterStore> in_memory(const CounterStores::Parts& parts) {
  return std::make_unique<MemoryCounterStore>(
      parts.clock, MemoryCounterStore::Options{.seed = seed_of(parts.entropy.next())});
}

Result<std::unique_ptr<CounterStore>> in_sqlite(const std::string& path,
                                                const CounterStores::Parts& parts) {
  SqliteCounterStoreOptions options{.path = path, .book = {.zones = load_zone}};
  auto opened = SqliteCounterStore::open(std::move(options), parts.clock, parts.entropy);
  if (!opened) return std::unexpected(opened.error());
  return std::move(*opened);
}

Result<std::unique_ptr<CounterStore>> in_redis(const Secret<std::string>& url, Duration deadline,
                                               const CounterStores::Parts& parts) {
  const redis::RedisUrl parsed = PAWL_TRY(redis::parse_redis_url(url.reveal()));
  auto opened = RedisCounterStore::make(
      parsed, parts.clock,
      {.deadline = deadline, .seed = seed_of(parts.entropy.next()), .zones = load_zone});
  if (!opened) return std::unexpected(opened.error());
  return std::move(*opened);
}

// None where counts are kept in memory.
Result<std::unique_ptr<CounterStore>> open_store(const StoreSetting& store, Duration deadline,
                                                 const CounterStores::Parts& parts) {
  if (store.kind == StoreSetting::Kind::sqlite) return in_sqlite(store.path, parts);
  if (store.kind == StoreSetting::Kind::redis) return in_redis(store.url, deadline, parts);
  return nullptr;
}

WhenLost when_lost(config::OnStoreFailure setting) {
  switch (setting) {
    case config::OnStoreFailure::local:
      return WhenLost::local;
    case config::OnStoreFailure::allow:
      return WhenLost::allow;
    case config::OnStoreFailure::deny:
      return WhenLost::deny;
  }
  __builtin_unreachable();
}

std::string_view what_now(WhenLost when) {
  switch (when) {
    case WhenLost::local:
      return "decided on this process's own counts";
    case WhenLost::allow:
      return "allowed uncounted";
    case WhenLost::deny:
      return "refused";
  }
  __builtin_unreachable();
}

void log_change(const log::Logger& logger, const FallbackCounterStore::Status& status,
                WhenLost when) {
  if (status.lost) {
    logger.warn("limit_store_lost", {{"reason", status.why}, {"requests_are", what_now(when)}});
  } else {
    logger.info("limit_store_found", {{"decided_without", std::int64_t(status.decided_without)}});
  }
}

}  // namespace

// Declared from the bottom up, so that each is destroyed before what it stands on.
struct CounterStores::Layers {
  explicit Layers(const Parts& parts)
      : clock(parts.clock),
        memory(in_memory(parts)),
        lost(parts.metrics.gauge("pawl_limit_store_lost",
                                 "1 while the store of the limits does not answer.")),
        failures(parts.metrics.counter("pawl_limit_store_failures_total",
                                       "Asks that the store of the limits did not answer.")),
        decided_without(
            parts.metrics.counter("pawl_limit_store_decided_without_total",
                                  "Asks that were decided without the store of the limits.")) {}

  Clock& clock;
  Drain drain;
  std::unique_ptr<CounterStore> memory;         // limits.store, or what stands in for it
  std::unique_ptr<DrainableCounterStore> main;  // limits.store, when that is not memory
  std::unique_ptr<DrainableCounterStore> calendar;
  std::unique_ptr<LeasedCounterStore> leased;
  std::unique_ptr<FallbackCounterStore> fallback;
  std::unique_ptr<SplitCounterStore> split;
  CounterStore* front = nullptr;
  WhenLost when = WhenLost::local;

  metrics::Gauge& lost;
  metrics::Counter& failures;
  metrics::Counter& decided_without;
  FallbackCounterStore::Status told;
};

CounterStores::CounterStores(std::unique_ptr<Layers> layers) : layers_(std::move(layers)) {}

CounterStores::~CounterStores() {
  drain();
}

void CounterStores::drain() {
  Layers& all = *layers_;
  const SteadyInstant due = all.clock.steady_now() + bounds::store_drain_deadline;
  const auto is_idle = [&] { return all.drain.wait_until_idle(due - all.clock.steady_now()); };
  bool idle = is_idle();
  while (idle && all.leased && all.leased->give_back_all()) idle = is_idle();
  all.drain.close();
  if (all.main) all.main->end();
  if (all.calendar) all.calendar->end();
}

Result<std::unique_ptr<CounterStores>> CounterStores::open(const config::Limits& limits,
                                                           const Parts& parts) {
  auto layers = std::make_unique<Layers>(parts);
  layers->front = layers->memory.get();
  if (auto opened = PAWL_TRY(open_store(limits.store, limits.store_deadline, parts))) {
    layers->main = std::make_unique<DrainableCounterStore>(layers->drain, std::move(opened));
    layers->front = layers->main.get();
  }
  if (limits.batch > 1) {
    layers->leased = std::make_unique<LeasedCounterStore>(
        LeasedCounterStore::Options{.terms = {.batch = limits.batch},
                                    .seed = seed_of(parts.entropy.next())},
        parts.clock, *layers->front);
    layers->front = layers->leased.get();
  }
  if (layers->main) {
    layers->when = when_lost(limits.on_store_failure);
    layers->fallback = std::make_unique<FallbackCounterStore>(
        FallbackCounterStore::Options{
            .when_lost = layers->when,
            .on_change = [logger = parts.logger, when = layers->when](
                             const auto& status) { log_change(logger, status, when); },
            .seed = seed_of(parts.entropy.next())},
        FallbackCounterStore::Ports{parts.clock, *layers->front, *layers->memory});
    layers->front = layers->fallback.get();
  }
  if (auto opened = PAWL_TRY(open_store(limits.calendar_store, limits.store_deadline, parts))) {
    layers->calendar = std::make_unique<DrainableCounterStore>(layers->drain, std::move(opened));
    layers->split = std::make_unique<SplitCounterStore>(
        parts.clock,
        SplitCounterStore::Stores{.calendar = *layers->calendar, .others = *layers->front});
    layers->front = layers->split.get();
  }
  return std::unique_ptr<CounterStores>(new CounterStores(std::move(layers)));
}

CounterStore& CounterStores::store() {
  return *layers_->front;
}

std::string CounterStores::degraded() const {
  std::string text;
  if (layers_->fallback) {
    const auto status = layers_->fallback->status();
    if (status.lost) {
      text = "limits: the store does not answer since " + to_string(status.since) + " (" +
             status.why + "); requests are " + std::string(what_now(layers_->when));
    }
  }
  if (layers_->calendar) {
    if (const auto health = layers_->calendar->health(); !health) {
      text.append(text.empty() ? "" : "; ").append("limits.calendar_store: ");
      text.append(health.error().message);
    }
  }
  return text;
}

void CounterStores::tick() {
  if (layers_->leased) layers_->leased->give_back_idle();
  if (!layers_->fallback) return;
  const auto status = layers_->fallback->status();
  layers_->lost.set(status.lost ? 1 : 0);
  layers_->failures.add(status.failures - layers_->told.failures);
  layers_->decided_without.add(status.decided_without - layers_->told.decided_without);
  layers_->told = status;
}

}  // namespace pawl::cli
