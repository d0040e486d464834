#include "core/order/quota.h"

#include "base/calendar.h"
#include "base/text.h"

namespace pawl::order {
namespace {

// "4/5"
std::string share(const Quota& quota) {
  std::string text;
  append_number(text, quota.used);
  text.push_back('/');
  append_number(text, quota.limit);
  return text;
}

}  // namespace

std::string week_text(Instant instant) {
  constexpr std::size_t date_bytes = 10;
  return to_string(week_start(instant)).substr(0, date_bytes);
}

bool counts(const FrequencyLimit& limit, const Order& order, bool enforced) {
  return !(limit.exclude_reduce_only && order.reduce_only && enforced);
}

std::string passed_text(const Quota& quota, const Order& order) {
  return "Order frequency check passed: " + share(quota) + " orders this week (week starting " +
         week_text(quota.week_start) + "), placing order " + brief(order);
}

std::string rejected_text(const Quota& quota, const Order& order) {
  return "Order rejected: weekly limit exceeded (" + share(quota) + " orders, week starting " +
         week_text(quota.week_start) + "), order " + brief(order) + " not placed";
}

std::string reduce_only_text(const Quota& quota, const Order& order) {
  return "Reduce-only order " + brief(order) + " allowed despite limit (" + share(quota) +
         " orders this week, excluded from count)";
}

std::string exceeded_text(const Quota& quota) {
  return "Weekly order limit exceeded: " + share(quota) + " orders placed this week";
}

std::string unverified_text(std::string_view why) {
  return "Order rejected: unable to verify frequency limit (database error): " + std::string(why);
}

}  // namespace pawl::order
