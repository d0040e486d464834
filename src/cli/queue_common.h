// What the verbs of the queue share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/bounds_queue.h"
#include "base/json.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/queue_session.h"
#include "cli/queue_text.h"

namespace pawl::cli {

inline std::string lined(const json::Value& value) {
  return json::print(value) + "\n";
}

inline Shown shown_now(QueueSession& session) {
  return {.now = session.now(),
          .colour = wants_colour(::isatty(STDOUT_FILENO) == 1, environment())};
}

inline Result<queue::Stats> stats_of(QueueSession& session) {
  return session.ask<queue::Stats>(
      [](TaskQueue& queue, auto done) { queue.stats(std::move(done)); });
}

inline Result<queue::History> history_of(QueueSession& session, queue::TaskId id) {
  return session.ask<queue::History>(
      [&](TaskQueue& queue, auto done) { queue.history(id, std::move(done)); });
}

// Every task that fits, page after page (of at most so many). The visitor says whether to go on.
template <class Visit>
Result<void> each_task(QueueSession& session, queue::TaskFilter filter, Visit visit,
                       std::size_t page_size = bounds::tasks_listed_max) {
  filter.limit = std::min(page_size, bounds::tasks_listed_max);
  while (true) {
    const auto page = PAWL_TRY(session.ask<std::vector<queue::Task>>(
        [&](TaskQueue& queue, auto done) { queue.list(filter, std::move(done)); }));
    for (const queue::Task& task : page) {
      if (!PAWL_TRY(visit(task))) return {};
    }
    if (page.size() < filter.limit) return {};
    filter.after = page.back().id;
  }
}

}  // namespace pawl::cli
