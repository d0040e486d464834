// What a handler outside of pawl says, as the queue keeps it.
//
// Contract: pure. What is too long is cut, and says so; what is no JSON is kept as a JSON string.
//           Credentials in errors are masked (base/scrub.h), and what is no UTF-8 becomes U+FFFD.
// Bounds:   bounds::task_output_bytes_max, task_error_bytes_max.
// Threads:  any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "pawl/time.h"

namespace pawl {

struct KeptOutput {
  std::string json = {};
  std::string cut = {};  // what somebody should hear of it; empty: it is whole
};
// JSON text. `had`: how many bytes there were, of which `text` is the beginning. Nothing but blanks
// is null.
KeptOutput kept_output(std::string_view text, std::uint64_t had);

// "exit 1: what it said last". `text`: the end of what it said, of `had` bytes.
std::string kept_error(std::string_view what, std::string_view text, std::uint64_t had);

// Of a number of seconds: 60, 0.5, 1e9; a part of a nanosecond counts as one, and what is too long
// is for ever. Nothing: it is no number, or less than nothing.
std::optional<Duration> seconds_of(const json::Value& value);

}  // namespace pawl
