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
inline constexpr std::int64_t limit_count_max = 1'000'000'000;
inline constexpr Duration limit_period_max = Duration::days(366);
inline constexpr Duration limit_refill_max = Duration::days(3660);  // an empty bucket to a full one

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
