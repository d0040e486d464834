// The retry policies in force, and what answers mean, as people and programs read them.
//
// Contract: pure. Members have the names and the form of the configuration; policies' members that
//           are not the default are marked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "config/config.h"
#include "core/retry/classify.h"
#include "pawl/result.h"

namespace pawl::cli {

std::string policies_text(const config::Retry& retry);
std::string policies_json(const config::Retry& retry);
// One for each category, as the admin API tells them.
json::Array policy_list(const config::Retry& retry);

// What was seen means this, and which row says so.
struct Verdict {
  retry::Classification means = {};
  std::optional<config::RetryRow> row = {};  // none: no row matches
  std::string path = {};                     // of the row in the configuration; empty: built in
};
// Code::not_found for a table that nobody defined.
Result<Verdict> verdict_of(const config::Retry& retry, std::string_view table,
                           const retry::Observation& seen);
std::string verdict_text(const Verdict& verdict);
std::string verdict_json(const Verdict& verdict);

}  // namespace pawl::cli
