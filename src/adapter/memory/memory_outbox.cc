#include "adapter/memory/memory_outbox.h"

#include <algorithm>
#include <ranges>

namespace pawl {

using webhook::Delivery;
using webhook::State;

void MemoryOutbox::add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) {
  std::unique_lock lock(mutex_);
  Result<std::size_t> added = try_add(std::move(deliveries));
  lock.unlock();
  done(std::move(added));
}

Result<std::size_t> MemoryOutbox::try_add(std::vector<NewDelivery> deliveries) {
  std::erase_if(deliveries, [&](const NewDelivery& one) {
    return numbers_.contains({one.endpoint, one.event_id});
  });
  if (kept_.size() - ended_.size() + deliveries.size() > options_.pending_max) {
    return failure(Code::unavailable, "all " + std::to_string(options_.pending_max) +
                                          " places of the outbox are in use: no event is taken "
                                          "until some are delivered");
  }
  const Instant now = clock_.wall_now();
  const std::size_t before = kept_.size();
  for (NewDelivery& one : deliveries) {
    const std::uint64_t number = ++last_number_;
    if (!numbers_.try_emplace({one.endpoint, one.event_id}, number).second) continue;
    kept_.emplace(number, KeptDelivery{.delivery = {.event_id = std::move(one.event_id),
                                                    .endpoint = std::move(one.endpoint),
                                                    .type = std::move(one.type),
                                                    .tenant = std::move(one.tenant),
                                                    .created_at = now,
                                                    .next_at = now},
                                       .body = std::move(one.body)});
  }
  return kept_.size() - before;
}

void MemoryOutbox::due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) {
  std::unique_lock lock(mutex_);
  DueDeliveries found = find_due(endpoint, limit);
  lock.unlock();
  done(std::move(found));
}

DueDeliveries MemoryOutbox::find_due(const std::string& endpoint, std::size_t limit) {
  std::vector<std::pair<Instant, std::uint64_t>> waiting;
  for (const auto& [number, kept] : kept_) {
    const Delivery& delivery = kept.delivery;
    if (delivery.endpoint == endpoint && delivery.state == State::pending) {
      waiting.emplace_back(delivery.next_at, number);
    }
  }
  std::ranges::sort(waiting);
  const Instant now = clock_.wall_now();
  DueDeliveries found{.pending = kept_.size() - ended_.size()};
  for (const auto& [at, number] : waiting) {
    if (at > now || found.items.size() == limit) {
      found.next = std::max(Duration(), at - now);
      break;
    }
    found.items.push_back(kept_.at(number));
  }
  return found;
}

void MemoryOutbox::save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
                        Done<void> done) {
  std::unique_lock lock(mutex_);
  Result<void> saved = try_save({endpoint, event_id}, std::move(step));
  lock.unlock();
  done(std::move(saved));
}

Result<void> MemoryOutbox::try_save(const Key& key, DeliveryStep step) {
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return failure(Code::not_found, "there is no such delivery");
  KeptDelivery& kept = kept_.at(found->second);
  Delivery& delivery = kept.delivery;
  if (delivery.state != State::pending) {
    return failure(Code::refused, "the delivery has ended before");
  }
  const Instant now = clock_.wall_now();
  const bool ends = step.state != State::pending;
  delivery.state = step.state;
  delivery.attempts = step.attempts;
  delivery.next_at = ends ? Instant() : now + step.wait;
  delivery.ended_at = ends ? now : Instant();
  delivery.last_status = step.last_status;
  delivery.last_error = std::move(step.last_error);
  kept.trail = ends ? std::string() : std::move(step.trail);
  if (!ends) return {};
  kept.body.clear();
  ended_.emplace(now, found->second);
  forget_some();
  return {};
}

void MemoryOutbox::forget_some() {
  while (ended_.size() > options_.ended_max) {
    const auto oldest = kept_.find(ended_.begin()->second);
    numbers_.erase({oldest->second.delivery.endpoint, oldest->second.delivery.event_id});
    kept_.erase(oldest);
    ended_.erase(ended_.begin());
  }
}

void MemoryOutbox::list(std::size_t limit, std::optional<State> state,
                        Done<std::vector<Delivery>> done) {
  std::vector<Delivery> found;
  std::unique_lock lock(mutex_);
  for (const KeptDelivery& kept : std::views::values(std::views::reverse(kept_))) {
    if (found.size() == std::min(limit, bounds::webhook_list_max)) break;
    if (!state || kept.delivery.state == *state) found.push_back(kept.delivery);
  }
  lock.unlock();
  done(std::move(found));
}

}  // namespace pawl
