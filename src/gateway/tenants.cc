#include "gateway/tenants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/dot_segment.h"
#include "gateway/plans_file.h"

namespace pawl::gateway {
namespace {

// One count of a tenant, by itself.
struct OwnCount {
  std::size_t bucket;
  const limit::Plan* plan;
  const limit::Policy* policy;
  std::string key;
};

bool is_own(config::Scope scope) {
  return scope == config::Scope::tenant || scope == config::Scope::api_key;
}

const std::string& name_of(const Settings& settings, std::size_t bucket) {
  return settings.plans.default_plan().policies[bucket]->name;
}

// Nothing: no bucket of that name.
std::optional<std::size_t> find_bucket(const Settings& settings, std::string_view name) {
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    if (name_of(settings, i) == name) return i;
  }
  return std::nullopt;
}

std::unexpected<Error> no_bucket(const Settings& settings, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    known.append(i == 0 ? "" : ", ").append(name_of(settings, i));
  }
  return failure(Code::not_found,
                 "bucket '" + std::string(name) + "' does not exist; there are: " + known);
}

std::unexpected<Error> not_its_own(std::string_view bucket) {
  return failure(Code::not_found, bucket.empty() ? "no bucket counts by tenant or API key"
                                                 : "bucket '" + std::string(bucket) +
                                                       "' does not count by tenant or API key");
}

// Empty: no key of the tenant has a plan.
std::string_view key_plan_of(const Settings& settings, std::string_view tenant) {
  const auto by_key = settings.key_plan_of.find(tenant);
  return by_key == settings.key_plan_of.end() ? std::string_view() : by_key->second;
}

// A plan that only a key has is the tenant's too, as long as nothing better is known.
const limit::Plan& plan_of(const Settings& settings, std::string_view tenant) {
  return plan_for(settings, tenant, key_plan_of(settings, tenant));
}

std::string next_plan_of(const Settings& settings, std::string_view plan) {
  const auto next = settings.upgrades.find(plan);
  return next == settings.upgrades.end() ? std::string() : next->second;
}

// All that a tenant is counted by: each key of its own has counts of its own. A client without a
// name is counted by its address alone.
Result<std::vector<OwnCount>> own_counts(const Settings& settings, std::string_view tenant) {
  std::vector<OwnCount> counts;
  const std::string own = PAWL_TRY(request::key_of_id(tenant, settings.tenants.ipv6_prefix));
  const limit::Plan& plan = plan_of(settings, tenant);
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    const config::Scope scope = settings.buckets[i].scope;
    if (!is_own(scope)) continue;
    counts.push_back({.bucket = i,
                      .plan = &plan,
                      .policy = &settings.plans.resolve(i, plan, tenant),
                      .key = own});
    if (scope != config::Scope::api_key) continue;
    for (const request::ApiKey& key : settings.tenants.api_keys.all()) {
      if (key.tenant != tenant) continue;
      const limit::Plan& by_key = plan_for(settings, tenant, key.plan);
      counts.push_back({.bucket = i,
                        .plan = &by_key,
                        .policy = &settings.plans.resolve(i, by_key, tenant),
                        .key = key.limit_key});
    }
  }
  return counts;
}

// What all share counts for this tenant too, by the rate of its plan.
void add_shared(std::vector<OwnCount>& counts, const Settings& settings, std::string_view tenant) {
  const limit::Plan& plan = plan_of(settings, tenant);
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    if (settings.buckets[i].scope != config::Scope::everyone) continue;
    counts.push_back({.bucket = i,
                      .plan = &plan,
                      .policy = &settings.plans.resolve(i, plan, tenant),
                      .key = std::string(everyone_key)});
  }
}

admin::BucketUsage to_bucket_usage(const Settings& settings, const OwnCount& count,
                                   const limit::Verdict& verdict) {
  const limit::Usage usage = limit::usage_of(*count.policy, verdict);
  const config::Scope scope = settings.buckets[count.bucket].scope;
  return {.bucket = count.policy->name,
          .scope = scope == config::Scope::api_key    ? "api_key"
                   : scope == config::Scope::everyone ? "everyone"
                                                      : "tenant",
          .limit = usage.limit,
          .used = usage.used,
          .remaining = usage.remaining,
          .reset_seconds = usage.reset_seconds,
          .near = usage.near,
          .shadow = count.policy->options.shadow,
          .plan = count.plan->name,
          .next_plan = next_plan_of(settings, count.plan->name)};
}

