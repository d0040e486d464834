// Any bytes in a whole frame: the reader must not crash, and a machine that it makes of them must
// work, and be made again by its own snapshot.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "core/queue/frame.h"
#include "core/queue/segment.h"

using namespace pawl;
using namespace pawl::queue;

static std::string written(const Machine& machine) {
  return finish_snapshot(begin_snapshot(machine, {})).value();
}

static void use(Machine machine) {
  const std::string saved = written(machine);
  const auto again = parse_snapshot(saved, 0, {});
  PAWL_ASSERT(again && written(again->machine) == saved);
  const Command claim = Claim{.worker = "w", .count = 10};
  for (int i = 1; i < 4; ++i) {
    const Instant now = machine.now() + Duration::days(i);
    (void)machine.apply(now, {&claim, 1});
    (void)machine.stats(now);
    for (const Task& task : machine.list({})) {
      (void)machine.why(task.id, now);
      (void)machine.history(task.id);
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)parse_snapshot(bytes, 0, {});
  constexpr Frame frame = {.letters = "PAWLQSNP", .bytes_max = bounds::snapshot_bytes_max};
  ByteWriter out;
  frame.begin(out);
  out.raw(bytes);
  auto snapshot = parse_snapshot(frame.finish(std::move(out)).value(), 0, {});
  if (snapshot) use(std::move(snapshot->machine));
  return 0;
}
