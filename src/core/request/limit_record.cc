#include "core/request/limit_record.h"

#include <algorithm>
#include <utility>

#include "base/member_reader.h"
#include "core/limit/explain.h"

namespace pawl::request {
namespace {

json::Value milliseconds(Duration wait) {
  if (wait == Duration::max()) return never_text;
  return wait.milliseconds_up();
}

// A number of milliseconds, or never.
std::int64_t read_wait(MemberReader& from) {
  constexpr std::string_view name = "retry_after_ms";
  if (from.has_word(name)) {
    if (from.word(name) != never_text) from.fail(name);
    return never_ms;
  }
  return from.number(name, never_ms - 1);
}

Said read_said(MemberReader& from) {
  Said said{.allowed = from.truth("allowed"),
            .limit = from.number("limit", bounds::limit_count_max),
            .remaining = from.number("remaining", bounds::limit_used_max)};
  if (!said.allowed) said.wait_ms = read_wait(from);
  return said;
}

// Times far from the ends of their range, so that the algorithms can reckon with them.
constexpr std::int64_t time_most = std::int64_t{1} << 62;

bool within_reach(std::int64_t time) {
  return time >= -time_most && time <= time_most;
}

// That decide() can be asked with, whoever has written it.
bool is_sound(const limit::Rule& rule, const limit::Cell& before) {
  const bool counts = std::holds_alternative<limit::Calendar>(rule);
  return within_reach(before.a) && before.b >= 0 && (!counts || before.b <= bounds::limit_used_max);
}

Result<RecordedPolicy> read_policy(MemberReader& from, const limit::Zones& zones) {
  RecordedPolicy policy{.name = std::string(from.word("name"))};
  const std::string_view algorithm = from.word("algorithm");
  const std::string_view rule_text = from.word("rule");
  if (from.has("shadow")) policy.shadow = from.truth("shadow");
  if (algorithm == "sliding_log" || algorithm == "concurrency") return policy;
  const auto before = from.integers("before", 2);
  policy.before = {.a = before[0], .b = before[1]};
  if (!from.wrong().empty()) return policy;
  auto rule = limit::parse_rule(algorithm, rule_text, zones);
  if (!rule && rule.error().code == Code::not_found) return std::unexpected(rule.error());
  if (!rule) return from.fail("rule"), policy;
  if (!is_sound(*rule, policy.before)) from.fail("before");
  policy.cell.emplace(policy.name, *std::move(rule), limit::PolicyOptions{.shadow = policy.shadow});
  return policy;
}

std::unexpected<Error> strange(const std::string& member) {
  return failure(Code::invalid, "the member '" + member + "' is missing or makes no sense");
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
  std::vector<std::pair<std::string_view, json::Value>> record = {
      {"policy", counts[answer.binding].policy->name},
      {"cost", cost},
      {"allowed", answer.allowed},
      {"retry_after_ms", milliseconds(answer.retry_after)},
      {"why", limit::explain(counts, answer)},
      {"now_ns", pair_of(answer.now.moment.ns(), answer.now.wall.ns())},
      {"policies", std::move(policies)}};
  if (!answer.as_decided) record.emplace_back("derived", true);
  return record;
}

std::int64_t wait_ms(Duration wait) {
  return wait == Duration::max() ? never_ms : wait.milliseconds_up();
}

Said said(const limit::Verdict& verdict) {
  return {.allowed = verdict.allowed,
          .limit = verdict.limit,
          .remaining = verdict.remaining,
          .wait_ms = verdict.allowed ? 0 : wait_ms(verdict.retry_after)};
}

Result<RecordedLimit> read_limit(const json::Value& record, const limit::Zones& zones) {
  MemberReader from(record);
  RecordedLimit read;
  LimitDecision& decision = read.decision;
  read.cost = from.number("cost", bounds::limit_count_max);
  const auto now = from.integers("now_ns", 2);
  read.now = {.moment = limit::Moment::from_ns(now[0]), .wall = Instant::from_ns(now[1])};
  if (now[0] < 0 || !within_reach(now[0]) || !within_reach(now[1])) from.fail("now_ns");
  decision.allowed = from.truth("allowed");
  decision.wait_ms = read_wait(from);
  if (from.has("derived")) read.derived = from.truth("derived");
  const json::Array& policies = from.array("policies");
  if (policies.empty() || policies.size() > bounds::limit_policies_max) {
    return strange("policies");
  }
  decision.size = policies.size();
  for (std::size_t i = 0; i < policies.size(); ++i) {
    MemberReader of(policies[i]);
    decision.said[i] = read_said(of);
    read.policies.push_back(PAWL_TRY(read_policy(of, zones)));
    if (!of.wrong().empty()) {
      return strange("policies[" + std::to_string(i) + "]." + of.wrong());
    }
  }
  const auto bound = std::ranges::find(read.policies, from.word("policy"), &RecordedPolicy::name);
  if (bound == read.policies.end()) from.fail("policy");
  decision.binding = static_cast<std::size_t>(bound - read.policies.begin());
  if (!from.wrong().empty()) return strange(from.wrong());
  return read;
}

}  // namespace pawl::request
