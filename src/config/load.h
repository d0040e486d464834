// load(): from a YAML file to a Config that passed every check, or to the list of all that is
// wrong.
//
// Contract: strict. An unknown key, a key given twice, a wrong type, a value out of range, an
//           anchor, an alias, a tag or a second document is a problem with its line and path; what
//           the file leaves out has its default. An empty file is the defaults. Nothing is half
//           loaded.
// Bounds:   bounds::config_bytes_max bytes, bounds::config_depth_max levels; these, bytes that are
//           not UTF-8 and text that is not YAML end the reading, so they are told alone.
// Threads:  any. The environment is read through `env` alone, time zones through `zones`.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/expand.h"
#include "config/problem.h"
#include "pawl/result.h"

namespace pawl::config {

using Loaded = std::expected<Config, std::vector<Problem>>;
// The zone of a name, as in Europe/Zurich, or why there is none.
using Zones = std::function<Result<Zone>(std::string_view)>;

Loaded load(const std::string& file, const Env& env, const Zones& zones);

// The same for text at hand; `file` is the name that problems carry. Pure.
Loaded load_text(const std::string& file, std::string_view text, const Env& env,
                 const Zones& zones);

}  // namespace pawl::config
