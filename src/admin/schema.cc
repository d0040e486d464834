#include "admin/schema.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace pawl::admin {
namespace schema {
namespace {

json::Object typed(std::string_view type) {
  return {{"type", type}};
}

}  // namespace

Schema text() {
  return typed("string");
}

Schema text(std::size_t least, std::size_t most) {
  json::Object out = typed("string");
  out.emplace("minLength", least);
  out.emplace("maxLength", most);
  return out;
}

Schema instant() {
  json::Object out = typed("string");
  out.emplace("format", "date-time");
  return out;
}

Schema whole(std::int64_t least, std::int64_t most) {
  json::Object out = typed("integer");
  out.emplace("minimum", least);
  out.emplace("maximum", most);
  return out;
}

Schema count() {
  json::Object out = typed("integer");
  out.emplace("minimum", 0);
  return out;
}

Schema truth() {
  return typed("boolean");
}

Schema word(std::initializer_list<std::string_view> words) {
  json::Object out = typed("string");
  out.emplace("enum", json::Array(words.begin(), words.end()));
  return out;
}

Schema list_of(Schema item) {
  json::Object out = typed("array");
  out.emplace("items", std::move(item));
  return out;
}

Schema map_of(Schema value) {
  json::Object out = typed("object");
  out.emplace("additionalProperties", std::move(value));
  return out;
}

Schema anything() {
  return json::Object();
}

Schema or_null(Schema schema) {
  json::Object out = *schema.if_object();
  json::Array types = {out["type"], "null"};
  out["type"] = std::move(types);
  return out;
}

Schema object(std::vector<Member> members) {
  json::Object properties;
  json::Array required;
  for (Member& member : members) {
    if (member.required) required.emplace_back(member.name);
    properties.emplace(member.name, std::move(member.schema));
  }
  json::Object out = typed("object");
  out.emplace("properties", std::move(properties));
  out.emplace("required", std::move(required));
  out.emplace("additionalProperties", false);
  return out;
}

Schema reference(std::string_view name) {
  return json::Object{{"$ref", "#/components/schemas/" + std::string(name)}};
}

}  // namespace schema

namespace {

std::optional<std::int64_t> integer_of(const json::Value& value) {
  const json::Number* number = value.if_number();
  if (number == nullptr) return std::nullopt;
  std::int64_t out = 0;
  const char* end = number->text.data() + number->text.size();
  const auto [rest, error] = std::from_chars(number->text.data(), end, out);
  if (error != std::errc() || rest != end) return std::nullopt;
  return out;
}

std::string_view type_of(const json::Value& value) {
  if (value.is_null()) return "null";
  if (value.if_bool() != nullptr) return "boolean";
  if (value.if_string() != nullptr) return "string";
  if (value.if_array() != nullptr) return "array";
  if (value.if_object() != nullptr) return "object";
  return integer_of(value) ? "integer" : "number";
}

bool has_type(const json::Value& allowed, std::string_view type) {
  if (const std::string* one = allowed.if_string()) return *one == type;
  const json::Array& several = *allowed.if_array();
  return std::ranges::find(several, json::Value(type)) != several.end();
}

std::int64_t number_in(const Schema& schema, std::string_view keyword, std::int64_t otherwise) {
  const json::Value* found = schema.find(keyword);
  return found == nullptr ? otherwise : *integer_of(*found);
}

std::string wrong(std::string_view name, std::string_view found, std::string_view allowed) {
  return std::string(name).append(": found ").append(found).append("; allowed: ").append(allowed);
}

std::string range(const Schema& schema, std::string_view least, std::string_view most) {
  std::string out = "from " + std::to_string(number_in(schema, least, 0));
  if (schema.find(most) != nullptr) out += " to " + std::to_string(number_in(schema, most, 0));
  return out;
}

std::string flaw_in_size(const Schema& schema, const json::Value& value, std::string_view name) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (const auto integer = integer_of(value)) {
    const bool fits = *integer >= number_in(schema, "minimum", -most) &&
                      *integer <= number_in(schema, "maximum", most);
    return fits ? ""
                : wrong(name, value.if_number()->text,
                        "a whole number " + range(schema, "minimum", "maximum"));
  }
  if (const std::string* string = value.if_string()) {
    const auto size = static_cast<std::int64_t>(string->size());
    const bool fits =
        size >= number_in(schema, "minLength", 0) && size <= number_in(schema, "maxLength", most);
    return fits ? ""
                : wrong(name, std::to_string(size) + " bytes",
                        "a text of so many bytes: " + range(schema, "minLength", "maxLength"));
  }
  return "";
}

std::string flaw_in_members(const Schema& schema, const json::Object& object,
                            std::string_view name) {
  const json::Value* properties = schema.find("properties");
  const json::Value* others = schema.find("additionalProperties");
  for (const auto& [member, value] : object) {
    const json::Value* known = properties == nullptr ? nullptr : properties->find(member);
    if (known == nullptr && others != nullptr && others->if_bool() == nullptr) known = others;
    if (known == nullptr) {
      std::string names;
      for (const auto& [each, unused] : *properties->if_object()) {
        names.append(names.empty() ? "" : ", ").append(each);
      }
      return wrong(name, "a member that is not known", names);
    }
    if (std::string found = flaw(*known, value, member); !found.empty()) return found;
  }
  const json::Value* required = schema.find("required");
  if (required == nullptr) return "";
  for (const json::Value& each : *required->if_array()) {
    if (!object.contains(*each.if_string())) {
      return wrong(*each.if_string(), "nothing", "it is asked for");
    }
  }
  return "";
}

std::string flaw_in_words(const json::Array& words, const json::Value& value,
                          std::string_view name) {
  if (std::ranges::find(words, value) != words.end()) return "";
  std::string names;
  for (const json::Value& each : words) {
    names.append(names.empty() ? "" : ", ").append(*each.if_string());
  }
  return wrong(name, "another word", names);
}

}  // namespace

std::string flaw(const Schema& schema, const json::Value& value, std::string_view name) {
  const json::Value* type = schema.find("type");
  if (type == nullptr) return "";
  if (!has_type(*type, type_of(value))) {
    return wrong(name, std::string("a value of type ").append(type_of(value)), json::print(*type));
  }
  if (const json::Value* words = schema.find("enum"); words != nullptr && !value.is_null()) {
    return flaw_in_words(*words->if_array(), value, name);
  }
  if (const json::Object* object = value.if_object()) return flaw_in_members(schema, *object, name);
  if (const json::Array* array = value.if_array()) {
    for (const json::Value& each : *array) {
      if (std::string found = flaw(*schema.find("items"), each, name); !found.empty()) return found;
    }
    return "";
  }
  return flaw_in_size(schema, value, name);
}

}  // namespace pawl::admin
