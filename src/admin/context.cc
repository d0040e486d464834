#include "admin/context.h"

#include "base/request_id.h"

namespace pawl::admin {

std::string correlation_of(const Call& call) {
  const std::string_view given = call.request().header("X-Correlation-Id");
  return std::string(is_id(given) ? given : std::string_view());
}

std::string who_asks(const Call& call) {
  return "admin API, " + to_string(call.request().peer);
}

Result<void> record_change(Context& context, const Call& call, audit::Event event) {
  event.details.emplace_back("peer", to_string(call.request().peer));
  return context.audit.append(std::move(event));
}

}  // namespace pawl::admin
