#include "cli/config_json.h"

#include <string>

#include "config/schema.h"
#include "config/show.h"

namespace pawl::cli {
namespace {

using config::Node;

json::Object object_of(const Node& map);

json::Value value_of(const Node& node) {
  if (node.kind == Node::Kind::list) {
    json::Array items;
    for (const Node& item : node.items) items.push_back(value_of(item));
    return items;
  }
  if (node.kind == Node::Kind::map) return object_of(node);
  if (node.form == config::Form::truth) return node.text == "true";
  if (node.form == config::Form::number) return json::Number{node.text};
  return node.text;
}

json::Object object_of(const Node& map) {
  json::Object object;
  for (const config::Member& member : map.members) object[member.key] = value_of(member.value);
  return object;
}

// The fields whose paths begin with `prefix`.
json::Object section(const config::Config& config, const std::string& prefix) {
  json::Object object;
  for (const auto& field : config::config_fields()) {
    if (!field.path.starts_with(prefix)) continue;
    const std::string rest = field.path.substr(prefix.size());
    const std::string key = rest.substr(0, rest.find('.'));
    if (object.contains(key)) continue;
    if (key != rest) {
      object[key] = section(config, prefix + key + ".");
    } else {
      object[key] = value_of(config::shown(field, config));
    }
  }
  return object;
}

}  // namespace

json::Object policy_json(const config::RetryPolicy& policy) {
  return object_of(config::map_of(config::retry_policy_fields()).print(policy));
}

json::Object row_json(const config::RetryRow& row) {
  return object_of(config::map_of(config::retry_row_fields()).print(row));
}

json::Value config_json(const config::Config& config) {
  return section(config, "");
}

}  // namespace pawl::cli
