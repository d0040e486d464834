// All three scripts go the same way: the words typed so far lead to a place (a verb, or a word on
// the way to one), and the place says what may come next.
#include "cli/completions.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pawl::cli {
namespace {

constexpr std::string_view top_options[] = {"--help", "--version"};

// Every place, the beginning ("") included, in the order of the table.
std::vector<std::string> places(std::span<const Verb> verbs) {
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string path = all[i];
    for (const std::string_view word : next_words(verbs, path)) all.push_back(join(path, word));
  }
  return all;
}

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out.append(out.empty() ? "" : " ").append(word);
  return out;
}

// The first sentence, without its full stop.
std::string_view brief(std::string_view help) {
  return help.substr(0, help.find('.'));
}

// For bash and zsh.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// 'serve' after '' gives ' serve'; 'check' after 'config' gives 'config check': the patterns by
// which a script goes on from place to place.
std::vector<std::string> steps(std::span<const Verb> verbs) {
  std::vector<std::string> patterns;
  for (const std::string& place : places(verbs)) {
    if (place.empty()) continue;
    const bool is_first = place.find(' ') == std::string::npos;
    patterns.push_back(is_first ? " " + place : place);
  }
  return patterns;
}

std::string case_patterns(std::span<const Verb> verbs) {
  std::string out;
  for (const std::string& step : steps(verbs))
    out += (out.empty() ? "" : " | ") + shell_quoted(step);
  return out;
}

struct Choices {
  std::string words;
  bool files = false;
  std::string_view asks = {};  // pawl prints more
};

// What pawl itself knows, as a command of the shell: a function of each script gives it the
// configuration that was typed. `typed` is how the shell names what stands before the cursor.
std::string asked(std::string_view verb, std::string_view typed) {
  constexpr std::string_view place = "TYPED";
  std::string out = "_pawl_ask " + std::string(verb);
  if (out.ends_with(place)) out.replace(out.size() - place.size(), place.size(), typed);
  return out;
}
std::string bash_asked(std::string_view verb) {
  return verb.empty() ? "" : " \"$(" + asked(verb, "\"$cur\"") + ")\"";
}
// Each line is a name, whatever blanks are in it.
std::string zsh_asked(std::string_view verb) {
  return "(${(f)\"$(" + asked(verb, "\"$PREFIX\"") + ")\"})";
}
std::string fish_asked(std::string_view verb) {
  return "(" + asked(verb, "(commandline -ct | string replace -r '^--[a-z]*=' '')") + ")";
}

// What may stand at a place, apart from the value of an option.
Choices choices_at(std::span<const Verb> verbs, const std::string& place) {
  Choices choices{.words = joined(next_words(verbs, place))};
  std::vector<std::string_view> words;
  if (const Verb* verb = find_verb(verbs, place)) {
    for (const Positional& positional : verb->positionals) {
      words.insert(words.end(), positional.value.choices.begin(), positional.value.choices.end());
      choices.files = choices.files || positional.value.is_file;
      if (choices.asks.empty()) choices.asks = positional.value.asks;
    }
    for (const Option& option : options_of(*verb)) words.push_back(option.name);
  } else if (place.empty()) {
    words.assign(std::begin(top_options), std::end(top_options));
  } else {
    words = {"--help"};
  }
  choices.words += (choices.words.empty() ? "" : " ") + joined(words);
  return choices;
}

// The branches that complete the value of an option, for bash.
std::string bash_values(std::span<const Verb> verbs) {
  std::string out;
  for (const Verb& verb : verbs) {
    for (const Option& option : options_of(verb)) {
      if (option.is_flag()) continue;
      std::string names = shell_quoted(join(verb.path, option.name));
      if (option.letter != '\0') {
        names += " | " + shell_quoted(join(verb.path, std::string{'-', option.letter}));
      }
      out += "    " + names + ") _pawl_reply " + (option.value.is_file ? "files" : "words") + " " +
             shell_quoted(joined(option.value.choices)) + bash_asked(option.value.asks) +
             "; return ;;\n";
    }
  }
  return out;
}

std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Value& value) {
  if (!value.choices.empty()) return "(" + joined(value.choices) + ")";
  if (value.asks.empty()) return value.is_file ? "_files" : " ";
  if (!value.is_file) return zsh_asked(value.asks);
  // Ids: what stands in these quotes is taken apart once more.
  return "{_alternative \"files:file:_files\" \"names:name:($(" + asked(value.asks, "\"$PREFIX\"") +
         "))\"}";
}

