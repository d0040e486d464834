// Gate: who gets in at the admin listener.
//
//   Host     an address, a name of this machine's loopback, or one of server.admin.hosts. A page of
//            another site that points its own name at this machine (DNS rebinding) sends that name.
//   Origin   of what changes something, where a browser says it: this very host, or one of
//            server.admin.hosts; Sec-Fetch-Site: same-origin or none.
//   token    where one is set; compared in constant time, over hashes, so that not even its length
//            shows. Wrong ones are counted by address (lockout.h).
//   session  in place of the token: a cookie, of who signed in at the panel (sessions.h). What
//            changes something must also carry the session's CSRF token.
//   trade    what a browser asks for with orders' money is refused unless the panel may trade.
//
// Contract: refuse() says nothing of what exists: it is asked before the route is told. A probe
//           needs no token; what a proxy passes on is not held to Host and Origin, which are those
//           of the proxy's client (route.h).
// Threads:  those of the admin listener's loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/lockout.h"
#include "admin/route.h"
#include "admin/sessions.h"
#include "base/secret.h"
#include "pawl/time.h"
#include "server/responder.h"

namespace pawl::admin {

struct GateSettings {
  Secret<std::string> token = {};       // empty: none is asked for
  std::vector<std::string> hosts = {};  // names, beside addresses and localhost
  bool trading = false;                 // orders may be placed and changed from a browser
};

// Programs send neither Origin, Sec-Fetch-Site nor Cookie; a page cannot leave them out.
bool is_of_browser(const server::Request& request);

class Gate {
 public:
  // Nothing: it may enter.
  std::optional<server::Response> refuse(const GateSettings& settings,
                                         const server::Request& request, Access access,
                                         SteadyInstant now);

  // Whether who was let in with this request still would be: for answers that go on for long. It is
  // a use of the session. Nothing is counted: whoever guesses is not helped by one who listens.
  bool is_still_in(const GateSettings& settings, const server::Request& request, SteadyInstant now);

  Sessions& sessions() { return sessions_; }

 private:
  std::optional<server::Response> refuse_session(const server::Request& request,
                                                 std::string_view csrf) const;
  std::optional<server::Response> refuse_token(const GateSettings& settings,
                                               const server::Request& request, Access access,
                                               SteadyInstant now);

  Lockout lockout_;
  Sessions sessions_;
};

}  // namespace pawl::admin
