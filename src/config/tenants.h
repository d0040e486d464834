// The settings of the section tenants.
#pragma once

#include "config/config.h"
#include "config/field.h"
#include "core/limit/plans.h"

namespace pawl::config {

Fields<Config> tenants_fields();
const Fields<ApiKey>& api_key_fields();

// Rates of buckets, by their names.
Type<limit::Rates> rates();

// No API key twice.
void check_api_keys(const Tenants& tenants, Reader& reader);

}  // namespace pawl::config
