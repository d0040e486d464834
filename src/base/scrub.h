// Masks credentials in texts that come from elsewhere (messages of failures, addresses, parameters)
// and are about to be kept.
//
// Why:      secrets of our own are Secret<T> and cannot get into a text; but a failed call may
//           quote the request that failed, with all that was in it.
// Contract: pure. What stands behind a telling name ("password=", "X-Api-Key: ", "access_token":"),
//           behind "Bearer" and "Basic", and before the @ of an address becomes ***; the rest stays
//           as it is. A secret that nothing announces cannot be recognised.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace pawl {

bool holds_secret(std::string_view text);
std::string scrubbed(std::string_view text);
// At one glance: it holds no secret, and stands between quotes as it is. False: look closer.
bool is_clearly_plain(std::string_view text);

// Of the texts in it, and of members that have a telling name.
bool value_holds_secret(const json::Value& value);
json::Value scrubbed_value(const json::Value& value);

}  // namespace pawl