bool has_less_left(const admin::BucketUsage& a, const admin::BucketUsage& b) {
  return a.used * b.limit > b.used * a.limit;
}

// Asks about several counts, at least one. The answers come in any order, on any thread; the last
// one ends it, with the first error there was.
class Gathering {
 public:
  using Over = std::move_only_function<void(std::optional<Error>)>;
  Gathering(SettingsPtr settings, std::vector<OwnCount> counts, Over over)
      : settings_(std::move(settings)),
        counts_(std::move(counts)),
        over_(std::move(over)),
        missing_(counts_.size()) {}

  const Settings& settings() const { return *settings_; }
  const std::vector<OwnCount>& counts() const { return counts_; }

  // `note` is called for an answer that is no error, for one after the other.
  template <class T, class Note>
  void take(const Result<T>& answer, const Note& note) {
    std::unique_lock lock(mutex_);
    if (answer) {
      note(answer);
    } else if (!error_) {
      error_ = answer.error();
    }
    if (--missing_ > 0) return;
    lock.unlock();
    over_(std::move(error_));
  }

 private:
  const SettingsPtr settings_;  // of the policies
  const std::vector<OwnCount> counts_;
  Over over_;
  std::mutex mutex_;
  std::size_t missing_;
  std::optional<Error> error_;
};

struct Rows {
  // Of several counts of a bucket the one that has least left.
  void add(std::size_t bucket, const admin::BucketUsage& row) {
    const auto [kept, added] = by_bucket.try_emplace(bucket, row);
    if (!added && has_less_left(row, kept->second)) kept->second = row;
  }
  std::map<std::size_t, admin::BucketUsage> by_bucket = {};
};

}  // namespace

audit::Event to_audit_event(const NearLimit& near) {
  audit::Event event{.type = audit::EventType::limit_near,
                     .timestamp = near.at,
                     .operation = "near",
                     .correlation = {.tenant_id = near.tenant, .correlation_id = near.id},
                     .details = {{"bucket", near.bucket},
                                 {"limit", near.usage.limit},
                                 {"used", near.usage.used},
                                 {"reset_seconds", near.usage.reset_seconds},
                                 {"plan", near.plan}}};
  if (!near.next_plan.empty()) event.details.emplace_back("next_plan", near.next_plan);
  return event;
}

Tenants::Tenants(Parts parts, LivePlans plans)
    : parts_(std::move(parts)),
      seen_(parts_.seed),
      near_marks_(parts_.seed),
      live_plans_(std::move(plans)) {}

Result<std::unique_ptr<Tenants>> Tenants::open(Parts parts) {
  LivePlans plans = PAWL_TRY(read_plans(parts.plans_file));
  return std::unique_ptr<Tenants>(new Tenants(std::move(parts), std::move(plans)));
}

LivePlans Tenants::live_plans() const {
  const std::lock_guard lock(mutex_);
  return live_plans_;
}

void Tenants::use(SettingsPtr settings) {
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
}

SettingsPtr Tenants::settings() const {
  const std::lock_guard lock(mutex_);
  PAWL_ASSERT(settings_ != nullptr);
  return settings_;
}

void Tenants::saw(const request::Tenant& tenant, limit::Counts counts, const limit::Answer& answer,
                  const Settings& settings) {
  // Also what no bucket counts was let through; what was never decided is neither.
  if (!counts.empty() || answer.allowed) parts_.telemetry.count_limit(counts, answer);
  const std::string& who = tenant.name.empty() ? tenant.id : tenant.name;
  if (who.empty()) return;
  // Not every store reads the world's clock for every ask.
  const Instant now = answer.now.wall == Instant() ? parts_.clock.wall_now() : answer.now.wall;
  seen_.note(who, now);
  if (tenant.name.empty() || answer.counted_by == limit::CountedBy::nobody) return;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const limit::Policy& policy = *counts[i].policy;
    if (!limit::is_near(policy, answer.verdicts[i]) || policy.options.shadow) continue;
    const std::string_view key = counts[i].key.name();
    if (key != tenant.limit_key && key != tenant.api_key_key) continue;
    if (!near_marks_.is_first(tenant.name, policy, now)) continue;
    const limit::Plan& plan = plan_for(settings, tenant.name, tenant.plan);
    const Instant window = limit::window_start(policy.rule, now);
    parts_.near({.id = limit::near_id(tenant.name, policy, window),
                 .tenant = tenant.name,
                 .bucket = policy.name,
                 .plan = plan.name,
                 .next_plan = next_plan_of(settings, plan.name),
                 .usage = limit::usage_of(policy, answer.verdicts[i]),
                 .at = now});
  }
}

