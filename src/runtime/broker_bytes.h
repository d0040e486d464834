// What is said between a broker (`pawl serve`, admin/broker.h) and those who ask it
// (runtime/remote_queue.h): the bodies of their requests and answers.
//
// Format:   docs/formats.md. The first byte of each is the version. A request goes on with commands
//           (one behind the other), a claim, or a look. An answer goes on with 1 and what was asked
//           for, or with 2 and the error of the queue: its code, its outcome, the wait it names, a
//           sentence. So a no of the queue is told from one of whatever stands between.
// Contract: what was written is read back as it was. Reading is strict: an unknown version or kind
//           is an error that says so, and so is what is left over.
// Bounds:   bounds::segment_commands_max commands of one request.
// Threads:  any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wire.h"
#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "core/queue/reply_bytes.h"
#include "port/task_queue.h"

namespace pawl {

// Of a claim: `waited` counts from when the request came.
void write_answer(ByteWriter& out, const ClaimedTasks& claimed);
void read_answer(ByteReader& in, ClaimedTasks& claimed);

}  // namespace pawl

namespace pawl::broker {

inline constexpr std::string_view content_type = "application/vnd.pawl.queue";
inline constexpr std::string_view commands_path = "/v1/queue/commands";
inline constexpr std::string_view claim_path = "/v1/queue/claim";
inline constexpr std::string_view look_path = "/v1/queue/look";
// Of a request: the mark of the queue that is meant. A broker that has another one answers 409.
inline constexpr std::string_view mark_field = "Pawl-Queue";

struct Look {
  enum class Kind : std::uint8_t {
    hello = 1,
    task,
    history,
    why,
    list,
    stats,
    schedules,
    closings,
    limits,
  };
  Kind kind = Kind::hello;
  queue::TaskId id = {};          // task, history, why
  queue::TaskFilter filter = {};  // list
};

// What a broker says of itself.
struct Hello {
  QueueView view = {};
  std::string mark = {};  // what is the same where an URL leads to the same store
};

std::string write_commands(std::span<const queue::Command> commands);
Result<std::vector<queue::Command>> read_commands(std::string_view bytes);
std::string write_claim(const ClaimAsk& ask);
Result<ClaimAsk> read_claim(std::string_view bytes);
std::string write_look(const Look& look);
Result<Look> read_look(std::string_view bytes);

// Of a part of a request: how many bytes it adds.
std::size_t bytes_of(const queue::Command& command);

void write_answer(ByteWriter& out, const Hello& hello);
void read_answer(ByteReader& in, Hello& hello);

void begin_answer(ByteWriter& out, bool good);
void write_error(ByteWriter& out, const Error& error);
// The error when it is one: the queue's own, or of an answer that is none. The rest is for the
// caller to read.
Result<void> read_head(ByteReader& in);
std::unexpected<Error> unreadable(const ByteReader& in);

template <class T>
std::string write_result(const Result<T>& result) {
  using queue::write_answer;
  ByteWriter out;
  begin_answer(out, result.has_value());
  if (result) {
    write_answer(out, *result);
  } else {
    write_error(out, result.error());
  }
  return out.take();
}

template <class T>
Result<T> read_result(std::string_view bytes) {
  using queue::read_answer;
  ByteReader in(bytes);
  PAWL_TRY(read_head(in));
  T value;
  read_answer(in, value);
  if (in.good() && in.left() > 0) in.fail("something is left over");
  if (!in.good()) return unreadable(in);
  return value;
}

}  // namespace pawl::broker
