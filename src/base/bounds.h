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
// For an upstream to say that it wants a body; then the client is asked for it all the same.
inline constexpr Duration http_continue_deadline = Duration::seconds(1);
inline constexpr std::int64_t http_rate_min =
    16;  // bytes a second of a body, over an idle deadline

// Gateway
inline constexpr std::size_t tenant_bytes_max = 128;
inline constexpr std::size_t api_key_bytes_max = 512;
inline constexpr std::size_t tenants_seen_max = 100'000;
inline constexpr std::size_t tenant_plans_max = 50'000;     // given while pawl runs
inline constexpr std::size_t tenants_near_max = 32 * 1024;  // buckets of tenants at their limit
inline constexpr std::size_t request_id_bytes_max = 128;
inline constexpr std::size_t connections_max = 10'000;
inline constexpr std::size_t admin_body_bytes_max = 1024 * 1024;
inline constexpr Duration tcp_silence_max = Duration::seconds(60);  // of a peer that may be gone
inline constexpr Duration tls_greeting_deadline = Duration::seconds(10);
inline constexpr std::size_t upstream_idle_max = 256;            // kept-alive connections a loop
inline constexpr std::size_t send_queue_bytes_max = 256 * 1024;  // then the other side is paused
inline constexpr Duration drain_deadline = Duration::seconds(30);

inline constexpr std::size_t idempotency_key_bytes_max = 255;
inline constexpr std::size_t write_hits_max = 1'000;  // remembered, of writes not executed again
inline constexpr std::size_t held_bytes_max = 256 * 1024 * 1024;   // of writes, in all
inline constexpr Duration write_wait_max = Duration::seconds(30);  // for somebody else's answer

// Admin API
inline constexpr std::size_t admin_parameters_max = 16;                // of a query
inline constexpr std::size_t admin_list_max = 1'000;                   // of one answer
inline constexpr std::size_t admin_scan_bytes_max = 4 * 1024 * 1024;   // of the audit log, a call
inline constexpr std::size_t admin_listeners_max = 16;                 // of server-sent events
inline constexpr std::size_t admin_event_piece_bytes_max = 96 * 1024;  // a listener, a tick
inline constexpr Duration admin_heartbeat = Duration::seconds(15);     // of a silent stream
inline constexpr std::size_t admin_reason_bytes_max = 500;
inline constexpr int lockout_failures = 10;  // within the window; then the address is shut out
inline constexpr Duration lockout_window = Duration::minutes(1);
inline constexpr Duration lockout_wait = Duration::minutes(1);
inline constexpr std::size_t lockout_addresses_max = 1'024;

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

// Retries
inline constexpr int retry_attempts_max = 100;
inline constexpr int retry_reconciles_max = 5;  // of one attempt, then a person must look
inline constexpr std::int64_t retry_multiplier_milli_max = 10'000;
inline constexpr Duration retry_delay_max = Duration::days(7);
inline constexpr Duration retry_timeout_max = Duration::hours(24);  // of one attempt
inline constexpr Duration retry_deadline_max = Duration::days(366);
inline constexpr Duration retry_pushback_max = Duration::days(31);  // what is waited for a server
inline constexpr std::size_t retry_list_max = 100;                  // delays or names of a policy
inline constexpr std::size_t retry_code_bytes_max = 128;            // of a category
inline constexpr std::size_t retry_categories_max = 1'000;          // of callers' own
inline constexpr std::size_t retry_rows_max = 100;                  // of a classification table
inline constexpr std::int64_t retry_budget_reserve = 100;           // retries that calls can save
inline constexpr std::int64_t retry_budget_ratio_milli_max = 10'000;
inline constexpr std::int64_t retry_budget_per_second_max = 1'000'000;
inline constexpr int retry_breaker_failures_max = 1'000;
inline constexpr Duration retry_breaker_wait_min = Duration::milliseconds(1);
inline constexpr Duration retry_breaker_wait_max = Duration::hours(24);
inline constexpr std::size_t retry_breakers_max = 10'000;  // that are not closed, or about to open

