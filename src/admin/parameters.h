// The parameters and schemas that several calls of the admin API share.
#pragma once

#include "admin/route.h"
#include "base/bounds.h"

namespace pawl::admin {

inline Parameter tenant_in_path() {
  return {"tenant", "The tenant's name.", schema::text(1, bounds::tenant_bytes_max),
          Parameter::In::path};
}

inline constexpr std::int64_t list_default = 100;

inline Parameter limit_in_query() {
  return {"limit", "How many at the most; 100 when absent.",
          schema::whole(1, static_cast<std::int64_t>(bounds::admin_list_max))};
}

inline std::size_t limit_of(const Call& call) {
  return static_cast<std::size_t>(call.number("limit", list_default));
}

inline Parameter span_in_query() {
  return {"span", "How far back: 15m, 1h or 1d; 15m when absent.",
          schema::word({"15m", "1h", "1d"})};
}

}  // namespace pawl::admin
