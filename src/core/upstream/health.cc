#include "core/upstream/health.h"

namespace pawl::upstream {

Health Health::after(bool good, const HealthRule& rule) const {
  Health next = *this;
  if (good == is_healthy()) {
    next.against_ = 0;
    return next;
  }
  ++next.against_;
  if (next.against_ >= (good ? rule.healthy_after : rule.unhealthy_after)) {
    next.sick_ = good ? 0 : 1;
    next.against_ = 0;
  }
  return next;
}

}  // namespace pawl::upstream
