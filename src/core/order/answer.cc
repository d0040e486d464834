#include "core/order/answer.h"

#include "core/order/names.h"

namespace pawl::order {
namespace {

constexpr Names<6> sent_names = {"accepted",  "refused",  "rate_limited",
                                 "duplicate", "not_sent", "unknown"};
constexpr Names<5> life_names = {"working", "filled", "canceled", "rejected", "unknown"};
constexpr Names<4> found_names = {"absent", "present", "probable", "unreadable"};

}  // namespace

std::string_view to_string(Sent sent) {
  return name_in(sent_names, sent);
}
std::optional<Sent> sent_of(std::string_view name) {
  return find_in<Sent>(sent_names, name);
}

Outcome outcome_of(Sent sent) {
  switch (sent) {
    case Sent::accepted:
      return Outcome::applied;
    case Sent::refused:
    case Sent::rate_limited:
    case Sent::not_sent:
      return Outcome::not_applied;
    case Sent::duplicate:
    case Sent::unknown:
      return Outcome::unknown;
  }
  __builtin_unreachable();
}

std::string_view to_string(Life life) {
  return name_in(life_names, life);
}
std::optional<Life> life_of(std::string_view name) {
  return find_in<Life>(life_names, name);
}

std::string_view to_string(SourceRead::Found found) {
  return name_in(found_names, found);
}

}  // namespace pawl::order
