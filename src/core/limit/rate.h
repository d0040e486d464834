// Rate: how many in how long, as a configuration writes it ("100/1m").
//
// Contract: a Rate that parse_rate() gave has 1 … bounds::limit_count_max in more than nothing and
//           at most bounds::limit_period_max, and no more than one a nanosecond, the grain of time
//           here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::limit {

struct Rate {
  std::int64_t count = 1;
  Duration period = Duration::seconds(1);

  bool operator==(const Rate&) const = default;
};

// COUNT/DURATION: "100/1m", "5/500ms". No sign, no blank; the count begins with no zero.
Result<Rate> parse_rate(std::string_view text);
std::string to_string(const Rate& rate);

}  // namespace pawl::limit
