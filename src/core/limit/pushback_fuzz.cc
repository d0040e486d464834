// Goal: no header lines, at no time, make the reader crash, invent, or tell somebody to come early.
// Method: the input is a time and lines. A line's first byte chooses a name that matters, or leaves
// it to the line; bytes above ASCII stand for words that matter in a value. Whatever is read must
// keep the promises of pushback.h, and the same lines twice must say the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/text.h"
#include "core/limit/pushback.h"

namespace {

using namespace pawl;
using namespace pawl::limit;

constexpr std::array<std::string_view, 17> names = {"RateLimit",
                                                    "RateLimit-Policy",
                                                    "RateLimit-Limit",
                                                    "RateLimit-Remaining",
                                                    "RateLimit-Reset",
                                                    "X-RateLimit-Limit",
                                                    "X-RateLimit-Remaining",
                                                    "X-RateLimit-Reset",
                                                    "X-RateLimit-Used",
                                                    "X-RateLimit-Resource",
                                                    "X-RateLimit-SessionOrders-Remaining",
                                                    "X-RateLimit-SessionOrders-Reset",
                                                    "X-RateLimit-Limit-Minute",
                                                    "X-Rate-Limit-Reset",
                                                    "Retry-After",
                                                    "x-amz-retry-after",
                                                    "Age"};

// What bytes from 0x80 to 0xef stand for: values that mean something are made of these.
constexpr std::array<std::string_view, 20> words = {
    "\"a\"",         "\"b\"",  ";r=", ";t=",       ";q=",        ";w=",    ";a=",
    ";qu=",          ";name=", ", ",  "limit=",    "remaining=", "reset=", "1700000000",
    "1000000000000", "0",      "1.5", "999999999", "9999",       " GMT"};

std::string spelled_out(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto word = static_cast<std::size_t>(static_cast<std::uint8_t>(c)) - 0x80;
    if (word < 0x70) {
      out.append(words[word % words.size()]);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

struct Line {
  std::string name;
  std::string value;
};

std::vector<Line> to_lines(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.empty()) continue;
    const std::size_t choice = static_cast<std::uint8_t>(line.front()) % (names.size() + 1);
    line.remove_prefix(1);
    const std::string_view name = choice < names.size() ? names[choice] : take_until(line, ':');
    lines.push_back({.name = std::string(name), .value = spelled_out(line)});
  }
  return lines;
}

void check(const Reading& reading, Instant now) {
  PAWL_ASSERT(reading.dimension.size() <= bounds::limit_dimension_bytes_max);
  PAWL_ASSERT(reading.limit.value_or(0) >= 0);
  PAWL_ASSERT(reading.remaining.value_or(0) >= 0);
  PAWL_ASSERT(reading.resets_at.value_or(Instant::max()) >= now + Duration::seconds(1));
  PAWL_ASSERT(reading.window.value_or(Duration::max()) >= Duration::seconds(1));
  PAWL_ASSERT(!is_near_limit(reading) || *reading.remaining < 3);
  PAWL_ASSERT(reading.limit || reading.remaining || reading.resets_at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int64_t ns = 0;
  if (size < sizeof(ns)) return 0;
  std::memcpy(&ns, data, sizeof(ns));
  const Instant now = Instant::from_ns(ns);
  const std::vector<Line> lines =
      to_lines({reinterpret_cast<const char*>(data) + sizeof(ns), size - sizeof(ns)});
  std::vector<Field> fields;
  for (const auto& [name, value] : lines) fields.push_back({.name = name, .value = value});
  const Pushback once = parse_pushback(fields, now);
  PAWL_ASSERT(once.readings.size() <= bounds::limit_readings_max);
  PAWL_ASSERT(once.malformed >= 0);
  PAWL_ASSERT(once.retry_at.value_or(now) >= now);
  for (const Reading& reading : once.readings) check(reading, now);

  const auto exhausted = exhausted_until(once);
  const auto refused = refused_until(once);
  PAWL_ASSERT(refused.value_or(now) >= now);
  PAWL_ASSERT(!exhausted || *refused >= *exhausted);
  PAWL_ASSERT(!once.retry_at || *refused >= *once.retry_at);

  for (const auto& [name, value] : lines) fields.push_back({.name = name, .value = value});
  const Pushback twice = parse_pushback(fields, now);
  PAWL_ASSERT(twice.readings == once.readings);
  PAWL_ASSERT(twice.retry_at == once.retry_at);
  return 0;
}