void Tenants::saw(std::string_view tenant, const admin::OwnedCounts& counts,
                  const limit::Answer& answer) {
  const SettingsPtr settings = this->settings();
  const std::string key = request::tenant_key(tenant);
  saw({.name = std::string(request::is_anonymous(tenant) ? std::string_view() : tenant),
       .id = std::string(tenant),
       .plan = std::string(key_plan_of(*settings, tenant)),
       .limit_key = key,
       .api_key_key = key},
      counts.counts, answer, *settings);
}

std::vector<std::string> Tenants::recent(std::size_t limit) {
  std::vector<std::pair<Instant, std::string>> newest;  // a heap, the oldest first
  const auto is_newer = [](const auto& a, const auto& b) { return a.first > b.first; };
  seen_.for_each([&](std::string_view name, Instant last_seen) {
    if (newest.size() == limit && (limit == 0 || last_seen <= newest.front().first)) return;
    if (newest.size() == limit) {
      std::ranges::pop_heap(newest, is_newer);
      newest.pop_back();
    }
    newest.emplace_back(last_seen, name);
    std::ranges::push_heap(newest, is_newer);
  });
  std::ranges::sort(newest, is_newer);
  std::vector<std::string> names;
  for (auto& [last_seen, name] : newest) names.push_back(std::move(name));
  return names;
}

std::vector<admin::TenantSummary> Tenants::list(std::size_t limit, std::string_view after) {
  const SettingsPtr settings = this->settings();
  std::map<std::string, Instant, std::less<>> first;  // no more than `limit`
  const auto add = [&](std::string_view name, Instant last_seen) {
    if (!after.empty() && name <= after) return;
    if (const auto known = first.find(name); known != first.end()) {
      known->second = last_seen;
    } else if (first.size() < limit || (limit > 0 && name < first.rbegin()->first)) {
      first.emplace(name, last_seen);
      if (first.size() > limit) first.erase(std::prev(first.end()));
    }
  };
  for (const std::string& name : settings->tenant_names) add(name, Instant());
  seen_.for_each(add);
  std::vector<admin::TenantSummary> tenants;
  for (const auto& [name, last_seen] : first) {
    tenants.push_back(
        {.tenant = name, .plan = plan_of(*settings, name).name, .last_seen = last_seen});
  }
  return tenants;
}

void Tenants::usage(std::string_view tenant, Done<admin::TenantUsage> done) {
  const SettingsPtr settings = this->settings();
  const limit::Plan& plan = plan_of(*settings, tenant);
  admin::TenantUsage usage{.tenant = std::string(tenant),
                           .plan = plan.name,
                           .next_plan = request::is_anonymous(tenant)
                                            ? std::string()
                                            : next_plan_of(*settings, plan.name),
                           .buckets = {}};
  Result<std::vector<OwnCount>> counts = own_counts(*settings, tenant);
  if (!counts) return done(std::unexpected(counts.error()));
  add_shared(*counts, *settings, tenant);
  if (counts->empty()) return done(std::move(usage));
  const auto rows = std::make_shared<Rows>();
  const auto gathering = std::make_shared<Gathering>(
      settings, *std::move(counts),
      [rows, usage = std::move(usage), done = std::move(done)](std::optional<Error> error) mutable {
        for (auto& [bucket, row] : rows->by_bucket) {
          // No plan is its own, or a plan alone makes no room in what all share.
          if (request::is_anonymous(usage.tenant) || row.scope == "everyone") row.next_plan.clear();
          usage.buckets.push_back(std::move(row));
        }
        if (error) {
          done(std::unexpected(*std::move(error)));
        } else {
          done(std::move(usage));
        }
      });
  for (const OwnCount& count : gathering->counts()) {
    const limit::Count asked{.policy = count.policy, .key = count.key};
    parts_.store.check({&asked, 1}, 0, [=, &count](const Result<limit::Answer>& answer) {
      gathering->take(answer, [&](const Result<limit::Answer>& given) {
        rows->add(count.bucket, to_bucket_usage(gathering->settings(), count, given->verdicts[0]));
      });
    });
  }
}

