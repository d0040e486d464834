// Any bytes as what a store keeps of an intent: what can be read is written back as what was read,
// and the machine can go on from it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "base/bounds.h"
#include "core/order/intent_text.h"
#include "core/order/placement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  using namespace pawl::order;
  const auto value = json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value) return 0;
  const auto progress = progress_of(*value);
  if (!progress) return 0;
  const auto again = progress_of(to_json(*progress));
  PAWL_ASSERT(again && *again == *progress);
  PAWL_ASSERT(json::print(to_json(*progress)).size() <= bounds::order_progress_bytes_max);
  if (!is_open(progress->status)) return 0;
  Placement machine({.reference = "ref", .progress = *progress}, {}, {});
  const Effects effects = machine.decide(TakenOver{}, {});
  const auto* saved = std::get_if<Save>(&effects.back());
  PAWL_ASSERT(saved != nullptr && progress_of(to_json(saved->progress)));
  return 0;
}
