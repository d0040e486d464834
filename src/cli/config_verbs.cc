#include "cli/config_verbs.h"

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/config_json.h"
#include "cli/configuration.h"
#include "cli/output.h"
#include "config/show.h"

namespace pawl::cli {
namespace {

constexpr int invalid = static_cast<int>(Code::invalid);

std::string check_json(const std::string& name, const std::vector<config::Problem>& problems) {
  json::Array list;
  for (const config::Problem& problem : problems) {
    list.push_back(json::Object{{"file", problem.file},
                                {"line", problem.line},
                                {"path", problem.path},
                                {"message", problem.message}});
  }
  const json::Object result{
      {"file", name}, {"valid", problems.empty()}, {"problems", std::move(list)}};
  return json::print(result) + "\n";
}

}  // namespace

int config_check(const Arguments& arguments) {
  const std::string file = arguments.has("FILE") ? arguments.value("FILE") : config_file(arguments);
  const config::Loaded loaded = load_config(file);
  const std::vector<config::Problem> problems =
      loaded ? std::vector<config::Problem>() : loaded.error();
  if (arguments.has("--json")) {
    print(check_json(config_name(file), problems));
  } else if (problems.empty()) {
    print(config_name(file) + ": ok\n");
  } else {
    for (const config::Problem& problem : problems) complain(to_string(problem));
  }
  return problems.empty() ? 0 : invalid;
}

int config_show(const Arguments& arguments) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return invalid;
  print(arguments.has("--json") ? json::print(config_json(*config)) + "\n" : config::show(*config));
  return 0;
}

int config_reference(const Arguments&) {
  print(config::reference_page());
  return 0;
}

}  // namespace pawl::cli
