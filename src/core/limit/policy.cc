#include "core/limit/policy.h"

#include "base/hash.h"

namespace pawl::limit {
namespace {

std::uint32_t shape_of(const Rule& rule, const std::string& rule_text) {
  return static_cast<std::uint32_t>(
      hash_of(std::string(algorithm_of(rule)).append(rule_text), 0).high);
}

std::string text_of(const TokenBucket& bucket) {
  std::string text = to_string(bucket.rate);
  if (bucket.burst > 0) text += " burst " + std::to_string(bucket.burst);
  return text;
}

std::string text_of(const SlidingWindow& window) {
  return to_string(window.rate);
}

std::string text_of(const SlidingLog& log) {
  return to_string(log.rate) + " exactly";
}

std::string text_of(const Concurrency& rule) {
  return std::to_string(rule.slots) + " at once, each for " + pawl::to_string(rule.lease);
}

std::string text_of(const Calendar& calendar) {
  const CalendarRule& rule = calendar.rule;
  std::string text = std::to_string(calendar.count) + " a " + std::string(to_string(rule.unit)) +
                     " in " + rule.zone.name();
  if (rule.anchor != CalendarRule().anchor) {
    std::string anchor = pawl::to_string(Zone::utc().to_instant(rule.anchor));
    anchor.pop_back();  // the Z: it is the zone's time
    text += " from " + anchor;
  }
  return text;
}

}  // namespace

Policy::Policy(std::string name_, Rule rule_, PolicyOptions options_)
    : name(std::move(name_)),
      rule(std::move(rule_)),
      options(options_),
      text(to_string(rule)),
      shape(shape_of(rule, text)),
      id(hash_of(name, 0).high) {}

std::int64_t capacity_of(const Rule& rule) {
  struct Of {
    std::int64_t operator()(const TokenBucket& bucket) { return bucket.capacity(); }
    std::int64_t operator()(const SlidingWindow& window) { return window.rate.count; }
    std::int64_t operator()(const SlidingLog& log) { return log.rate.count; }
    std::int64_t operator()(const Concurrency& concurrency) { return concurrency.slots; }
    std::int64_t operator()(const Calendar& calendar) { return calendar.count; }
  };
  return std::visit(Of(), rule);
}

Duration period_of(const Rule& rule, Instant now) {
  struct Of {
    Instant now;
    Duration operator()(const TokenBucket& bucket) { return bucket.rate.period; }
    Duration operator()(const SlidingWindow& window) { return window.rate.period; }
    Duration operator()(const SlidingLog& log) { return log.rate.period; }
    Duration operator()(const Concurrency&) { return {}; }
    Duration operator()(const Calendar& calendar) {
      const Window window = window_at(calendar.rule, now);
      return window.end - window.start;
    }
  };
  return std::visit(Of{now}, rule);
}

std::string to_string(const Rule& rule) {
  return std::visit([](const auto& each) { return text_of(each); }, rule);
}

std::string_view algorithm_of(const Rule& rule) {
  struct Of {
    std::string_view operator()(const TokenBucket&) { return "token_bucket"; }
    std::string_view operator()(const SlidingWindow&) { return "sliding_window"; }
    std::string_view operator()(const SlidingLog&) { return "sliding_log"; }
    std::string_view operator()(const Concurrency&) { return "concurrency"; }
    std::string_view operator()(const Calendar&) { return "calendar"; }
  };
  return std::visit(Of(), rule);
}

}  // namespace pawl::limit
