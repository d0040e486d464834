#include "admin/router.h"

#include <algorithm>
#include <optional>

#include "admin/target.h"
#include "base/text.h"

namespace pawl::admin {
namespace {

using Names = std::vector<std::pair<std::string_view, std::string_view>>;

bool is_name(std::string_view segment) {
  return segment.starts_with('{');
}

std::string_view name_of(std::string_view segment) {
  return segment.substr(1, segment.size() - 2);
}

// The names and what stands in their places, when the path is one of this route.
std::optional<Names> match(const Route& route, std::string_view target) {
  Names names;
  std::string_view pattern = route.path.substr(1);
  std::string_view rest = target.substr(0, route.takes_rest ? target.npos : target.find('?'));
  if (!rest.starts_with('/')) return std::nullopt;
  rest.remove_prefix(1);
  bool more = true;
  while (!pattern.empty()) {
    const std::string_view expected = take_until(pattern, '/');
    if (!more) return std::nullopt;
    if (route.takes_rest && pattern.empty()) {
      names.emplace_back(name_of(expected), rest);
      return names;
    }
    more = rest.find('/') != std::string_view::npos;
    const std::string_view given = take_until(rest, '/');
    if (is_name(expected) && !given.empty()) {
      names.emplace_back(name_of(expected), given);
    } else if (expected != given) {
      return std::nullopt;
    }
  }
  if (more) return std::nullopt;
  return names;
}

bool serves(const Route& route, std::string_view method) {
  return route.method == "*" || route.method == method ||
         (route.method == "GET" && method == "HEAD");
}

// A number or a truth is no text; what cannot be one stays a text, and does not fit.
json::Value value_of(const Schema& schema, std::string text) {
  const std::string& type = *schema.find("type")->if_string();
  if (type == "boolean" && text == "true") return true;
  if (type == "boolean" && text == "false") return false;
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (type == "integer" && digits) return json::Number{std::move(text)};
  return text;
}

Result<void> take(Values& values, const Route& route, std::string_view name, std::string text) {
  const auto parameter = std::ranges::find(route.parameters, name, &Parameter::name);
  if (parameter == route.parameters.end()) {
    std::string known;
    for (const Parameter& each : route.parameters) {
      if (each.in != Parameter::In::query) continue;
      known.append(known.empty() ? "" : ", ").append(each.name);
    }
    return failure(Code::invalid, "the query names a parameter that is not known; allowed: " +
                                      (known.empty() ? "none" : known));
  }
  json::Value value = value_of(parameter->schema, std::move(text));
  if (std::string wrong = flaw(parameter->schema, value, name); !wrong.empty()) {
    return failure(Code::invalid, std::move(wrong));
  }
  values.insert_or_assign(std::string(name), std::move(value));
  return {};
}

}  // namespace

Found Router::find(std::string_view method, std::string_view target) const {
  Found found;
  for (const Route& route : routes_) {
    std::optional<Names> names = match(route, target);
    if (!names) continue;
    if (serves(route, method)) return {.route = &route, .names = *std::move(names), .allow = {}};
    found.allow.append(found.allow.empty() ? "" : ", ").append(route.method);
    if (route.method == "GET") found.allow.append(", HEAD");
  }
  return found;
}

Result<Values> read_parameters(const Found& found, std::string_view target) {
  Values values;
  const Route& route = *found.route;
  for (const auto& [name, written] : found.names) {
    if (route.takes_rest) {
      values.emplace(name, written);
    } else {
      PAWL_TRY(take(values, route, name, PAWL_TRY(decode(written))));
    }
  }
  if (route.takes_rest) return values;
  for (auto& [name, text] : PAWL_TRY(parse_query(target))) {
    if (values.contains(name)) return failure(Code::invalid, name + ": it stands in the path");
    PAWL_TRY(take(values, route, name, std::move(text)));
  }
  return values;
}

}  // namespace pawl::admin
