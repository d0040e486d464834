// Answers: what changes of the admin API were answered with, by their Idempotency-Key.
//
// Why:      a form that is sent twice, because a button was pressed twice or an answer got lost,
//           asks for one thing. Whoever attaches a key gets it done once, and is answered twice.
// Contract: begin() says what to do with a request that carries a key: do it (and give the Tap to
//           who does), answer it with what the first one was answered with, or refuse it, since the
//           key was used for another request. One that comes while the first is at work waits for
//           its answer. What ended with 5xx is not kept: nobody knows, and the next one tries
//           again. Kept in memory: what must outlive pawl has a name of its own (an order's
//           reference, a task's id).
// Bounds:   bounds::admin_answers_max, the oldest go; bounds::admin_answer_kept.
// Threads:  those of the admin listener's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"
#include "server/responder.h"

namespace pawl::admin {

inline constexpr std::string_view replay_fields =
    "Idempotent-Replay: true\r\nIdempotent-Replayed: true\r\n";

class Answers {
 public:
  // Held by who does it. An end without an answer is told by letting it go.
  class Tap {
   public:
    Tap(Answers& answers, std::string key) : answers_(&answers), key_(std::move(key)) {}
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;
    ~Tap();
    void answered(const server::Response& response);

   private:
    Answers* answers_;  // nullptr: it is told
    std::string key_;
  };

  // `reply` is taken unless it is to be done; then `tap` is there.
  std::unique_ptr<Tap> begin(const server::Request& request, server::Reply& reply,
                             SteadyInstant now);
  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    std::string request;  // its hash
    SteadyInstant at;
    std::optional<server::Response> response = {};  // nothing: at work
    std::vector<server::Reply> waiting = {};
  };

  void make_room(SteadyInstant now);
  void end(const std::string& key, const server::Response* response);

  std::map<std::string, Kept, std::less<>> kept_;
};

}  // namespace pawl::admin
