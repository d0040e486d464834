#include "emulator/core/saxo_replies.h"

#include <string>
#include <utility>

namespace pawl::emulator {

Reply saxo_reply(int status, json::Object body) {
  return {.status = status,
          .fields = {{.name = "Content-Type", .value = "application/json; charset=utf-8"}},
          .body = json::print(json::Value(std::move(body)))};
}

Reply saxo_error(int status, std::string_view code, std::string_view message) {
  return saxo_reply(status, saxo_error_info(code, message));
}

Reply saxo_model_error(std::string_view field, std::string_view message) {
  json::Object fields;
  fields[std::string(field)] = json::Array{message};
  // Saxo's own messages have such an end of line within.
  json::Object body =
      saxo_error_info("InvalidModelState", "One or more properties of the request\r\nare invalid!");
  body["ModelState"] = std::move(fields);
  return saxo_reply(400, std::move(body));
}

json::Object saxo_error_info(std::string_view code, std::string_view message) {
  json::Object info;
  info["ErrorCode"] = code;
  info["Message"] = message;
  return info;
}

}  // namespace pawl::emulator
