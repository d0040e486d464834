// Authorizer: decides about requests that another proxy passes on (nginx's auth_request, Envoy's
// ext_authz), as the gateway would if it stood before the service itself.
//
// Contract: tenant and buckets by the same rules, charged and on record before the answer. What
//           becomes of the request then is not known here: its record ends as unknown. Slots come
//           back at once, for the same reason. Whether a tenant header is believed depends on the
//           proxy that asks, as it does at the guarded listener; the client's address is the last
//           that X-Forwarded-For names, the one that the proxy itself has seen; or, where that is a
//           trusted proxy too, the last before it that is none.
// Threads:  those of its loop.
#pragma once

#include <functional>

#include "admin/context.h"
#include "gateway/settings.h"
#include "gateway/tenants.h"
#include "net/loop.h"
#include "port/entropy.h"
#include "runtime/engine.h"

namespace pawl::gateway {

class Authorizer {
 public:
  using Done = std::move_only_function<void(server::Response)>;

  struct Parts {
    net::Loop& loop;
    Engine& engine;
    Clock& clock;
    Entropy& entropy;
    Tenants& tenants;
    std::function<SettingsPtr()> settings;  // those in force
  };
  explicit Authorizer(Parts parts) : parts_(std::move(parts)) {}

  // `done` is called once, on the loop's thread.
  void decide(const admin::Context::Question& question, Done done);

 private:
  Parts parts_;
};

}  // namespace pawl::gateway
