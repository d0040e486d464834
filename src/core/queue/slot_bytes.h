// Tasks of the machine's state as bytes, and back (machine_save.cc has the whole).
//
// Format:   a name is a number: 0 none, one that was there before, or the next one, and then what
//           it stands for follows. So types, keys, workers and retry rules are written once, where
//           a task first has them. Times are told from the task's creation, that from the one
//           before.
// Contract: tasks are written by arrival. A reader makes the slots, names and places of its state,
//           and fails where there is nothing of the kind.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/wire.h"
#include "core/queue/machine_state.h"

namespace pawl::queue {

// Numbers of this machine to numbers in the bytes, in the order they are met.
class WrittenNames {
 public:
  // True when it is met for the first time: what it stands for follows.
  bool write(ByteWriter& out, std::uint32_t number) {
    if (number >= numbers_.size()) numbers_.resize(number + std::size_t{1});
    const bool fresh = number != 0 && numbers_[number] == 0;
    if (fresh) numbers_[number] = ++count_;
    out.varint(numbers_[number]);
    return fresh;
  }

 private:
  std::vector<std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

class ReadNames {
 public:
  // The number here; `make` reads what a new one stands for. 0: none.
  template <class Make>
  std::uint32_t read(ByteReader& in, const Make& make) {
    const std::uint64_t index = in.varint();
    if (index < numbers_.size()) return numbers_[index];
    if (index > numbers_.size()) {
      in.fail("a name that was not given before");
      return 0;
    }
    numbers_.push_back(make());
    return numbers_.back();
  }

 private:
  std::vector<std::uint32_t> numbers_ = {0};
};

class TaskWriter {
 public:
  TaskWriter(const Machine::State& state, ByteWriter& out) : state_(state), out_(out) {}
  void write(const Slot& slot);

 private:
  void write_rare(const Slot& slot);

  const Machine::State& state_;
  ByteWriter& out_;
  WrittenNames types_, keys_, workers_, rules_;
  std::uint64_t arrival_ = 0;
  Instant created_;
};

class TaskReader {
 public:
  TaskReader(Machine::State& state, ByteReader& in) : state_(state), in_(in) {}
  void read();

 private:
  void read_names(Slot& slot);
  void read_numbers(Slot& slot);
  void read_rare(Slot& slot, unsigned parts);
  void settle(std::uint32_t number);

  Machine::State& state_;
  ByteReader& in_;
  ReadNames types_, keys_, workers_, rules_;
  std::uint64_t arrival_ = 0;
  Instant created_;
};

}  // namespace pawl::queue
