// The checks of `pawl doctor`, one function each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor.h"
#include "config/config.h"
#include "config/load.h"
#include "core/audit/anchor.h"
#include "pawl/clock.h"
#include "port/object_store.h"

namespace pawl::cli {

Finding check_configuration(const std::string& file, const config::Loaded& loaded);

// Free to listen on, or in the hands of a running pawl, which the admin address tells.
Finding check_guarded_address(const config::Server& server);
Finding check_admin_address(const config::Admin& admin);

// `is_default`: nobody has named one, so there need be none.
Finding check_upstream(const config::Upstream& upstream, bool is_default);

// Whether it answers, and keeps what it is given (limit_checks.cc).
std::vector<Finding> check_limit_stores(const config::Limits& limits, Clock& clock);

// Whether it opens, and gives the durability that is asked for (record_checks.cc).
Finding check_record_store(const config::Idempotency& idempotency, Clock& clock);

// Of orders, where a venue is configured: the database, and of each venue whether its host answers,
// takes the credentials and agrees on the time (order_checks.cc).
std::vector<Finding> check_orders(const config::Config& config, Clock& clock);
Finding check_venue_clock(const std::string& venue, std::optional<Instant> venue_time, Instant now);

// Of the queue: whether its store answers, keeps conditional writes and agrees on the time, whether
// its log is whole and on time, and how many tasks there are (queue_checks.cc).
std::vector<Finding> check_queue_store(const config::Config& config, Clock& clock);
Finding check_queue_clock(const std::optional<TimeSample>& sample);

// Of a file the folder, the log and the room on its disk; of a stream the server (audit_checks.cc).
std::vector<Finding> check_audit(const config::Audit& audit);
struct AuditTail {
  std::string path;
  std::string_view text;  // the end of the file,
  bool is_whole = true;   // or all of it
  bool is_first = true;   // no file of the log was set aside before this one
  std::optional<audit::Anchor> anchor = {};
};
Finding check_audit_tail(const AuditTail& tail);
Finding check_space(std::uint64_t bytes_left);

std::uint64_t descriptors_allowed();
// `connections`: as many as may be open at once.
Finding check_descriptors(std::uint64_t allowed, std::int64_t connections);

Finding check_clock(Clock& clock);

}  // namespace pawl::cli
