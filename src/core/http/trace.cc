#include "core/http/trace.h"

#include <algorithm>

#include "base/sha256.h"

namespace pawl::http {
namespace {

constexpr std::size_t size_of_version_00 = 55;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

// An id of all zeros is no id.
char* append_id(char* out, std::span<const std::uint8_t> bytes) {
  const bool all_zero = std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
  out = put_hex(out, bytes);
  if (all_zero) out[-1] = '1';
  return out;
}

}  // namespace

std::string_view trace_id_of(std::string_view traceparent) {
  if (traceparent.size() < size_of_version_00) return {};
  const std::string_view version = traceparent.substr(0, 2);
  const std::string_view trace = traceparent.substr(3, 32);
  const std::string_view parent = traceparent.substr(36, 16);
  if (traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-') return {};
  if (!is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(traceparent.substr(53, 2)))
    return {};
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return {};
  // Later versions may say more behind this; the first one may not.
  const bool longer = traceparent.size() > size_of_version_00;
  if (longer && (version == "00" || traceparent[size_of_version_00] != '-')) return {};
  return trace;
}

Traceparent::Traceparent(std::span<const std::uint8_t, 16> trace,
                         std::span<const std::uint8_t, 8> parent) {
  char* out = std::ranges::copy(std::string_view("00-"), text_.begin()).out;
  out = append_id(out, trace);
  *out++ = '-';
  out = append_id(out, parent);
  // Sampled: told otherwise, most tracers behind us would record nothing at all.
  std::ranges::copy(std::string_view("-01"), out);
}

}  // namespace pawl::http
