// OnFull: what becomes of a caller whose audit event has no room (audit.on_full). No event is ever
// dropped: the caller waits, or is told.
#pragma once

#include <cstdint>

namespace pawl {

enum class OnFull : std::uint8_t { block, fail };

}  // namespace pawl
