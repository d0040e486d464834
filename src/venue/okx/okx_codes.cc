#include "venue/okx/okx_codes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace pawl::okx {
namespace {

using order::Sent;

// Codes of the range that do not refuse: 51016 is a duplicate, 51054 and 51149 are timeouts.
constexpr std::array<int, 3> not_refused = {51016, 51054, 51149};

// Of the call as a whole: body, content type, parameters, permissions, an account that is blocked.
constexpr std::array<int, 8> refused_calls = {50000, 50002, 50006, 50014,
                                              50015, 50016, 50027, 50030};

template <class List, class Code>
bool holds(const List& list, Code code) {
  return std::ranges::find(list, code) != list.end();
}

bool is_refused(int code) {
  const bool of_an_order = code >= 51000 && code <= 51599;
  const bool at_the_gate =
      (code >= 50100 && code <= 50114 && code != 50102) || code == 50119 || code == 50120;
  return (of_an_order && !holds(not_refused, code)) || at_the_gate || holds(refused_calls, code);
}

Sent sent_of_status(int status) {
  switch (status) {
    case 429:
      return Sent::rate_limited;
    case 401:  // an auth gate, an edge that blocks, or no such path
    case 403:
    case 404:
    case 405:
      return Sent::refused;
    default:
      return Sent::unknown;
  }
}

}  // namespace

Sent sent_of(int status, std::string_view code) {
  if (status >= 500 || status < 200) return Sent::unknown;
  int number = 0;
  const char* const end = code.data() + code.size();
  const auto read = std::from_chars(code.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return sent_of_status(status);
  switch (number) {
    case 50011:
    case 50061:
      return Sent::rate_limited;
    case 51016:
    case 50071:
      return Sent::duplicate;
    case 50102:
    case 50036:
      return Sent::not_sent;
    default:
      break;
  }
  if (is_refused(number)) return Sent::refused;
  // 50001, 50004, 50005, 50013, 50026, 51054, 51149: nobody knows. Codes that are not listed: nor
  // does this table.
  return status == 429 ? Sent::rate_limited : Sent::unknown;
}

bool is_over(std::string_view code) {
  constexpr std::array<std::string_view, 8> over = {"51400", "51401", "51402", "51410",
                                                    "51503", "51509", "51510", "51603"};
  return holds(over, code);
}

}  // namespace pawl::okx