std::string zsh_value(const Value& value) {
  return ":" + zsh_text(value.name) + ":" + zsh_action(value);
}

std::string zsh_option(const Option& option) {
  const std::string help = "[" + zsh_text(brief(option.help)) + "]";
  std::string name(option.name);
  std::string out;
  if (option.letter != '\0') {
    const std::string letter{'-', option.letter};
    out = " " + shell_quoted("(" + letter + " " + name + ")" + letter +
                             (option.is_flag() ? help : "+" + help + zsh_value(option.value)));
    name.insert(0, "(" + letter + " " + name + ")");
  }
  return out + " " +
         shell_quoted(option.is_flag() ? name + help : name + "=" + help + zsh_value(option.value));
}

std::string zsh_arguments(const Verb& verb) {
  std::string out = "      _arguments";
  for (const Option& option : options_of(verb)) out += " \\\n       " + zsh_option(option);
  for (std::size_t i = 0; i < verb.positionals.size(); ++i) {
    const Value& value = verb.positionals[i].value;
    out += " \\\n        " +
           shell_quoted((value.several ? "*" : std::to_string(i + 1)) + zsh_value(value));
  }
  return out + " ;;\n";
}

// What a word on the way to a verb leads to: the verb's summary, or the words that may follow.
std::string about(std::span<const Verb> verbs, const std::string& place) {
  const Verb* verb = find_verb(verbs, place);
  return verb != nullptr ? std::string(verb->summary) : joined(next_words(verbs, place));
}

std::string zsh_words(std::span<const Verb> verbs, const std::string& place) {
  std::string out = "      local -a next=(\n";
  for (const std::string_view word : next_words(verbs, place)) {
    out += "        " +
           shell_quoted(std::string(word) + ":" + zsh_text(about(verbs, join(place, word)))) + "\n";
  }
  out +=
      "      )\n      _describe 'verb' next\n      _arguments '(-h --help)'{-h,--help}'[Print this "
      "text.]'";
  return out + (place.empty() ? " '--version[Print the version]' ;;\n" : " ;;\n");
}

std::string fish_line(const std::string& place, const std::string& rest) {
  return "complete -c pawl -n " + fish_quoted("__pawl_at " + fish_quoted(place)) + " " + rest +
         "\n";
}

std::string fish_value(const Value& value) {
  if (!value.asks.empty()) return " -x -a " + fish_quoted(fish_asked(value.asks));
  if (value.is_file) return " -r -F";
  return value.choices.empty() ? " -x" : " -x -a " + fish_quoted(joined(value.choices));
}

std::string fish_verb(const Verb& verb) {
  const std::string place(verb.path);
  std::string out;
  for (const Option& option : options_of(verb)) {
    std::string line = "-l " + std::string(option.name.substr(2));
    if (option.letter != '\0') line += std::string(" -s ") + option.letter;
    if (!option.is_flag()) line += fish_value(option.value);
    out += fish_line(place, line + " -d " + fish_quoted(brief(option.help)));
  }
  for (const Positional& positional : verb.positionals) {
    const Value& value = positional.value;
    const std::string choices = value.asks.empty() ? joined(value.choices) : fish_asked(value.asks);
    if (value.is_file) out += fish_line(place, "-F");
    if (!value.is_file || !value.asks.empty()) {
      out += fish_line(place, "-a " + fish_quoted(choices));
    }
  }
  return out;
}

}  // namespace

