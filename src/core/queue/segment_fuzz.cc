// Any bytes, as they are and with the right length and checksum around them: the reader must not
// crash, and what it reads must be written again as the bytes it was read from, and bring two
// machines to the same state.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "base/wire.h"
#include "core/queue/frame.h"
#include "core/queue/machine.h"
#include "core/queue/segment.h"

using namespace pawl::queue;

static std::string state_after(const Segment& segment) {
  Machine machine(0, {});
  machine.apply(segment.at, segment.commands);
  pawl::ByteWriter out;
  machine.save(out);
  return out.take();
}

static void look(std::string_view bytes) {
  const auto segment = parse_segment(bytes);
  if (!segment) {
    PAWL_ASSERT(!segment.error().message.empty());
    return;
  }
  PAWL_ASSERT(write_segment(*segment, write_commands(segment->commands)) == bytes);
  PAWL_ASSERT(state_after(*segment) == state_after(*segment));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  look(bytes);
  constexpr Frame frame = {.letters = "PAWLQSEG", .bytes_max = pawl::bounds::segment_bytes_max};
  pawl::ByteWriter out;
  frame.begin(out);
  out.raw(bytes);
  if (const auto framed = frame.finish(std::move(out))) look(*framed);
  (void)parse_settings(bytes);
  (void)sequence_of(bytes);
  return 0;
}
