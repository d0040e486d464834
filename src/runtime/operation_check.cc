// Whether an operation may be run, and what its trail says of it.
#include <utility>

#include "base/bounds.h"
#include "runtime/operation_trail.h"
#include "runtime/operations.h"

namespace pawl {

std::shared_ptr<const audit::Trail> trail_of(const Operation& operation, retry::Policy policy) {
  return std::make_shared<const audit::Trail>(audit::Trail{.category = operation.category,
                                                           .operation = operation.name,
                                                           .correlation = operation.correlation,
                                                           .context = operation.context,
                                                           .policy = std::move(policy)});
}

Result<void> check(const Operation& operation) {
  if (operation.policy) PAWL_TRY(retry::check(*operation.policy));
  if (!operation.key.empty()) {
    PAWL_TRY(check(RecordKey{.scope = operation.correlation.tenant_id, .key = operation.key}));
  }
  if (operation.context.size() > bounds::audit_context_max) {
    return failure(Code::invalid, "a context has up to " +
                                      std::to_string(bounds::audit_context_max) + " texts, not " +
                                      std::to_string(operation.context.size()));
  }
  for (const auto& [name, value] : operation.context) {
    if (name.size() + value.size() <= bounds::audit_context_bytes_max) continue;
    return failure(Code::invalid, "a text of a context has up to " +
                                      std::to_string(bounds::audit_context_bytes_max) +
                                      " bytes with its name: " + name.substr(0, 40));
  }
  return check(*trail_of(operation, {}));
}

}  // namespace pawl
