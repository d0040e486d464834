#include "config/show.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "config/expand.h"
#include "config/orders.h"
#include "config/places.h"
#include "config/queue.h"
#include "config/schema.h"
#include "config/values.h"

namespace pawl::config {
namespace {

// Words that YAML readers take for something other than text.
constexpr std::array<std::string_view, 7> reserved = {"null", "true", "false", "yes",
                                                      "no",   "on",   "off"};

bool is_plain(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && letter(text.front()) && text.back() != ':' &&
         std::ranges::find(reserved, text) == reserved.end() &&
         std::ranges::all_of(text, [&](char c) {
           return letter(c) || std::string_view("-_./:").find(c) != std::string_view::npos;
         });
}

void append_word(std::string& out, std::string_view word) {
  if (is_plain(word)) {
    out += word;
  } else {
    json::append_quoted(out, word);
  }
}

void append_value(std::string& out, const Node& node) {
  if (node.form == Form::truth) {
    out += node.text;
  } else {
    append_word(out, escape(node.text));
  }
}

// On one line, as in [a, b] or {key: value}.
void append_flow(std::string& out, const Node& node) {
  std::string_view separator;
  if (node.kind == Node::Kind::list) {
    out += '[';
    for (const Node& item : node.items) {
      out += separator;
      append_flow(out, item);
      separator = ", ";
    }
    out += ']';
  } else if (node.kind == Node::Kind::map) {
    out += '{';
    for (const Member& member : node.members) {
      out += separator;
      append_word(out, member.key);
      out += ": ";
      append_flow(out, member.value);
      separator = ", ";
    }
    out += '}';
  } else {
    append_value(out, node);
  }
}

bool is_list_of_maps(const Node& node) {
  return node.kind == Node::Kind::list && !node.items.empty() &&
         node.items.front().kind == Node::Kind::map;
}

// `key: value` on one line, the items of a list of maps one a line.
void append_entry(std::string& out, const Member& member, std::size_t indent) {
  out.append(indent, ' ');
  append_word(out, member.key);
  if (!is_list_of_maps(member.value)) {
    out += ": ";
    append_flow(out, member.value);
    out += '\n';
    return;
  }
  out += ":\n";
  for (const Node& item : member.value.items) {
    out.append(indent + 2, ' ').append("- ");
    append_flow(out, item);
    out += '\n';
  }
}

// `key: value`, maps and lists of maps one key a line.
void append_member(std::string& out, std::string_view key, const Node& node, std::size_t indent) {
  out.append(indent, ' ');
  append_word(out, key);
  if (node.kind == Node::Kind::map && !node.members.empty()) {
    out += ":\n";
    for (const Member& member : node.members) append_entry(out, member, indent + 2);
    return;
  }
  if (!is_list_of_maps(node)) {
    out += ": ";
    append_flow(out, node);
    out += '\n';
    return;
  }
  out += ":\n";
  for (const Node& item : node.items) {
    std::string_view dash = "  - ";
    for (const Member& member : item.members) {
      out.append(indent, ' ').append(dash);
      append_word(out, member.key);
      out += ": ";
      append_flow(out, member.value);
      out += '\n';
      dash = "    ";
    }
  }
}

// "server.admin." of "server.admin.listen".
std::string_view section_of(std::string_view path) {
  return path.substr(0, path.rfind('.') + 1);
}

void append_section_heads(std::string& out, std::string_view before, std::string_view now) {
  std::size_t begin = 0;
  while (begin < now.size()) {
    const std::size_t end = now.find('.', begin) + 1;
    if (!before.starts_with(now.substr(0, end))) {
      if (begin == 0 && !out.empty()) out += '\n';
      const auto depth = static_cast<std::size_t>(std::ranges::count(now.substr(0, begin), '.'));
      out.append(2 * depth, ' ').append(now.substr(begin, end - 1 - begin)).append(":\n");
    }
    begin = end;
  }
}

// A cell of a table must not end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

template <class Owner>
void append_row(std::string& out, const std::string& prefix, const Field<Owner>& field,
                const Node& standard) {
  std::string value = field.may_be_absent ? "none" : "must be given";
  if (field.standard.kind != Node::Kind::nothing) {
    std::string text;
    append_flow(text, standard);
    value = "`" + text + "`";
  }
  out += "| `" + prefix + field.path + "` | " + field.type.name + " | " + cell(field.type.allowed) +
         " | " + cell(value) + " | " + cell(field.help) +
         (field.needs_restart ? " A change needs a restart." : "") + " |\n";
}

constexpr std::string_view page_head = R"(# Configuration

This page is made by `pawl config reference` from the table that pawl itself reads.

pawl reads one YAML file: the one named with `--config`, else `pawl.yaml`, else none. What the
file leaves out has its default. `pawl config check FILE` names everything that is wrong with a
file at once, each with file, line and path; `pawl config show` prints the configuration in force,
secrets hidden.

- The reading is strict: an unknown key, a key given twice, a wrong type and a value out of range
  are errors. So are anchors, aliases, tags and a second document.
- `${NAME}` in a value is replaced by that environment variable, `${NAME:-default}` too, with a
  default for a variable that is not set or empty. `$${` stands for the characters `${`. Inside
  brackets and braces put such a value in quotes.
- A duration is a whole number and a unit: `500ms`, `60s`, `15m`, `24h`, `7d`. A rate is a count,
  a slash and a duration: `100/1m`. A size is a whole number and `KiB`, `MiB`, `GiB` or `TiB`, or
  a number of bytes.
- An address in brackets needs quotes, because YAML takes brackets for a list: `"[::1]:8080"`.
- SIGHUP reads the file again. The new configuration comes into force as a whole, or not at all
  when something is wrong with it or when a change in it needs a restart.
)";

// The rows of maps within a value, below the row of the field that holds them.
void append_rows_within(std::string& out, const std::string& path) {
  const auto append = [&](const std::string& prefix, const auto& fields) {
    for (const auto& item : fields) {
      append_row(out, prefix, item, item.standard);
      append_rows_within(out, prefix + item.path);
    }
  };
  if (path == "tenants.api_keys") append(path + "[].", api_key_fields());
  if (path == "limits.buckets") append(path + "[].", bucket_fields());
  if (path == "limits.buckets[].match") append(path + ".", match_fields());
  if (path == "orders.venues") append(path + ".", venues_fields());
  if (path == "orders.venues.saxo") append(path + ".", saxo_fields());
  if (path == "orders.venues.okx") append(path + ".", okx_fields());
  if (path == "webhooks.endpoints") append(path + "[].", webhook_fields());
  if (path == "queue.limits") append(path + "[].", queue_limit_fields());
  if (path == "retry.policies") append(path + ".CATEGORY.", retry_policy_fields());
  if (path == "retry.classify") append(path + ".TABLE[].", retry_row_fields());
}

void hide(Node& node) {
  if (node.form == Form::secret && !node.text.empty()) node.text = hidden_secret;
  if (node.form == Form::url) node.text = without_password(node.text);
  for (Node& item : node.items) hide(item);
  for (Member& member : node.members) hide(member.value);
}

}  // namespace

Node shown(const Field<Config>& field, const Config& config) {
  Node node = field.print(config);
  hide(node);
  return node;
}

std::string show(const Config& config) {
  std::string out;
  std::string_view section;
  for (const auto& field : config_fields()) {
    const std::string_view now = section_of(field.path);
    append_section_heads(out, section, now);
    if (now.empty()) out += '\n';
    section = now;
    const std::string_view path = field.path;
    const auto depth = static_cast<std::size_t>(std::ranges::count(path, '.'));
    append_member(out, path.substr(now.size()), shown(field, config), 2 * depth);
  }
  return out;
}

std::string reference_page() {
  const Config config;
  std::string out(page_head);
  std::string section;
  for (const auto& field : config_fields()) {
    const std::string now = field.path.substr(0, field.path.find('.'));
    if (now != section) {
      out += "\n## " + now + "\n\n| key | type | allowed | default | meaning |\n";
      out += "| --- | --- | --- | --- | --- |\n";
      section = now;
    }
    append_row(out, "", field, field.print(config));
    append_rows_within(out, field.path);
  }
  return out + "\n## The whole, with its defaults\n\n```yaml\n" + show(config) + "```\n";
}

}  // namespace pawl::config
