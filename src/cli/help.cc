#include "cli/help.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace pawl::cli {
namespace {

constexpr std::size_t width = 80;

constexpr ExitCode codes[] = {
    {0, "done"},
    {1, "the configuration is not valid"},
    {2, "called wrongly"},
    {3, "refused: a limit, a quota, a check or the other side said no"},
    {4, "the outcome is not resolved yet"},
    {5, "not found"},
    {6, "a store or the network is not available"},
    {70, "internal error: a bug in pawl"},
};

// Broken between words, every line but the first indented.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (column > indent && column + 1 + word.size() > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

using Row = std::pair<std::string, std::string>;

std::string table(std::string_view title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::size_t widest = 0;
  for (const auto& [left, right] : rows) widest = std::max(widest, left.size());
  std::string out = "\n" + std::string(title) + ":\n";
  for (const auto& [left, right] : rows) {
    out += "  " + left + std::string(widest + 2 - left.size(), ' ') + wrapped(right, widest + 4);
  }
  return out;
}

std::vector<Row> rows_of(std::span<const ExitCode> exit_codes) {
  std::vector<Row> rows;
  for (const auto& [code, meaning] : exit_codes) rows.emplace_back(std::to_string(code), meaning);
  return rows;
}

// A command of its own is often longer than a column can be.
// A command that is too long goes on behind a backslash, so that it can be copied.
std::string command_lines(std::string_view command) {
  constexpr std::size_t indent = 2;
  std::string out(indent, ' ');
  std::size_t column = indent;
  while (!command.empty()) {
    const std::string_view word = take_until(command, ' ');
    // Of the last word too, the blank and the backslash have room.
    if (column > indent && column + word.size() + 3 > width) {
      out.append("\\\n").append(indent + 4, ' ');
      column = indent + 4;
    }
    out.append(word).append(command.empty() ? "" : " ");
    column += word.size() + 1;
  }
  return out + "\n";
}

std::string list(std::span<const Example> examples) {
  std::string out = "\nExamples:\n";
  for (const Example& example : examples) {
    out += command_lines(example.command) + "      " + wrapped(example.note, 6);
  }
  return out;
}

std::string with_more(std::string_view text, std::string_view more) {
  return std::string(text).append(more.empty() ? "" : " ").append(more);
}

std::string verb_help(const Verb& verb) {
  std::vector<Row> positionals, options;
  for (const Positional& positional : verb.positionals) {
    positionals.emplace_back(positional.value.name,
                             with_more(positional.help, one_of(positional.value)));
  }
  for (const Option& option : options_of(verb)) {
    const std::string standard =
        option.standard.empty() ? "" : "Default: " + std::string(option.standard);
    options.emplace_back(option_usage(option),
                         with_more(with_more(option.help, one_of(option.value)), standard));
  }
  return "pawl " + std::string(verb.path) + ": " + std::string(verb.summary) +
         "\n\nUsage: " + usage(verb) + "\n\n" + wrapped(verb.description, 0) +
         table("Arguments", positionals) + table("Options", options) +
         table("Exit codes", rows_of(verb.exit_codes)) + list(verb.examples);
}

}  // namespace

std::span<const ExitCode> all_exit_codes() {
  return codes;
}

std::string usage(const Verb& verb) {
  std::string out = "pawl " + std::string(verb.path) + " [OPTIONS]";
  for (const Positional& positional : verb.positionals) {
    const std::string name(positional.value.name);
    out += positional.required ? " " + name : " [" + name + "]";
    if (positional.value.several) out += "...";
  }
  return out;
}

std::string one_of(const Value& value) {
  std::string out;
  for (const std::string_view choice : value.choices) {
    out.append(out.empty() ? "One of: " : ", ").append(choice);
  }
  return out.empty() ? out : out + ".";
}

std::string option_usage(const Option& option) {
  const std::string letter = option.letter == '\0' ? "" : std::string{'-', option.letter, ',', ' '};
  return letter +
         (option.is_flag() ? std::string(option.name) : join(option.name, option.value.name));
}

std::string help(std::span<const Verb> verbs, std::string_view path) {
  if (const Verb* verb = find_verb(verbs, path)) return verb_help(*verb);
  const std::string prefix = path.empty() ? "" : std::string(path) + " ";
  std::vector<Row> rows;
  for (const Verb& verb : verbs) {
    if (verb.path.starts_with(prefix)) rows.emplace_back(verb.path, verb.summary);
  }
  const std::string command = path.empty() ? "pawl" : join("pawl", path);
  std::string out = path.empty() ? "pawl: " + std::string(tagline) + "\n\n" : "";
  out += "Usage: " + command + " VERB [OPTIONS]\n" + table("Verbs", rows);
  if (path.empty()) {
    out +=
        table("Options", {{"-h, --help", "Print this text."}, {"--version", "Print the version."}});
    out += table("Exit codes", rows_of(codes));
  }
  return out + "\nRun 'pawl VERB --help' for what a verb takes, with examples, as in\n  pawl " +
         rows.front().first + " --help\n";
}

}  // namespace pawl::cli
