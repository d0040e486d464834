// Queues on one store in memory, each a process of its own, with a clock that a test moves by hand.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapter/memory/memory_object_store.h"
#include "core/queue/segment.h"
#include "core/queue/shards.h"
#include "runtime/local_queue.h"
#include "runtime/manual_clock.h"
#include "runtime/queue_log_fixture.h"
#include "runtime/timers_fixture.h"

namespace pawl {

class LocalQueues : public ::testing::Test {
 protected:
  using Tasks = std::vector<queue::Task>;
  using Replies = std::vector<queue::Reply>;

  struct Process {
    std::unique_ptr<MemoryObjectStore> store;
    std::vector<std::string> notes = {};
    std::unique_ptr<LocalQueue> queue;
  };
  // What a call led to; nothing as long as it waits.
  template <class T>
  using Answer = std::shared_ptr<std::optional<Result<T>>>;

  std::unique_ptr<Process> process() {
    auto made = std::make_unique<Process>();
    made->store = std::make_unique<MemoryObjectStore>(clock, objects);
    made->queue = std::make_unique<LocalQueue>(
        LocalQueue::Options{.settings = settings, .log = log, .fires = fires},
        LocalQueue::Ports{
            .clock = clock,
            .timers = timers,
            .store = *made->store,
            .entropy = nonces,
            .zones = [](std::string_view name) -> Result<Zone> {
              if (name == "UTC") return Zone::utc();
              return failure(Code::not_found, "no zone " + std::string(name));
            },
            .note = [p = made.get()](const std::string& text) { p->notes.push_back(text); }});
    bool opened = false;
    made->queue->open([&](const Result<void>& result) { opened = result.has_value(); });
    EXPECT_TRUE(opened);
    return made;
  }

  template <class T, class Call>
  static Answer<T> ask(Call call) {
    auto answer = std::make_shared<std::optional<Result<T>>>();
    call([answer](Result<T> result) {
      EXPECT_FALSE(*answer) << "answered twice";
      answer->emplace(std::move(result));
    });
    return answer;
  }
  static Answer<Replies> give(Process& process, std::vector<queue::Command> commands) {
    return ask<Replies>(
        [&](auto done) { process.queue->give(std::move(commands), std::move(done)); });
  }
  static Answer<Tasks> claim(Process& process, ClaimAsk asked) {
    if (asked.claim.worker.empty()) asked.claim.worker = "worker";
    return ask<Tasks>(
        [&](auto done) { process.queue->claim(std::move(asked), tasks_for(std::move(done))); });
  }
  static TaskQueue::Done<ClaimedTasks> tasks_for(TaskQueue::Done<Tasks> done) {
    return [done = std::move(done)](Result<ClaimedTasks>&& claimed) mutable {
      if (!claimed) return done(std::unexpected(std::move(claimed).error()));
      done(std::move(claimed->tasks));
    };
  }
  // Of an answer that must be there.
  template <class T>
  static T got(const Answer<T>& answer) {
    EXPECT_TRUE(*answer) << "it still waits";
    if (!*answer) return {};
    EXPECT_TRUE(**answer) << (**answer).error().message;
    return **answer ? ***answer : T();
  }
  template <class T>
  static Error error(const Answer<T>& answer) {
    EXPECT_TRUE(*answer && !**answer) << "it waits, or went well";
    return *answer && !**answer ? (**answer).error() : Error(Code::internal, Outcome::unknown, "");
  }
  template <class Kind>
  static Kind reply(const Answer<Replies>& answer, std::size_t place = 0) {
    const Replies replies = got(answer);
    if (place >= replies.size()) return {};
    const Kind* kind = std::get_if<Kind>(&replies[place]);
    const auto* refusal = std::get_if<queue::Refusal>(&replies[place]);
    EXPECT_TRUE(kind) << (refusal ? refusal->message : "another kind");
    return kind != nullptr ? *kind : Kind();
  }

  queue::Submit submit(std::string type = "t", std::string key = "") {
    return {.id = queue::make_task_id(ids.next()),
            .terms = {.type = std::move(type), .input = "{}", .key = std::move(key)}};
  }

  // The next segment of a shard that has so many is none.
  void damage(std::uint8_t shard, std::uint64_t segments) {
    objects->put({.name = queue::segment_name(shard, segments + 1), .body = "no segment"});
  }
  // One whose shard is this one.
  queue::Submit submit_to(std::uint8_t shard, std::string type = "t") {
    queue::Submit made = submit(type);
    while (queue::shard_of(made.id, made.terms, settings.shards) != shard) made = submit(type);
    return made;
  }

  // Counted, and spread over the last bytes, of which shards are made.
  class Ids final : public Entropy {
   public:
    Entropy16 next() override {
      Entropy16 bytes = {};
      ++last_;
      for (unsigned i = 0; i < 4; ++i) bytes[11 - i] = static_cast<std::uint8_t>(last_ >> (8 * i));
      return bytes;
    }

   private:
    std::uint32_t last_ = 0;
  };

  ManualClock clock;
  ManualTimers timers{clock};
  CountedNonces nonces;
  Ids ids;
  std::shared_ptr<MemoryObjects> objects = std::make_shared<MemoryObjects>(clock);
  queue::Settings settings = {.shards = 4};
  QueueLog::Options log = {.writer = "test"};
  bool fires = false;
};

}  // namespace pawl
