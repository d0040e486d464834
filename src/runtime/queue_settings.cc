#include "runtime/queue_settings.h"

#include <string>
#include <utility>

#include "base/bounds_queue.h"
#include "core/queue/segment.h"

namespace pawl {
namespace {

using queue::Settings;

// Creating and reading by turns: more often than so it cannot appear and be gone.
constexpr int tries_max = 3;

struct Ask {
  ObjectStore& store;
  std::optional<Settings> wanted;
  ObjectStore::Done<Settings> done;
  int tries = 0;
};

Result<Settings> compared(const ObjectStore& store, const std::optional<Settings>& wanted,
                          const Settings& found) {
  if (!wanted || *wanted == found) return found;
  const bool shards = wanted->shards != found.shards;
  const std::string what = shards ? "shards: " : "kept: ";
  const auto shown = [&](const Settings& s) {
    return shards ? std::to_string(s.shards) : to_string(s.kept);
  };
  return failure(Code::invalid, "the queue at " + store.name() + " was made with " + what +
                                    shown(found) + ", and these settings say " + shown(*wanted) +
                                    ": it stays as it was made; change the settings");
}

void read(Ask ask);

void create(Ask ask) {
  ObjectStore& store = ask.store;
  PutObject put{.name = queue_settings_name,
                .body = queue::write_settings(ask.wanted.value_or(Settings{})),
                .only = PutObject::If::absent};
  store.put(std::move(put), [ask = std::move(ask)](Result<PutAnswer> answer) mutable {
    // Ours or another's, or nobody knows: reading tells.
    const bool undecided = !answer && answer.error().outcome == Outcome::unknown;
    if (answer || undecided) return read(std::move(ask));
    ask.done(std::unexpected(std::move(answer).error()));
  });
}

void read(Ask ask) {
  ObjectStore& store = ask.store;
  store.get({.name = queue_settings_name}, [ask = std::move(ask)](Result<Object> object) mutable {
    if (!object && object.error().code == Code::not_found && ask.tries++ < tries_max) {
      return create(std::move(ask));
    }
    if (!object) return ask.done(std::unexpected(std::move(object).error()));
    Result<Settings> found = queue::parse_settings(object->body);
    if (!found) return ask.done(std::move(found));
    ask.done(compared(ask.store, ask.wanted, *found));
  });
}

}  // namespace

void open_queue_settings(ObjectStore& store, std::optional<Settings> wanted,
                         ObjectStore::Done<Settings> done) {
  if (wanted && wanted->kept < bounds::task_kept_min) {
    return done(failure(Code::invalid, "tasks that are over cannot be kept for " +
                                           to_string(wanted->kept) + ": it must be " +
                                           to_string(bounds::task_kept_min) +
                                           " or more, so that a submit that is given again finds "
                                           "what became of it"));
  }
  read({.store = store, .wanted = wanted, .done = std::move(done)});
}

}  // namespace pawl
