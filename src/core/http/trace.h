// Traceparent: the W3C trace context field, checked and made.
//
// Why:      a request without one gets one here, so that what pawl logs and what the services
//           behind it record can be found by one id.
// Contract: pure; the random bytes are handed in.
// See:      https://www.w3.org/TR/trace-context/
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace pawl::http {

// The 32 digits of the trace's id, a part of `traceparent`; empty when that is not valid.
std::string_view trace_id_of(std::string_view traceparent);

// "00-{trace id}-{parent id}-01".
class Traceparent {
 public:
  Traceparent(std::span<const std::uint8_t, 16> trace, std::span<const std::uint8_t, 8> parent);
  std::string_view text() const { return {text_.data(), text_.size()}; }
  std::string_view trace_id() const { return text().substr(3, 32); }

 private:
  std::array<char, 55> text_;
};

}  // namespace pawl::http
