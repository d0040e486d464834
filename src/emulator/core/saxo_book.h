// SaxoBook: the orders of the emulated Saxo, what became of each, and the lines that keep them.
//
// Contract: pure. Ids are numbers of eight digits in the order of placement. Every change gives a
//           line with the whole order; restore() takes it. What time does to orders (a placement
//           that was left open) is done by tick().
// Bounds:   bounds::emulator_orders_max orders; then place() gives null.
// Threads:  one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

enum class SaxoState : std::uint8_t {
  pending,  // LockedPlacementPending: the venue has yet to make up its mind
  working,
  not_working,  // a related order whose parent has not filled
  filled,
  cancelled,
  expired,
  rejected,
};
std::string_view to_string(SaxoState state);
constexpr bool is_open(SaxoState state) {
  return state == SaxoState::pending || state == SaxoState::working ||
         state == SaxoState::not_working;
}

// One row of order activities.
struct SaxoActivity {
  std::uint64_t log_id = 0;
  Instant time = {};
  std::string status = {};      // Placed, Working, FinalFill, Cancelled …
  std::string sub_status = {};  // Confirmed, Rejected …
  std::string fill_amount = {};
  std::string price = {};
};

struct SaxoOrder {
  std::string id = {};
  std::string reference = {};
  json::Value request = {};  // the members of its body
  SaxoState state = SaxoState::working;
  Instant placed = {};
  Instant visible = {};   // from then on reading calls show it
  Instant resolved = {};  // of a pending one: when it becomes `resolves`
  SaxoState resolves = SaxoState::working;
  bool hides_reference = false;
  std::vector<SaxoActivity> activities = {};
};

class SaxoBook {
 public:
  // Fills orders at that price when they name none.
  explicit SaxoBook(std::string fill_price) : fill_price_(std::move(fill_price)) {}

  // The order comes without id and activities. Null: there is no room.
  const SaxoOrder* place(SaxoOrder order, Instant now);
  // Of an order that is open.
  void become(const std::string& id, SaxoState state, Instant now);
  void change(const std::string& id, json::Value request, Instant now);
  void tick(Instant now);
  void clear();

  const SaxoOrder* find(std::string_view id) const;
  const std::map<std::string, SaxoOrder, std::less<>>& all() const { return orders_; }

  std::vector<std::string> take_changes();
  // One of its lines, as an object.
  Result<void> restore(const json::Value& order);
  void set_fill_price(std::string price) { fill_price_ = std::move(price); }

 private:
  void note(SaxoOrder& order, std::string_view status, std::string_view sub_status, Instant now);
  void enter(SaxoOrder& order, SaxoState state, Instant now);
  void changed(const SaxoOrder& order);

  std::string fill_price_;
  std::map<std::string, SaxoOrder, std::less<>> orders_;
  std::map<std::string, Instant> pending_;  // ids, and when they are resolved
  std::uint64_t last_id_ = 55'000'000;
  std::uint64_t last_log_id_ = 0;
  std::vector<std::string> changes_;
};

json::Value to_json(const SaxoOrder& order);

}  // namespace pawl::emulator
