// Type<T>: how a value of the configuration is read, printed and described. Four shapes make them
// all: scalar() for a single value, list_of() for a list, map_of() for a map with fields of its
// own, map_by() for a map whose keys the user chooses.
//
// Field<Owner>: one row of a table: a path, what may stand there, and the member of Owner it fills.
//
// Contract: what print() gives, read() takes, and gives the same value again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "config/reader.h"
#include "config/tree.h"

namespace pawl::config {

struct Description {
  std::string name;     // "address", for the reference page
  std::string allowed;  // for messages and the reference page
  Form form = Form::word;
};

template <class T>
struct Type : Description {
  std::function<std::optional<T>(Reader&, const Node&, const std::string& path)> read;
  std::function<Node(const T&)> print;
};

// What a row of the table says about itself, besides its type and its member.
struct Row {
  std::string path;
  std::string help;
  Node standard;  // the default; Kind::nothing when there is none
  bool needs_restart = false;
  bool may_be_absent = false;  // without a default: else the key must be given
};

// In a Row, beside its default.
inline constexpr bool needs_restart = true;

// A row of a table that stands for a map within the configuration: one that must be given unless it
// has a default, and one that may be left out.
inline Row row(std::string path, std::string help, Node standard) {
  return {.path = std::move(path), .help = std::move(help), .standard = std::move(standard)};
}
inline Row part(std::string path, std::string help) {
  return {.path = std::move(path), .help = std::move(help), .standard = {}, .may_be_absent = true};
}

// The member that a row fills, of a const Owner and of one to be filled.
#define PAWL_MEMBER(member) [](auto& owner) -> auto& { return owner.member; }

template <class Owner>
struct Field : Row {
  Description type;
  std::function<void(Reader&, const Node&, const std::string& path, Owner&)> read;
  std::function<Node(const Owner&)> print;
};

template <class Owner>
using Fields = std::vector<Field<Owner>>;

template <class Owner>
Fields<Owner> joined(std::initializer_list<Fields<Owner>> tables) {
  Fields<Owner> rows;
  for (const auto& table : tables) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

// A single value: `parse` gives T or nothing, `print` the text that parses to it.
template <class T>
Type<T> scalar(Description description, std::function<std::optional<T>(const std::string&)> parse,
               std::function<std::string(const T&)> print) {
  Type<T> type{description, {}, {}};
  type.read = [parse = std::move(parse), description](Reader& reader, const Node& node,
                                                      const std::string& path) -> std::optional<T> {
    const Allowed allowed{description.allowed, description.form == Form::secret};
    const auto text = reader.text(node, path, allowed);
    if (!text) return std::nullopt;
    auto value = parse(*text);
    if (!value) reader.refuse_text(node, *text, path, allowed);
    return value;
  };
  type.print = [print = std::move(print), form = description.form](const T& value) {
    Node node = Node::of(print(value));
    node.form = form;
    return node;
  };
  return type;
}

struct ListSize {
  std::size_t least;
  std::size_t most;
  bool repeats = false;  // an item may stand there twice
};

template <class T>
Type<std::vector<T>> list_of(Type<T> item, ListSize size, std::string allowed) {
  Type<std::vector<T>> type{{"list", std::move(allowed)}, {}, {}};
  type.read = [item, size, allowed = type.allowed](
                  Reader& reader, const Node& node,
                  const std::string& path) -> std::optional<std::vector<T>> {
    if (node.kind != Node::Kind::list) {
      reader.refuse(node, path, {allowed});
      return std::nullopt;
    }
    if (node.items.size() < size.least || node.items.size() > size.most) {
      reader.problem(
          node.line, path,
          "found a list of " + std::to_string(node.items.size()) + "; allowed: " + allowed);
      return std::nullopt;
    }
    std::vector<T> values;
    std::vector<Node> seen;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string place = path + "[" + std::to_string(i) + "]";
      reader.stands_at(node.items[i].line, place);
      auto value = item.read(reader, node.items[i], place);
      if (!value) continue;
      Node printed = item.print(*value);
      if (!size.repeats &&
          std::ranges::any_of(seen, [&](const Node& each) { return same(each, printed); })) {
        reader.refuse_again(node.items[i], place);
      }
      seen.push_back(std::move(printed));
      values.push_back(std::move(*value));
    }
    return values;
  };
  type.print = [print = std::move(item.print)](const std::vector<T>& values) {
    std::vector<Node> items;
    for (const T& value : values) items.push_back(print(value));
    return Node::list(std::move(items));
  };
  return type;
}

// One value, or a list of them. Of one it is printed as that one, of none as nothing.
template <class T>
Type<std::vector<T>> one_or_more(Type<T> item, std::size_t most) {
  Type<std::vector<T>> type{
      {item.name + " or list", item.allowed + "; or a list of 1 to " + std::to_string(most)},
      {},
      {}};
  const Type<std::vector<T>> many = list_of(item, {1, most}, type.allowed);
  type.read = [item, read_many = many.read, allowed = type.allowed](
                  Reader& reader, const Node& node,
                  const std::string& path) -> std::optional<std::vector<T>> {
    if (node.kind == Node::Kind::list) return read_many(reader, node, path);
    if (node.kind != Node::Kind::text) {
      reader.refuse(node, path, {allowed});
      return std::nullopt;
    }
    auto value = item.read(reader, node, path);
    return value ? std::optional(std::vector<T>{*std::move(value)}) : std::nullopt;
  };
  type.print = [print = item.print, print_many = many.print](const std::vector<T>& values) {
    if (values.empty()) return Node();
    return values.size() == 1 ? print(values.front()) : print_many(values);
  };
  return type;
}

// What may be a key of map_by().
struct KeyRule {
  std::string allowed;
  std::function<bool(std::string_view)> good;
};

// Shown in the order of the keys.
template <class T>
Type<std::map<std::string, T>> map_by(KeyRule key, Type<T> value, std::string allowed) {
  Type<std::map<std::string, T>> type{{"map", std::move(allowed)}, {}, {}};
  type.read = [key = std::move(key), read = value.read, allowed = type.allowed](
                  Reader& reader, const Node& node,
                  const std::string& path) -> std::optional<std::map<std::string, T>> {
    std::map<std::string, T> values;
    const bool is_map =
        reader.each(node, path, {allowed}, [&](const Member& member, const std::string& place) {
          if (!key.good(member.key)) {
            reader.problem(member.line, place, "found this key; allowed: " + key.allowed);
          } else if (auto one = read(reader, member.value, place)) {
            values.emplace(member.key, std::move(*one));
          }
        });
    return is_map ? std::optional(std::move(values)) : std::nullopt;
  };
  type.print = [print = std::move(value.print)](const std::map<std::string, T>& values) {
    std::vector<Member> members;
    for (const auto& [name, one] : values) members.push_back({name, 0, print(one)});
    return Node::map(std::move(members));
  };
  return type;
}

// A list of maps, and the key by which no two of them may be alike.
struct Distinct {
  std::string path;    // "limits.buckets"
  std::string key;     // "name"
  std::string advice;  // "give each bucket a name of its own"
};

template <class T>
void check_distinct(const std::vector<T>& items, std::string T::* key, const Distinct& rule,
                    Reader& reader) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& value = items[i].*key;
    // One that is empty was refused, or is missing.
    if (value.empty() || seen.insert(value).second) continue;
    const std::string path = rule.path + "[" + std::to_string(i) + "]." + rule.key;
    reader.problem(reader.line_of(path), path,
                   "found \"" + value + "\" for the second time; " + rule.advice);
  }
}

