// The maxima of the panel and of what the admin API keeps for it; those of everything else are in
// base/bounds.h. Apart, so that a change here does not build the rest anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/time.h"

namespace pawl::bounds {

inline constexpr std::size_t panel_sessions_max = 64;  // the one not used for longest goes
inline constexpr Duration panel_session_idle = Duration::hours(12);
inline constexpr Duration panel_session_age = Duration::days(30);  // however much it is used

// Answers to changes that carried an Idempotency-Key. Where there are as many keys, the next one is
// refused; where there are as many bytes, it is kept that it was done, without the answer.
inline constexpr std::size_t admin_answers_max = 50'000;  // of programs
inline constexpr std::size_t admin_answers_bytes_max = 64 * 1024 * 1024;
inline constexpr std::size_t panel_answers_max = 1'000;  // of browsers, apart from them
inline constexpr std::size_t panel_answers_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t admin_answer_bytes_max = 64 * 1024;  // of one
inline constexpr std::size_t admin_answer_waiters_max = 16;       // that sent the same again
inline constexpr Duration admin_answer_kept = Duration::hours(1);

inline constexpr std::size_t panel_listeners_max = 16;       // of the overview, as it changes
inline constexpr std::size_t panel_series_max = 64;          // lines of the overview
inline constexpr std::size_t panel_usage_tenants_max = 256;  // whose usage is remembered
inline constexpr std::size_t panel_usage_buckets_max = 16;   // of each
inline constexpr std::size_t panel_usage_asks_max = 64;      // of the store, at once

inline constexpr std::size_t audit_chain_bytes_max = 1024 * 1024;  // verified by one call
inline constexpr std::size_t audit_checks_max = 8;                 // under way; the oldest goes

inline constexpr std::size_t retry_tally_categories_max = 64;  // further ones are "other"
inline constexpr std::size_t retry_tally_breakers_max = 256;   // that are not closed

inline constexpr std::size_t panel_text_bytes_max = 200;  // of the call to upgrade

}  // namespace pawl::bounds
