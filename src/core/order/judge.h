// What a reading of the venue shows of one intent: its own order, others that carry its reference,
// and such as only look like it.
//
// Contract: pure. An order is ours when it has the id that the venue gave to our call; or when it
//           carries the reference, and instrument, side and size are ours: a reference is not
//           unique at every venue, and another program's order is not adopted. What the venue does
//           not show of an order does not speak against it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/order/answer.h"
#include "core/order/intent.h"
#include "pawl/time.h"

namespace pawl::order {

struct Sighting {
  std::size_t orders = 0;     // of ours, by different ids; that of the venue's word is one
  std::size_t strangers = 0;  // that carry the reference, and are other orders
  std::size_t probable = 0;
  bool readable = false;  // all sources were
  bool expired = false;   // no copy is taken any more by the venue's clock, or none was said
  // Of the rows that show ours, the one that says most: what is over stays so, and a refusal is
  // believed when no other row speaks against it.
  std::optional<VenueOrder> found = {};
  bool operator==(const Sighting&) const = default;
};

Sighting judge(const Intent& intent, const Reading& reading);

// Every source and every id, as evidence: whoever settles it must see them.
void add_reading(Intent& intent, const Reading& reading, Instant now);

}  // namespace pawl::order