void Tenants::reset(std::string_view tenant, std::string_view bucket, Done<void> done) {
  const SettingsPtr settings = this->settings();
  const auto only = find_bucket(*settings, bucket);
  if (!bucket.empty() && !only) {
    done(no_bucket(*settings, bucket));
    return;
  }
  Result<std::vector<OwnCount>> counts = own_counts(*settings, tenant);
  if (!counts) return done(std::unexpected(counts.error()));
  if (only) std::erase_if(*counts, [&](const OwnCount& count) { return count.bucket != *only; });
  if (counts->empty()) return done(not_its_own(bucket));
  const auto gathering = std::make_shared<Gathering>(
      settings, *std::move(counts), [done = std::move(done)](std::optional<Error> error) mutable {
        if (error) {
          done(std::unexpected(*std::move(error)));
        } else {
          done({});
        }
      });
  for (const OwnCount& count : gathering->counts()) {
    parts_.store.reset({.policy = count.policy, .key = count.key},
                       [gathering](const Result<void>& answer) {
                         gathering->take(answer, [](const Result<void>&) {});
                       });
  }
}

Result<void> Tenants::check_plan(std::string_view tenant, std::string_view plan) {
  if (!request::is_tenant_name(tenant)) {
    return failure(Code::invalid, "that is no tenant's name: it has 1 to " +
                                      std::to_string(bounds::tenant_bytes_max) +
                                      " visible ASCII characters, and does not begin as the names "
                                      "of anonymous clients do (anonymous@); . and .. are none");
  }
  if (const auto found = settings()->plans.find(plan); !found) {
    return failure(Code::not_found, found.error().message);
  }
  return {};
}

Result<void> Tenants::set_plan(std::string_view tenant, std::string_view plan) {
  {
    const std::lock_guard changing(changing_);
    PAWL_TRY(check_plan(tenant, plan));
    LivePlans next = live_plans();
    next.insert_or_assign(std::string(tenant), std::string(plan));
    if (next.size() > bounds::tenant_plans_max) {
      return failure(Code::refused, "there is no room for the plans of more than " +
                                        std::to_string(bounds::tenant_plans_max) +
                                        " tenants; name those that do not change in tenants.plans");
    }
    PAWL_TRY(write_plans(parts_.plans_file, next));
    const std::lock_guard lock(mutex_);
    live_plans_ = std::move(next);
  }
  parts_.plans_changed();
  return {};
}

Result<admin::OwnedCounts> Tenants::counts(std::string_view tenant, std::string_view bucket) {
  struct Owner {
    SettingsPtr settings;
    std::string key;
  };
  if (is_dot_segment(tenant)) return failure(Code::invalid, ". and .. are no names of tenants");
  SettingsPtr now = settings();
  std::string key = PAWL_TRY(request::key_of_id(tenant, now->tenants.ipv6_prefix));
  const auto owner = std::make_shared<const Owner>(Owner{std::move(now), std::move(key)});
  const Settings& settings = *owner->settings;
  const auto only = find_bucket(settings, bucket);
  if (!bucket.empty() && !only) return no_bucket(settings, bucket);
  const limit::Plan& plan = plan_of(settings, tenant);
  admin::OwnedCounts counts{.counts = {}, .owner = owner};
  for (std::size_t i = only.value_or(0); i < (only ? *only + 1 : settings.buckets.size()); ++i) {
    const config::Scope scope = settings.buckets[i].scope;
    const bool everyone = only && scope == config::Scope::everyone;
    if (!is_own(scope) && !everyone) continue;
    counts.counts.push_back({.policy = &settings.plans.resolve(i, plan, tenant),
                             .key = everyone ? everyone_key : std::string_view(owner->key)});
  }
  if (counts.counts.empty()) return not_its_own(bucket);
  return counts;
}

}  // namespace pawl::gateway
