#include "cli/config_json.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/schema.h"
#include "config/show.h"

namespace pawl::cli {
namespace {

using config::Node;

json::Value value_of(const Node& node, const config::Description& type);

// An item of a list. Items that are maps are buckets; the others are words.
json::Value item_of(const Node& node) {
  if (node.kind != Node::Kind::map) return node.text;
  json::Object object;
  for (const config::Member& member : node.members) {
    const auto& fields = config::bucket_fields();
    const auto field = std::ranges::find(fields, member.key, &config::Field<config::Bucket>::path);
    object[member.key] = value_of(member.value, field->type);
  }
  return object;
}

// A map whose keys the user chose; its values are words, or such maps again.
json::Value map_of(const Node& node) {
  json::Object object;
  for (const config::Member& member : node.members) {
    object[member.key] = member.value.kind == Node::Kind::map ? map_of(member.value)
                                                              : json::Value(member.value.text);
  }
  return object;
}

json::Value value_of(const Node& node, const config::Description& type) {
  if (node.kind == Node::Kind::list) {
    json::Array items;
    for (const Node& item : node.items) items.push_back(item_of(item));
    return items;
  }
  if (node.kind == Node::Kind::map) return map_of(node);
  if (node.truth) return node.text == "true";
  if (type.number) return json::Number{node.text};
  return node.text;
}

// The fields whose paths begin with `prefix`.
json::Object section(const config::Config& config, const std::string& prefix) {
  json::Object object;
  for (const auto& field : config::config_fields()) {
    if (!field.path.starts_with(prefix)) continue;
    const std::string rest = field.path.substr(prefix.size());
    const std::string key = rest.substr(0, rest.find('.'));
    if (object.contains(key)) continue;
    object[key] = key == rest ? value_of(config::shown(field, config), field.type)
                              : json::Value(section(config, prefix + key + "."));
  }
  return object;
}

}  // namespace

json::Value config_json(const config::Config& config) {
  return section(config, "");
}

}  // namespace pawl::cli
