// What Saxo shows of orders: rows of open orders, of order activities and of events, put together
// into orders, and weighed against an intent.
//
// Why:      no address of Saxo finds an order by its ExternalReference, open orders do not show
//           what filled at once, and a row of activities may or may not carry the reference. Only
//           all of them together tell whether an order is there.
// Contract: pure. Ours beyond doubt is an order with the intent's OrderId, or with its reference
//           and the same instrument, side and size. Probable is what carries our reference with
//           other terms, and what has our terms, came in time, and shows no reference: never
//           proof. An order that shows another reference is somebody else's.
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/order/answer.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/venue.h"
#include "venue/saxo/saxo_wire.h"

namespace pawl::saxo {

// A page of rows. `next` is the query of the one behind it, empty at the end; of the address that
// Saxo names only that is used, so that no page leads to another host.
struct Page {
  json::Array rows = {};
  std::string next = {};
  std::optional<std::size_t> count = {};  // of all pages, where it is told
};
Result<Page> page_of(json::Value body);

// One order, as all rows together show it.
struct Seen {
  order::VenueOrder order = {};
  std::string account_key = {};
  bool has_terms = false;        // instrument, side and size were told
  bool has_time = false;         // placed_at was told
  bool was_placed = false;       // a row of its placement is there, and did not say Rejected
  std::string last_place = {};   // of the activities: the newest one counts
  std::string terms_place = {};  // of the newest activity that settled the terms
  bool is_open = false;          // it stands among the open orders
};

class Sightings {
 public:
  // A row of /port/v1/orders, or the details of an order.
  void add_open(const json::Value& row);
  // A row of /cs/v1/audit/orderactivities or /ens/v1/activities.
  void add_activity(const json::Value& row);
  // Of an order that is known: whose it is, and nothing else.
  void learn_reference(const json::Value& row);

  const Seen* find(std::string_view order_id) const;
  const std::map<std::string, Seen, std::less<>>& all() const { return seen_; }
  std::size_t rows() const { return rows_; }
  // That name no order: any of them could be ours.
  std::size_t nameless() const { return nameless_; }

 private:
  Seen* entry(const json::Value& row);

  std::map<std::string, Seen, std::less<>> seen_;
  std::size_t rows_ = 0;
  std::size_t nameless_ = 0;
};

enum class Match : std::uint8_t { none, probable, ours };

// Holds what was seen against an intent.
class Weigher {
 public:
  // `likely_from`: by Saxo's clock, an order that was placed before is not taken for probable.
  Weigher(const ReadAsk& ask, Account account, Instant likely_from)
      : ask_(ask), account_(std::move(account)), likely_from_(likely_from) {}

  Match match(const Seen& seen) const;
  // Ids of probable orders that have shown no reference yet.
  std::vector<std::string> undecided(const Sightings& sightings) const;
  // The orders of a reading.
  void fill(order::Reading& reading, const Sightings& sightings) const;
  // What one source showed, in the light of all of them: where one shows the reference of an order,
  // the others need not.
  std::pair<order::SourceRead::Found, std::string> found(const Sightings& source,
                                                         const Sightings& all) const;

 private:
  bool same_terms(const Seen& seen) const;

  ReadAsk ask_;
  Account account_;
  Instant likely_from_;
};

// Orders that were placed in [from, to), for a backfill; those that were refused are not there.
std::vector<order::VenueOrder> placed_within(const Sightings& sightings, Instant from, Instant to);

}  // namespace pawl::saxo
