// Any text: the parser must not crash, and what it reads fires in the end, in minutes that fit.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "core/queue/cron.h"

using namespace pawl;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cron = queue::parse_cron(text);
  if (!cron) {
    PAWL_ASSERT(!cron.error().message.empty());
    return 0;
  }
  Instant last = Instant::from_ns(1'750'000'000'000'000'000);
  for (int i = 0; i < 3; ++i) {
    const auto next = queue::next_after(*cron, Zone::utc(), last);
    PAWL_ASSERT(next && *next > last);
    const CivilTime shown = to_civil(*next);
    PAWL_ASSERT((cron->minutes >> shown.minute & 1) != 0 && (cron->hours >> shown.hour & 1) != 0);
    PAWL_ASSERT((cron->months >> shown.date.month & 1) != 0);
    last = *next;
  }
  return 0;
}
