#include "admin/policies.h"

#include <utility>

namespace pawl::admin {

Routes policy_routes(Context& context) {
  const Schema some = schema::map_of(schema::anything());
  return {{.path = "/v1/policies",
           .id = "policies",
           .summary = "The limits, plans and retry policies in force.",
           .answers = {{200, "With what each limit refused, or would have refused in shadow.",
                        schema::object({{"limits", schema::list_of(some)},
                                        {"plans", schema::list_of(some)},
                                        {"retry", schema::list_of(some)}})}},
           .handle = [&context](Call call) { std::move(call).answer(context.policies()); }}};
}

}  // namespace pawl::admin