// Idempotency records
inline constexpr std::size_t record_key_bytes_max = 512;
inline constexpr std::size_t record_fingerprint_bytes_max = 128;
inline constexpr std::size_t record_bytes_max = 4 * 1024 * 1024;  // of a response's body
inline constexpr std::size_t record_metadata_bytes_max = 64 * 1024;
inline constexpr Duration record_lease_min = Duration::milliseconds(1);
inline constexpr Duration record_lease_max = Duration::hours(24);
inline constexpr Duration record_ttl_min = Duration::milliseconds(1);
inline constexpr Duration record_ttl_max = Duration::days(3660);
// How long it is told at the least that nobody knows how one ended.
inline constexpr Duration record_unknown_ttl = Duration::days(366);
inline constexpr std::uint64_t record_number_max = std::uint64_t{1} << 53;  // every store counts it
inline constexpr std::size_t record_list_max = 1'000;
inline constexpr std::size_t memory_records_max = 100'000;
inline constexpr std::size_t memory_record_bytes_max = 256 * 1024 * 1024;  // of all together

// Webhooks
inline constexpr std::size_t webhook_endpoints_max = 64;
inline constexpr std::size_t webhook_url_bytes_max = 2'000;
inline constexpr std::size_t webhook_key_bytes_min = 24;
inline constexpr std::size_t webhook_key_bytes_max = 256;
inline constexpr std::size_t webhook_id_bytes_max = 128;
inline constexpr std::size_t webhook_type_bytes_max = 64;
inline constexpr std::size_t webhook_body_bytes_max = 64 * 1024;
inline constexpr std::size_t webhook_error_bytes_max = 500;  // of what is kept of a failure
inline constexpr std::size_t webhook_lane = 4;               // under way to one endpoint
inline constexpr std::size_t webhook_pending_max = 100'000;
inline constexpr std::size_t webhook_ended_max = 10'000;  // remembered; the oldest go
inline constexpr std::size_t webhook_list_max = 1'000;
// How often it is looked for what another process has added, or a clock that was set made due.
inline constexpr Duration webhook_look_wait = Duration::seconds(10);
inline constexpr Duration webhook_connect_deadline = Duration::seconds(10);

// Calls to other HTTP servers
inline constexpr std::size_t http_calls_max = 1'024;                  // at once
inline constexpr std::size_t http_calls_idle_max = 64;                // kept-alive connections
inline constexpr std::size_t http_call_fields_bytes_max = 64 * 1024;  // of an answer
inline constexpr std::size_t http_call_body_bytes_max = 16 * 1024 * 1024;

// Orders, as settings and callers may have them
inline constexpr std::int64_t order_weekly_max = 1'000'000;  // orders a week
inline constexpr int order_retries_max = 20;
inline constexpr Duration order_delay_max = Duration::minutes(10);
inline constexpr Duration order_timeout_min = Duration::milliseconds(10);  // of a wire attempt
inline constexpr Duration order_timeout_max = Duration::minutes(5);
inline constexpr Duration order_settle_min = Duration::milliseconds(1);
inline constexpr Duration order_settle_max = Duration::hours(1);
// Longer than the 15 s within which a venue takes an equal order for a copy.
inline constexpr Duration order_settle_safe = Duration::seconds(16);
inline constexpr Duration order_poll_min = Duration::milliseconds(100);
inline constexpr Duration order_poll_max = Duration::hours(1);
inline constexpr std::int64_t order_burst_max = 1'000;
inline constexpr std::size_t order_batch_file_max = 20;  // orders of one batch
inline constexpr int order_backfill_days_max = 90;
inline constexpr std::size_t order_list_max = 10'000;

// Orders
inline constexpr std::size_t order_reference_bytes_max = 50;  // the most that Saxo takes
inline constexpr std::size_t order_name_bytes_max = 64;       // of a venue, an instrument, an id
inline constexpr std::size_t order_text_bytes_max = 500;      // a line of evidence, or a reason
inline constexpr std::size_t order_evidence_max = 64;         // lines; those in the middle go
inline constexpr std::size_t order_progress_bytes_max = 256 * 1024;        // as text
inline constexpr Duration order_pushback_max = Duration::minutes(10);      // waited for a venue
inline constexpr Duration order_absence_gap = Duration::seconds(1);        // between two readings
inline constexpr Duration order_reading_wait_max = Duration::seconds(10);  // until the next one
// What was taken just before it expired may be shown only so much later.
inline constexpr Duration order_expiry_margin = Duration::seconds(5);
inline constexpr int order_save_retries = 3;

