// OkxBook: the orders of the emulated OKX, their fills, and the positions that these make.
//
// Contract: pure. Ids and trades are numbered in the order in which they happen. Every change gives
//           a line for the disk and, unless it is told not to, a row for the order channel.
//           Positions are not kept: they are worked out of the fills again.
// Bounds:   bounds::emulator_orders_max orders; then place() gives null.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/json.h"
#include "emulator/core/okx_order.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

struct OkxTrade {
  Decimal size = {};
  Decimal price = {};
  bool is_maker = false;
};

struct OkxChange {
  std::optional<Decimal> size = {};
  std::optional<std::string> px = {};
};

class OkxBook {
 public:
  // instId, margin mode, side of the position.
  using PositionKey = std::tuple<std::string, std::string, std::string>;

  // The order comes without an id. Null: there is no room.
  const OkxOrder* place(OkxOrder order);
  // These three need an order that is open; `size` is at most what is left of it.
  void fill(std::uint64_t id, const OkxTrade& trade, Instant now);
  void cancel(std::uint64_t id, std::string_view source, Instant now);
  void amend(std::uint64_t id, const OkxChange& change, Instant now);
  void clear();

  const OkxOrder* find(std::uint64_t id) const;
  // The last one of that name; an id as text in the first.
  const OkxOrder* find_named(std::string_view cl_ord_id) const;
  // All of that name, in the order of placement.
  std::vector<const OkxOrder*> all_named(std::string_view cl_ord_id) const;

  const std::map<std::uint64_t, OkxOrder>& all() const { return orders_; }
  const std::set<std::uint64_t>& open() const { return open_; }
  const std::vector<OkxFill>& fills() const { return fills_; }
  const std::map<PositionKey, OkxPosition>& positions() const { return positions_; }
  // Null: there is none, or it is zero.
  const OkxPosition* position(const OkxOrder& order) const;

  std::vector<std::string> take_changes() { return std::exchange(changes_, {}); }
  // Orders as they were after each change, for the order channel.
  std::vector<json::Value> take_rows() { return std::exchange(rows_, {}); }
  Result<void> restore(const json::Value& line);

 private:
  void changed(const OkxOrder& order);
  void enter(const OkxOrder& order);
  void apply(const OkxOrder& order, const OkxFill& fill);

  std::map<std::uint64_t, OkxOrder> orders_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> names_;
  std::set<std::uint64_t> open_;
  std::vector<OkxFill> fills_;
  std::map<PositionKey, OkxPosition> positions_;
  std::vector<std::string> changes_;
  std::vector<json::Value> rows_;
};

}  // namespace pawl::emulator
