#include "core/request/limit_record.h"

#include "core/limit/explain.h"

namespace pawl::request {
namespace {

json::Value milliseconds(Duration wait) {
  if (wait == Duration::max()) return "never";
  return wait.milliseconds_up();
}

json::Value pair_of(std::int64_t first, std::int64_t second) {
  return json::Array{std::to_string(first), std::to_string(second)};
}

json::Value record_of(const limit::Count& count, const limit::Verdict& verdict) {
  const limit::Policy& policy = *count.policy;
  json::Object out{
      {"name", policy.name},
      {"algorithm", limit::algorithm_of(policy.rule)},
      {"rule", limit::to_string(policy.rule)},
      {"key", count.key.is_id() ? count.key.text().substr(1) : std::string(count.key.name())},
      {"allowed", verdict.allowed},
      {"limit", verdict.limit},
      {"remaining", verdict.remaining}};
  if (policy.options.shadow) out["shadow"] = true;
  if (!verdict.allowed) out["retry_after_ms"] = milliseconds(verdict.retry_after);
  if (!limit::keeps_marks(policy.rule)) {
    out["before"] = pair_of(verdict.before.a, verdict.before.b);
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string_view, json::Value>> limit_record(limit::Counts counts,
                                                                   const limit::Answer& answer,
                                                                   std::int64_t cost) {
  json::Array policies;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    policies.push_back(record_of(counts[i], answer.verdicts[i]));
  }
  return {{"policy", counts[answer.binding].policy->name},
          {"cost", cost},
          {"allowed", answer.allowed},
          {"retry_after_ms", milliseconds(answer.retry_after)},
          {"why", limit::explain(counts, answer)},
          {"now_ns", pair_of(answer.now.moment.ns(), answer.now.wall.ns())},
          {"policies", std::move(policies)}};
}

}  // namespace pawl::request
