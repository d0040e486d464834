// What a queue answers, as bytes, and back: for a broker and those who ask it.
//
// Format:   docs/formats.md: the fields of each, in the order of reply_bytes.cc. Both sides have
//           the same version (runtime/broker_bytes.h says which).
// Contract: what was written is read back as it was. Reading never goes past the end and reserves
//           nothing that is not there; a reader that has failed gives something, and says so.
// Threads:  any.
#pragma once

#include <cstddef>
#include <vector>

#include "base/wire.h"
#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "core/queue/task.h"
#include "pawl/result.h"

namespace pawl::queue {

Code read_code(ByteReader& in);

void write_answer(ByteWriter& out, const Task& task);
void write_answer(ByteWriter& out, const History& history);
void write_answer(ByteWriter& out, const Why& why);
void write_answer(ByteWriter& out, const Stats& stats);
void write_answer(ByteWriter& out, const Schedule& schedule);
void write_answer(ByteWriter& out, const Closing& closing);
void write_answer(ByteWriter& out, const SetLimit& limit);
void write_answer(ByteWriter& out, const Reply& reply);

void read_answer(ByteReader& in, Task& task);
void read_answer(ByteReader& in, History& history);
void read_answer(ByteReader& in, Why& why);
void read_answer(ByteReader& in, Stats& stats);
void read_answer(ByteReader& in, Schedule& schedule);
void read_answer(ByteReader& in, Closing& closing);
void read_answer(ByteReader& in, SetLimit& limit);
void read_answer(ByteReader& in, Reply& reply);

template <class T>
void write_answer(ByteWriter& out, const std::vector<T>& items) {
  out.varint(items.size());
  for (const T& item : items) write_answer(out, item);
}

template <class T>
void read_answer(ByteReader& in, std::vector<T>& items) {
  const std::size_t begin = in.at();
  const std::uint64_t count = in.varint();
  // Every item has a byte at least, so nobody makes us reserve what is not there.
  if (count > in.left()) return in.fail("a list goes past the end", begin);
  for (std::uint64_t i = 0; i < count && in.good(); ++i) read_answer(in, items.emplace_back());
}

}  // namespace pawl::queue
