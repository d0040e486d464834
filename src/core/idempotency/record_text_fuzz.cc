// Any bytes as what a server keeps: a record that can be read is written back as the same bytes,
// and can be decided on.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "core/idempotency/record_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  using namespace pawl::idempotency;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = parse_record(text);
  if (!record) return 0;
  PAWL_ASSERT(to_text(*record) == text);
  std::optional<Record> kept = *record;
  const Begin ask{.fingerprint = record->fingerprint,
                  .lease = Duration::seconds(1),
                  .ttl = Duration::seconds(1),
                  .take_over = true};
  const Begun begun = begin(kept, ask, 1, record->created_at);
  PAWL_ASSERT(begun.record.fence >= record->fence);
  PAWL_ASSERT(begun.verdict != Begun::Verdict::mismatch);
  return 0;
}
