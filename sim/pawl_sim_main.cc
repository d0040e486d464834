// pawl_sim SEEDS: runs the storm on that many seeds and says what it saw.
#include <cstdio>
#include <cstdlib>

#include "sim/limiter_storm.h"

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  std::uint64_t requests = 0;
  std::uint64_t violations = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto report = pawl::sim::run_limiter_storm(seed);
    requests += report.requests;
    violations += report.violations.size();
    for (const auto& violation : report.violations) {
      std::printf("seed %llu (%s): %s\n", static_cast<unsigned long long>(seed),
                  report.options.c_str(), violation.c_str());
    }
  }
  std::printf("limiter_storm: %llu seeds, %llu requests, %llu violations\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(violations));
  return violations == 0 ? 0 : 3;
}
