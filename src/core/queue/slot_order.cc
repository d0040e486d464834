#include "core/queue/slot_order.h"

#include <iterator>

namespace pawl::queue {
namespace {

constexpr std::size_t passed_max = 1'000;

}  // namespace

void SlotOrder::make(std::vector<Entry> all) {
  std::ranges::sort(all);
  all_ = std::move(all);
  added_.clear();
  passed_ = 0;
  is_made_ = true;
}

// Few of them stand apart; many become part of the whole.
void SlotOrder::add(const Entry& entry) {
  if (!is_made_) return;
  added_.insert(entry);
  if (added_.size() <= all_.size() / 8 + 1'024) return;
  std::vector<Entry> together;
  together.reserve(all_.size() + added_.size());
  std::ranges::merge(all_, added_, std::back_inserter(together));
  all_ = std::move(together);
  added_.clear();
}

void SlotOrder::pass(std::size_t tasks) {
  if (!is_made_) return;
  const bool is_stale = all_.size() + added_.size() > 2 * tasks + 1'024;
  if (++passed_ <= passed_max && !is_stale) return;
  *this = SlotOrder();
}

}  // namespace pawl::queue
