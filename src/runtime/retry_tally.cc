#include "runtime/retry_tally.h"

#include <string_view>

#include "base/bounds_panel.h"

namespace pawl {
namespace {

constexpr std::string_view other = "other";

std::string text_of(const audit::Event& event, std::string_view name) {
  for (const auto& [member, value] : event.details) {
    if (member == name && value.if_string() != nullptr) return *value.if_string();
  }
  return {};
}

std::int64_t second_of(Instant at) {
  return at.ns() / 1'000'000'000;
}

}  // namespace

Result<void> RetryTally::append(audit::Event event) {
  const audit::EventType type = event.type;
  if (type != audit::EventType::retry_attempt && type != audit::EventType::breaker) {
    return sink_.append(std::move(event));
  }
  const Instant at = event.timestamp;
  const std::string category = text_of(event, "retry_category");
  std::string breaker = text_of(event, "breaker");
  std::string state = text_of(event, "state");
  PAWL_TRY(sink_.append(std::move(event)));
  const std::lock_guard lock(mutex_);
  if (type == audit::EventType::retry_attempt) {
    count(category, at);
  } else {
    note(std::move(breaker), std::move(state), at);
  }
  return {};
}

void RetryTally::count(const std::string& category, Instant at) {
  const bool fits =
      categories_.contains(category) || categories_.size() + 1 < bounds::retry_tally_categories_max;
  const std::int64_t second = second_of(at);
  Slot& slot = categories_[fits && !category.empty() ? category : std::string(other)]
                          [static_cast<std::size_t>(second) % slots];
  if (slot.second != second) slot = {.second = second, .retries = 0};
  ++slot.retries;
}

void RetryTally::note(std::string breaker, std::string state, Instant at) {
  if (state == "closed") {
    breakers_.erase(breaker);
    return;
  }
  if (!breakers_.contains(breaker) && breakers_.size() >= bounds::retry_tally_breakers_max) return;
  Breaker& kept = breakers_[breaker];
  kept = {.name = std::move(breaker), .state = std::move(state), .since = at};
}

std::vector<std::pair<std::string, std::uint64_t>> RetryTally::last_minute(Instant now) const {
  const std::int64_t second = second_of(now);
  std::vector<std::pair<std::string, std::uint64_t>> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [category, kept] : categories_) {
    std::uint64_t sum = 0;
    for (const Slot& slot : kept) {
      const std::int64_t age = second - slot.second;
      if (age >= 0 && age < static_cast<std::int64_t>(slots)) sum += slot.retries;
    }
    if (sum > 0) out.emplace_back(category, sum);
  }
  return out;
}

std::vector<RetryTally::Breaker> RetryTally::breakers() const {
  std::vector<Breaker> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, breaker] : breakers_) out.push_back(breaker);
  return out;
}

}  // namespace pawl
