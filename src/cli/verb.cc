#include "cli/verb.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pawl::cli {
namespace {

constexpr Option common[] = {
    {.name = "--config",
     .value = {.name = "FILE", .is_file = true},
     .help =
         "The configuration. Without it: pawl.yaml in the working directory, if it is there, else "
         "the built-in defaults."},
    {.name = "--help", .letter = 'h', .help = "Print what the verb takes, with examples."},
};

}  // namespace

std::span<const Option> common_options() {
  return common;
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options(verb.options.begin(), verb.options.end());
  options.insert(options.end(), std::begin(common), std::end(common));
  return options;
}

const Verb* find_verb(std::span<const Verb> verbs, std::string_view path) {
  const auto found = std::ranges::find(verbs, path, &Verb::path);
  return found == verbs.end() ? nullptr : &*found;
}

std::vector<std::string_view> next_words(std::span<const Verb> verbs, std::string_view path) {
  const std::string prefix = path.empty() ? "" : std::string(path) + " ";
  std::vector<std::string_view> words;
  for (const Verb& verb : verbs) {
    if (!verb.path.starts_with(prefix)) continue;
    const std::string_view rest = verb.path.substr(prefix.size());
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string join(std::string_view path, std::string_view word) {
  return path.empty() ? std::string(word) : std::string(path).append(" ").append(word);
}

Arguments::Arguments(const Verb& verb) {
  for (const Positional& positional : verb.positionals) {
    values_.emplace(positional.value.name, std::nullopt);
  }
  for (const Option& option : options_of(verb)) {
    values_.emplace(option.name,
                    option.standard.empty() ? std::nullopt : std::optional(option.standard));
  }
}

void Arguments::set(std::string_view name, std::string value) {
  const auto found = values_.find(name);
  PAWL_ASSERT(found != values_.end());
  found->second = std::move(value);
}

const std::optional<std::string>& Arguments::find(std::string_view name) const {
  const auto found = values_.find(name);
  PAWL_ASSERT(found != values_.end());
  return found->second;
}

// The first is the value too, for who asks for one.
void Arguments::add(std::string_view name, std::string value) {
  std::vector<std::string>& list = lists_[std::string(name)];
  list.push_back(std::move(value));
  if (list.size() == 1) set(name, list.front());
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  PAWL_ASSERT(values_.contains(name));
  const auto found = lists_.find(name);
  return found == lists_.end() ? std::vector<std::string>() : found->second;
}

Error usage_error(std::string_view path, std::string message) {
  return Error(Code::usage, Outcome::not_applied,
               std::move(message) + "\nRun 'pawl " + join(path, "--help") + "'");
}

}  // namespace pawl::cli
