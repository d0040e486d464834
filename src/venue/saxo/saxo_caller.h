// Caller: one call to Saxo with the session's token.
//
// Contract: what was asked leaves once. The one exception is a 401 (an auth gate, behind which
//           nothing was looked at): the token is renewed, and the same bytes with the same
//           x-request-id are sent once more. Every answer to a paced call is heard. A call that
//           never left is an Error with the outcome not_applied.
// Turns:    a call in its turn waits for no token: renewed then, it would leave late, and the next
//           one follow it too soon. Without one it does not leave; ready() is asked before a turn.
// Secrets:  the token stands in the request alone; errors name neither it nor the query.
// Threads:  any. `done` is called exactly once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/bounds.h"
#include "base/correlation.h"
#include "port/http_client.h"
#include "port/venue.h"
#include "venue/saxo/saxo_token.h"

namespace pawl::saxo {

struct Call {
  std::string method = "GET";
  std::string path = {};
  std::string query = {};
  std::string body = {};
  Correlation ids = {};  // of a paced call; its request_id goes along as x-request-id
  Duration timeout = bounds::venue_read_deadline;
  bool paced = false;
  bool in_turn = false;  // leaves at once, or not at all
};

class Caller : public std::enable_shared_from_this<Caller> {
 public:
  using Done = std::move_only_function<void(Result<HttpAnswer>)>;

  Caller(std::string base_url, HttpClient& http, std::unique_ptr<TokenKeeper> tokens)
      : base_url_(std::move(base_url)), http_(http), tokens_(std::move(tokens)) {}

  void send(Call call, Done done);
  void on_heard(HeardAnswer heard);
  // Has a token that can be used, if there is one.
  void ready(std::move_only_function<void()> done);

 private:
  struct Flight;
  void leave(const std::shared_ptr<Flight>& flight);
  void arrive(const std::shared_ptr<Flight>& flight, Result<HttpAnswer> answer);
  void hear(const HttpAnswer& answer, const Correlation& ids);

  const std::string base_url_;
  HttpClient& http_;
  const std::unique_ptr<TokenKeeper> tokens_;
  std::mutex mutex_;
  HeardAnswer heard_;
};

}  // namespace pawl::saxo
