#include "core/limit/plans.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::limit {
namespace {

// The shortest and the longest window of a unit.
struct Lengths {
  Duration least;
  Duration most;
};

Lengths lengths_of(CalendarUnit unit) {
  const auto days = [](std::int64_t least, std::int64_t most) {
    return Lengths{Duration::days(least), Duration::days(most)};
  };
  switch (unit) {
    case CalendarUnit::minute:
      return {Duration::minutes(1), Duration::minutes(1)};
    case CalendarUnit::hour:
      return {Duration::hours(1), Duration::hours(1)};
    case CalendarUnit::day:
      return days(1, 1);
    case CalendarUnit::week:
      return days(7, 7);
    case CalendarUnit::month:
      return days(28, 31);
    case CalendarUnit::year:
      return days(365, 366);
  }
  __builtin_unreachable();
}

std::unexpected<Error> does_not_fit(const Rate& rate, std::string allowed) {
  return failure(Code::invalid,
                 "the rate '" + to_string(rate) + "' does not fit; allowed: " + std::move(allowed));
}

Result<Rule> at_rate(const TokenBucket& bucket, const Rate& rate) {
  const TokenBucket changed(rate, bucket.burst);
  if (changed.interval * changed.capacity() > bounds::limit_refill_max) {
    return does_not_fit(rate, "one that earns a burst of " + std::to_string(bucket.burst) +
                                  " within " + pawl::to_string(bounds::limit_refill_max));
  }
  return changed;
}

Result<Rule> at_rate(const SlidingWindow&, const Rate& rate) {
  return SlidingWindow{rate};
}

Result<Rule> at_rate(const SlidingLog&, const Rate& rate) {
  if (rate.count > bounds::limit_log_count_max) {
    return does_not_fit(
        rate, "up to " + std::to_string(bounds::limit_log_count_max) + " for a sliding log");
  }
  return SlidingLog{rate};
}

Result<Rule> at_rate(const Concurrency&, const Rate& rate) {
  if (rate.count > bounds::limit_slots_max) {
    return does_not_fit(rate, "up to " + std::to_string(bounds::limit_slots_max) + " at once");
  }
  if (rate.period < bounds::limit_lease_min || rate.period > bounds::limit_hold_max) {
    return does_not_fit(rate, "a lease from " + pawl::to_string(bounds::limit_lease_min) + " to " +
                                  pawl::to_string(bounds::limit_hold_max));
  }
  return Concurrency{.slots = rate.count, .lease = rate.period};
}

Result<Rule> at_rate(const Calendar& calendar, const Rate& rate) {
  const auto [least, most] = lengths_of(calendar.rule.unit);
  if (rate.period < least || rate.period > most) {
    return does_not_fit(rate, "a count a " + std::string(to_string(calendar.rule.unit)) + ", as " +
                                  std::to_string(rate.count) + "/" + pawl::to_string(most));
  }
  return Calendar{.count = rate.count, .rule = calendar.rule};
}

std::string listed(const auto& things, auto name) {
  std::string names;
  for (const auto& thing : things) {
    if (!names.empty()) names += ", ";
    names += std::invoke(name, thing);
  }
  return names;
}

}  // namespace

Result<Policy> with_rate(const Policy& base, const Rate& rate) {
  Rule rule =
      PAWL_TRY(std::visit([&](const auto& kept) { return at_rate(kept, rate); }, base.rule));
  return Policy(base.name, std::move(rule), base.options);
}

Result<Plans::Row> Plans::row_of(const std::vector<Policy>& buckets, const Rates& rates) {
  Row row(buckets.size(), nullptr);
  for (const auto& [name, rate] : rates) {
    const auto bucket = std::ranges::find(buckets, name, &Policy::name);
    if (bucket == buckets.end()) {
      return failure(Code::invalid, "bucket '" + name + "' does not exist; there are: " +
                                        listed(buckets, &Policy::name));
    }
    Result<Policy> changed = with_rate(*bucket, rate);
    if (!changed) {
      return failure(changed.error().code, "bucket '" + name + "': " + changed.error().message);
    }
    row[static_cast<std::size_t>(bucket - buckets.begin())] =
        &policies_.emplace_back(*std::move(changed));
  }
  return row;
}

Result<Plans> Plans::make(PlanTable table) {
  Plans plans;
  Row own;
  for (const Policy& bucket : table.buckets) own.push_back(&plans.policies_.emplace_back(bucket));
  if (table.plans.empty()) table.plans[table.default_plan];
  const auto row_of = [&](std::string_view kind, const auto& entry) -> Result<Row> {
    Result<Row> row = plans.row_of(table.buckets, entry.second);
    if (row) return row;
    return failure(row.error().code,
                   std::string(kind) + " '" + entry.first + "': " + row.error().message);
  };
  for (const auto& entry : table.plans) {
    Row row = PAWL_TRY(row_of("plan", entry));
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] ? row[i] : own[i];
    plans.plans_[entry.first] = {.name = entry.first, .policies = std::move(row)};
  }
  for (const auto& entry : table.tenants) {
    plans.tenants_[entry.first] = PAWL_TRY(row_of("tenant", entry));
  }
  const Result<const Plan*> found = plans.find(table.default_plan);
  if (!found) return failure(found.error().code, "default plan: " + found.error().message);
  plans.default_ = *found;
  return plans;
}

Result<const Plan*> Plans::find(std::string_view name) const {
  const auto found = plans_.find(name);
  if (found != plans_.end()) return &found->second;
  const std::string known = listed(plans_, [](const auto& entry) { return entry.first; });
  return failure(Code::invalid,
                 "plan '" + std::string(name) + "' does not exist; there are: " + known);
}

const Policy& Plans::resolve(std::size_t bucket, const Plan& plan, std::string_view tenant) const {
  PAWL_ASSERT(bucket < plan.policies.size());
  if (const auto own = tenants_.find(tenant); own != tenants_.end() && own->second[bucket]) {
    return *own->second[bucket];
  }
  return *plan.policies[bucket];
}

}  // namespace pawl::limit
