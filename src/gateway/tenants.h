// Tenants: who uses the gateway, how much of their limits is used, and which plans they were given.
//
// Contract: admin::TenantBook. saw() is for every decision: it counts it, notes the tenant, and
//           tells `near` once a window that a tenant has used 80 % of a bucket that is its own
//           (scope tenant or api_key) and enforced. Who cannot be named goes by
//           anonymous@ADDRESS: is listed, reset and has a usage like a tenant, but no plan of its
//           own, and `near` is not told of it. The usage of a bucket of scope api_key is that of
//           the key that has least left.
// Plans:    set_plan() writes the file, then has the settings made anew; what use() is given must
//           be made with live_plans().
// Threads:  saw() any number at once, without a lock while nothing is new; the rest any. `near` is
//           called on the thread of saw(), `plans_changed` on that of set_plan().
// Bounds:   bounds::tenants_seen_max, bounds::tenant_plans_max, bounds::tenants_near_max.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "admin/tenant_book.h"
#include "core/audit/event.h"
#include "core/limit/usage.h"
#include "gateway/near_marks.h"
#include "gateway/seen_tenants.h"
#include "gateway/settings.h"
#include "gateway/telemetry.h"
#include "pawl/clock.h"
#include "port/counter_store.h"

namespace pawl::gateway {

// A tenant has used most of what a bucket allows.
struct NearLimit {
  std::string id;  // the same from every gateway that notices
  std::string tenant;
  std::string bucket;
  std::string plan;
  std::string next_plan;  // what an upgrade would give; empty: there is none
  limit::Usage usage;
  Instant at;
};
audit::Event to_audit_event(const NearLimit& near);

class Tenants final : public admin::TenantBook {
 public:
  struct Parts {
    CounterStore& store;
    Clock& clock;
    Telemetry& telemetry;
    std::uint64_t seed = 0;  // what strangers who choose names must not know
    std::string plans_file;
    std::function<void(const NearLimit&)> near;
    std::function<void()> plans_changed;
  };

  // Reads the plans. Errors: those of plans_file.h. Before anything else, use() is called.
  static Result<std::unique_ptr<Tenants>> open(Parts parts);

  LivePlans live_plans() const;
  void use(SettingsPtr settings);

  // `counts` is what the request was counted against and answered with; none where no bucket
  // matched.
  void saw(const request::Tenant& tenant, limit::Counts counts, const limit::Answer& answer,
           const Settings& settings);

  // admin::TenantBook
  std::vector<admin::TenantSummary> list(std::size_t limit, std::string_view after) override;
  std::vector<std::string> recent(std::size_t limit) override;
  void usage(std::string_view tenant, Done<admin::TenantUsage> done) override;
  void reset(std::string_view tenant, std::string_view bucket, Done<void> done) override;
  Result<void> check_plan(std::string_view tenant, std::string_view plan) override;
  Result<void> set_plan(std::string_view tenant, std::string_view plan) override;
  Result<admin::OwnedCounts> counts(std::string_view tenant, std::string_view bucket) override;
  void saw(std::string_view tenant, const admin::OwnedCounts& counts,
           const limit::Answer& answer) override;

 private:
  Tenants(Parts parts, LivePlans plans);
  SettingsPtr settings() const;

  Parts parts_;
  SeenTenants seen_;
  NearMarks near_marks_;
  std::mutex changing_;       // one set_plan() at a time
  mutable std::mutex mutex_;  // of what follows
  LivePlans live_plans_;
  SettingsPtr settings_;
};

}  // namespace pawl::gateway
