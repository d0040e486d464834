// Caller: one call to Saxo with the session's token.
//
// Contract: what was asked in its turn leaves once, and ends with what came back. A 401 tells the
//           keeper that the token was refused, and ready() renews it before the next turn. A read,
//           which has no turn, renews it and is sent once more. Every answer to a call in its
//           turn is heard. A call that never left is an Error with the outcome not_applied.
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
  Correlation ids = {};  // of a call in its turn; its request_id goes along as x-request-id
  Duration timeout = bounds::venue_read_deadline;
  bool in_turn = false;  // leaves at once, or not at all, and once; its answer is heard
};

class Caller : public std::enable_shared_from_this<Caller> {
 public:
  using Done = std::move_only_function<void(Result<HttpAnswer>)>;

  Caller(std::string base_url, HttpClient& http, std::unique_ptr<TokenKeeper> tokens)
      : base_url_(std::move(base_url)), http_(http), tokens_(std::move(tokens)) {}

  void send(Call call, Done done);
  void on_heard(HeardAnswer heard);
  // Has a token that can be used, if there is one. An error: a person must log in.
  void ready(std::move_only_function<void(Result<void>)> done);

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
