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
// Bounds:   a key is kept for bounds::admin_answer_kept, and never let go before: where there are
//           as many as there may be, a new one is refused, and nothing is done. Those of the panel
//           have a room of their own, which programs cannot fill. An answer that is too large, or
//           that there is no room for, leaves its key and its status, so it is not done again.
// Threads:  those of the admin listener's loop.
#pragma once

#include <array>
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

// With a key: the run of pawl in which it may have been used before (GET /v1/session).
inline constexpr std::string_view run_field = "X-Pawl-Run";

inline constexpr std::string_view replay_fields =
    "Idempotent-Replay: true\r\nIdempotent-Replayed: true\r\n";

class Answers {
 public:
  enum class From : std::uint8_t { program, panel };
  // Of what one of these may have kept.
  struct Bounds {
    std::size_t keys;
    std::size_t bytes;  // of answers
  };

  Answers();
  Answers(Bounds of_programs, Bounds of_panel);

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
  std::unique_ptr<Tap> begin(const server::Request& request, From from, server::Reply& reply,
                             SteadyInstant now);
  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept;
  using ByKey = std::map<std::string, Kept, std::less<>>;
  using ByAge = std::multimap<SteadyInstant, ByKey::iterator>;
  struct Kept {
    std::string request;  // its hash
    From from;
    ByAge::iterator age = {};
    std::optional<server::Response> response = {};  // nothing: at work
    bool is_whole = true;                           // false: of the response the status alone
    std::vector<server::Reply> waiting = {};
  };
  struct Room {
    Bounds bounds;
    std::size_t bytes = 0;
    ByAge by_age = {};
  };

  Room& room_of(From from) { return rooms_[static_cast<std::size_t>(from)]; }
  std::unique_ptr<Tap> insert(const std::string& key, Kept kept, SteadyInstant now);
  void erase(ByKey::iterator kept);
  void forget_old(Room& room, SteadyInstant now);
  void keep(Kept& kept, const server::Response& response);
  void end(const std::string& key, const server::Response* response);

  ByKey kept_;
  std::array<Room, 2> rooms_;  // by From
};

}  // namespace pawl::admin
