// ObjectStore: named bytes somewhere, with the conditional writes that a log needs.
//
// Contract: `done` is called exactly once, on any thread, and must not keep it. A put is sent at
//           most once for each call: whoever does not know what became of one reads it back; the
//           store decides nothing. What is stored is durable (fsync, or the provider's word)
//           before `done` says so, and a get sees it at once, from every process.
// Errors:   not_found; unavailable with the outcome: a put whose answer was lost, a timeout or 5xx
//           is `unknown`, one that never left is `not_applied`; refused (credentials, policy);
//           invalid (a name or size out of bounds). A wait that the store named is in retry_after.
// Names:    1 to bounds::object_key_bytes_max bytes of [A-Za-z0-9._/-]; each part, between slashes,
//           1 to bounds::object_part_bytes_max bytes that do not begin with a dot: see
//           object_name.h. They are below the prefix that the store was opened with. Nobody may
//           have both "a" and "a/b": a directory cannot, and refuses the second (invalid).
// Threads:  any.
// Held by:  adapter/memory, adapter/directory, adapter/s3.
// See:      object_store_conformance.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct PutObject {
  enum class If : std::uint8_t { always, absent, match };
  std::string name = {};
  std::string body = {};
  If only = If::always;
  std::string tag = {};  // match: what get() or put() said
};
struct PutAnswer {
  enum class Verdict : std::uint8_t {
    stored,
    exists,  // somebody's bytes are there: another's, or ours of an earlier send
    busy,    // another write is under way; nothing is decided
    gone,    // match: there is nothing of that name any more
  };
  Verdict verdict = Verdict::stored;
  std::string tag = {};  // stored: of what is there now
};
struct GetObject {
  std::string name = {};
  std::uint64_t offset = 0;  // at or beyond the end: an empty body
  std::uint64_t bytes = 0;   // at most; zero: all
};
struct Object {
  std::string body = {};
  std::string tag = {};  // other bytes have another; may be empty when only a part was read
};
struct ListObjects {
  std::string under = {};    // names that begin so
  std::string after = {};    // and come after this one
  std::size_t limit = 1000;  // zero, or more than bounds::objects_listed_max: that many
};
struct Listing {
  struct Entry {
    std::string name = {};
    std::uint64_t bytes = 0;
    Instant modified = {};  // by the store's clock, in its resolution
  };
  std::vector<Entry> entries = {};  // by the bytes of the name
  bool more = false;
};
// What the store's clock showed, between two moments of ours.
struct TimeSample {
  Instant store = {};  // it was this or up to `resolution` later …
  Duration resolution = {};
  Instant asked = {};  // … at some moment between these, by our clock
  Instant answered = {};
};
// What was sent, by kind; for the bill. A remove is one, however many names it has.
struct RequestCounts {
  std::uint64_t puts = 0, gets = 0, lists = 0, deletes = 0;
  std::uint64_t bytes_up = 0, bytes_down = 0;
};

// Ends with its object: from then on nothing is called.
class ObjectWatch {
 public:
  virtual ~ObjectWatch() = default;
};

class ObjectStore {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~ObjectStore() = default;
  virtual void put(PutObject put, Done<PutAnswer> done) = 0;
  virtual void get(GetObject get, Done<Object> done) = 0;
  virtual void list(ListObjects list, Done<Listing> done) = 0;
  // What is not there is removed already. At most bounds::objects_removed_max names.
  virtual void remove(std::vector<std::string> names, Done<void> done) = 0;

  // Calls `changed` soon after something was put into this folder ("log/0"), by whomever; now and
  // then for nothing, and after trouble not at all: whoever must know looks by himself as well,
  // only less often. None: this store cannot tell. `changed` runs on any thread and must not
  // block; it may end its watch. Watches end before their store.
  virtual std::unique_ptr<ObjectWatch> watch(std::string folder, std::function<void()> changed);

  // The newest; none before the first answer.
  virtual std::optional<TimeSample> time_sample() const = 0;
  virtual RequestCounts counts() const = 0;
  // For people: "dir:data/queue", "s3://bucket/prefix at http://…".
  virtual std::string name() const = 0;
};

inline std::unique_ptr<ObjectWatch> ObjectStore::watch(std::string, std::function<void()>) {
  return nullptr;
}

}  // namespace pawl
