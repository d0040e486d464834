// `pawl doctor`: what works, what does not, and what to do about it.
//
// A check looks at one thing and gives one Finding. It changes nothing: no file is made, no port is
// kept. A new part of the product adds its check to examine().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "config/expand.h"
#include "pawl/clock.h"

namespace pawl::cli {

enum class Health : std::uint8_t { ok, warn, fail };

struct Finding {
  std::string check;  // what was looked at
  Health health = Health::ok;
  std::string found;
  std::string advice;  // empty: nothing is to be done
};

// The check whose failure has an exit code of its own.
inline constexpr std::string_view configuration_check = "configuration";

// Every check, with the configuration of this file (empty: the built-in defaults).
std::vector<Finding> examine(const std::string& config_file, Clock& clock);

std::string findings_text(std::span<const Finding> findings, bool colour);
std::string findings_json(std::span<const Finding> findings);
// 0 when nothing failed; a failed configuration comes before the rest.
int exit_code(std::span<const Finding> findings);

// On a terminal, unless NO_COLOR is set.
bool wants_colour(bool is_terminal, const config::Env& env);

int doctor(const Arguments& arguments);

}  // namespace pawl::cli