// A value that may be absent; printed as nothing then.
template <class T>
Type<std::optional<T>> maybe(Type<T> value) {
  Type<std::optional<T>> type{value, {}, {}};
  type.read = [read = std::move(value.read)](
                  Reader& reader, const Node& node,
                  const std::string& path) -> std::optional<std::optional<T>> {
    if (auto one = read(reader, node, path)) return std::optional<std::optional<T>>(std::move(one));
    return std::nullopt;
  };
  type.print = [print = std::move(value.print)](const std::optional<T>& one) {
    return one ? print(*one) : Node();
  };
  return type;
}

template <class Owner>
std::vector<std::string> paths_of(const Fields<Owner>& fields) {
  std::vector<std::string> paths;
  for (const auto& field : fields) paths.push_back(field.path);
  return paths;
}

template <class Owner>
void read_map(Reader& reader, const Node& map, const Place& place, const Fields<Owner>& fields,
              Owner& owner) {
  std::vector<bool> given(fields.size());
  reader.walk(map, place, paths_of(fields),
              [&](std::size_t index, const Node& node, const std::string& path) {
                given[index] = true;
                fields[index].read(reader, node, path, owner);
              });
  for (std::size_t i = 0; i < fields.size() && map.kind == Node::Kind::map; ++i) {
    if (given[i] || fields[i].may_be_absent) continue;
    if (fields[i].standard.kind != Node::Kind::nothing) continue;
    reader.problem(map.line, join(place.path, fields[i].path),
                   "missing; allowed: " + fields[i].type.allowed);
  }
}

// The one place where defaults become values.
template <class Owner>
void set_defaults(const Fields<Owner>& fields, Owner& owner) {
  Reader reader("the table of fields", [](std::string_view) { return std::nullopt; });
  for (const auto& field : fields) {
    if (field.standard.kind == Node::Kind::nothing) continue;
    field.read(reader, field.standard, field.path, owner);
  }
  PAWL_ASSERT(reader.take_problems().empty());
}

template <class T>
Type<T> map_of(const Fields<T>& fields) {
  Type<T> type{{"map", "a map"}, {}, {}};
  type.read = [&fields](Reader& reader, const Node& node,
                        const std::string& path) -> std::optional<T> {
    T value;
    set_defaults(fields, value);
    read_map(reader, node, {path, ""}, fields, value);
    return value;
  };
  type.print = [&fields](const T& value) {
    std::vector<Member> members;
    for (const auto& field : fields) {
      Node node = field.print(value);
      if (node.kind != Node::Kind::nothing) members.push_back({field.path, 0, std::move(node)});
    }
    return Node::map(std::move(members));
  };
  return type;
}

// `access` gives the member of an Owner, const or not.
template <class Owner, class T, class Access>
Field<Owner> bind(Row row, Type<T> type, Access access) {
  Field<Owner> field{std::move(row), type, {}, {}};
  field.read = [read = std::move(type.read), access](Reader& reader, const Node& node,
                                                     const std::string& path, Owner& owner) {
    if (auto value = read(reader, node, path)) access(owner) = std::move(*value);
  };
  field.print = [print = std::move(type.print), access](const Owner& owner) {
    return print(access(owner));
  };
  return field;
}

}  // namespace pawl::config
