// The queue as people read it. Programs get core/queue/task_json.h and view_json.h.
//
// Contract: pure. What others chose to call something is escaped where it could disturb a terminal
//           (words.h). `colour`: whether it may be painted (doctor.h's wants_colour).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/queue/machine.h"
#include "core/queue/task.h"

namespace pawl::cli {

struct Shown {
  Instant now = {};
  bool colour = false;
};

// A line a task, under a head.
std::string tasks_text(std::span<const queue::Task> tasks, const Shown& shown);
std::string history_text(const queue::History& history);
// Sentences: why it does not run, and what to do.
std::string why_text(const queue::Task& task, const queue::Why& why, const Shown& shown);
// One version, as `pawl tail` prints it.
std::string event_text(const queue::Task& task, const queue::Version& version, bool colour);

std::string schedules_text(std::span<const queue::Schedule> schedules, const Shown& shown);
std::string limits_text(std::span<const queue::SetLimit> limits);
std::string closings_text(std::span<const queue::Closing> closings, const Shown& shown);
// "key acme", "type t", "the queue".
std::string scope_text(queue::Scope scope, std::string_view name);
std::string limited_text(const queue::SetLimit& limit);

// A line a type, and the sum.
std::string stats_text(const queue::Stats& stats, const Shown& shown);

std::string_view colour_of(queue::Status status);
// "1 task", "2 tasks".
std::string counted(std::uint64_t count, std::string_view what);

}  // namespace pawl::cli
