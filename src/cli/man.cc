#include "cli/man.h"

#include "cli/help.h"

namespace pawl::cli {
namespace {

// When the page's own words last changed; a page must not differ from build to build.
constexpr std::string_view page_date = "November 15, 2026";

// What is special to roff, anywhere in a text.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";  // the character that can be typed again, not a hyphen
    } else {
      out += c;
    }
  }
  return out;
}

// A line of text; one that begins like a request is kept from being one.
std::string line(std::string_view text) {
  const bool like_a_request = text.starts_with('.') || text.starts_with('\'');
  return (like_a_request ? "\\&" : "") + escaped(text) + "\n";
}

// Each sentence on a line of its own, as roff wants it to set the space after it.
std::string sentences(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find(". ");
    out += line(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

std::string option_item(const Option& option) {
  std::string item = ".It ";
  if (option.letter != '\0') item += std::string("Fl ") + option.letter + " , ";
  item += "Fl " + escaped(option.name.substr(1));
  if (!option.is_flag()) item += " Ar " + escaped(option.value.name);
  item += "\n" + sentences(option.help);
  if (!option.value.choices.empty()) item += line(one_of(option.value));
  if (!option.standard.empty()) item += line("Default: " + std::string(option.standard));
  return item;
}

std::string exit_items(std::span<const ExitCode> codes) {
  std::string out = ".Bl -tag -width Ds\n";
  for (const auto& [code, meaning] : codes) {
    out += ".It " + std::to_string(code) + "\n" + line(meaning);
  }
  return out + ".El\n";
}

std::string capitalised(std::string_view text) {
  std::string out(text);
  if (out.front() >= 'a' && out.front() <= 'z')
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out;
}

std::string positional_item(const Positional& positional) {
  const std::string out =
      ".It Ar " + escaped(positional.value.name) + "\n" + sentences(positional.help);
  return positional.value.choices.empty() ? out : out + line(one_of(positional.value));
}

std::string verb_section(const Verb& verb) {
  std::string out = ".Ss " + escaped(usage(verb)) + "\n" +
                    sentences(capitalised(verb.summary) + ". " + std::string(verb.description));
  std::string items;
  for (const Positional& positional : verb.positionals) items += positional_item(positional);
  for (const Option& option : verb.options) items += option_item(option);
  if (!items.empty()) out += ".Bl -tag -width Ds\n" + items + ".El\n";
  if (!verb.exit_codes.empty()) out += ".Pp\nExit codes:\n" + exit_items(verb.exit_codes);
  return out;
}

std::string example_items(std::span<const Verb> verbs) {
  std::string out;
  for (const Verb& verb : verbs) {
    for (const Example& example : verb.examples) {
      out += ".Pp\n" + line(std::string(example.note) + ":") + ".Dl " + escaped(example.command) +
             "\n";
    }
  }
  return out.substr(std::string_view(".Pp\n").size());
}

}  // namespace

std::string man_page(std::span<const Verb> verbs) {
  std::string out = ".Dd " + std::string(page_date) +
                    "\n.Dt PAWL 1\n.Os pawl " PAWL_VERSION "\n.Sh NAME\n.Nm pawl\n.Nd " +
                    escaped(tagline) +
                    "\n.Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar options\n.Nm\n.Fl \\-help | Fl "
                    "\\-version\n.Sh DESCRIPTION\n.Nm\n";
  out += sentences(
      "makes a side effect happen at the pace the other side allows, at most once per intent, and "
      "can "
      "show afterwards why every decision was taken. Its verbs are listed below. An option stands "
      "after its verb.");
  out += ".Pp\nEvery verb takes:\n.Bl -tag -width Ds\n";
  for (const Option& option : common_options()) out += option_item(option);
  out += ".El\n";
  for (const Verb& verb : verbs) out += verb_section(verb);
  out += ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\n" +
         sentences("When it is set, no verb uses colour.") + ".El\n.Pp\n" +
         sentences("A configuration file may name further variables, as in ${NAME}.");
  out += ".Sh FILES\n.Bl -tag -width Ds\n.It Pa pawl.yaml\n" +
         sentences(
             "The configuration, in the working directory. 'pawl config reference' explains "
             "every setting.") +
         ".El\n";
  out += ".Sh EXIT STATUS\n" + exit_items(all_exit_codes());
  return out + ".Sh EXAMPLES\n" + example_items(verbs);
}

}  // namespace pawl::cli
