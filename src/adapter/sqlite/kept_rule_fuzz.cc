// Any bytes as the rule a database file holds: one that can be rebuilt is written and rebuilt the
// same, and can be decided on.
#include <cstddef>
#include <cstdint>

#include "adapter/sqlite/kept_rule.h"
#include "base/assert.h"
#include "core/limit/decide.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const auto zones = [](std::string_view name) -> Result<Zone> {
    if (name != "Europe/Zurich") return failure(Code::invalid, "no such zone");
    return Zone("Europe/Zurich", Duration::hours(1));
  };
  const auto rule = rebuild({reinterpret_cast<const char*>(data), size}, zones);
  if (!rule) return 0;
  const std::string text = text_of(*rule);
  const auto again = rebuild(text, zones);
  PAWL_ASSERT(again.has_value() && *again == *rule && text_of(*again) == text);

  const limit::Policy policy("fuzzed", *rule);
  limit::Marks marks;
  limit::State state;
  state.marks = &marks;
  const limit::Member member{.policy = &policy, .state = &state};
  const Instant wall = Instant() + Duration::days(20'000);
  const limit::Now now{.moment = limit::Moment::from_ns(wall.ns()), .wall = wall};
  PAWL_ASSERT(limit::decide({&member, 1}, {.cost = 1}, now).allowed);
  (void)limit::decide({&member, 1}, {.cost = 1}, now);
  (void)limit::until_unused(*rule, state, now);
  return 0;
}
