// The admin listener's answers: health, readiness, metrics.
//
// Contract: /healthz and /readyz are open, so that probes need no secret; everything else asks for
//           the token when one is set, compared in constant time.
#pragma once

#include <functional>
#include <string>

#include "base/secret.h"
#include "metrics/metrics.h"
#include "server/responder.h"

namespace pawl::gateway {

struct AdminContext {
  const metrics::Registry& metrics;
  Secret<std::string> token;
  std::function<Result<void>()> ready;    // the error says why it is not
  std::function<std::string()> degraded;  // empty, or what works less well than it should
  // Brings gauges up to date before they are read.
  std::function<void()> refresh;
};

server::Response answer_admin(const AdminContext& context, const server::Request& request);

}  // namespace pawl::gateway
