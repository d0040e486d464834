#include "cli/sim_verb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "adapter/system/system_clock.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "config/values.h"
#include "sim/limiter_storm.h"

namespace pawl::cli {
namespace {

constexpr std::int64_t seed_max = std::int64_t{1} << 53;  // JSON keeps them whole
constexpr std::int64_t bugs = 1;

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 999;
};

Result<Seeds> seeds_of(const Arguments& arguments) {
  if (arguments.has("--seed") && arguments.has("--seeds")) {
    return std::unexpected(usage_error("sim", "give --seed or --seeds"));
  }
  if (!arguments.has("--seed") && !arguments.has("--seeds")) return Seeds();
  const std::string given =
      arguments.has("--seed") ? arguments.value("--seed") : arguments.value("--seeds");
  const std::size_t dots = given.find("..");
  const std::string end = dots == std::string::npos ? given : given.substr(dots + 2);
  const auto first = config::parse_whole(given.substr(0, dots), 0, seed_max);
  const auto last = config::parse_whole(end, 0, seed_max);
  const bool is_range = dots != std::string::npos;
  if (!first || !last || *first > *last || is_range != arguments.has("--seeds")) {
    return std::unexpected(usage_error(
        "sim", "'" + given + "' is no seed: --seed takes a whole number, --seeds two as A..B"));
  }
  return Seeds{.first = static_cast<std::uint64_t>(*first),
               .last = static_cast<std::uint64_t>(*last)};
}

Result<sim::Bug> bug_of(const Arguments& arguments) {
  if (!arguments.has("--bug")) return sim::Bug::none;
  if (config::parse_whole(arguments.value("--bug"), 1, bugs)) {
    return sim::Bug::store_forgets_charges;
  }
  return std::unexpected(
      usage_error("sim", "--bug is '" + arguments.value("--bug") + "'; there is 1"));
}

struct Sum {
  std::uint64_t runs = 0, requests = 0, sent = 0, refused = 0, store_failures = 0,
                upstream_failures = 0;
  json::Array violations = {};
  std::string lines = {};
};

void add(Sum& sum, const sim::StormReport& run) {
  ++sum.runs;
  sum.requests += run.requests;
  sum.sent += run.sent;
  sum.refused += run.refused;
  sum.store_failures += run.store_failures;
  sum.upstream_failures += run.upstream_failures;
  for (const std::string& violation : run.violations) {
    sum.lines += "seed " + std::to_string(run.seed) + " (" + run.options + "): " + violation + "\n";
    sum.violations.push_back(
        json::Object{{"seed", run.seed}, {"options", run.options}, {"violation", violation}});
  }
}

std::string text_of(const Sum& sum) {
  return sum.lines + std::to_string(sum.runs) + " seeds, " + std::to_string(sum.requests) +
         " requests: " + std::to_string(sum.sent) + " sent, " + std::to_string(sum.refused) +
         " refused; " + std::to_string(sum.store_failures) + " failures of the store, " +
         std::to_string(sum.upstream_failures) + " of the upstream; " +
         std::to_string(sum.violations.size()) + " violations\n";
}

json::Object json_of(Sum sum) {
  return {{"seeds", sum.runs},
          {"requests", sum.requests},
          {"sent", sum.sent},
          {"refused", sum.refused},
          {"store_failures", sum.store_failures},
          {"upstream_failures", sum.upstream_failures},
          {"violations", std::move(sum.violations)}};
}

}  // namespace

int simulate(const Arguments& arguments) {
  const Result<Seeds> seeds = seeds_of(arguments);
  if (!seeds) return fail(seeds.error());
  const Result<sim::Bug> bug = bug_of(arguments);
  if (!bug) return fail(bug.error());
  Sum sum;
  {
    SystemClock clock;
    Progress progress("simulated", seeds->last - seeds->first + 1, clock);
    for (std::uint64_t seed = seeds->first; seed <= seeds->last; ++seed) {
      const sim::StormReport run = sim::run_limiter_storm(seed, *bug);
      add(sum, run);
      progress.show(sum.runs);
      if (arguments.has("--seed")) complain("seed " + std::to_string(seed) + ": " + run.options);
    }
  }
  const bool broken = !sum.violations.empty();
  print(arguments.has("--json") ? json::print(json_of(std::move(sum))) + "\n" : text_of(sum));
  return broken ? static_cast<int>(Code::refused) : 0;
}

}  // namespace pawl::cli