std::string bash_completions(std::span<const Verb> verbs) {
  std::string branches;
  for (const std::string& place : places(verbs)) {
    const Choices choices = choices_at(verbs, place);
    branches += "    " + shell_quoted(place) + ") _pawl_reply " +
                (choices.files ? "both" : "words") + " " + shell_quoted(choices.words) +
                bash_asked(choices.asks) + " ;;\n";
  }
  return R"(# bash completions for pawl; made by 'pawl completions bash'

# _pawl_reply words|files|both WORDS [LINES]
_pawl_reply() {
  local candidates=() line quoted
  [[ $1 == files ]] || mapfile -t candidates < <(compgen -W "$2" -- "$cur")
  COMPREPLY=("${candidates[@]}")
  # Names that somebody else chose: nothing in them is expanded.
  while IFS= read -r line; do
    printf -v quoted %q "$line"
    [[ -n $line && ( $line == "$cur"* || $quoted == "$cur"* ) ]] || continue
    COMPREPLY+=("$quoted")
  done <<< "${3-}"
  if [[ $1 != words ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t candidates < <(compgen -f -- "$cur")
    COMPREPLY+=("${candidates[@]}")
  fi
  # To readline a word begins anew behind a colon.
  [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] || return 0
  COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
}

_pawl_ask() {
  local i config=()
  for ((i = 1; i < ${#words[@]} - 2; ++i)); do
    [[ ${words[i]} == --config ]] || continue
    config=(--config "${words[i+1]}")
    [[ ${words[i+1]} == '=' ]] && config=(--config "${words[i+2]}")
  done
  pawl "$@" "${config[@]}" 2>/dev/null
}

_pawl() {
  local words=("${COMP_WORDS[0]}") word place=''
  # To bash a colon is a word of its own; here it is a part of one.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ -n $word && ( -z ${word//:/} || ${words[-1]} == *: ) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  local cur=${words[-1]} prev=${words[-2]}
  # To bash the = of --option=value is a word of its own.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=${words[-3]}
  fi
  for word in "${words[@]:1:${#words[@]}-2}"; do
    case "$place $word" in
    )" + case_patterns(verbs) +
         R"()
      place=${place:+$place }$word ;;
    esac
  done
  case "$place $prev" in
)" + bash_values(verbs) +
         R"(  esac
  case $place in
)" + branches +
         R"(  esac
}

complete -F _pawl pawl
)";
}

std::string zsh_completions(std::span<const Verb> verbs) {
  std::string branches;
  for (const std::string& place : places(verbs)) {
    const Verb* verb = find_verb(verbs, place);
    branches += "    " + shell_quoted(place) + ")\n" +
                (verb != nullptr ? zsh_arguments(*verb) : zsh_words(verbs, place));
  }
  return R"(#compdef pawl
# zsh completions for pawl; made by 'pawl completions zsh'

_pawl_ask() {
  local -a config
  local at=${words[(I)--config]} joined=${words[(R)--config=*]}
  (( at > 0 )) && config=(--config "${(Q)words[at+1]}")
  [[ -n $joined ]] && config=("${(Q)joined}")
  pawl "$@" $config 2>/dev/null
}

_pawl() {
  local place='' word used=0
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
    )" + case_patterns(verbs) +
         R"()
      place="${place:+$place }$word"; (( ++used )) ;;
    esac
  done
  # The verb's last word stands where a command's name would.
  shift $used words
  (( CURRENT -= used ))
  case $place in
)" + branches +
         R"(  esac
}

if [[ $funcstack[1] == _pawl ]]; then
  _pawl "$@"
else
  compdef _pawl pawl
fi
)";
}

std::string fish_completions(std::span<const Verb> verbs) {
  std::string patterns;
  for (const std::string& step : steps(verbs)) patterns += " " + fish_quoted(step);
  std::string lines;
  for (const std::string& place : places(verbs)) {
    if (const Verb* verb = find_verb(verbs, place)) {
      lines += fish_verb(*verb);
      continue;
    }
    for (const std::string_view word : next_words(verbs, place)) {
      lines += fish_line(
          place, "-a " + std::string(word) + " -d " + fish_quoted(about(verbs, join(place, word))));
    }
    lines += fish_line(place, "-l help -s h -d 'Print help'");
    if (place.empty()) lines += fish_line(place, "-l version -d 'Print the version'");
  }
  return R"(# fish completions for pawl; made by 'pawl completions fish'

# Whether the words typed so far lead to this place.
function __pawl_at
  set -l place ''
  for word in (commandline -opc)[2..]
    switch "$place $word"
      case)" +
         patterns + R"(
        set place (string trim -- "$place $word")
    end
  end
  test "$place" = "$argv[1]"
end

function _pawl_ask
  set -l config
  set -l typed (commandline -opc)
  for i in (seq (count $typed))
    switch $typed[$i]
      case --config
        set config --config $typed[(math $i + 1)]
      case '--config=*'
        set config $typed[$i]
    end
  end
  pawl $argv $config 2>/dev/null
end

complete -c pawl -f
)" + lines;
}

}  // namespace pawl::cli