// Emulators
inline constexpr std::size_t websocket_message_bytes_max = 1024 * 1024;
inline constexpr std::size_t emulator_book_bytes_max = 1024 * 1024 * 1024;  // at the start
inline constexpr std::size_t emulator_log_rows_max = 100'000;               // that GET /log keeps
inline constexpr std::size_t emulator_faults_max = 10'000;                  // rows of a script
inline constexpr std::size_t emulator_body_bytes_max = 1024 * 1024;         // of a call
inline constexpr std::size_t okx_subscriptions_max = 240;                   // of one connection
inline constexpr std::size_t okx_channels_max = 30;
inline constexpr std::size_t emulator_orders_max = 1'000'000;  // of a venue; more are refused

// The order desk
inline constexpr std::size_t orders_under_way_max = 10'000;     // placements at once
inline constexpr std::size_t orders_listed_max = 10'000;        // open ones, at a start
inline constexpr std::size_t orders_polled_max = 1'000;         // looked at in one go
inline constexpr std::size_t order_history_pages_max = 10'000;  // of one backfill

// Venues
inline constexpr std::size_t venue_message_bytes_max = 500;  // of what a venue says for people
inline constexpr std::size_t venue_id_bytes_max = 64;        // of an order
inline constexpr std::size_t venue_pages_max = 50;           // of one source, in one reading
inline constexpr std::size_t venue_page_link_bytes_max = 4'000;
inline constexpr int venue_page_rows = 500;              // asked for
inline constexpr std::size_t venue_details_max = 10;     // likely orders looked at one by one
inline constexpr std::size_t venue_precheck_max = 40;    // figures of a precheck
inline constexpr std::size_t token_bytes_max = 16'000;   // of an access or refresh token
inline constexpr std::size_t token_waiters_max = 1'024;  // calls that wait for a new token
inline constexpr Duration token_deadline = Duration::seconds(15);   // of one renewal
inline constexpr Duration token_lock_wait = Duration::seconds(30);  // for another process's
inline constexpr Duration token_lock_poll = Duration::milliseconds(50);
inline constexpr Duration token_margin_max = Duration::seconds(60);     // renewed so long before
inline constexpr Duration venue_read_deadline = Duration::seconds(15);  // of one call of a reading
// How far before an intent its order is looked for by its reference: by so much may clocks be off.
inline constexpr Duration venue_look_back = Duration::hours(24);
inline constexpr Duration venue_likely_back = Duration::minutes(15);  // and by its looks

// OKX
inline constexpr std::size_t okx_batch_max = 20;  // orders of one call
inline constexpr std::size_t okx_client_order_id_bytes_max = 32;
inline constexpr std::size_t okx_page_rows = 100;            // of a list; the most it gives
inline constexpr std::size_t okx_read_pages_max = 20;        // of a list, in one reading
inline constexpr std::size_t okx_reads_waiting_max = 1'000;  // for their pace
inline constexpr Duration okx_call_deadline = Duration::seconds(10);  // of what is no order
inline constexpr Duration okx_clock_age_max = Duration::minutes(10);  // then its time is asked anew
inline constexpr Duration okx_retention_margin = Duration::minutes(15);
inline constexpr Duration okx_channel_connect_deadline = Duration::seconds(10);  // login included
inline constexpr Duration okx_channel_ping_wait = Duration::seconds(25);  // it hangs up after 30 s
inline constexpr Duration okx_channel_pong_wait = Duration::seconds(10);
inline constexpr Duration okx_channel_backoff_min = Duration::seconds(1);
inline constexpr Duration okx_channel_backoff_max = Duration::seconds(60);

