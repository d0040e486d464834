// The settings of the section webhooks.
#pragma once

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

Fields<Config> webhooks_fields();
const Fields<Webhook>& webhook_fields();

// No name twice.
void check_webhooks(const Webhooks& webhooks, Reader& reader);

}  // namespace pawl::config
