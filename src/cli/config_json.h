// A configuration as JSON: the members and values of `config show`, secrets hidden alike.
#pragma once

#include "base/json.h"
#include "config/config.h"

namespace pawl::cli {

json::Value config_json(const config::Config& config);

// What is said of a category, and a row of a classification table, under the same names.
json::Object policy_json(const config::RetryPolicy& policy);
json::Object row_json(const config::RetryRow& row);

}  // namespace pawl::cli
