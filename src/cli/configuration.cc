#include "cli/configuration.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "adapter/system/system_zones.h"
#include "cli/environment.h"
#include "cli/output.h"

namespace pawl::cli {
namespace {

constexpr const char* usual_file = "pawl.yaml";

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
