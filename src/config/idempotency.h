// The settings of the section idempotency, and what they must be together.
#pragma once

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

Fields<Config> idempotency_fields();

void check_idempotency(const Idempotency& idempotency, Reader& reader);

}  // namespace pawl::config
