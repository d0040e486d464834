#include "cli/configuration.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_zones.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "config/orders.h"
#include "log/logger.h"
#include "log/sink.h"

namespace pawl::cli {
namespace {

constexpr const char* usual_file = "pawl.yaml";

// Whoever trades looks for this in the log.
void log_weekly_max(const std::vector<config::Problem>& problems) {
  const auto found = std::ranges::find(problems, config::weekly_max_path, &config::Problem::path);
  if (found == problems.end()) return;
  SystemClock clock;
  const std::unique_ptr<log::Sink> sink = log::stderr_sink();
  log::Output output(clock, *sink, {});
  log::Logger(output).error("order_frequency_limit_invalid",
                            {{"message", config::invalid_weekly_max},
                             {"file", found->file},
                             {"line", found->line},
                             {"path", found->path}});
}

}  // namespace

std::string config_file(const Arguments& arguments) {
  if (arguments.has("--config")) return arguments.value("--config");
  // A link that leads nowhere is there too: its target is missing, which is an error and no reason
  // to fall back to the defaults.
  std::error_code error;
  const auto status = std::filesystem::symlink_status(usual_file, error);
  return std::filesystem::exists(status) ? usual_file : "";
}

std::string config_name(const std::string& file) {
  return file.empty() ? "the built-in defaults" : file;
}

config::Loaded load_config(const std::string& file) {
  if (file.empty()) return config::Config();
  return config::load(file, environment(), load_zone);
}

std::optional<config::Config> config_in_force(const Arguments& arguments) {
  const std::string file = config_file(arguments);
  config::Loaded loaded = load_config(file);
  if (loaded) return *std::move(loaded);
  for (const config::Problem& problem : loaded.error()) complain(to_string(problem));
  log_weekly_max(loaded.error());
  complain("pawl: the configuration is not valid; correct what is said above");
  return std::nullopt;
}

std::expected<config::Config, std::vector<std::string>> reload_config(const std::string& file) {
  if (file.empty()) {
    return std::unexpected(
        std::vector<std::string>{"pawl was started without a configuration file, so there is none "
                                 "to read again; write one and "
                                 "restart pawl"});
  }
  config::Loaded loaded = load_config(file);
  if (loaded) return *std::move(loaded);
  std::vector<std::string> lines;
  for (const config::Problem& problem : loaded.error()) lines.push_back(to_string(problem));
  return std::unexpected(std::move(lines));
}

}  // namespace pawl::cli
