// Goal: whatever stands in a log, taking its decisions again ends, and breaks nothing.
// Method: bytes as a record.
#include "base/json.h"
#include "core/audit/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = pawl::json::parse({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  (void)pawl::audit::replay(*record, [](std::string_view name) -> pawl::Result<pawl::Zone> {
    return pawl::Zone(std::string(name), pawl::Duration::hours(1));
  });
  return 0;
}
