#include "config/reader.h"

#include <algorithm>
#include <limits>

#include "base/bounds.h"
#include "base/json.h"
#include "base/similar.h"

namespace pawl::config {
namespace {

// A password may stand before the host of a URL, allowed there or not.
std::string without_user(std::string_view text) {
  const auto scheme = text.find("://");
  const auto user_end = text.rfind('@');
  if (scheme == std::string_view::npos || user_end == std::string_view::npos || user_end < scheme) {
    return std::string(text);
  }
  return std::string(text.substr(0, scheme + 3)).append("***").append(text.substr(user_end));
}

// In quotes, on one line, not longer than a message bears.
std::string quoted(std::string_view whole) {
  const std::string text = without_user(whole);
  std::string_view shown = std::string_view(text).substr(0, bounds::config_excerpt_bytes_max);
  if (shown.size() < text.size()) {
    // Not in the middle of a character.
    while (!shown.empty() && (static_cast<unsigned char>(text[shown.size()]) & 0xc0) == 0x80) {
      shown.remove_suffix(1);
    }
  }
  std::string out;
  json::append_quoted(out, shown);
  if (shown.size() < text.size()) out += "…";
  return out;
}

std::string found(const Node& node, bool secret) {
  switch (node.kind) {
    case Node::Kind::nothing:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::text:
    case Node::Kind::refused:
      break;
  }
  return secret ? "a value that is not shown here" : quoted(node.text);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::vector<std::string> keys_below(std::string_view prefix, std::span<const std::string> paths) {
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    if (!path.starts_with(prefix)) continue;
    std::string key = path.substr(prefix.size());
    key = key.substr(0, key.find('.'));
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

// The key that was meant, as far as one can tell: a near one here, or the same one elsewhere.
std::string meant(std::string_view key, const std::vector<std::string>& keys,
                  std::span<const std::string> paths) {
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  if (const std::string_view near = nearest(key, known); !near.empty()) return std::string(near);
  const std::string ending = "." + std::string(key);
  const auto elsewhere =
      std::ranges::find_if(paths, [&](const std::string& path) { return path.ends_with(ending); });
  return elsewhere == paths.end() ? "" : *elsewhere;
}

}  // namespace

std::string join(const std::string& path, std::string_view name) {
  const bool plain = !name.empty() && name.size() <= bounds::config_name_bytes_max &&
                     std::ranges::all_of(name, [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-';
                     });
  return (path.empty() ? "" : path + ".") + (plain ? std::string(name) : quoted(name));
}

void Reader::problem(int line, std::string path, std::string message) {
  if (problems_.size() == bounds::config_problems_max) {
    ++more_problems_;
    return;
  }
  // In the order of the file; what has no line comes last.
  const auto order = [](int of) { return of > 0 ? of : std::numeric_limits<int>::max(); };
  const auto after = std::ranges::upper_bound(
      problems_, order(line), {}, [&](const Problem& each) { return order(each.line); });
  problems_.insert(after, {file_, line, std::move(path), std::move(message)});
}

void Reader::refuse(const Node& node, const std::string& path, Allowed allowed) {
  if (node.kind == Node::Kind::refused) return;
  problem(node.line, path,
          "found " + found(node, allowed.secret) + "; allowed: " + std::string(allowed.text));
}

void Reader::refuse_text(const Node& node, std::string_view text, const std::string& path,
                         Allowed allowed) {
  if (allowed.secret || text == node.text) return refuse(node, path, allowed);
  problem(node.line, path,
          "found " + quoted(text) + ", from " + quoted(node.text) +
              "; allowed: " + std::string(allowed.text));
}

void Reader::refuse_again(const Node& node, const std::string& path) {
  problem(node.line, path, "found " + found(node, false) + " for the second time; keep one");
}

void Reader::refuse_collision(const Said& a, const Said& b, const std::string& advice) {
  const bool at_a = line_of(a.path) > 0 || line_of(b.path) == 0;
  const Said& here = at_a ? a : b;
  const Said& there = at_a ? b : a;
  problem(line_of(here.path), here.path,
          "found " + here.value + ", which collides with " + there.path + " (" + there.value +
              "); " + advice);
}

std::optional<std::string> Reader::text(const Node& node, const std::string& path,
                                        Allowed allowed) {
  if (node.kind != Node::Kind::text) {
    refuse(node, path, allowed);
    return std::nullopt;
  }
  auto expanded = expand(node.text, env_);
  if (expanded) return *std::move(expanded);
  problem(node.line, path, std::move(expanded).error());
  return std::nullopt;
}

void Reader::walk(const Node& map, const Place& place, std::span<const std::string> paths,
                  const Take& take) {
  if (map.kind != Node::Kind::map) {
    refuse(map, place.path, {"a map with the keys " + listed(keys_below(place.prefix, paths))});
    return;
  }
  once_each(map, place.path,
            [&](const Member& each, const std::string&) { member(each, place, paths, take); });
}

bool Reader::each(const Node& map, const std::string& path, Allowed allowed, const TakeAny& take) {
  if (map.kind == Node::Kind::nothing) return true;  // all its lines are commented out
  if (map.kind != Node::Kind::map) {
    refuse(map, path, allowed);
    return false;
  }
  once_each(map, path, [&](const Member& member, const std::string& place) {
    lines_[place] = member.value.line;
    take(member, place);
  });
  return true;
}

void Reader::once_each(const Node& map, const std::string& path, const TakeAny& take) {
  std::map<std::string_view, int> seen;
  for (const Member& each : map.members) {
    const std::string place = join(path, each.key);
    const auto [first, is_new] = seen.emplace(each.key, each.line);
    if (is_new) {
      take(each, place);
    } else {
      problem(each.line, place,
              "found twice, first on line " + std::to_string(first->second) + "; keep one");
    }
  }
}

void Reader::member(const Member& member, const Place& place, std::span<const std::string> paths,
                    const Take& take) {
  const std::string path = join(place.path, member.key);
  const std::string known = place.prefix + member.key;
  // A key with a dot in it is not the way down into a section.
  const bool dotted = member.key.find('.') != std::string::npos;
  const auto field = std::ranges::find(paths, known);
  if (field != paths.end() && !dotted) {
    lines_[path] = member.value.line;
    take(static_cast<std::size_t>(field - paths.begin()), member.value, path);
    return;
  }
  const std::string section = known + ".";
  if (!dotted && std::ranges::any_of(
                     paths, [&](const std::string& each) { return each.starts_with(section); })) {
    // A section whose lines are all commented out is an empty one.
    if (member.value.kind != Node::Kind::nothing) walk(member.value, {path, section}, paths, take);
    return;
  }
  const auto keys = keys_below(place.prefix, paths);
  const std::string meant_key = meant(member.key, keys, paths);
  problem(member.line, path,
          "unknown key; " + (meant_key.empty() ? "" : "did you mean " + meant_key + "? ") +
              "allowed: " + listed(keys));
}

bool Reader::sound(std::string_view path) const {
  return std::ranges::none_of(problems_, [&](const Problem& each) { return each.path == path; });
}

bool Reader::sound_below(std::string_view path) const {
  return std::ranges::none_of(problems_, [&](const Problem& each) {
    const std::string_view at = each.path;
    if (!at.starts_with(path)) return false;
    return at.size() == path.size() || at[path.size()] == '.' || at[path.size()] == '[';
  });
}

int Reader::line_of(const std::string& path) const {
  const auto line = lines_.find(path);
  return line == lines_.end() ? 0 : line->second;
}

std::vector<Problem> Reader::take_problems() {
  if (more_problems_ > 0) {
    problems_.push_back(
        {file_, 0, "", "and " + std::to_string(more_problems_) + " more problems like these"});
  }
  return std::move(problems_);
}

}  // namespace pawl::config