// Redis
inline constexpr std::size_t redis_calls_max = 65'536;  // waiting for one server's answers
inline constexpr std::size_t redis_command_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t redis_queue_bytes_max = 64 * 1024 * 1024;  // commands not sent yet
inline constexpr std::size_t redis_reply_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t redis_reply_items_max = 262'144;  // of one reply, nested ones included
inline constexpr std::size_t redis_nodes_max = 1'000;          // of a cluster
inline constexpr int redis_resends_max = 5;  // redirections and "try again" of one command
inline constexpr Duration redis_deadline = Duration::milliseconds(50);   // of an ask, by default
inline constexpr Duration redis_record_deadline = Duration::seconds(5);  // where disks are synced
inline constexpr Duration redis_deadline_min = Duration::milliseconds(1);
inline constexpr Duration redis_deadline_max = Duration::seconds(5);
inline constexpr Duration redis_connect_deadline = Duration::seconds(5);  // TLS and login included
inline constexpr Duration redis_silence_max = Duration::seconds(5);  // then the server is given up
inline constexpr Duration redis_backoff_min = Duration::milliseconds(50);
inline constexpr Duration redis_backoff_max = Duration::seconds(2);

// NATS
inline constexpr std::size_t nats_servers_max = 16;
inline constexpr std::size_t nats_name_bytes_max = 64;                   // of a bucket or a stream
inline constexpr Duration nats_deadline = Duration::seconds(5);          // of an ask, by default
inline constexpr Duration nats_connect_deadline = Duration::seconds(5);  // a server
inline constexpr Duration nats_silence_max = Duration::seconds(10);      // then it is given up
inline constexpr Duration nats_backoff = Duration::milliseconds(100);    // between connects
inline constexpr std::size_t nats_workers = 4;                           // round trips at once
inline constexpr std::size_t nats_queue_max = 16'384;                    // asks that wait for them
inline constexpr std::size_t nats_fetch_max = 256;                       // messages of one answer
// By so much may the clocks of processes that share records disagree.
inline constexpr Duration nats_clock_margin = Duration::seconds(5);
inline constexpr Duration nats_sweep_interval = Duration::minutes(1);  // of expired records
inline constexpr std::size_t nats_sweep_max = 1'000;                   // records looked at in one

// SQLite
inline constexpr Duration sqlite_busy_timeout = Duration::seconds(5);  // another process's lock
inline constexpr std::size_t sqlite_queue_max = 65'536;                // asks waiting for the disk
inline constexpr std::size_t sqlite_batch_max = 512;                   // asks of one transaction
inline constexpr std::size_t sqlite_records_max = 10'000'000;
inline constexpr int sqlite_wal_pages_max = 1'000;  // then they go into the file itself
// Rows of a week that are counted beyond the limit: how far over it is, is told up to there.
inline constexpr std::int64_t order_count_excess_max = 20;
inline constexpr std::size_t sqlite_replays_max = 1'024;  // records whose replays are not written

// Audit and log
inline constexpr std::size_t audit_event_bytes_max = 64 * 1024;
inline constexpr std::size_t audit_trail_bytes_max = 8 * 1024;  // what names an operation
inline constexpr std::size_t audit_context_max = 16;            // what callers add to an event
inline constexpr std::size_t audit_context_bytes_max = 256;
inline constexpr std::size_t audit_queue_events_max = 65'536;
inline constexpr std::size_t audit_queue_bytes_max = 64 * 1024 * 1024;
inline constexpr std::size_t audit_batch_bytes_max = 4 * 1024 * 1024;  // one sync
inline constexpr Duration audit_gather = Duration::milliseconds(5);    // a small batch grows
inline constexpr std::int64_t audit_part_bytes_min = 1024 * 1024;      // then a log is rotated
inline constexpr std::int64_t audit_part_bytes_max = std::int64_t{1} << 40;
inline constexpr std::size_t audit_categories_max = 1'000;  // counted apart; the rest together
inline constexpr std::int64_t audit_tail_records_max = 10'000;
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
inline constexpr std::size_t config_upstreams_max = 16;
inline constexpr std::size_t config_api_keys_max = 10'000;
inline constexpr std::size_t config_methods_max = 16;
inline constexpr std::int64_t config_connections_max = 1'000'000;
inline constexpr std::int64_t config_requests_max = 1'000'000;
inline constexpr int config_health_count_max = 100;  // answers in a row
inline constexpr Duration config_health_interval_min = Duration::milliseconds(10);
inline constexpr Duration config_timeout_min = Duration::milliseconds(1);
inline constexpr Duration config_timeout_max = Duration::hours(24);

}  // namespace pawl::bounds
