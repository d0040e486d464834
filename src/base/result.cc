#include "pawl/result.h"

namespace pawl {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::not_applied:
      return "not_applied";
    case Outcome::applied:
      return "applied";
    case Outcome::unknown:
      return "unknown";
  }
  __builtin_unreachable();
}

std::string_view to_string(Code code) {
  switch (code) {
    case Code::invalid:
      return "invalid";
    case Code::usage:
      return "usage";
    case Code::refused:
      return "refused";
    case Code::unresolved:
      return "unresolved";
    case Code::not_found:
      return "not_found";
    case Code::unavailable:
      return "unavailable";
    case Code::internal:
      return "internal";
  }
  __builtin_unreachable();
}

}  // namespace pawl
