// The settings of the sections order_control and orders.
#pragma once

#include <string_view>

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

inline constexpr std::string_view weekly_max_path =
    "order_control.frequency_limit.weekly_max_orders";
// What a problem with it begins with, and what is logged of it.
inline constexpr std::string_view invalid_weekly_max =
    "Invalid weekly_max_orders, must be positive integer";

Fields<Config> orders_fields();
const Fields<Venues>& venues_fields();
const Fields<SaxoVenue>& saxo_fields();
const Fields<OkxVenue>& okx_fields();

// Whether the file has order_control.frequency_limit.
bool says_frequency_limit(const Reader& reader);

// Delays that fit together; a settle time that a real venue's duplicate window fits into; nothing
// secret sent in the clear; tokens that can be renewed, or are not to be.
void check_orders(const Orders& orders, Reader& reader);

}  // namespace pawl::config
