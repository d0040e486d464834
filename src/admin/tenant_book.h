// TenantBook: what the admin API knows of tenants and may do to them.
//
// Contract: usage() and reset() ask the store of the counts, so they answer later, exactly once, on
//           any thread. A tenant that was never seen has its plan and no usage; nobody is told
//           apart by it. set_plan() is durable before it returns, and holds from the next request
//           on; what was used stays used. saw() is to be called for every decision that a program
//           was given, as the gateway does for requests. A client without a name goes by
//           anonymous@ADDRESS, and has no plan that could be changed.
// Errors:   not_found for a bucket or a plan that no setting names; invalid for what is no tenant's
//           name; those of the store.
// Threads:  any.
// Held by:  gateway/tenants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/decide.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::admin {

struct TenantSummary {
  std::string tenant;
  std::string plan;
  Instant last_seen;  // zero: not since the start; settings name it
};

struct BucketUsage {
  std::string bucket;
  std::string scope;  // tenant or api_key; everyone: shared, and not to be reset for one
  std::int64_t limit = 0;
  std::int64_t used = 0;
  std::int64_t remaining = 0;
  std::int64_t reset_seconds = 0;
  bool near = false;  // 80 % are used
  bool shadow = false;
  std::string plan = {};  // whose rate it is: the tenant's, or that of its key
  std::string next_plan = {};
};

struct TenantUsage {
  std::string tenant;
  std::string plan;
  std::string next_plan;  // what an upgrade would give; empty: there is none
  std::vector<BucketUsage> buckets;
};

// Counts of one tenant that live as long as this does.
struct OwnedCounts {
  std::vector<limit::Count> counts;
  std::shared_ptr<const void> owner;
};

class TenantBook {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~TenantBook() = default;

  // Those that settings name and those seen of late, by name.
  // Those behind the name `after`.
  virtual std::vector<TenantSummary> list(std::size_t limit, std::string_view after) = 0;
  // The names of those seen last.
  virtual std::vector<std::string> recent(std::size_t limit) = 0;
  virtual void usage(std::string_view tenant, Done<TenantUsage> done) = 0;
  // `bucket` empty: all of the tenant's own.
  virtual void reset(std::string_view tenant, std::string_view bucket, Done<void> done) = 0;
  // Whether set_plan() would find both as they must be.
  virtual Result<void> check_plan(std::string_view tenant, std::string_view plan) = 0;
  virtual Result<void> set_plan(std::string_view tenant, std::string_view plan) = 0;
  // What a program that asks for a decision is counted against. `bucket` empty: all of the
  // tenant's.
  virtual Result<OwnedCounts> counts(std::string_view tenant, std::string_view bucket) = 0;
  virtual void saw(std::string_view tenant, const OwnedCounts& counts,
                   const limit::Answer& answer) = 0;
};

}  // namespace pawl::admin
