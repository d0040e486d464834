#include "cli/retry_verbs.h"

#include <optional>
#include <string>
#include <utility>

#include "cli/configuration.h"
#include "cli/output.h"
#include "cli/retry_text.h"
#include "config/values.h"

namespace pawl::cli {
namespace {

// What was typed, as the table takes it; its code is that of `arguments`.
Result<retry::Observation> observation_of(const Arguments& arguments) {
  const auto usage = [](std::string message) {
    return std::unexpected(usage_error("retry classify", std::move(message)));
  };
  const std::string& transport = arguments.value("--transport");
  retry::Observation seen{.transport = retry::transport_of(transport).value(),
                          .names_effect = arguments.has("--names-effect")};
  if (arguments.has("--code")) seen.code = arguments.value("--code");
  const bool answered = seen.transport == retry::Transport::answered;
  if (!arguments.has("--status")) {
    if (!answered) return seen;
    return usage("--status is missing: an answer has one; if there was none, give --transport");
  }
  if (!answered) {
    return usage("--status and --transport " + transport +
                 " contradict each other: where there is a status, there was an answer");
  }
  const auto status = config::parse_whole(arguments.value("--status"), 100, 999);
  if (!status) {
    return usage("--status is '" + arguments.value("--status") +
                 "'; it is a number from 100 to 999");
  }
  seen.status = static_cast<int>(*status);
  return seen;
}

Result<void> classify(const config::Retry& retry, const Arguments& arguments) {
  const retry::Observation seen = PAWL_TRY(observation_of(arguments));
  const Verdict verdict = PAWL_TRY(verdict_of(retry, arguments.value("--table"), seen));
  print(arguments.has("--json") ? verdict_json(verdict) : verdict_text(verdict));
  return {};
}

}  // namespace

int retry_policies(const Arguments& arguments) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  print(arguments.has("--json") ? policies_json(config->retry) : policies_text(config->retry));
  return 0;
}

int retry_classify(const Arguments& arguments) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<void> done = classify(config->retry, arguments);
  return done ? 0 : fail(done.error());
}

}  // namespace pawl::cli
