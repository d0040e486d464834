// Every maximum of the product, in one place. A bound that is reached is an error with a name,
// never a silent truncation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/time.h"

namespace pawl::bounds {

// Text
inline constexpr std::size_t json_depth_max = 64;
inline constexpr std::size_t json_bytes_max = 16 * 1024 * 1024;
inline constexpr int decimal_digits_max = 34;
inline constexpr int decimal_scale_max = 18;
inline constexpr std::size_t similar_bytes_max = 64;  // of a word that may have been mistyped

// HTTP, as a client may send it
inline constexpr std::size_t http_request_line_bytes_max = 8 * 1024;
inline constexpr std::size_t http_head_bytes_max = 16 * 1024;
inline constexpr std::size_t http_header_bytes_max = 8 * 1024;  // one field line
inline constexpr std::size_t http_headers_max = 64;
inline constexpr std::size_t http_trailer_bytes_max = 8 * 1024;
inline constexpr std::int64_t http_content_length_max = std::int64_t{1} << 50;
inline constexpr std::int64_t http_discard_bytes_max = 64 * 1024;     // of a body nobody wants
inline constexpr Duration http_head_deadline = Duration::seconds(5);  // in all, not a read
inline constexpr Duration http_idle_deadline = Duration::seconds(60);

// Gateway
inline constexpr std::size_t tenant_bytes_max = 128;
inline constexpr std::size_t request_id_bytes_max = 128;
inline constexpr std::size_t connections_max = 10'000;
inline constexpr std::size_t admin_body_bytes_max = 1024 * 1024;
inline constexpr std::size_t upstream_idle_max = 256;            // kept-alive connections a loop
inline constexpr std::size_t send_queue_bytes_max = 256 * 1024;  // then the other side is paused
inline constexpr Duration upstream_connect_deadline = Duration::seconds(5);
inline constexpr Duration upstream_answer_deadline = Duration::seconds(60);
inline constexpr Duration drain_deadline = Duration::seconds(30);

// Limits
inline constexpr std::size_t limit_keys_max = 1'000'000;
inline constexpr std::size_t limit_marks_max = 4'000'000;    // of all keys that keep marks
inline constexpr std::size_t limit_policies_max = 8;         // decided on together
inline constexpr std::int64_t limit_log_count_max = 10'000;  // of a sliding log: a mark each
inline constexpr std::int64_t limit_slots_max = 10'000;
inline constexpr std::int64_t limit_batch_max = 1'000'000;
inline constexpr std::size_t limit_reservations_max = 100'000;
inline constexpr Duration limit_lease_min = Duration::seconds(1);  // of a slot
inline constexpr std::size_t limit_leases_max = 100'000;
inline constexpr std::size_t limit_lease_waiters_max = 65'536;  // for more of one count
inline constexpr std::size_t limit_lease_returns_max = 1'000;   // given back at once, at the end
inline constexpr std::size_t limit_closed_max = 100'000;
inline constexpr Duration limit_hold_max = Duration::hours(24);
inline constexpr Duration limit_split_hold = Duration::seconds(30);    // while two stores are asked
inline constexpr std::int64_t limit_used_max = std::int64_t{1} << 53;  // what every store can count
inline constexpr std::int64_t limit_count_max = 1'000'000'000;
inline constexpr Duration limit_period_max = Duration::days(366);
inline constexpr Duration limit_refill_max = Duration::days(3660);  // an empty bucket to a full one
// A clock that goes back by no more is taken for one that stands still.
inline constexpr Duration clock_step_max = Duration::minutes(1);
inline constexpr int store_lost_failures = 3;  // in a row, while it is still there
inline constexpr Duration store_lost_wait_min = Duration::milliseconds(100);  // until a probe
inline constexpr Duration store_lost_wait_max = Duration::seconds(5);
inline constexpr Duration store_drain_deadline = Duration::seconds(10);  // at the end
inline constexpr std::size_t limit_hints_max = 4'096;  // keys whose refused callers take turns
inline constexpr Duration limit_hint_spread_max = Duration::minutes(1);  // beyond their turn
inline constexpr std::size_t limit_readings_max = 32;                    // of one answer's headers
inline constexpr std::size_t limit_dimension_bytes_max = 128;  // of a limit another server names
inline constexpr std::size_t pacer_waiting_max = 1'000;        // of a lane of a session's pacer
// From asking the store to using its yes: by so much may two calls of different processes come
// closer than the pace.
inline constexpr Duration pacer_charge_age_max = Duration::milliseconds(250);
// How long a server's word closes a session at the most, unless set otherwise.
inline constexpr Duration pacer_closing_max = Duration::hours(24);
// While it is closed: how often the store is asked whether somebody has reopened it.
inline constexpr Duration pacer_look_wait = Duration::seconds(10);

// Redis
inline constexpr std::size_t redis_calls_max = 65'536;  // waiting for one server's answers
inline constexpr std::size_t redis_command_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t redis_queue_bytes_max = 64 * 1024 * 1024;  // commands not sent yet
inline constexpr std::size_t redis_reply_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t redis_reply_items_max = 262'144;  // of one reply, nested ones included
inline constexpr std::size_t redis_nodes_max = 1'000;          // of a cluster
inline constexpr int redis_resends_max = 5;  // redirections and "try again" of one command
inline constexpr Duration redis_deadline = Duration::milliseconds(50);  // of an ask, by default
inline constexpr Duration redis_deadline_min = Duration::milliseconds(1);
inline constexpr Duration redis_deadline_max = Duration::seconds(5);
inline constexpr Duration redis_connect_deadline = Duration::seconds(5);  // TLS and login included
inline constexpr Duration redis_silence_max = Duration::seconds(5);  // then the server is given up
inline constexpr Duration redis_backoff_min = Duration::milliseconds(50);
inline constexpr Duration redis_backoff_max = Duration::seconds(2);

// SQLite
inline constexpr Duration sqlite_busy_timeout = Duration::seconds(5);  // another process's lock
inline constexpr std::size_t sqlite_queue_max = 65'536;                // asks waiting for the disk
inline constexpr std::size_t sqlite_batch_max = 512;                   // asks of one transaction

// Audit and log
inline constexpr std::size_t audit_event_bytes_max = 64 * 1024;
inline constexpr std::size_t audit_queue_events_max = 65'536;
inline constexpr std::size_t audit_queue_bytes_max = 64 * 1024 * 1024;
inline constexpr std::size_t audit_batch_bytes_max = 4 * 1024 * 1024;  // one write, one sync
inline constexpr std::size_t log_field_bytes_max = 4 * 1024;
inline constexpr int log_repeats_a_second_max = 20;

// Metrics
inline constexpr std::size_t metric_label_values_max = 100;  // of one label
inline constexpr std::size_t metric_series_max = 1'000;      // of one name

// Configuration
inline constexpr std::size_t config_bytes_max = 4 * 1024 * 1024;
inline constexpr std::size_t config_depth_max = 16;
inline constexpr std::size_t config_list_max = 1'000;
inline constexpr std::size_t config_name_bytes_max = 64;
inline constexpr std::size_t config_path_bytes_max = 4'000;
inline constexpr std::size_t config_secret_bytes_max = 4'000;
inline constexpr std::size_t config_excerpt_bytes_max = 80;  // of a value, in a message
inline constexpr std::size_t config_problems_max = 100;      // told at once
inline constexpr int threads_max = 256;

}  // namespace pawl::bounds
