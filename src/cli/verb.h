// Verb: one thing that pawl can be told to do, as data.
//
// Why:      the parser, --help, the man page and the completions are all made from one table of
//           verbs (verbs.h), so none of them can forget an option or tell another story.
// Contract: the table is constant, and its texts are ASCII: they go into shells and roff as they
//           are. What was typed reaches run() as Arguments, already checked against the table.
// Threads:  any; values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::cli {

class Arguments;

// What may be typed in one place.
struct Value {
  std::string_view name = {};                      // FILE, ADDRESS:PORT
  std::span<const std::string_view> choices = {};  // empty: anything
  bool is_file = false;                            // shells offer files
  bool several = false;                            // it may be given more than once
  std::string_view asks = {};  // a verb of pawl; shells offer the lines that it prints; TYPED is
                               // what was typed of the word so far
};

struct Positional {
  Value value;
  std::string_view help;
  bool required = true;
};

struct Option {
  std::string_view name;           // --listen
  char letter = '\0';              // h, for -h
  Value value = {};                // without a name: the option is a flag
  std::string_view help;           //
  std::string_view standard = {};  // what it is when it is not given; empty: nothing

  bool is_flag() const { return value.name.empty(); }
};

// Options that several verbs have, and more.
template <std::size_t A, std::size_t B>
constexpr std::array<Option, A + B> joined(const std::array<Option, A>& a,
                                           const std::array<Option, B>& b) {
  std::array<Option, A + B> out;
  std::ranges::copy(a, out.begin());
  std::ranges::copy(b, out.begin() + A);
  return out;
}

struct ExitCode {
  int code;
  std::string_view meaning;
};

struct Example {
  std::string_view command;
  std::string_view note;
};

struct Verb {
  std::string_view path;  // "config check"
  std::string_view summary;
  std::string_view description;
  std::span<const Positional> positionals = {};
  std::span<const Option> options = {};  // besides the common ones
  std::span<const ExitCode> exit_codes = {};
  std::span<const Example> examples;
  // Gives the exit code.
  int (*run)(const Arguments& arguments);
};

// What every verb takes.
std::span<const Option> common_options();

// The verb's own options, then the common ones.
std::vector<Option> options_of(const Verb& verb);

const Verb* find_verb(std::span<const Verb> verbs, std::string_view path);

// The words that may follow `path` on the way to a verb: "check", "show" and "reference" after
// "config".
std::vector<std::string_view> next_words(std::span<const Verb> verbs, std::string_view path);

// `word` below `path`.
std::string join(std::string_view path, std::string_view word);

// What was typed for one verb. Only names that the verb's row has may be asked for.
class Arguments {
 public:
  explicit Arguments(const Verb& verb);

  void set(std::string_view name, std::string value);
  // Given, or with a default.
  bool has(std::string_view name) const { return find(name).has_value(); }
  // Of one that is there.
  const std::string& value(std::string_view name) const { return find(name).value(); }
  // Of one that may be given more than once; empty: not at all.
  std::vector<std::string> values(std::string_view name) const;
  void add(std::string_view name, std::string value);

 private:
  const std::optional<std::string>& find(std::string_view name) const;

  std::map<std::string, std::optional<std::string>, std::less<>> values_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;
};

// Called wrongly: what is wrong, and where to read how it is done.
Error usage_error(std::string_view path, std::string message);

}  // namespace pawl::cli
