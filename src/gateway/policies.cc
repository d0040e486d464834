#include "gateway/policies.h"

#include <string>
#include <utility>

#include "core/limit/rate.h"

namespace pawl::gateway {
namespace {

using json::Array;
using json::Object;
using json::Value;

std::string_view to_string(config::Scope scope) {
  constexpr std::string_view words[] = {"tenant", "api_key", "address", "everyone"};
  return words[static_cast<std::size_t>(scope)];
}

// "POST, PUT /orders/** with X-Kind: bulk".
std::string text_of(const request::Match& match) {
  std::string out;
  for (const std::string& method : match.methods)
    out.append(out.empty() ? "" : ", ").append(method);
  if (!out.empty()) out.push_back(' ');
  out.append(match.path ? match.path->text() : "/**");
  if (match.header) {
    out.append(" with ").append(match.header->name);
    if (!match.header->value.empty()) out.append(": ").append(match.header->value);
  }
  return out;
}

}  // namespace

Value limits_json(const Settings& settings, const Telemetry& telemetry) {
  Array out;
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    const limit::Policy& policy = *settings.plans.default_plan().policies[i];
    const Telemetry::Refusals refusals = telemetry.refusals_of(policy);
    out.push_back(Object{{"name", policy.name},
                         {"match", text_of(settings.buckets[i].match)},
                         {"scope", to_string(settings.buckets[i].scope)},
                         {"algorithm", limit::algorithm_of(policy.rule)},
                         {"rule", policy.text},
                         {"shadow", policy.options.shadow},
                         {"refusals", refusals.enforced},
                         {"shadow_refusals", refusals.shadow}});
  }
  return out;
}

Value plans_json(const config::Config& config) {
  std::map<std::string, limit::Rates> plans = config.plans;
  plans.try_emplace(std::string(config::free_plan));
  Array out;
  for (const auto& [name, rates] : plans) {
    Array own;
    for (const auto& [bucket, rate] : rates) {
      own.push_back(Object{{"bucket", bucket}, {"rate", limit::to_string(rate)}});
    }
    const auto next = config.tenants.upgrades.find(name);
    out.push_back(
        Object{{"plan", name},
               {"rates", std::move(own)},
               {"next_plan", next == config.tenants.upgrades.end() ? Value() : next->second}});
  }
  return out;
}

}  // namespace pawl::gateway
