#include "adapter/memory/memory_intent_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/calendar.h"

namespace pawl {

using order::Intent;
using order::Life;
using order::Quota;
using order::Status;

std::vector<Intent> MemoryIntents::intents() const {
  const std::lock_guard guard(mutex_);
  std::vector<Intent> all;
  for (const auto& [id, kept] : kept_) all.push_back(kept.intent);
  return all;
}

std::vector<HistoryRow> MemoryIntents::history() const {
  const std::lock_guard guard(mutex_);
  return history_;
}

MemoryIntents::Kept* MemoryIntents::find(const std::string& reference) {
  const auto id = ids_.find(reference);
  return id == ids_.end() ? nullptr : &kept_.at(id->second);
}

std::int64_t MemoryIntents::used(Instant now) const {
  const auto in_week = [now](Instant then) { return week_start(then) == week_start(now); };
  return std::ranges::count_if(
             history_,
             [&](const HistoryRow& row) { return row.counts && in_week(row.placed_at); }) +
         std::ranges::count_if(kept_, [&](const auto& entry) {
           return entry.second.slot && in_week(entry.second.intent.created);
         });
}

HistoryRow* MemoryIntents::find_row(const std::string& venue, const std::string& order_id) {
  const auto found = std::ranges::find_if(history_, [&](const HistoryRow& row) {
    return !order_id.empty() && row.order_id == order_id && row.venue == venue;
  });
  return found == history_.end() ? nullptr : &*found;
}

const HistoryRow* MemoryIntents::find_row_of(const NewIntent& ask) const {
  const auto found = std::ranges::find_if(history_, [&](const HistoryRow& row) {
    const bool is_named = row.reference == ask.reference || row.reference == ask.venue_name;
    return is_named && !row.reference.empty() && row.venue == ask.order.venue;
  });
  return found == history_.end() ? nullptr : &*found;
}

bool MemoryIntents::add_row(const HistoryRow& row) {
  if (HistoryRow* known = find_row(row.venue, row.order_id)) {
    if (known->reference.empty()) known->reference = row.reference;
    return false;
  }
  history_.push_back(row);
  return true;
}

bool MemoryIntents::is_worked_on(std::int64_t id) const {
  const std::lock_guard guard(mutex_);
  return kept_.at(id).worker != nullptr;
}

MemoryIntentStore::~MemoryIntentStore() {
  const Lock guard(all_.mutex_);
  for (auto& [id, kept] : all_.kept_) {
    if (kept.worker == this) kept.worker = nullptr;
  }
}

Quota MemoryIntentStore::quota_at(const order::FrequencyLimit& limit, Instant now) const {
  return {.used = limit.enabled ? all_.used(now) : 0,
          .limit = limit.weekly_max_orders,
          .week_start = week_start(now),
          .enabled = limit.enabled};
}

Result<Opening> MemoryIntentStore::try_open(const NewIntent& ask) {
  const Lock guard(all_.mutex_);
  const MemoryIntents::Kept* known = all_.find(ask.reference);
  if (known != nullptr && !order::may_open_again(known->intent, ask.order)) {
    return Opening(KnownIntent{known->intent});
  }
  if (const HistoryRow* row = all_.find_row_of(ask)) {
    return reference_is_taken(ask, row->order_id);
  }
  const Quota quota = quota_at(ask.limit, ask.now);
  if (ask.counts && !order::has_room(quota)) return Opening(DeniedIntent{quota});
  if (known != nullptr && known->worker != nullptr) return Opening(KnownIntent{known->intent});
  const std::int64_t id =
      known != nullptr ? known->intent.id : static_cast<std::int64_t>(all_.kept_.size()) + 1;
  const Intent intent = new_intent(ask, id, known != nullptr ? &known->intent : nullptr);
  all_.kept_[id] = {
      .intent = intent, .venue_name = ask.venue_name, .slot = ask.counts, .worker = this};
  all_.ids_[ask.reference] = id;
  return Opening(OpenedIntent{.intent = intent, .quota = quota});
}

Result<TakenIntent> MemoryIntentStore::try_take(const std::string& reference) {
  const Lock guard(all_.mutex_);
  MemoryIntents::Kept* kept = all_.find(reference);
  if (kept == nullptr) return intent_not_found(reference);
  const bool is_free = kept->worker == nullptr && order::is_open(kept->intent.progress.status);
  if (is_free) kept->worker = this;
  return TakenIntent{.intent = kept->intent, .mine = is_free};
}

Result<Intent> MemoryIntentStore::try_get(const std::string& reference) {
  const Lock guard(all_.mutex_);
  const MemoryIntents::Kept* kept = all_.find(reference);
  if (kept == nullptr) return intent_not_found(reference);
  return kept->intent;
}

Result<void> MemoryIntentStore::try_save(std::int64_t id, order::Progress progress) {
  const Lock guard(all_.mutex_);
  const auto found = all_.kept_.find(id);
  PAWL_ASSERT(found != all_.kept_.end() && found->second.worker == this);
  MemoryIntents::Kept& kept = found->second;
  const bool was_confirmed = kept.intent.progress.status == Status::confirmed;
  kept.intent.progress = std::move(progress);
  const order::Progress& now = kept.intent.progress;
  kept.slot = kept.slot && order::is_open(now.status);
  if (now.status != Status::confirmed) return {};
  if (!was_confirmed) all_.add_row(history_row_of(kept.intent));
  HistoryRow* row = all_.find_row(kept.intent.order.venue, now.order_id);
  if (row != nullptr && row->status == "placed") row->status = history_status(now.life);
  return {};
}

bool MemoryIntentStore::try_set_life(const std::string& venue, const std::string& order_id,
                                     Life life) {
  const Lock guard(all_.mutex_);
  if (!is_over(life) || order_id.empty()) return false;
  bool changed = false;
  HistoryRow* row = all_.find_row(venue, order_id);
  if (row != nullptr && row->status == "placed") {
    row->status = history_status(life);
    changed = true;
  }
  for (auto& [id, kept] : all_.kept_) {
    order::Progress& now = kept.intent.progress;
    if (now.order_id != order_id || kept.intent.order.venue != venue) continue;
    if (now.status != Status::confirmed || is_over(now.life)) continue;
    now.life = life;
    changed = true;
  }
  return changed;
}

void MemoryIntentStore::open(NewIntent intent, Done<Opening> done) {
  done(try_open(intent));
}

void MemoryIntentStore::take(std::string reference, Done<TakenIntent> done) {
  done(try_take(reference));
}

void MemoryIntentStore::save(std::int64_t id, order::Progress progress, Done<void> done) {
  done(try_save(id, std::move(progress)));
}

void MemoryIntentStore::release(std::int64_t id) {
  const Lock guard(all_.mutex_);
  const auto found = all_.kept_.find(id);
  if (found != all_.kept_.end() && found->second.worker == this) found->second.worker = nullptr;
}

void MemoryIntentStore::get(std::string reference, Done<Intent> done) {
  done(try_get(reference));
}

void MemoryIntentStore::list(IntentFilter filter, Done<std::vector<Intent>> done) {
  std::vector<Intent> all = all_.intents();
  std::ranges::reverse(all);
  std::erase_if(all, [&](const Intent& intent) {
    const bool any = filter.statuses.empty();
    return (!filter.venue.empty() && intent.order.venue != filter.venue) ||
           (filter.unattended && all_.is_worked_on(intent.id)) ||
           !(any ||
             std::ranges::find(filter.statuses, intent.progress.status) != filter.statuses.end());
  });
  const std::size_t most = std::min(filter.limit, bounds::orders_listed_max);
  if (all.size() > most) all.resize(most);
  done(std::move(all));
}

void MemoryIntentStore::quota(order::FrequencyLimit limit, Instant now, Done<Quota> done) {
  Quota found;
  {
    const Lock guard(all_.mutex_);
    found = quota_at(limit, now);
  }
  done(found);
}

void MemoryIntentStore::backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) {
  std::size_t added = 0;
  {
    const Lock guard(all_.mutex_);
    for (const HistoryRow& row : rows) {
      if (!all_.add_row(row)) continue;
      ++added;
      std::optional<bool> counts;
      for (auto& [id, kept] : all_.kept_) {
        const Intent& intent = kept.intent;
        const bool is_named = intent.reference == row.reference || kept.venue_name == row.reference;
        const bool is_its_order =
            (is_named && !row.reference.empty()) ||
            (!row.order_id.empty() && intent.progress.order_id == row.order_id);
        if (!is_its_order || intent.order.venue != row.venue) continue;
        if (!order::is_open(intent.progress.status)) continue;
        kept.slot = false;
        counts = intent.counts || counts.value_or(false);
      }
      if (counts) all_.history_.back().counts = *counts;
    }
  }
  done(added);
}

void MemoryIntentStore::set_life(std::string venue, std::string order_id, Life life,
                                 Done<bool> done) {
  done(try_set_life(venue, order_id, life));
}

void MemoryIntentStore::unfinished(std::string venue, std::int64_t after, std::size_t limit,
                                   Done<std::vector<Intent>> done) {
  std::vector<Intent> all = all_.intents();
  std::erase_if(all, [&](const Intent& intent) {
    return intent.id <= after || intent.order.venue != venue ||
           intent.progress.status != Status::confirmed || is_over(intent.progress.life);
  });
  const std::size_t most = std::min(limit, bounds::orders_listed_max);
  if (all.size() > most) all.resize(most);
  done(std::move(all));
}

void MemoryIntentStore::history_is_empty(Done<bool> done) {
  done(all_.history().empty());
}

}  // namespace pawl
