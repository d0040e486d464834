// Opens the store of records that a setting names: memory, sqlite:PATH, redis://…, nats://….
//
// Why:      the binary and the library take the same settings; and whoever asks for more durability
//           than a store gives must hear so before the first intent, not after a power cut.
// Contract: what is returned gives `at_least` that durability, as far as the store tells. Errors:
//           invalid when it gives less, with what was found and what to do about it, or when the
//           setting is none of the four; else those of the store itself. A server must answer.
#pragma once

#include <memory>

#include "base/store_setting.h"
#include "pawl/clock.h"
#include "pawl/durability.h"
#include "pawl/result.h"
#include "port/record_store.h"

namespace pawl {

// `clock` must outlive the store.
Result<std::unique_ptr<RecordStore>> open_records(const StoreSetting& store, Durability at_least,
                                                  Clock& clock);

}  // namespace pawl
