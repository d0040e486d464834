// Sessions: who has signed in at the panel. A browser shows a session's id as a cookie that scripts
// cannot read, and that the browser sends to this site alone (HttpOnly, SameSite=Strict).
//
// Why:      a token that a page keeps can be read by whatever script gets into that page; a cookie
//           of this kind cannot.
// Contract: a session is good for as long as the token it was opened with is the token, and it is
//           used now and then, up to its age. What changes something must carry its CSRF token in a
//           field, which a page of another site can neither read nor send. Ids are kept as hashes.
//           Restarting pawl ends all sessions.
// Bounds:   bounds::panel_sessions_max, the one not used for longest goes;
//           bounds::panel_session_idle without use, bounds::panel_session_age in all.
// Threads:  those of the admin listener's loop.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/sha256.h"
#include "pawl/time.h"
#include "port/entropy.h"
#include "server/responder.h"

namespace pawl::admin {

inline constexpr std::string_view csrf_field = "X-Pawl-Csrf";

class Sessions {
 public:
  // Nothing is good for longer than this call: the cookie's value, and the CSRF token.
  struct Opened {
    std::string id;
    std::string csrf;
  };
  Opened open(Entropy& entropy, const Secret<std::string>& token, SteadyInstant now);

  // The CSRF token of the session that the request shows; empty: it shows none that is good.
  std::string csrf_of(const server::Request& request, const Secret<std::string>& token,
                      SteadyInstant now);
  // The one that the request shows.
  void close(const server::Request& request);
  std::size_t size() const { return sessions_.size(); }

 private:
  struct Session {
    std::string csrf;
    std::string token;  // its hash
    SteadyInstant opened;
    SteadyInstant used;
  };

  std::map<std::string, Session> sessions_;  // by the hash of the id
};

// Ports of one machine share their cookies, so the name holds the port.
std::string cookie_name(const server::Request& request);
// "Set-Cookie: …\r\n"; an empty id takes the cookie away.
std::string cookie_field(const server::Request& request, std::string_view id);

}  // namespace pawl::admin
