// Logs of a shard on one store in memory, with clocks and timers that a test moves by hand.
#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapter/memory/memory_object_store.h"
#include "core/queue/segment.h"
#include "runtime/manual_clock.h"
#include "runtime/queue_log.h"
#include "runtime/timers_fixture.h"

namespace pawl {

class CountedNonces final : public Entropy {
 public:
  Entropy16 next() override {
    Entropy16 bytes = {};
    bytes[6] = static_cast<std::uint8_t>(++last_ >> 8);
    bytes[7] = static_cast<std::uint8_t>(last_);
    return bytes;
  }

 private:
  unsigned last_ = 0;
};

inline queue::TaskId task_id(std::uint32_t number) {
  queue::TaskId id;
  for (unsigned i = 0; i < 4; ++i) id.bytes[11 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return id;
}
inline queue::Command task(std::uint32_t number) {
  return queue::Submit{.id = task_id(number), .terms = {.type = "t", .input = "{}"}};
}

// What a call led to.
struct Told {
  std::optional<Result<QueueLog::Replies>> result = {};
  bool well() const { return result && result->has_value(); }
  bool waits() const { return !result; }
  Outcome outcome() const {
    return result && !*result ? result->error().outcome : Outcome::applied;
  }
};

// The ids of all tasks in the log, in its order, as the objects have them.
inline std::vector<queue::TaskId> tasks_in(const MemoryObjects& objects) {
  std::vector<queue::TaskId> ids;
  for (ListObjects list = {.under = "log/"};;) {
    const Listing listing = objects.list(list);
    for (const Listing::Entry& entry : listing.entries) {
      const auto segment = queue::parse_segment(objects.get({.name = entry.name})->body);
      EXPECT_TRUE(segment) << entry.name;
      if (!segment) continue;
      for (const queue::Command& command : segment->commands) {
        if (const auto* submit = std::get_if<queue::Submit>(&command)) ids.push_back(submit->id);
      }
    }
    if (!listing.more) return ids;
    list.after = listing.entries.back().name;
  }
}

class QueueLogs : public ::testing::Test {
 protected:
  using Call = MemoryObjectStore::Call;
  using Fault = MemoryObjectStore::Fault;

  // One process.
  struct Process {
    std::unique_ptr<MemoryObjectStore> store;
    std::unique_ptr<QueueLog> log;
    std::optional<Result<void>> opened = {};
    std::optional<Error> stopped = {};
    std::vector<std::string> notes = {};
  };

  std::unique_ptr<Process> process() {
    auto made = std::make_unique<Process>();
    made->store = std::make_unique<MemoryObjectStore>(clock, objects);
    made->log = std::make_unique<QueueLog>(
        options, QueueLog::Ports{clock, timers, *made->store, nonces},
        QueueLog::Hooks{
            .stopped = [p = made.get()](const Error& error) { p->stopped = error; },
            .note = [p = made.get()](const std::string& text) { p->notes.push_back(text); }});
    return made;
  }
  std::unique_ptr<Process> opened_process() {
    auto made = process();
    open(*made);
    EXPECT_TRUE(made->opened && *made->opened);
    return made;
  }
  static void open(Process& process) {
    process.log->open([&](Result<void> result) { process.opened = std::move(result); });
  }
  static std::shared_ptr<Told> submit(Process& process, std::vector<queue::Command> commands) {
    auto told = std::make_shared<Told>();
    process.log->submit(std::move(commands), [told](Result<QueueLog::Replies> result) {
      EXPECT_FALSE(told->result) << "told twice";
      told->result = std::move(result);
    });
    return told;
  }
  static std::uint64_t sequence(const Process& process) {
    std::uint64_t sequence = 0;
    process.log->look([&](const queue::Machine& m) { sequence = m.sequence(); });
    return sequence;
  }
  static std::optional<queue::Task> found(const Process& process, std::uint32_t number) {
    std::optional<queue::Task> task;
    process.log->look([&](const queue::Machine& m) { task = m.find(task_id(number)); });
    return task;
  }
  static bool has(const Process& process, std::uint32_t number) {
    return found(process, number).has_value();
  }
  std::size_t objects_under(const std::string& under) const {
    return objects->list({.under = under}).entries.size();
  }
  // Of the next calls of a kind, one each; then all is well.
  static void faults(Process& process, Call call, std::vector<Fault> faults) {
    process.store->set_faults([call, faults = std::move(faults), i = std::size_t{0}](
                                  Call made, const std::string&) mutable {
      return made == call && i < faults.size() ? faults[i++] : Fault::none;
    });
  }

  ManualClock clock;
  ManualTimers timers{clock};
  CountedNonces nonces;
  std::shared_ptr<MemoryObjects> objects = std::make_shared<MemoryObjects>(clock);
  QueueLog::Options options = {.writer = "test"};
};

}  // namespace pawl
