// From a configuration to the policies that decide: every bucket, under every plan, for every
// tenant with rates of its own.
//
// Contract: pure. Takes a Config that passed every check; what plans_of() says to another one is
//           the problem that check_plans() tells with its line.
#pragma once

#include "config/config.h"
#include "config/reader.h"
#include "core/limit/plans.h"

namespace pawl::config {

// Its name, rule and options. Its parts must be there.
limit::Policy policy_of(const Bucket& bucket);

Result<limit::Plans> plans_of(const Config& config);

// Each rate of a plan or a tenant names a bucket it can apply to, each plan that is named is there.
void check_plans(const Config& config, Reader& reader);

}  // namespace pawl::config
