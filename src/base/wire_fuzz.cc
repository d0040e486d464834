// The first half says what to read, the second half is read: nothing goes past the end, and what
// was read is written again as the bytes it was read from.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/wire.h"

namespace {

constexpr std::size_t text_max = 64;

// One value from `in` to `out`.
void copy(std::uint8_t kind, pawl::ByteReader& in, pawl::ByteWriter& out) {
  switch (kind % 7) {
    case 0:
      return out.u8(in.u8());
    case 1:
      return out.varint(in.varint());
    case 2:
      return out.zigzag(in.zigzag());
    case 3:
      return out.fixed32(in.fixed32());
    case 4:
      return out.fixed64(in.fixed64());
    case 5:
      return out.bytes(in.bytes(text_max));
    default:
      return out.raw(in.raw(kind / 7));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view bytes = all.substr(size / 2);
  pawl::ByteReader in(bytes);
  std::string copied;
  for (const char kind : all.substr(0, size / 2)) {
    pawl::ByteWriter out;
    copy(static_cast<std::uint8_t>(kind), in, out);
    if (!in.good()) break;
    copied += out.text();
    PAWL_ASSERT(bytes.substr(0, in.at()) == copied);
  }
  PAWL_ASSERT(in.good() == in.error().empty() && (in.good() || in.left() == 0));
  return 0;
}
