// Every maximum of the product, in one place. A bound that is reached is an error with a name, never a
// silent truncation.
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

// HTTP, as a client may send it
inline constexpr std::size_t http_request_line_bytes_max = 8 * 1024;
inline constexpr std::size_t http_head_bytes_max = 16 * 1024;
inline constexpr std::size_t http_header_bytes_max = 8 * 1024;  // one field line
inline constexpr std::size_t http_headers_max = 64;
inline constexpr std::size_t http_chunk_line_bytes_max = 256;
inline constexpr std::size_t http_trailer_bytes_max = 8 * 1024;
inline constexpr std::int64_t http_content_length_max = std::int64_t{1} << 50;
inline constexpr Duration http_head_deadline = Duration::seconds(5);  // in all, not a read
inline constexpr Duration http_idle_deadline = Duration::seconds(60);

// Gateway
inline constexpr std::size_t tenant_bytes_max = 128;
inline constexpr std::size_t connections_max = 10'000;
inline constexpr std::size_t upstream_idle_max = 256;            // kept-alive connections a loop
inline constexpr std::size_t send_queue_bytes_max = 256 * 1024;  // then the other side is paused
inline constexpr Duration upstream_connect_deadline = Duration::seconds(5);
inline constexpr Duration upstream_answer_deadline = Duration::seconds(60);
inline constexpr Duration drain_deadline = Duration::seconds(30);

// Limits
inline constexpr std::size_t limit_keys_max = 1'000'000;
inline constexpr std::int64_t limit_count_max = 1'000'000'000;
inline constexpr Duration limit_period_max = Duration::days(366);

// Audit and log
inline constexpr std::size_t audit_event_bytes_max = 64 * 1024;
inline constexpr std::size_t audit_queue_events_max = 65'536;
inline constexpr std::size_t log_field_bytes_max = 4 * 1024;
inline constexpr int log_repeats_a_second_max = 20;

// Configuration
inline constexpr std::size_t config_bytes_max = 4 * 1024 * 1024;
inline constexpr int threads_max = 256;

}  // namespace pawl::bounds
