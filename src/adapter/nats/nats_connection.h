// Connection: one JetStream stream of a NATS server, for the stores that keep their things in it.
//
// Why:      the C library in one place: connecting and connecting again, a deadline on every call,
//           conditional writes, and errors that say what became of them.
// Contract: an error's outcome says not_applied when the server cannot have kept the message (it
//           was not sent, or the server refused it) and unknown when it was sent and no answer
//           came. While the server is away every call fails at once, and nothing is kept to be sent
//           later: what was told to have failed does not happen behind the caller's back, except
//           for what is told to be unknown. The server is sought again by itself.
// Writes:   each names the sequence of the message before it; the server takes it only if that is
//           still so. That is what makes a change one step among many processes, and what keeps a
//           message that was sent twice from being kept twice.
// Stream:   made when missing, in a file, with one replica; an operator who wants more makes it
//           before. One that forgets by itself (by age, or the oldest when full) is refused. One
//           that is gone later is not made anew: that would forget everything unnoticed.
// Errors:   refused: somebody else was faster. unavailable: what may pass by itself. invalid: the
//           stream or the server is not fit. The message names the server, never a password.
// Durability: what the stream is kept in. A server does not tell its clients when it syncs its
//           files (by default every two minutes, with 2.9 every minute), so a file is `process` and
//           never fsync.
// Threads:  any; calls wait. The library has threads of its own, which receive no signals.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/nats_url.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/record_store.h"

namespace pawl::nats {

using Until = std::chrono::steady_clock::time_point;
Until from_now(Duration duration);

struct StreamForm {
  std::string name;
  std::string subjects;       // one, which may be a pattern
  bool last_of_each_subject;  // only that is kept; else everything
};

// A message of the stream.
struct Kept {
  std::uint64_t sequence = 0;
  std::string subject = {};
  std::string data = {};
};

// One write: the server takes it when the last message of the subject is still `after` (0: none).
struct Put {
  const std::string& subject;
  std::string_view data;
  std::uint64_t after = 0;
};

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const NatsUrl& url, StreamForm form);
  ~Connection();

  // Gives the sequence of the new message.
  Result<std::uint64_t> put(const Put& put, Until until);

  // The last message of the subject, or none.
  Result<std::optional<Kept>> last(const std::string& subject, Until until);
  Result<std::optional<Kept>> at(std::uint64_t sequence, Until until);
  // Every message from `first` on whose subject fits, oldest first, until `each` says false. One
  // that is replaced meanwhile may be met twice, as it was and as it is.
  Result<void> walk(const std::string& subjects, std::uint64_t first,
                    const std::function<bool(const Kept&)>& each, Until until);
  // Forgets the messages of the subject up to this one. A later one stays.
  Result<void> forget(const std::string& subject, std::uint64_t up_to, Until until);

  Durability durability() const;
  // Bytes of the largest message the server takes.
  std::size_t message_bytes_max() const;
  // Whether the server is there now; never waits.
  Result<void> health() const;
  // Seeks one whose login was refused again and again, as every call does: for who calls only
  // while health() is good.
  Result<void> seek();

 private:
  class Core;
  explicit Connection(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace pawl::nats
