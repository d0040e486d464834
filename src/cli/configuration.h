// Which configuration is in force, and how the verbs get at it.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "config/load.h"

namespace pawl::cli {

// The file that --config names, or pawl.yaml when it stands in the working directory. Empty: there
// is no file, the built-in defaults are in force.
std::string config_file(const Arguments& arguments);

// The same for people: the file's name, or "the built-in defaults".
std::string config_name(const std::string& file);

config::Loaded load_config(const std::string& file);

// For a verb that cannot go on without: says every problem on standard error. Nothing means that
// the verb ends with Code::invalid.
std::optional<config::Config> config_in_force(const Arguments& arguments);

// For a process that has this file's configuration in force: it again, or what is wrong, one line a
// problem. A file that has gone is a problem, and no reason to fall back to the defaults.
std::expected<config::Config, std::vector<std::string>> reload_config(const std::string& file);

}  // namespace pawl::cli
