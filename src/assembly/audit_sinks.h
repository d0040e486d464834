// Opens the audit log that settings name: file:PATH, nats://HOST:PORT/STREAM, or several.
//
// Contract: with one setting the sink itself, with several a SinkGroup of them. Errors: invalid
//           when a setting is none of the two; unavailable for whatever is wrong with the file or
//           the server, since the setting that names it is right.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bounds.h"
#include "base/on_full.h"
#include "base/store_setting.h"
#include "pawl/durability.h"
#include "pawl/result.h"
#include "port/event_sink.h"

namespace pawl {

struct AuditSettings {
  std::vector<StoreSetting> sinks;  // at least one
  OnFull on_full = OnFull::block;
  std::int64_t part_bytes_max = bounds::audit_part_bytes_max;  // of a file
};

Result<std::unique_ptr<EventSink>> open_audit(const AuditSettings& settings);

// The same, and what its records were found to survive: in the weakest of several.
struct OpenedAudit {
  std::unique_ptr<EventSink> sink;
  Durability durability;
};
Result<OpenedAudit> open_probed_audit(const AuditSettings& settings);

}  // namespace pawl
