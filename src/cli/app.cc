// CLI11's one file. It takes the words apart; what they mean, and what is said when they mean
// nothing, stands here.
#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/similar.h"

namespace pawl::cli {
namespace {

std::string in_quotes(std::string_view word) {
  std::string out;
  json::append_quoted(out, word);
  return out;
}

std::string did_you_mean(std::string_view meant) {
  return meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?";
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

bool is_help(std::string_view word) {
  return word == "--help" || word == "-h";
}

bool is_option_of_any(std::span<const Verb> verbs, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return std::ranges::any_of(verbs, [&](const Verb& verb) {
    return std::ranges::any_of(options_of(verb), [&](const Option& o) { return o.name == name; });
  });
}

constexpr std::string_view options_without_verb[] = {"--help", "--version"};

// What was meant where a verb should stand: an option without its dashes, a near word at this
// place, or the same word at another.
std::string meant_word(std::span<const Verb> verbs, std::string_view path, std::string_view word) {
  const std::string dashed = "--" + std::string(word);
  if (path.empty() &&
      std::ranges::find(options_without_verb, dashed) != std::end(options_without_verb)) {
    return dashed;
  }
  const std::string_view near = nearest(word, next_words(verbs, path));
  if (!near.empty()) return join(path, near);
  const std::string ending = " " + std::string(word);
  const auto elsewhere =
      std::ranges::find_if(verbs, [&](const Verb& verb) { return verb.path.ends_with(ending); });
  return elsewhere == verbs.end() ? "" : std::string(elsewhere->path);
}

// A word where a verb should stand.
Error unknown_word(std::span<const Verb> verbs, std::string_view path, std::string_view word) {
  if (!is_option(word)) {
    return usage_error(path, "unknown verb " + in_quotes(join(path, word)) +
                                 did_you_mean(meant_word(verbs, path, word)));
  }
  if (is_option_of_any(verbs, word)) {
    return usage_error(path, "option " + in_quotes(word) + " stands before the verb; put it after");
  }
  return usage_error(path, "unknown option " + in_quotes(word) +
                               did_you_mean(nearest(word, options_without_verb)));
}

// A word that the verb has no place for.
Error unexpected_word(const Verb& verb, std::string_view word) {
  if (!is_option(word)) return usage_error(verb.path, "unexpected argument " + in_quotes(word));
  std::vector<std::string_view> known;
  const std::vector<Option> options = options_of(verb);
  for (const Option& option : options) known.push_back(option.name);
  const std::string_view name = word.substr(0, word.find('='));
  return usage_error(verb.path,
                     "unknown option " + in_quotes(name) + did_you_mean(nearest(name, known)));
}

// An option that stands last without its value, or a flag that was given one.
Error mismatch(const Verb& verb, std::span<const std::string> words, const std::string& reason) {
  for (const Option& option : options_of(verb)) {
    const std::string name(option.name);
    const bool by_letter =
        words.back().size() == 2 && words.back()[0] == '-' && words.back()[1] == option.letter;
    if (!option.is_flag() && (by_letter || words.back() == name || words.back() == name + "=")) {
      return usage_error(verb.path,
                         name + " needs a value: " + name + " " + std::string(option.value.name));
    }
    if (option.is_flag() && std::ranges::any_of(words, [&](const std::string& word) {
          return word.starts_with(name + "=");
        })) {
      return usage_error(verb.path, name + " takes no value; give it alone");
    }
  }
  return usage_error(verb.path, reason);
}

std::optional<Error> check_choice(const Verb& verb, std::string_view name, const Value& value,
                                  std::string_view given) {
  if (value.choices.empty() || std::ranges::find(value.choices, given) != value.choices.end()) {
    return std::nullopt;
  }
  std::string allowed;
  for (const std::string_view choice : value.choices) {
    allowed.append(allowed.empty() ? "" : ", ").append(choice);
  }
  return usage_error(verb.path,
                     std::string(name) + " is " + in_quotes(given) + "; allowed: " + allowed);
}

// A place of the verb's row, and what was found for it.
struct Slot {
  std::string_view name;
  Value value;
  bool is_flag;
  bool is_required;
  CLI::Option* found;
};

std::vector<Slot> add_slots(CLI::App& app, const Verb& verb) {
  std::vector<Slot> slots;
  for (const Positional& positional : verb.positionals) {
    const std::string_view name = positional.value.name;
    CLI::Option* found = app.add_option(std::string(name));
    found->expected(positional.value.several ? -1 : 1);  // -1: at least one
    slots.push_back({name, positional.value, false, positional.required, found});
  }
  for (const Option& option : options_of(verb)) {
    const std::string names = (option.letter != '\0' ? std::string{'-', option.letter, ','} : "") +
                              std::string(option.name);
    CLI::Option* found = option.is_flag() ? app.add_flag(names)->disable_flag_override()
                                          : app.add_option(names)->expected(1);
    slots.push_back({option.name, option.value, option.is_flag(), false, found});
  }
  for (const Slot& slot : slots) {
    slot.found->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  return slots;
}

Result<Arguments> take(const Verb& verb, const std::vector<Slot>& slots) {
  Arguments arguments(verb);
  for (const Slot& slot : slots) {
    const std::vector<std::string>& given = slot.found->results();
    if (given.empty()) {
      if (!slot.is_required) continue;
      return std::unexpected(usage_error(verb.path, std::string(slot.name) + " is missing"));
    }
    if (given.size() > 1 && !slot.is_flag && !slot.value.several) {
      return std::unexpected(usage_error(
          verb.path, std::string(slot.name) + " is given more than once; give it once"));
    }
    for (const std::string& each : given) {
      if (auto wrong = check_choice(verb, slot.name, slot.value, each)) {
        return std::unexpected(*std::move(wrong));
      }
      if (slot.value.several) arguments.add(slot.name, each);
    }
    if (!slot.value.several) arguments.set(slot.name, given.front());
  }
  return arguments;
}

Result<Parsed> parse_call(const Verb& verb, std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag();  // none of the library's own
  const std::vector<Slot> slots = add_slots(app, verb);
  const CLI::Option* help = app.get_option("--help");
  try {
    // The library takes the words from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (help->count() > 0) return HelpWanted{.path = std::string(verb.path), .asked = true};
    const std::vector<std::string> left = app.remaining();
    if (!left.empty()) return std::unexpected(unexpected_word(verb, left.front()));
    return std::unexpected(mismatch(verb, words, error.what()));
  }
  if (help->count() > 0) return HelpWanted{.path = std::string(verb.path), .asked = true};
  return Call{.verb = &verb, .arguments = PAWL_TRY(take(verb, slots))};
}

}  // namespace

Result<Parsed> parse(std::span<const Verb> verbs, std::span<const std::string> words) {
  if (!words.empty() && words.front() == "--version") return VersionWanted{};
  std::string path;
  for (; !words.empty(); words = words.subspan(1)) {
    const std::vector<std::string_view> known = next_words(verbs, path);
    if (std::ranges::find(known, words.front()) == known.end()) break;
    path = join(path, words.front());
  }
  if (const Verb* verb = find_verb(verbs, path)) return parse_call(*verb, words);
  if (words.empty()) return HelpWanted{.path = path, .asked = false};
  if (is_help(words.front())) return HelpWanted{.path = path, .asked = true};
  return std::unexpected(unknown_word(verbs, path, words.front()));
}

}  // namespace pawl::cli
