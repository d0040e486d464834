// Any bytes as what a key holds: a count that can be read is written back and read the same, and
// can be decided on.
#include <cstddef>
#include <cstdint>

#include "adapter/redis/kept_count.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto kept = redis::parse_count(text, {});
  if (!kept) return 0;
  kept->state.marks = &kept->marks;
  const std::string written = redis::count_text(kept->rule, kept->state);
  auto again = redis::parse_count(written, {});
  PAWL_ASSERT(again.has_value());
  again->state.marks = &again->marks;
  PAWL_ASSERT(redis::count_text(again->rule, again->state) == written);
  const limit::Policy policy("fuzzed", kept->rule);
  const limit::Member member{.policy = &policy, .state = &kept->state};
  const Instant wall = Instant() + Duration::days(20'000);
  const limit::Now now{.moment = limit::Moment::from_ns(wall.ns()), .wall = wall};
  (void)limit::decide({&member, 1}, {.cost = 1}, now);
  return 0;
}
