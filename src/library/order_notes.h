// What an order desk notes, as programs are told.
#pragma once

#include <functional>

#include "assembly/order_office.h"
#include "pawl/orders.h"

namespace pawl {

// Has the office tell `note`; nothing when it is empty.
void add_notes(OrderOffice::Parts& parts, std::function<void(const OrderNote&)> note);

}  // namespace pawl
