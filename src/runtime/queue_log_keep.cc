// Snapshots: from which the log is opened, how they are written, and what goes when they stand.
#include <algorithm>

#include "base/bounds_queue.h"
#include "runtime/queue_log_state.h"

namespace pawl {

using queue::SnapshotSeen;

namespace {

constexpr Duration keep_again = Duration::minutes(1);
constexpr Duration too_large_again = Duration::hours(1);
constexpr int gone_max = 8;  // snapshots, in a row, that were gone when they were read

using Entries = std::vector<Listing::Entry>;

std::string folder_of(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

}  // namespace

void QueueLog::State::list_snapshots(std::string after_name, std::vector<SnapshotSeen> seen,
                                     Done<std::vector<SnapshotSeen>> done) {
  ports.store.list(
      {.under = folder_of(queue::snapshot_name(options.shard, 0)), .after = std::move(after_name)},
      later([seen = std::move(seen), done = std::move(done)](State& self,
                                                             Result<Listing> listing) mutable {
        if (!listing) return done(std::unexpected(std::move(listing).error()));
        for (const Listing::Entry& entry : listing->entries) {
          const auto sequence = queue::sequence_of(entry.name);
          if (!sequence) continue;
          seen.push_back({.sequence = *sequence, .bytes = entry.bytes, .modified = entry.modified});
        }
        if (!listing->more || listing->entries.empty()) return done(std::move(seen));
        std::string page_end = std::move(listing->entries.back().name);
        self.list_snapshots(std::move(page_end), std::move(seen), std::move(done));
      }));
}

void QueueLog::State::run(const queue::Reopen&, std::uint64_t step) {
  count([](QueueLogNumbers& n) { ++n.reopened; });
  ++fetch_round;
  fetches.clear();
  reading.reset();
  found_in_a_row = 0;
  reopen({.step = step});
}

void QueueLog::State::reopen(Opening opening) {
  list_snapshots(
      {}, {}, [this, opening = std::move(opening)](Result<std::vector<SnapshotSeen>> seen) mutable {
        if (!seen) return reopen_failed(opening.step, seen.error());
        opening.seen = std::move(*seen);
        open_newest(std::move(opening));
      });
}

void QueueLog::State::reopen_failed(std::uint64_t step, const Error& error) {
  troubled(error);
  const bool final = error.code == Code::refused || error.code == Code::invalid;
  if (opened && final) std::exchange(opened, {})(std::unexpected(error));
  answer(step, queue::ReopenFailed{.retry_after = error.retry_after});
}

// What is held already is as good as a snapshot that is not beyond it. Without any that can be read
// the log is read from its beginning, if that is there still.
void QueueLog::State::open_newest(Opening opening) {
  if (!opening.seen.empty())
    opening.newest = std::max(opening.newest, opening.seen.back().sequence);
  std::uint64_t held = 0;
  {
    const std::lock_guard lock(shared);
    held = machine.sequence();
  }
  if (opening.seen.empty() || opening.seen.back().sequence <= held) {
    return reopened(opening, held);
  }
  opening.body.clear();
  read_snapshot(std::move(opening));
}

// A large one in parts: a store gives each of its calls a time, and a slow line would never bring
// the whole within it. Its bytes never change, and its checksum is that of all of them.
void QueueLog::State::read_snapshot(Opening opening) {
  const SnapshotSeen& seen = opening.seen.back();
  GetObject get{.name = queue::snapshot_name(options.shard, seen.sequence)};
  if (seen.bytes > options.part_bytes) {
    get.offset = opening.body.size();
    get.bytes = options.part_bytes;
    opening.body.reserve(std::min<std::uint64_t>(seen.bytes, bounds::snapshot_bytes_max));
  }
  ports.store.get(std::move(get),
                  later([opening = std::move(opening)](State& self, Result<Object> object) mutable {
                    self.snapshot_read(std::move(opening), std::move(object));
                  }));
}

void QueueLog::State::snapshot_read(Opening opening, Result<Object> object) {
  if (!object && object.error().code == Code::not_found && opening.tries++ < gone_max) {
    // Gone since it was listed: there is a newer one.
    troubled(object.error());
    return reopen(std::move(opening));
  }
  if (!object) {
    troubled(object.error());
    return answer(opening.step, queue::ReopenFailed{.retry_after = object.error().retry_after});
  }
  const SnapshotSeen seen = opening.seen.back();
  const bool is_part = seen.bytes > options.part_bytes && !object->body.empty();
  opening.body.append(object->body);
  opened_since = now();
  if (is_part && opening.body.size() < seen.bytes) return read_snapshot(std::move(opening));
  auto parsed = queue::parse_snapshot(opening.body, options.shard, options.settings);
  if (parsed && parsed->machine.sequence() == seen.sequence) {
    {
      const std::lock_guard lock(shared);
      machine = std::move(parsed->machine);
      time.seen(machine.now(), now());
    }
    last = parsed->last;
    snapshot_sequence = seen.sequence;
    since_snapshot = {.snapshot_bytes = opening.body.size()};
    news();
    if (hooks.applied) hooks.applied();
    return reopened(opening, seen.sequence);
  }
  const std::string name = queue::snapshot_name(options.shard, seen.sequence);
  const std::string why = parsed ? "it is of another sequence" : parsed.error().message;
  Error error(Code::invalid, Outcome::not_applied, name + " in " + ports.store.name() + ": " + why);
  // Damage is survived by an older snapshot. A newer pawl's is whole, and says what we cannot know.
  if (!parsed && parsed.error().code == Code::refused) {
    stop(std::move(error));
    return settle();
  }
  troubled(error);
  if (hooks.note) {
    hooks.note(error.message + "; it is passed over for an older one, or for the segments before " +
               "it: check the disk, or the store, and what else it keeps");
  }
  if (snapshot_damage.empty()) snapshot_damage = std::move(error.message);
  opening.seen.pop_back();
  open_newest(std::move(opening));
}

void QueueLog::State::reopened(const Opening& opening, std::uint64_t sequence) {
  answer(opening.step,
         queue::Reopened{.sequence = sequence, .newest = opening.newest, .last = last});
}

// It is time for a snapshot, unless somebody else was first.
void QueueLog::State::keep() {
  if (keeping || closing || now() < keeps_from) return;
  keeping = true;
  keep_pause = {};
  list_snapshots({}, {}, [this](Result<std::vector<SnapshotSeen>> seen) { kept(std::move(seen)); });
}

// Whoever closes waits for it.
void QueueLog::State::keep_ended() {
  keeping = false;
  keeps_from = now() + keep_pause;
  settle();
}

void QueueLog::State::kept(Result<std::vector<SnapshotSeen>> seen) {
  if (!seen) {
    troubled(seen.error());
    keep_pause = keep_again;
    return keep_ended();
  }
  std::uint64_t held = 0;
  {
    const std::lock_guard lock(shared);
    held = machine.sequence();
  }
  if (!seen->empty() && seen->back().sequence > snapshot_sequence) {
    snapshot_sequence = seen->back().sequence;
    const std::uint64_t segments = held > snapshot_sequence ? held - snapshot_sequence : 0;
    since_snapshot = {.segments = segments, .snapshot_bytes = seen->back().bytes};
  }
  if (std::exchange(keeps_now, false) || is_due(options.snapshots, since_snapshot)) {
    return write_snapshot(std::move(*seen));
  }
  collect(*seen);
}

void QueueLog::State::write_snapshot(std::vector<SnapshotSeen> seen) {
  ByteWriter begun;
  std::uint64_t sequence = 0;
  {
    const std::lock_guard lock(shared);
    begun = queue::begin_snapshot(machine, {.shard = options.shard, .last = last},
                                  since_snapshot.snapshot_bytes + since_snapshot.bytes);
    sequence = machine.sequence();
  }
  Result<std::string> bytes = queue::finish_snapshot(std::move(begun));
  if (!bytes) {
    // The log stays as it is, and grows. To make it again and again would only take time.
    troubled(bytes.error());
    if (hooks.note) hooks.note(ports.store.name() + ": " + bytes.error().message);
    keep_pause = too_large_again;
    return keep_ended();
  }
  const queue::SinceSnapshot before = since_snapshot;
  since_snapshot = {.snapshot_bytes = bytes->size()};
  PutObject put{.name = queue::snapshot_name(options.shard, sequence),
                .body = *std::move(bytes),
                .only = PutObject::If::absent};
  ports.store.put(std::move(put), later([seen = std::move(seen), before, sequence](
                                            State& self, const Result<PutAnswer>& result) mutable {
                    if (result && result->verdict != PutAnswer::Verdict::busy) {
                      self.snapshot_sequence = sequence;
                      self.snapshot_trouble_was_said = false;
                      self.count([](QueueLogNumbers& n) { ++n.snapshots; });
                      seen.push_back({.sequence = sequence, .modified = Instant::max()});
                    } else {
                      if (!result) self.snapshot_failed(result.error());
                      self.since_snapshot.segments += before.segments;
                      self.since_snapshot.bytes += before.bytes;
                      self.since_snapshot.opened += before.opened;
                      self.since_snapshot.snapshot_bytes = before.snapshot_bytes;
                      self.keep_pause = keep_again;
                    }
                    self.collect(seen);
                  }));
}

// Nobody waits for it, so nobody hears of it by an answer, until the disk is full of segments.
void QueueLog::State::snapshot_failed(const Error& error) {
  troubled(error);
  if (std::exchange(snapshot_trouble_was_said, true) || !hooks.note) return;
  hooks.note("no snapshot could be written to " + ports.store.name() + ": " + error.message +
             "; the log grows, and takes longer to open, until one can: it is tried every " +
             to_string(keep_again));
}

// A disk that is full may be so by what nobody needs any more.
void QueueLog::State::make_room() {
  if (keeping) return;
  keep();
  keep_pause = keep_again;
}

void QueueLog::State::collect(const std::vector<SnapshotSeen>& seen) {
  const auto sample = ports.store.time_sample();
  if (!sample) return keep_ended();
  std::vector<SnapshotSeen> latest = seen;
  for (SnapshotSeen& snapshot : latest) snapshot.modified = snapshot.modified + sample->resolution;
  const queue::Collection collection = queue::collectable(latest, sample->store, options.grace);
  std::vector<std::string> snapshots;
  for (const std::uint64_t sequence : collection.snapshots) {
    snapshots.push_back(queue::snapshot_name(options.shard, sequence));
  }
  if (collection.segments_to > collected_to) {
    return collect_segments({}, collection.segments_to, std::move(snapshots));
  }
  remove(std::move(snapshots), [this] { keep_ended(); });
}

void QueueLog::State::collect_segments(std::string after_name, std::uint64_t to,
                                       std::vector<std::string> also) {
  ports.store.list(
      {.under = folder_of(queue::segment_name(options.shard, 0)), .after = std::move(after_name)},
      later([to, also = std::move(also)](State& self, Result<Listing> listing) mutable {
        std::vector<std::string> names;
        bool more = listing && listing->more && !listing->entries.empty();
        if (!listing) self.troubled(listing.error());
        for (const Listing::Entry& entry : listing ? listing->entries : Entries()) {
          // What is no segment (a console's object for the folder, say) is not ours to remove.
          const auto sequence = queue::sequence_of(entry.name);
          if (sequence && *sequence <= to) names.push_back(entry.name);
          if (sequence && *sequence > to) more = false;
        }
        if (!more) {
          if (listing) self.collected_to = to;
          return self.remove(std::move(names), [s = &self, also = std::move(also)]() mutable {
            s->remove(std::move(also), [s] { s->keep_ended(); });
          });
        }
        std::string page_end = std::move(listing->entries.back().name);
        self.remove(std::move(names), [s = &self, page_end = std::move(page_end), to,
                                       also = std::move(also)]() mutable {
          s->collect_segments(std::move(page_end), to, std::move(also));
        });
      }));
}

void QueueLog::State::remove(std::vector<std::string> names, std::move_only_function<void()> then) {
  if (names.empty()) return then();
  const std::size_t removed = names.size();
  ports.store.remove(std::move(names), later([removed, then = std::move(then)](
                                                 State& self, const Result<void>& result) mutable {
                       if (result) {
                         self.count([&](QueueLogNumbers& n) { n.collected += removed; });
                       } else {
                         self.troubled(result.error());
                       }
                       then();
                     }));
}

}  // namespace pawl
