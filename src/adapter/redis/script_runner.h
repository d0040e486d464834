// ScriptRunner: has servers run scripts by their names, and brings a text where it is not known.
//
// Why:      a text is sent once and a short name from then on; a server that was flushed or
//           replaced has forgotten it, and that is not its caller's concern.
// Contract: run() ends in `done` once, as redis_client.h says, within the deadline. A script that a
//           server did not know has changed nothing, so it is sent again.
// Threads:  any.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "adapter/redis/redis_client.h"
#include "pawl/clock.h"

namespace pawl::redis {

struct Script {
  explicit Script(std::string text_);
  std::string text;
  std::string sha;
};

struct ScriptCall {
  const Script& script;  // lives until `done`
  std::string key;       // says where it goes, as in Client::call()
  SteadyInstant deadline;
  std::vector<std::string> words = {};  // the number of keys, the keys, the arguments
};

class ScriptRunner {
 public:
  // Both must outlive it. The clock is the client's own.
  ScriptRunner(Client& client, Clock& clock);

  void run(ScriptCall call, Done done);

 private:
  struct Run;

  void send(std::unique_ptr<Run> run);

  Client& client_;
  Clock& clock_;
  std::atomic<int> texts_under_way_ = 0;
};

// For a reply that no script of ours gives.
std::unexpected<Error> strange_reply(const Reply& reply);

}  // namespace pawl::redis
