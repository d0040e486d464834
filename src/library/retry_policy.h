// Between the policies of include/pawl/retry.h, which people write, and those that decide.
#pragma once

#include <cstdint>

#include "core/retry/policy.h"
#include "pawl/result.h"
#include "pawl/retry.h"

namespace pawl {

// The error says which member is out of range.
Result<retry::Policy> policy_of(const RetryPolicy& policy);

// A factor in thousandths; -1, which no check accepts, when it is no number.
std::int64_t thousandths(double value);

}  // namespace pawl
