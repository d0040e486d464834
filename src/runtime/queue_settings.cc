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
  WantedSettings wanted;
  ObjectStore::Done<Settings> done;
  int tries = 0;
};

Result<Settings> compared(const ObjectStore& store, const WantedSettings& wanted,
                          const Settings& found) {
  std::string differs;
  if (wanted.shards.value_or(found.shards) != found.shards) {
    differs = "shards: " + std::to_string(found.shards) + ", and these settings say " +
              std::to_string(*wanted.shards);
  } else if (wanted.kept.value_or(found.kept) != found.kept) {
    differs =
        "kept: " + to_string(found.kept) + ", and these settings say " + to_string(*wanted.kept);
  }
  if (differs.empty()) return found;
  return failure(Code::invalid, "the queue at " + store.name() + " was made with " + differs +
                                    ": it stays as it was made; change the settings");
}

Settings made_with(const WantedSettings& wanted) {
  Settings settings;
  settings.shards = wanted.shards.value_or(settings.shards);
  settings.kept = wanted.kept.value_or(settings.kept);
  return settings;
}

void read(Ask ask);

void create(Ask ask) {
  ObjectStore& store = ask.store;
  PutObject put{.name = queue_settings_name,
                .body = queue::write_settings(made_with(ask.wanted)),
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

void open_queue_settings(ObjectStore& store, WantedSettings wanted,
                         ObjectStore::Done<Settings> done) {
  if (wanted.kept && *wanted.kept < bounds::task_kept_min) {
    return done(failure(Code::invalid, "tasks that are over cannot be kept for " +
                                           to_string(*wanted.kept) + ": it must be " +
                                           to_string(bounds::task_kept_min) +
                                           " or more, so that a submit that is given again finds "
                                           "what became of it"));
  }
  read({.store = store, .wanted = wanted, .done = std::move(done)});
}

}  // namespace pawl
