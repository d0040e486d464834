// Reader: walks a tree against the keys that exist and collects every problem on the way.
//
// Contract: nothing stops at the first problem; what is wrong is noted and passed by. Every message
//           says what was found and what is allowed. A secret is never part of a message.
// Bounds:   keeps bounds::config_problems_max problems and counts the rest.
// Threads:  none. One owner.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/expand.h"
#include "config/problem.h"
#include "config/tree.h"

namespace pawl::config {

// Where a map stands: its path as told to people and as the table's paths begin there.
struct Place {
  std::string path;    // "limits.buckets[0]"
  std::string prefix;  // "" for a table of its own; "server." for a section
};

// What a single value may be.
struct Allowed {
  std::string_view text;  // after "allowed: "
  bool secret = false;
};

// What is said somewhere, in the file or by default.
struct Said {
  std::string path;
  std::string value;
};

// `name` below `path`, quoted when it is not a plain word.
std::string join(const std::string& path, std::string_view name);

class Reader {
 public:
  Reader(std::string file, Env env) : file_(std::move(file)), env_(std::move(env)) {}

  void problem(int line, std::string path, std::string message);
  // "found …; allowed: …"
  void refuse(const Node& node, const std::string& path, Allowed allowed);
  // The same for a value whose variables have been filled in.
  void refuse_text(const Node& node, std::string_view text, const std::string& path,
                   Allowed allowed);

  // For an item that a list holds already.
  void refuse_again(const Node& node, const std::string& path);

  // For two that cannot both be. Told at whichever of them the file names.
  void refuse_collision(const Said& a, const Said& b, const std::string& advice);

  // The value with its variables filled in; nothing, and a problem, when there is no single value.
  std::optional<std::string> text(const Node& node, const std::string& path, Allowed allowed);

  // Hands each member that `paths` names to `take`, with its index there; goes down into sections.
  using Take = std::function<void(std::size_t, const Node&, const std::string& path)>;
  void walk(const Node& map, const Place& place, std::span<const std::string> paths,
            const Take& take);

  // Hands every member of a map to `take`, whatever its key, each key once. False, and a problem,
  // when it is no map.
  using TakeAny = std::function<void(const Member&, const std::string& path)>;
  bool each(const Node& map, const std::string& path, Allowed allowed, const TakeAny& take);

  // Notes where an item of a list stands; members of maps are noted on the way.
  void stands_at(int line, const std::string& path) { lines_[path] = line; }

  // Whether the value at this path was read without a problem, or was left to its default.
  bool sound(std::string_view path) const;
  // The same for everything at this path and below.
  bool sound_below(std::string_view path) const;
  // Where it stands; 0 when the file does not have it.
  int line_of(const std::string& path) const;

  // In the order of the file.
  std::vector<Problem> take_problems();

 private:
  void once_each(const Node& map, const std::string& path, const TakeAny& take);
  void member(const Member& member, const Place& place, std::span<const std::string> paths,
              const Take& take);

  std::string file_;
  Env env_;
  std::vector<Problem> problems_;
  std::size_t more_problems_ = 0;
  std::map<std::string, int> lines_;
};

}  // namespace pawl::config
