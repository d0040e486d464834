// Statistics of an audit log: how often each category was attempted, how it ended, and how many
// retries there were a minute.
//
// Contract: pure. They rest on what every operation leaves (retry_event.h): retry_attempt before
//           each retry, and at its end retry_succeeded or retry_exhausted. A line that is no record
//           is counted and passed over: whether a log is whole is the Verifier's question.
// Bounds:   bounds::audit_categories_max categories; those beyond are counted together, as
//           other_categories. RetryRate: a minute, in steps of a second.
// Threads:  none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "pawl/time.h"

namespace pawl::audit {

// How many retries the last minute had, for an alert.
class RetryRate {
 public:
  // A moment before the latest one counts as that one; a clock that goes back by more than a minute
  // begins anew.
  void note(Instant at);
  // In the 60 whole seconds that end with that of `now`.
  std::uint64_t in_minute_before(Instant now) const;

 private:
  std::array<std::uint64_t, 60> counts_ = {};  // by second, modulo 60
  std::optional<std::int64_t> latest_;
};

struct CategoryStats {
  std::uint64_t attempts = 0;  // of the operations that ended
  std::uint64_t retries = 0;   // decided on, of those under way too
  std::uint64_t succeeded = 0;
  std::uint64_t exhausted = 0;
  std::uint64_t replayed = 0;  // answered with the result of an earlier one

  // Of the operations that ended; none when no one has.
  std::optional<double> success_rate() const;
  std::optional<double> average_attempts() const;
  bool operator==(const CategoryStats&) const = default;
};

inline constexpr std::string_view other_categories = "other";

class Stats {
 public:
  // One record, without its line feed.
  void take(std::string_view line);

  std::uint64_t records() const { return records_; }
  std::uint64_t unreadable() const { return unreadable_; }
  const std::map<std::string, CategoryStats, std::less<>>& categories() const {
    return categories_;
  }

  const RetryRate& retry_rate() const { return rate_; }
  // The most retries in any minute, and when that minute ended; none without retries.
  struct Peak {
    std::uint64_t retries;
    Instant at;
  };
  const std::optional<Peak>& peak() const { return peak_; }

 private:
  CategoryStats& category(const json::Value& record);
  void take_retry(Instant at);

  std::uint64_t records_ = 0;
  std::uint64_t unreadable_ = 0;
  std::map<std::string, CategoryStats, std::less<>> categories_;
  RetryRate rate_;
  std::optional<Peak> peak_;
};

}  // namespace pawl::audit
