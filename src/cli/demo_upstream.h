// `pawl demo-upstream`: a small service to put pawl in front of. It answers every request with what
// it saw, and counts them; /fail answers 500.
#pragma once

#include "base/address.h"
#include "pawl/result.h"

namespace pawl::cli {

// Returns when a signal ended it.
Result<void> demo_upstream(const Endpoint& listen);

}  // namespace pawl::cli
