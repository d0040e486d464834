#include "cli/doctor.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>
#include <utility>

#include "adapter/system/system_clock.h"
#include "base/json.h"
#include "cli/checks.h"
#include "cli/configuration.h"
#include "cli/environment.h"
#include "cli/output.h"

namespace pawl::cli {
namespace {

std::string_view to_string(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::warn:
      return "warn";
    case Health::fail:
      return "fail";
  }
  __builtin_unreachable();
}

std::string_view colour_of(Health health) {
  switch (health) {
    case Health::ok:
      return "\033[32m";
    case Health::warn:
      return "\033[33m";
    case Health::fail:
      return "\033[31m";
  }
  __builtin_unreachable();
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text).append(width - std::min(width, text.size()), ' ');
}

std::int64_t count(std::span<const Finding> findings, Health health) {
  return std::ranges::count(findings, health, &Finding::health);
}

}  // namespace

std::vector<Finding> examine(const std::string& config_file, Clock& clock) {
  std::vector<Finding> findings;
  const config::Loaded loaded = load_config(config_file);
  findings.push_back(check_configuration(config_file, loaded));
  if (loaded) {
    findings.push_back(check_guarded_address(loaded->server));
    findings.push_back(check_admin_address(loaded->server.admin));
    const bool is_default = loaded->server.upstreams == config::Config().server.upstreams;
    for (const config::Upstream& upstream : loaded->server.upstreams) {
      findings.push_back(check_upstream(upstream, is_default));
    }
    std::ranges::move(check_limit_stores(loaded->limits, clock), std::back_inserter(findings));
    findings.push_back(check_record_store(loaded->idempotency, clock));
    std::ranges::move(check_orders(*loaded, clock), std::back_inserter(findings));
    std::ranges::move(check_queue_store(*loaded, clock), std::back_inserter(findings));
    std::ranges::move(check_audit(loaded->audit), std::back_inserter(findings));
  }
  const std::int64_t connections =
      loaded ? loaded->server.connections : config::Config().server.connections;
  findings.push_back(check_descriptors(descriptors_allowed(), connections));
  findings.push_back(check_clock(clock));
  return findings;
}

std::string findings_text(std::span<const Finding> findings, bool colour) {
  std::size_t widest = 0;
  for (const Finding& finding : findings) widest = std::max(widest, finding.check.size());
  constexpr std::size_t status_width = 6;
  std::string out;
  for (const Finding& finding : findings) {
    const std::string status = padded(to_string(finding.health), status_width);
    out += colour ? std::string(colour_of(finding.health)) + status + "\033[0m" : status;
    out += padded(finding.check, widest + 2) + finding.found + "\n";
    if (finding.advice.empty()) continue;
    out += std::string(status_width + widest + 2, ' ') + "-> " + finding.advice + "\n";
  }
  return out + "\n" + std::to_string(count(findings, Health::ok)) + " ok, " +
         std::to_string(count(findings, Health::warn)) + " to look at, " +
         std::to_string(count(findings, Health::fail)) + " failed\n";
}

std::string findings_json(std::span<const Finding> findings) {
  json::Array checks;
  for (const Finding& finding : findings) {
    checks.push_back(json::Object{{"check", finding.check},
                                  {"status", to_string(finding.health)},
                                  {"found", finding.found},
                                  {"advice", finding.advice}});
  }
  const json::Object result{{"checks", std::move(checks)},
                            {"ok", count(findings, Health::ok)},
                            {"warn", count(findings, Health::warn)},
                            {"fail", count(findings, Health::fail)}};
  return json::print(result) + "\n";
}

int exit_code(std::span<const Finding> findings) {
  int code = 0;
  for (const Finding& finding : findings) {
    if (finding.health != Health::fail) continue;
    if (finding.check == configuration_check) return static_cast<int>(Code::invalid);
    code = static_cast<int>(Code::unavailable);
  }
  return code;
}

bool wants_colour(bool is_terminal, const config::Env& env) {
  return is_terminal && env("NO_COLOR").value_or("").empty() && env("TERM") != "dumb";
}

int doctor(const Arguments& arguments) {
  SystemClock clock;
  const std::vector<Finding> findings = examine(config_file(arguments), clock);
  if (arguments.has("--json")) {
    print(findings_json(findings));
  } else {
    print(findings_text(findings, wants_colour(::isatty(STDOUT_FILENO) == 1, environment())));
  }
  return exit_code(findings);
}

}  // namespace pawl::cli
