// The maxima of the queue; those of everything else are in base/bounds.h. Apart, so that a change
// here does not build the rest anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/time.h"

namespace pawl::bounds {

// A task.
inline constexpr std::size_t task_input_bytes_max = 256 * 1024;
inline constexpr std::size_t task_output_bytes_max = 256 * 1024;
inline constexpr std::size_t task_error_bytes_max = 4096;  // more is cut, and says so
inline constexpr std::size_t task_name_bytes_max = 255;    // type, key, unique name, worker
inline constexpr std::uint32_t task_retries_max = 1'000'000;
inline constexpr std::uint32_t task_backoff_steps_max = 1'000;  // later retries wait like this one
inline constexpr std::int32_t task_priority_max = 100;          // and minus that
inline constexpr Duration task_timeout_max = Duration::hours(24 * 7);
inline constexpr Duration task_lease_max = Duration::hours(1);
inline constexpr std::size_t task_versions_max = 10'000;  // of a history; then the middle goes
inline constexpr Duration task_kept_max = Duration::days(36'500);  // of one that is over
// At least so long: who got no answer may give the same submit again within that, and it is known.
inline constexpr Duration task_kept_min = Duration::minutes(5);
inline constexpr std::size_t task_version_detail_bytes_max = 256;  // of an error, in the history
inline constexpr std::size_t task_history_bytes_max =
    task_versions_max * (task_name_bytes_max + task_version_detail_bytes_max + 40);
inline constexpr std::size_t task_delays_max = 64;  // of a retry table
inline constexpr int sleep_names_max = 16;  // tried for the task of an operation that sleeps

// One commit, and the log.
inline constexpr std::size_t segment_commands_max = 10'000;
inline constexpr std::size_t segment_bytes_max = 8 * 1024 * 1024;
inline constexpr std::size_t snapshot_bytes_max = std::size_t{4} * 1024 * 1024 * 1024;
// Of a shard's state; a further submit is refused. The rest is for what becomes of its tasks.
inline constexpr std::size_t queue_bytes_max = std::size_t{3} * 1024 * 1024 * 1024;
inline constexpr std::size_t claim_tasks_max = 1'000;  // of one claim
inline constexpr std::size_t claim_types_max = 256;
inline constexpr std::uint32_t queue_shards_max = 256;
inline constexpr std::size_t queue_tasks_max =
    20'000'000;  // of a shard; a further submit is refused
inline constexpr std::size_t queue_schedules_max = 10'000;
inline constexpr std::int32_t cron_years_max = 41;  // ahead: the longest wait for a 29 February on
                                                    // a given weekday, over a year 2100, is 40
inline constexpr std::size_t queue_limits_max = 10'000;
// How old the state may be that a look at the queue shows.
inline constexpr Duration queue_look_age = Duration::seconds(2);
inline constexpr Duration queue_spread_max = Duration::seconds(60);      // when nobody has said one
inline constexpr Duration queue_spread_step_max = Duration::seconds(1);  // and for each that waits
inline constexpr std::size_t queue_waiting_max = 100'000;  // callers that wait for a commit
inline constexpr std::size_t tasks_listed_max = 1'000;
inline constexpr std::size_t tasks_submitted_max = 1'000;  // of one step, or one call over HTTP

// Workers.
inline constexpr std::uint32_t worker_concurrency_max = 1'000;
inline constexpr std::size_t worker_commands_max = 1'000;  // endings and renewals, of one give
inline constexpr Duration worker_claim_wait = Duration::seconds(20);
inline constexpr Duration worker_patience = Duration::seconds(30);    // with a queue that is away
inline constexpr Duration worker_last_words = Duration::seconds(10);  // behind the end of a drain
inline constexpr Duration worker_drain_max = Duration::hours(1);
// Between the end of a handler by a signal, and the signal to the worker that came with it.
inline constexpr Duration worker_hearing = Duration::milliseconds(500);
inline constexpr Duration handler_grace = Duration::seconds(5);   // from SIGTERM to SIGKILL
inline constexpr std::size_t handler_error_bytes_max = 3 * 1024;  // of standard error, its tail
inline constexpr std::size_t handler_command_bytes_max = 64 * 1024;
inline constexpr Duration handler_reschedule = Duration::seconds(60);  // where no delay is named

// A broker, and those who ask it.
inline constexpr std::size_t broker_ask_bytes_max = 1000 * 1024;  // a little below admin_body_bytes
inline constexpr std::size_t broker_tasks_max = 64;  // of one answer; more are asked for again
inline constexpr std::size_t broker_answer_bytes_max = std::size_t{64} * 1024 * 1024;
inline constexpr Duration broker_wait_max = Duration::seconds(10);   // of one claim
inline constexpr Duration broker_look_again = Duration::seconds(1);  // whether its client is there

// Objects.
inline constexpr std::size_t object_key_bytes_max = 1024;
inline constexpr std::size_t object_part_bytes_max = 255;  // between two slashes, as files have it
inline constexpr std::size_t objects_listed_max = 1'000;   // a page
inline constexpr std::size_t objects_removed_max = 1'000;  // a call
inline constexpr std::size_t emulated_object_bytes_max = std::size_t{256} * 1024 * 1024;
inline constexpr std::size_t directory_threads_max = 64;
inline constexpr std::size_t directory_calls_max = 10'000;  // that wait for a thread

}  // namespace pawl::bounds
