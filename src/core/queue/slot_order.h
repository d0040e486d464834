// SlotOrder: the tasks by id, for whoever goes through all of them page by page.
//
// Why:      a page that is found by looking at every task makes a whole export quadratic. An order
//           that is always kept would cost every task its bytes and every submit its time, for
//           what few ask; so it is made for the second page, and goes when nobody has asked for
//           some time.
// Contract: walk() shows every task that was there when the order was made, or was added since. It
//           may show one that has gone (or whose slot is another's by now): the visitor sees that.
//           Each id is shown at most once for which the visitor says that it is the slot's.
// Threads:  one at a time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/queue/task.h"

namespace pawl::queue {

class SlotOrder {
 public:
  struct Entry {
    TaskId id = {};
    std::uint32_t slot = 0;
    auto operator<=>(const Entry&) const = default;
  };
  enum class Seen : std::uint8_t { gone, shown, enough };

  bool is_made() const { return is_made_; }
  void make(std::vector<Entry> all);
  void add(const Entry& entry);  // nothing, unless it is made
  // A segment has come, and there are so many tasks: an order that nobody has used for many of
  // them, or that is mostly of tasks that have gone, goes.
  void pass(std::size_t tasks);

  // By id, those above `after`, until the visitor has enough.
  template <class Visit>
  void walk(const std::optional<TaskId>& after, const Visit& visit) {
    passed_ = 0;
    const Entry above = {.id = after.value_or(TaskId()), .slot = ~std::uint32_t{0}};
    auto old = after ? std::ranges::upper_bound(all_, above) : all_.begin();
    auto fresh = after ? added_.upper_bound(above) : added_.begin();
    std::optional<TaskId> last;
    while (old != all_.end() || fresh != added_.end()) {
      const bool is_old = fresh == added_.end() || (old != all_.end() && *old < *fresh);
      const Entry entry = is_old ? *old++ : *fresh++;
      if (last == entry.id) continue;
      const Seen seen = visit(entry);
      if (seen == Seen::enough) return;
      if (seen == Seen::shown) last = entry.id;
    }
  }

 private:
  bool is_made_ = false;
  std::vector<Entry> all_;
  std::set<Entry> added_;
  std::size_t passed_ = 0;  // segments since somebody asked
};

}  // namespace pawl::queue
