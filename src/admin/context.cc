#include "admin/context.h"

namespace pawl::admin {

Result<void> record_change(Context& context, const Call& call, audit::Event event) {
  event.details.emplace_back("peer", to_string(call.request().peer));
  return context.audit.append(std::move(event));
}

}  // namespace pawl::admin
