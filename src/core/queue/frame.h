// Frame: what a segment and a snapshot have around them, so that damage, and bytes of a newer pawl,
// are told apart from the outside.
//
// Format:   eight letters, version (fixed32), length of the whole (fixed64), the content, CRC-32C
//           of all before (fixed32). Every version keeps to it: so a newer one is known to be whole
//           before it is called newer.
// Threads:  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/wire.h"
#include "pawl/result.h"

namespace pawl::queue {

inline constexpr std::uint32_t queue_format = 1;

struct Frame {
  std::string_view letters;  // eight
  std::size_t bytes_max = 0;

  // Then the content, then finish(), whose error is that there are too many bytes.
  void begin(ByteWriter& out) const;
  Result<std::string> finish(ByteWriter out) const;
  // A reader that stands before the content and ends behind it; its places are those of `bytes`.
  // The error is a half sentence that follows the object's name: "is damaged: …" (invalid), or that
  // a newer pawl wrote it (refused): that one is whole, and says what we cannot know.
  Result<ByteReader> open(std::string_view bytes) const;
};
std::unexpected<Error> written_by_newer(std::uint64_t format, std::uint64_t known);

}  // namespace pawl::queue
