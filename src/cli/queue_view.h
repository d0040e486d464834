// The queue in motion, and what it costs: what `pawl stats --watch` and `pawl cost` print.
//
// Contract: pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/config.h"
#include "core/queue/machine.h"
#include "pawl/time.h"
#include "port/object_store.h"

namespace pawl::cli {

// In tenths a second.
struct Rates {
  std::uint64_t submitted = 0, claimed = 0, completed = 0, failed = 0, retried = 0, rescheduled = 0;
};
Rates rates_of(const queue::Totals& before, const queue::Totals& after, Duration between);
// A terminal's; no lines: there is none, and all is shown.
struct Screen {
  std::size_t lines = 0;
  std::size_t columns = 0;
};
// As much as fits on it, so that the beginning stays in sight; the last line says what is left out.
std::string clipped(const std::string& text, Screen screen);

// "submitted 12.5/s  claimed 12.0/s  …"
std::string rates_text(const Rates& rates);
json::Value to_json(const Rates& rates);

// As high as the highest, a character each: "▁▃█".
std::string sparkline(const std::deque<std::uint64_t>& values);

// Requests to the store, in millionths.
struct Requests {
  std::uint64_t puts = 0, gets = 0, lists = 0, deletes = 0;
};
struct CostAsk {
  std::uint64_t segments = 0;   // of the log …
  std::uint64_t submitted = 0;  // … for so many tasks
  std::uint32_t shards = 1;
  Duration idle_poll = {};
  bool by_broker = false;  // whose requests those of now are, since it was started
  bool priced = true;      // false: a folder's requests cost nothing
};
// Of a task, as this queue has had them: its share of the commits, and of their reading by one
// worker. Nothing, when there was no task.
Requests requests_of_a_task(const CostAsk& ask);
// Of an hour of a worker to whom nothing happens.
Requests requests_of_an_idle_hour(const CostAsk& ask);

std::string cost_text(const CostAsk& ask, const RequestCounts& now,
                      const config::QueuePrices& prices);
json::Value cost_json(const CostAsk& ask, const RequestCounts& now,
                      const config::QueuePrices& prices);

}  // namespace pawl::cli
