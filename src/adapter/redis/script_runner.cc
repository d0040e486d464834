#include "adapter/redis/script_runner.h"

#include <string_view>
#include <utility>

#include "base/sha1.h"
#include "base/sha256.h"

namespace pawl::redis {
namespace {

constexpr std::size_t excerpt_bytes = 80;  // of a reply, in a message

}  // namespace

Script::Script(std::string text_) : text(std::move(text_)), sha(to_hex(sha1(text))) {}

struct ScriptRunner::Run {
  ScriptCall call;
  Done done;
  bool is_whole = false;  // sent as a text, not by its name
  int unknown = 0;        // so often the server did not know the name
};

ScriptRunner::ScriptRunner(Client& client, Clock& clock) : client_(client), clock_(clock) {}

void ScriptRunner::run(ScriptCall call, Done done) {
  send(std::make_unique<Run>(Run{.call = std::move(call), .done = std::move(done)}));
}

// By its name; where the server does not know that yet, by its text, which makes it known. When a
// server has forgotten it, many calls hear so at once: one brings the text, the others come after.
void ScriptRunner::send(std::unique_ptr<Run> run) {
  const Script& script = run->call.script;
  std::vector<std::string_view> command = {run->is_whole ? "EVAL" : "EVALSHA",
                                           run->is_whole ? script.text : script.sha};
  command.insert(command.end(), run->call.words.begin(), run->call.words.end());
  const std::string_view key = run->call.key;
  const Duration left = run->call.deadline - clock_.steady_now();
  if (run->is_whole) ++texts_under_way_;
  client_.call(command, key, left, [this, run = std::move(run)](Result<Reply> reply) mutable {
    if (run->is_whole) --texts_under_way_;
    if (reply || reply.error().code != Code::not_found || run->is_whole) {
      return run->done(std::move(reply));
    }
    // The text that is under way may be for another node of a cluster: ask by name once more only.
    run->is_whole = ++run->unknown == 2 || texts_under_way_ == 0;
    send(std::move(run));
  });
}

std::unexpected<Error> strange_reply(const Reply& reply) {
  return std::unexpected(Error(Code::internal, Outcome::unknown,
                               "redis: a script answered '" +
                                   to_string(reply).substr(0, excerpt_bytes) +
                                   "', which pawl does not understand"));
}

}  // namespace pawl::redis
