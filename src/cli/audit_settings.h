// What the configuration says of the audit log, as those who open it want it.
#pragma once

#include "assembly/audit_sinks.h"
#include "config/config.h"

namespace pawl::cli {

inline AuditSettings audit_settings(const config::Audit& audit) {
  return {.sinks = audit.sinks, .on_full = audit.on_full, .part_bytes_max = audit.rotate};
}

}  // namespace pawl::cli
