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
  all_.note(at);
  categories_[fits && !category.empty() ? category : std::string(other)].note(at);
}

void RetryTally::note(std::string breaker, std::string state, Instant at) {
  if (state == "closed") {
    breakers_.erase(breaker);
    return;
  }
  if (!breakers_.contains(breaker) && breakers_.size() >= bounds::retry_tally_breakers_max) return;
  const auto [kept, is_new] = breakers_.try_emplace(breaker);
  if (is_new) kept->second = {.name = std::move(breaker), .state = {}, .since = at};
  kept->second.state = std::move(state);
}

std::uint64_t RetryTally::all_of_last_minute(Instant now) const {
  const std::lock_guard lock(mutex_);
  return all_.in_minute_before(now);
}

std::vector<std::pair<std::string, std::uint64_t>> RetryTally::last_minute(Instant now) const {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [category, rate] : categories_) {
    const std::uint64_t retries = rate.in_minute_before(now);
    if (retries > 0) out.emplace_back(category, retries);
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
