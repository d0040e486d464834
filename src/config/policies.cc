#include "config/policies.h"

#include <algorithm>

namespace pawl::config {
namespace {

constexpr Duration standard_lease = Duration::seconds(60);

limit::CalendarRule calendar_rule(const Bucket& bucket) {
  limit::CalendarRule rule{.unit = *bucket.every, .zone = bucket.zone_rules};
  if (bucket.anchor) rule.anchor = *bucket.anchor;
  return rule;
}

limit::Rule rule_of(const Bucket& bucket) {
  switch (bucket.algorithm) {
    case Algorithm::sliding_window:
      return limit::SlidingWindow{*bucket.rate};
    case Algorithm::sliding_log:
      return limit::SlidingLog{*bucket.rate};
    case Algorithm::token_bucket:
      return limit::TokenBucket(*bucket.rate, bucket.burst.value_or(0));
    case Algorithm::concurrency:
      return limit::Concurrency{.slots = *bucket.slots,
                                .lease = bucket.lease.value_or(standard_lease)};
    case Algorithm::calendar:
      return limit::Calendar{.count = *bucket.limit, .rule = calendar_rule(bucket)};
  }
  __builtin_unreachable();
}

std::string in_quotes(std::string_view word) {
  return "\"" + std::string(word) + "\"";
}

class Checker {
 public:
  Checker(const Config& config, Reader& reader) : config_(config), reader_(reader) {}

  void rates(const limit::Rates& rates, const std::string& path) {
    for (const auto& [name, rate] : rates) rate_of(name, rate, join(path, name));
  }

  void upgrade(const std::string& name, const std::string& next) {
    const std::string path = join("tenants.upgrades", name);
    plan(name, path);
    if (next != name) return plan(next, path);
    tell(path, "found " + in_quotes(next) + ", the plan itself; allowed: another one");
  }

  void plan(const std::string& name, const std::string& path) {
    if (name == free_plan || config_.plans.contains(name)) return;
    std::string known(free_plan);
    for (const auto& [each, rates] : config_.plans) {
      if (each != free_plan) known += ", " + each;
    }
    tell(path, "found " + in_quotes(name) + ", which is no plan; allowed: " + known);
  }

 private:
  void rate_of(const std::string& name, const limit::Rate& rate, const std::string& path) {
    const auto& buckets = config_.limits.buckets;
    const auto bucket = std::ranges::find(buckets, name, &Bucket::name);
    if (bucket == buckets.end()) {
      std::string known;
      for (const Bucket& each : buckets) known += (known.empty() ? "" : ", ") + each.name;
      tell(path, "found a rate for a bucket that limits.buckets does not have; allowed: " + known);
      return;
    }
    if (bucket->scope != Scope::tenant && bucket->scope != Scope::api_key) {
      tell(path,
           "found a rate for a bucket that tenants share; allowed: a bucket whose scope is "
           "tenant or api_key");
      return;
    }
    if (const auto made = limit::with_rate(policy_of(*bucket), rate); !made) {
      tell(path, made.error().message);
    }
  }

  void tell(const std::string& path, std::string message) {
    reader_.problem(reader_.line_of(path), path, std::move(message));
  }

  const Config& config_;
  Reader& reader_;
};

}  // namespace

limit::Policy policy_of(const Bucket& bucket) {
  return {bucket.name, rule_of(bucket), {.shadow = bucket.shadow, .on_change = bucket.on_change}};
}

Result<limit::Plans> plans_of(const Config& config) {
  limit::PlanTable table{.buckets = {},
                         .plans = config.plans,
                         .tenants = config.tenants.overrides,
                         .default_plan = config.tenants.default_plan};
  for (const Bucket& bucket : config.limits.buckets) table.buckets.push_back(policy_of(bucket));
  table.plans.try_emplace(std::string(free_plan));
  return limit::Plans::make(std::move(table));
}

void check_plans(const Config& config, Reader& reader) {
  if (!reader.sound_below("plans")) return;
  Checker check(config, reader);
  check.plan(config.tenants.default_plan, "tenants.default_plan");
  for (const auto& [tenant, plan] : config.tenants.plans) {
    check.plan(plan, join("tenants.plans", tenant));
  }
  for (std::size_t i = 0; i < config.tenants.api_keys.size(); ++i) {
    const std::string& plan = config.tenants.api_keys[i].plan;
    if (!plan.empty()) check.plan(plan, "tenants.api_keys[" + std::to_string(i) + "].plan");
  }
  for (const auto& [plan, next] : config.tenants.upgrades) check.upgrade(plan, next);
  // Without the buckets nobody can say whether a rate fits one.
  if (!reader.sound_below("limits.buckets")) return;
  for (const auto& [plan, rates] : config.plans) check.rates(rates, join("plans", plan));
  for (const auto& [tenant, rates] : config.tenants.overrides) {
    check.rates(rates, join("tenants.overrides", tenant));
  }
}

}  // namespace pawl::config
