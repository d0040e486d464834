#include "config/reload.h"

#include "config/schema.h"

namespace pawl::config {

std::vector<Change> changes(const Config& running, const Config& next) {
  std::vector<Change> out;
  for (const auto& field : config_fields()) {
    if (same(field.print(running), field.print(next))) continue;
    out.push_back({field.path, field.needs_restart});
  }
  return out;
}

}  // namespace pawl::config
