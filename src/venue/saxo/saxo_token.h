// TokenKeeper: the access token of a Saxo session, and how it is renewed.
//
// Why:      tokens live for minutes, and a refresh token is used up by its use. Of all processes
//           and threads on one session exactly one renews; the others wait for it and take what
//           it got.
// Contract: get() gives a token that was good by what Saxo said of its life; renewed ahead of its
//           end. renew() gives another one than that which was just refused (401). `done` is called
//           exactly once, before the call returns or later, and must not keep the thread.
//           A token that was refused() is no longer given where it can be renewed.
//           How long tokens live is what the answer says, never a number of ours. A new pair is on
//           the disk before it is used. When the disk does not take it, it is used all the same
//           (the old one is gone), the note says so, and storing is tried again at every call.
// Lost:     a crash after Saxo has answered and before the disk has the new pair loses both: the
//           next renewal is refused, and a person must log in. Nothing can be done about that here.
// Origin:   a pair in the configuration that differs from the one the file descends from is newer:
//           somebody logged in again. It then takes the file's place at the next renewal.
// Errors:   refused: Saxo does not take the refresh token, or there is none; a person must log in.
//           unavailable: no answer, or the lock of another process did not come free.
// Secrets:  no token stands in an error or a note.
// Bounds:   bounds::token_waiters_max, token_deadline, token_lock_wait.
// Threads:  any. Destroying it is fine while a renewal is under way: it ends by itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/secret.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "port/http_client.h"
#include "port/timers.h"

namespace pawl::saxo {

struct TokenOptions {
  std::string url = {};  // of renewals
  Secret<std::string> access = {};
  Secret<std::string> refresh = {};
  std::string app_key = {};
  Secret<std::string> app_secret = {};
  std::string file = {};  // empty: nothing is kept, and a restart needs a new login
};

class TokenKeeper {
 public:
  using Done = std::move_only_function<void(Result<Secret<std::string>>)>;
  struct Ports {
    HttpClient& http;
    Clock& clock;
    Timers& timers;
    std::function<void(const std::string&)> note = {};  // for the log; any thread
  };

  // An error: a file that is there and cannot be used.
  static Result<std::unique_ptr<TokenKeeper>> open(TokenOptions options, Ports ports);
  ~TokenKeeper();

  // At once, for a call whose turn it is. An error: there is none, or it has ended or was refused
  // and get() renews it; why that did not work, when it did not.
  Result<Secret<std::string>> at_hand() const;
  void get(Done done);
  // Saxo turned this one away: the next get() renews it.
  void refused(const Secret<std::string>& token);
  void renew(const Secret<std::string>& refused, Done done);

 private:
  class State;
  explicit TokenKeeper(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace pawl::saxo
