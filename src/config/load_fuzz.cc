// Any text either loads or is told what is wrong in single lines; what loads is shown and loads
// again.
#include <cstdint>

#include "base/assert.h"
#include "config/load.h"
#include "config/show.h"
#include "config/values.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl::config;
  const Env env = [](std::string_view name) -> std::optional<std::string> {
    if (name == "A") return "a: [b]\n\xff";
    return std::nullopt;
  };
  const Zones zones = [](std::string_view name) -> pawl::Result<pawl::Zone> {
    if (name == "UTC") return pawl::Zone::utc();
    return pawl::failure(pawl::Code::invalid, "unknown");
  };
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = load_text("pawl.yaml", text, env, zones);
  if (!loaded) {
    PAWL_ASSERT(!loaded.error().empty());
    for (const Problem& problem : loaded.error()) {
      const std::string line = to_string(problem);
      PAWL_ASSERT(line.find_first_of("\r\n\x1b") == std::string::npos);
      PAWL_ASSERT(!problem.message.empty() && problem.line >= 0);
    }
    return 0;
  }
  const std::string shown = show(*loaded);
  if (shown.find(hidden_secret) != std::string::npos) return 0;
  const auto again = load_text("pawl.yaml", shown, env, zones);
  PAWL_ASSERT(again.has_value() && show(*again) == shown);
  return 0;
}
