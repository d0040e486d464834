// The calls about what many tenants use, and used of late.
//
//   GET /v1/usage                      a page of tenants, with the usage of each
//   GET /v1/tenants/{tenant}/history   how much a tenant used, as lines
//
// Contract: usage is asked of the store of the counts, bounds::panel_usage_asks_max at once. The
//           history is sampled every 10 seconds, of the tenants seen last; a round that takes
//           longer makes the next one wait. It begins with pawl and ends with it.
// Bounds:   bounds::panel_usage_tenants_max tenants, bounds::panel_usage_buckets_max buckets each.
// Threads:  those of the admin listener's loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "admin/context.h"
#include "admin/route.h"
#include "admin/time_series.h"

namespace pawl::admin {

class UsageHistory {
 public:
  explicit UsageHistory(Context& context) : context_(context), kept_(std::make_shared<Kept>()) {}

  // Once a second.
  void tick();
  // nullptr: nothing is known of it.
  const TimeSeries* of(std::string_view tenant) const;

 private:
  struct Line {
    TimeSeries series;
    SteadyInstant sampled;
  };
  // Answers may come when the history is gone.
  struct Kept {
    std::map<std::string, Line, std::less<>> tenants;
    bool sampling = false;
  };

  static void take(Kept& kept, const TenantUsage& usage, Instant now, SteadyInstant steady);

  Context& context_;
  std::shared_ptr<Kept> kept_;
  std::uint64_t ticks_ = 0;
};

Routes usage_routes(Context& context, const UsageHistory& history);

}  // namespace pawl::admin
