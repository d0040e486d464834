// CountScripts: runs the scripts on a group of counts, until one of them has been decided.
//
// Why:      a script the server does not know yet, a count under an old rule, a clock in another
//           window: each costs another round trip, and none of it is the store's concern.
// Contract: `done` is called once, as redis_client.h says; the group must live until then. An
//           error's outcome speaks of what the script was to change: bringing a count under its new
//           rule does not count.
// Threads:  any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/redis/count_group.h"
#include "adapter/redis/redis_client.h"
#include "adapter/redis/redis_scripts.h"
#include "adapter/redis/script_runner.h"
#include "pawl/clock.h"

namespace pawl::redis {

struct CountScriptsOptions {
  Zones zones;
  Clock* time = nullptr;  // instead of the server's
};

// The record that lets a charge be settled while it is held, and undone for some time in any case.
struct Holding {
  std::uint64_t id = 0;
  Duration hold = {};
  Duration undoable = {};
};

struct Asked {
  std::int64_t cost = 0;
  bool is_charged = true;  // else it is only told what would be
  std::optional<Holding> holding = {};
};

struct Amendment {
  std::string_view verb;  // of `amend`
  std::int64_t number = 0;
  std::optional<std::uint64_t> reservation = {};
};

class CountScripts {
 public:
  template <class T>
  using Ended = std::move_only_function<void(Result<T>)>;

  // Both must outlive it. The clock is the client's own.
  CountScripts(Client& client, Clock& clock, CountScriptsOptions options);
  ~CountScripts();

  void ask(const CountGroup& group, const Asked& asked, SteadyInstant deadline,
           Ended<FoundCounts> done);
  // False: there is no such reservation.
  void amend(const CountGroup& group, const Amendment& how, SteadyInstant deadline,
             Ended<bool> done);
  // Of the machine that asks.
  Instant wall_now();

 private:
  struct Step;

  void run(std::unique_ptr<Step> step);
  void on_reply(std::unique_ptr<Step> step, Result<Reply> reply);
  void carry_over(std::unique_ptr<Step> step, const Reply& reply);

  Clock& clock_;
  const CountScriptsOptions options_;
  const Scripts scripts_;
  ScriptRunner runner_;
};

}  // namespace pawl::redis
