// Correlation: who and what a log line or an audit event belongs to. The same names stand in both,
// so one search finds everything that happened to one order, request or tenant.
#pragma once

#include <string>

namespace pawl {

// Empty members are left out of what is written, and may be left out of an initialiser.
struct Correlation {
  std::string tenant_id = {};
  std::string request_id = {};
  std::string external_reference = {};
  std::string correlation_id = {};
  std::string trace_id = {};
};

}  // namespace pawl
