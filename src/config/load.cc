// The only file that knows the YAML library. It takes the library's events and not its tree,
// because the tree has lost what a strict reader needs: keys given twice, aliases, tags, quotes
// that never end.
#include "config/load.h"

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/bounds.h"
#include "base/utf8.h"
#include "config/orders.h"
#include "config/reader.h"
#include "config/schema.h"
#include "config/tree.h"

namespace pawl::config {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

struct Fault {
  int line;
  std::string message;
};

int line_of(const YAML::Mark& mark) {
  return mark.line + 1;
}

// Turns events into a tree. Throws a Fault where going on makes no sense.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Reader& reader) : text_(text), reader_(reader) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw Fault{line_of(mark),
                  "found a second document, or text that is no part of the first; keep one"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const int line = is_key_next() || open_.empty() ? line_of(mark) : line_before(mark);
    add({}, line);
    refuse_marks(line, anchor, false);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Node node;
    node.kind = Node::Kind::refused;
    add(std::move(node), line_of(mark));
    reader_.problem(line_of(mark), last_path_, "found an alias; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!" && check_quotes(mark);
    add(Node::of(value), line_of(mark));
    refuse_marks(line_of(mark), anchor, tag != "?" && !quoted);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::list({}), mark);
    refuse_marks(line_of(mark), anchor, tag != "?");
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::map({}), mark);
    refuse_marks(line_of(mark), anchor, tag != "?");
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    std::string path;
    std::optional<Member> member;  // its key has been read, its value comes next
  };

  bool is_key_next() const {
    return !open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().member;
  }

  // Where a missing value is missing. The library's mark is at what comes next, blank lines and
  // comments later.
  int line_before(const YAML::Mark& mark) const {
    std::string_view before = text_.substr(0, static_cast<std::size_t>(mark.pos));
    int line = line_of(mark);
    while (true) {
      const auto line_end = before.rfind('\n');
      const auto last = before.substr(line_end == std::string_view::npos ? 0 : line_end + 1);
      const auto first = last.find_first_not_of(" \t\r");
      const bool blank = first == std::string_view::npos || last[first] == '#';
      if (!blank || line_end == std::string_view::npos) return line;
      before.remove_suffix(last.size() + 1);
      --line;
    }
  }

  void refuse_marks(int line, YAML::anchor_t anchor, bool tag) {
    if (anchor != 0) {
      reader_.problem(line, last_path_,
                      "found an anchor; leave it out and write the value where it is needed");
    } else if (tag) {
      reader_.problem(line, last_path_, "found a tag; leave it out, the key decides the type");
    }
  }

  // True for a quoted or block scalar; false when something stands before it. The library takes a
  // quote that is never closed for one that ends with the file.
  bool check_quotes(const YAML::Mark& mark) const {
    const std::string_view rest = text_.substr(static_cast<std::size_t>(mark.pos));
    if (rest.starts_with('|') || rest.starts_with('>')) return true;
    if (!rest.starts_with('"') && !rest.starts_with('\'')) return false;
    const char quote = rest.front();
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (quote == '"' && rest[i] == '\\') {
        ++i;
      } else if (rest[i] == quote) {
        return true;
      }
    }
    throw Fault{line_of(mark), "found a quote that is never closed; close it on the same line"};
  }

  std::string path_below(const Open& parent) const {
    if (parent.node.kind == Node::Kind::list) {
      return parent.path + "[" + std::to_string(parent.node.items.size()) + "]";
    }
    return parent.member ? join(parent.path, parent.member->key) : parent.path;
  }

  void open(Node node, const YAML::Mark& mark) {
    if (open_.size() == bounds::config_depth_max) {
      throw Fault{line_of(mark), "found more than " + std::to_string(bounds::config_depth_max) +
                                     " levels; no key lies that deep"};
    }
    last_path_ = open_.empty() ? "" : path_below(open_.back());
    node.line = line_of(mark);
    open_.push_back({std::move(node), last_path_, std::nullopt});
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    const int line = node.line;
    add(std::move(node), line);
  }

  // A finished node: the whole, an item, a key or the value of a key.
  void add(Node node, int line) {
    node.line = line;
    last_path_ = open_.empty() ? "" : path_below(open_.back());
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.member) {
      add_key(parent, node);
    } else {
      // A map or a list begins on the line after its key; the key is where to look.
      if (node.kind != Node::Kind::text) node.line = parent.member->line;
      parent.member->value = std::move(node);
      if (!parent.member->key.empty()) {
        parent.node.members.push_back(*std::move(parent.member));
      }
      parent.member.reset();
    }
  }

  void add_key(Open& parent, const Node& node) {
    if (node.kind != Node::Kind::text || node.text.empty()) {
      if (node.kind != Node::Kind::refused) {
        reader_.problem(node.line, parent.path, "found a key that is not a word; write KEY: VALUE");
      }
      parent.member = Member{"", node.line, {}};
      return;
    }
    parent.member = Member{node.text, node.line, {}};
    last_path_ = path_below(parent);
  }

  std::string_view text_;
  Reader& reader_;
  Node root_;
  std::vector<Open> open_;
  int documents_ = 0;
  std::string last_path_;
};

