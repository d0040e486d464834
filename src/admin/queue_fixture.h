// A queue in memory behind the admin API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/memory/memory_object_store.h"
#include "admin/admin_fixture.h"
#include "core/queue/shards.h"
#include "runtime/local_queue.h"
#include "runtime/timers_fixture.h"

namespace pawl::admin {

class QueueFixture : public AdminFixture {
 protected:
  QueueFixture() {
    queue = std::make_unique<LocalQueue>(
        LocalQueue::Options{},
        LocalQueue::Ports{.clock = clock,
                          .timers = timers,
                          .store = store,
                          .entropy = entropy,
                          .zones = [](std::string_view) -> Result<Zone> { return Zone::utc(); }});
    bool opened = false;
    queue->open([&](const Result<void>& result) { opened = result.has_value(); });
    EXPECT_TRUE(opened);
    context.tasks = &here;
  }
  ~QueueFixture() override { timers.close(); }

  Heard post(std::string_view target, std::string_view body = "") {
    return ask("POST", target, body);
  }
  // The id of a new task.
  std::string submitted(std::string_view type, std::string_view more = "") {
    const Heard heard =
        post("/v1/tasks", "{\"task_type\":\"" + std::string(type) + "\"" + std::string(more) + "}");
    EXPECT_EQ(heard.status, 200) << heard.body;
    return heard.text("id");
  }
  std::vector<queue::Task> claimed(std::uint32_t count = 1) {
    std::vector<queue::Task> tasks;
    queue->claim({.claim = {.worker = "w1", .count = count}},
                 [&](const Result<ClaimedTasks>& result) {
                   ASSERT_TRUE(result.has_value());
                   tasks = result->tasks;
                 });
    return tasks;
  }
  void give(queue::Command command) {
    queue->give({std::move(command)}, [](const Result<std::vector<queue::Reply>>& replies) {
      ASSERT_TRUE(replies.has_value());
      EXPECT_FALSE(std::holds_alternative<queue::Refusal>(replies->front()));
    });
  }

  class Counted final : public Entropy {
   public:
    Entropy16 next() override {
      Entropy16 bytes = {};
      bytes[11] = ++last_;
      return bytes;
    }

   private:
    std::uint8_t last_ = 0;
  };

  ManualTimers timers{clock};
  MemoryObjectStore store{clock};
  Counted entropy;
  std::unique_ptr<LocalQueue> queue;
  Result<void> open;  // an error: there is no queue just now
  QueueHere here{.queue = [this]() -> Result<TaskQueue*> {
                   if (!open) return std::unexpected(open.error());
                   return queue.get();
                 },
                 .new_id = [this] { return queue::make_task_id(entropy.next()); },
                 .mark = [] { return std::string("m"); }};
};

}  // namespace pawl::admin
