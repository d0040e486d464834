// The shapes of Saxo's answers: data, and errors of every kind it has.
//
// Contract: pure.
#pragma once

#include <string_view>

#include "base/json.h"
#include "emulator/core/exchange.h"

namespace pawl::emulator {

Reply saxo_reply(int status, json::Object body);
// {"ErrorCode", "Message"}.
Reply saxo_error(int status, std::string_view code, std::string_view message);
// {"ErrorCode": "InvalidModelState", "Message", "ModelState": {field: [message]}}.
Reply saxo_model_error(std::string_view field, std::string_view message);
// {"ErrorCode", "Message"}, to be put where an ErrorInfo stands.
json::Object saxo_error_info(std::string_view code, std::string_view message);

}  // namespace pawl::emulator
