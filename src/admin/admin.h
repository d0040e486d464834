// Admin: answers what comes to the admin listener.
//
// Contract: a request passes the gate (gate.h), finds its route in the one table (route.h), has its
//           parameters and its body checked with what the table says of them, and is answered by
//           whoever the table names. What is not in the table is not served.
// Bounds:   bounds::admin_body_bytes_max a body, which the responder sees to.
// Threads:  those of the admin listener's loop. The context outlives it.
// See:      docs/admin-api.md.
#pragma once

#include <string>

#include "admin/audit.h"
#include "admin/context.h"
#include "admin/gate.h"
#include "admin/overview.h"
#include "admin/route.h"
#include "admin/router.h"
#include "admin/usage.h"

namespace pawl::admin {

class Admin {
 public:
  explicit Admin(Context& context);
  Admin(const Admin&) = delete;  // routes and router point into it

  void answer(const server::Request& request, server::Reply reply);
  // About ten times a second, for those who listen.
  void tick() { listeners_.tick(); }
  // Once a second, for who watches how it goes.
  void sample();
  // Waits until the stores have answered all that was asked of them. Not on the listener's thread.
  void drain() { context_.asks->drain(); }

 private:
  void dispatch(const Found& found, const server::Request& request, server::Reply reply);

  Context& context_;
  Gate gate_;
  Answers answers_;
  Listeners listeners_;
  Sampler sampler_;
  UsageHistory usage_;
  Routes routes_;
  Router router_;
  std::string document_;  // OpenAPI
};

}  // namespace pawl::admin
