#include "core/audit/stats.h"

#include <algorithm>
#include <charconv>

#include "base/bounds.h"
#include "core/audit/event.h"
#include "core/audit/retry_event.h"

namespace pawl::audit {
namespace {

std::int64_t second_of(Instant at) {
  constexpr std::int64_t second = 1'000'000'000;
  return at.ns() / second - (at.ns() % second < 0 ? 1 : 0);
}

constexpr std::int64_t seconds = 60;

// Where a second is counted; those before 1970 too.
std::size_t slot_of(std::int64_t second) {
  return static_cast<std::size_t>((second % seconds + seconds) % seconds);
}

std::string_view text_of(const json::Value& record, std::string_view name) {
  const json::Value* member = record.find(name);
  const std::string* text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? std::string_view() : *text;
}

std::uint64_t count_of(const json::Value& record, std::string_view name) {
  const json::Value* member = record.find(name);
  const json::Number* number = member == nullptr ? nullptr : member->if_number();
  std::uint64_t count = 0;
  if (number != nullptr) {
    (void)std::from_chars(number->text.data(), number->text.data() + number->text.size(), count);
  }
  return count;
}

}  // namespace

void RetryRate::note(Instant at) {
  std::int64_t second = second_of(at);
  if (!latest_ || second < *latest_ - seconds || second >= *latest_ + seconds) {
    counts_.fill(0);
  } else {
    second = std::max(second, *latest_);
    for (std::int64_t passed = *latest_ + 1; passed <= second; ++passed) {
      counts_[slot_of(passed)] = 0;
    }
  }
  latest_ = second;
  ++counts_[slot_of(second)];
}

std::uint64_t RetryRate::in_minute_before(Instant now) const {
  if (!latest_) return 0;
  const std::int64_t first = std::max(second_of(now), *latest_) - seconds + 1;
  std::uint64_t sum = 0;
  for (std::int64_t second = std::max(first, *latest_ - seconds + 1); second <= *latest_;
       ++second) {
    sum += counts_[slot_of(second)];
  }
  return sum;
}

std::optional<double> CategoryStats::success_rate() const {
  const std::uint64_t ended = succeeded + exhausted;
  if (ended == 0) return std::nullopt;
  return static_cast<double>(succeeded) / static_cast<double>(ended);
}

std::optional<double> CategoryStats::average_attempts() const {
  const std::uint64_t ended = succeeded + exhausted;
  if (ended == 0) return std::nullopt;
  return static_cast<double>(attempts) / static_cast<double>(ended);
}

void Stats::take(std::string_view line) {
  const Result<json::Value> record = json::parse(line);
  const std::string_view type = record ? text_of(*record, "event_type") : std::string_view();
  if (type.empty()) {
    ++unreadable_;
    return;
  }
  ++records_;
  if (type == to_string(EventType::retry_attempt)) {
    ++category(*record).retries;
    if (const auto at = parse_instant(text_of(*record, "timestamp"))) take_retry(*at);
  } else if (type == to_string(EventType::retry_succeeded) ||
             type == to_string(EventType::retry_exhausted)) {
    CategoryStats& of = category(*record);
    ++(type == to_string(EventType::retry_succeeded) ? of.succeeded : of.exhausted);
    of.attempts += count_of(*record, "total_attempts");
  } else if (type == to_string(EventType::idempotency) &&
             text_of(*record, "action") == to_string(IdempotencyAction::hit)) {
    ++category(*record).replayed;
  }
}

CategoryStats& Stats::category(const json::Value& record) {
  const std::string_view name = text_of(record, "retry_category");
  const auto found = categories_.find(name);
  if (found != categories_.end()) return found->second;
  const bool has_room = categories_.size() < bounds::audit_categories_max;
  return categories_[std::string(has_room ? name : other_categories)];
}

void Stats::take_retry(Instant at) {
  rate_.note(at);
  const std::uint64_t retries = rate_.in_minute_before(at);
  if (!peak_ || retries > peak_->retries) peak_ = Peak{.retries = retries, .at = at};
}

}  // namespace pawl::audit
