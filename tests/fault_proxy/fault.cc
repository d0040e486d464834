#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "tests/fault_proxy/fault_proxy.h"

namespace pawl {
namespace {

enum class Argument : std::uint8_t { none, time, bytes };

struct Form {
  std::string_view name;
  FaultKind kind;
  bool directed;
  Argument argument;
};

// In the order of FaultKind.
constexpr std::array<Form, fault_kinds> forms = {{
    {"delay", FaultKind::delay, true, Argument::time},
    {"cut", FaultKind::cut, true, Argument::bytes},
    {"drop", FaultKind::drop, true, Argument::none},
    {"duplicate", FaultKind::duplicate, true, Argument::none},
    {"stall", FaultKind::stall, true, Argument::none},
    {"dribble", FaultKind::dribble, true, Argument::time},
    {"refuse", FaultKind::refuse, false, Argument::none},
    {"half_open", FaultKind::half_open, false, Argument::none},
}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::unexpected<Error> not_a_fault(std::string_view text, std::string_view why) {
  return failure(Code::usage,
                 "'" + std::string(text) + "' is not a fault: " + std::string(why) +
                     "; write as in 'delay to_server 200ms', 'cut to_client 10 fin' or 'refuse'");
}

const Form* form_named(std::string_view name) {
  for (const Form& form : forms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

std::optional<Direction> parse_direction(std::string_view text) {
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    if (text == to_string(direction)) return direction;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Direction direction) {
  return direction == Direction::to_server ? "to_server" : "to_client";
}

std::string_view to_string(FaultKind kind) {
  return forms[static_cast<std::size_t>(kind)].name;
}

Result<Fault> parse_fault(std::string_view text) {
  std::vector<std::string_view> words = words_of(text);
  // Takes the next word; an empty one when there is none.
  auto next = words.begin();
  const auto take = [&] { return next == words.end() ? std::string_view() : *next++; };

  const Form* form = form_named(take());
  if (form == nullptr) return not_a_fault(text, "it begins with no known name");
  Fault fault{.kind = form->kind};
  if (form->directed) {
    const auto direction = parse_direction(take());
    if (!direction) return not_a_fault(text, "the direction must be to_server or to_client");
    fault.direction = *direction;
  }
  if (form->argument == Argument::time) fault.time = PAWL_TRY(parse_duration(take()));
  if (form->argument == Argument::bytes) {
    const std::string_view number = take();
    const char* end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, fault.bytes);
    if (error != std::errc() || rest != end) {
      return not_a_fault(text, "it needs a number of bytes");
    }
    if (next != words.end()) {
      const std::string_view ending = take();
      if (ending != "rst" && ending != "fin") {
        return not_a_fault(text, "the ending must be rst or fin");
      }
      fault.ending = ending == "rst" ? Ending::rst : Ending::fin;
    }
  }
  if (next != words.end()) {
    return not_a_fault(text, "'" + std::string(*next) + "' is one word too many");
  }
  return fault;
}

}  // namespace pawl
