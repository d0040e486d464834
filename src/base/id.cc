#include "base/id.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"

namespace pawl {
namespace {

// A clock set before 1970 is wrong anyway; it must not put a sign into an identifier.
std::int64_t milliseconds_since_epoch(Instant now) {
  return std::max<std::int64_t>(now.ns(), 0) / 1'000'000;
}

}  // namespace

std::uint64_t seed_of(const Entropy16& entropy) {
  std::uint64_t seed = 0;
  for (const std::uint8_t byte : std::span(entropy).first(8)) seed = seed << 8 | byte;
  return seed;
}

std::string uuid_v7(Instant now, const Entropy16& entropy) {
  const std::int64_t ms = milliseconds_since_epoch(now);
  Entropy16 bytes = entropy;
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0F));  // version
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));  // variant
  std::string text = to_hex(bytes);
  for (const std::size_t dash_at : {8u, 13u, 18u, 23u}) text.insert(dash_at, 1, '-');
  return text;
}

std::string request_id(std::string_view external_reference, std::string_view operation, Instant now,
                       const Entropy16& entropy) {
  std::string id(external_reference);
  id.append("_").append(operation).append("_");
  append_number(id, milliseconds_since_epoch(now));
  return id.append("_").append(to_hex(std::span(entropy).first(4)));
}

}  // namespace pawl