// What the library would read differently from what people see.
std::optional<Fault> check_characters(std::string_view text) {
  int line = 1;
  bool indentation = true;
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0) return Fault{line, "found a byte that is not UTF-8; save the file as UTF-8"};
    const bool line_end = text.starts_with('\n') || text.starts_with("\r\n");
    if (code < 0x20 && code != '\t' && !line_end) {
      return Fault{line, "found the control character " + std::to_string(code) + "; remove it"};
    }
    if (indentation && code == '\t') {
      return Fault{line, "found a tab in the indentation; use spaces"};
    }
    indentation = code == '\n' || (indentation && code == ' ');
    if (code == '\n') ++line;
    text.remove_prefix(bytes);
  }
  return std::nullopt;
}

Node parse(std::string_view text, Reader& reader) {
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, reader);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw Fault{line_of(error.mark), "not YAML (" + error.msg +
                                         "); look at the indentation, quotes, brackets and colons "
                                         "here and on the line before"};
  }
  return builder.take_root();
}

Loaded alone(const std::string& file, Fault fault) {
  return std::unexpected(std::vector{Problem{file, fault.line, "", std::move(fault.message)}});
}

void find_zones(Limits& limits, const Zones& zones, Reader& reader) {
  for (std::size_t i = 0; i < limits.buckets.size(); ++i) {
    Bucket& bucket = limits.buckets[i];
    const std::string path = "limits.buckets[" + std::to_string(i) + "].zone";
    if (!bucket.zone || !reader.sound(path)) continue;
    auto zone = zones(*bucket.zone);
    if (zone) {
      bucket.zone_rules = *std::move(zone);
    } else {
      reader.problem(reader.line_of(path), path, zone.error().message);
    }
  }
}

std::string too_large() {
  return "larger than " + std::to_string(bounds::config_bytes_max) +
         " bytes; a configuration is shorter than that";
}

}  // namespace

Loaded load_text(const std::string& file, std::string_view text, const Env& env,
                 const Zones& zones) try {
  if (text.size() > bounds::config_bytes_max) return alone(file, {0, too_large()});
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (auto fault = check_characters(text)) return alone(file, *std::move(fault));

  Reader reader(file, env);
  const Node root = parse(text, reader);
  Config config;
  if (root.kind != Node::Kind::nothing) read_map(reader, root, {}, config_fields(), config);
  find_zones(config.limits, zones, reader);
  config.order_control.given = says_frequency_limit(reader);
  check_together(config, reader);
  auto problems = reader.take_problems();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return config;
} catch (Fault& fault) {
  return alone(file, std::move(fault));
}

Loaded load(const std::string& file, const Env& env, const Zones& zones) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text(bounds::config_bytes_max + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) {
    const std::string reason = std::generic_category().message(errno);
    return alone(file, {0, "cannot be read (" + reason +
                               "); name a file that is there and may be read, or none for the "
                               "defaults"});
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return load_text(file, text, env, zones);
}

}  // namespace pawl::config
