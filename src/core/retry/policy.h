// Policy: how often, how late and what is retried.
//
// Contract: a value. One that check() accepts is finite: at most bounds::retry_attempts_max
//           attempts, each with a timeout, and no delay above max_delay. Factors are thousandths in
//           whole numbers, so that every machine reckons the same delays (backoff.h).
// Bounds:   bounds::retry_*.
// Threads:  values; a PolicyTable may be read by any while nobody changes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/retry/category.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::retry {

enum class Jitter : std::uint8_t {
  none,
  proportional,  // delay ± factor
  full,          // 0 … delay
  equal,         // delay/2 … delay
  decorrelated,  // base … three times the delay before
};
std::string_view to_string(Jitter jitter);
std::optional<Jitter> jitter_of(std::string_view name);

struct Policy {
  int max_attempts = 3;
  Duration base_delay = Duration::seconds(1);
  Duration max_delay = Duration::seconds(30);
  Duration min_delay = {};               // what jitter cannot go below
  std::int64_t multiplier_milli = 2000;  // 2.0
  Jitter jitter = Jitter::proportional;
  std::int64_t jitter_milli = 100;  // proportional: ±10 %
  // When given, in place of base and multiplier; the last one repeats.
  std::vector<Duration> delays = {};
  Duration deadline = {};                            // attempts and waits together; zero: none
  Duration attempt_timeout = Duration::seconds(30);  // every attempt has one
  // Kinds of failure: a Failure's name, or the type of an exception.
  std::vector<std::string> retryable = {};
  std::vector<std::string> non_retryable = {};

  bool operator==(const Policy&) const = default;
};

// The error says which member is out of range, and what its range is.
Result<void> check(const Policy& policy);

// What a policy's lists say of a failure. An explicit retryable entry beats an explicit
// non-retryable one, which beats `neither`: then the kind of failure decides (classify.h).
enum class Listed : std::uint8_t { neither, retryable, non_retryable };
std::string_view to_string(Listed listed);
std::optional<Listed> listed_of(std::string_view name);

// Of a failure known by any of these names (its kind, the types of its exception).
Listed listed(const Policy& policy, std::span<const std::string_view> names);

// What a category gets when nobody has said otherwise.
const Policy& default_policy(Category category);
// What an unknown category gets.
const Policy& default_policy();

// The policies in force, by code.
class PolicyTable {
 public:
  PolicyTable();

  // Codes that are none of the seventeen are fine: callers may have categories of their own. The
  // error is that of check(), or says that the code is empty, too long or one too many.
  Result<void> set(std::string_view code, Policy policy);

  struct Found {
    const Policy* policy;  // until the next set()
    bool known;            // false: the default, and worth a warning
  };
  Found find(std::string_view code) const;
  const Policy& find(Category category) const { return known_[static_cast<std::size_t>(category)]; }
  const std::map<std::string, Policy, std::less<>>& own() const { return own_; }

 private:
  std::array<Policy, categories_count> known_;
  std::map<std::string, Policy, std::less<>> own_;  // of callers
};

}  // namespace pawl::retry
