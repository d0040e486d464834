#include "admin/call.h"

#include <charconv>

namespace pawl::admin {
namespace {

// No script, frame or cache of a browser makes more of an answer than its reader asked for. There
// is no CORS field: other origins may read nothing.
constexpr std::string_view answer_fields =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n";
constexpr std::string_view browser_fields =
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

}  // namespace

std::string Call::text(std::string_view name) const {
  const auto found = asked_.values.find(name);
  return found == asked_.values.end() ? "" : *found->second.if_string();
}

std::int64_t Call::number(std::string_view name, std::int64_t otherwise) const {
  const auto found = asked_.values.find(name);
  if (found == asked_.values.end()) return otherwise;
  const std::string& digits = found->second.if_number()->text;
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool Call::truth(std::string_view name) const {
  const auto found = asked_.values.find(name);
  return found != asked_.values.end() && *found->second.if_bool();
}

std::string Call::member(std::string_view name) const {
  const json::Value* found = asked_.body.find(name);
  return found == nullptr ? "" : *found->if_string();
}

void Call::answer(server::Response response) && {
  if (tap_) tap_->answered(response);
  std::move(reply_).send(guarded(std::move(response)));
}

void Call::answer(const json::Value& body) && {
  std::move(*this).answer(json_response(200, body));
}

void Call::refuse(http::ProblemCode code, std::string detail) && {
  std::move(*this).answer(problem(code, std::move(detail)));
}

void Call::fail(const Error& error) && {
  std::move(*this).refuse(problem_code(error.code), error.message);
}

server::ReplyStream Call::stream(server::Response head) && {
  return std::move(reply_).stream(guarded(std::move(head)));
}

server::Response json_response(int status, const json::Value& body) {
  return {.status = status,
          .content_type = "application/json",
          .body = json::print(body) + "\n",
          .extra_fields = {}};
}

server::Response problem(http::ProblemCode code, std::string detail, std::string fields) {
  return server::problem_response({.code = code, .detail = std::move(detail)}, std::move(fields));
}

http::ProblemCode problem_code(Code code) {
  switch (code) {
    case Code::invalid:
    case Code::usage:
      return http::ProblemCode::bad_request;
    case Code::refused:
    case Code::unresolved:
      return http::ProblemCode::conflict;
    case Code::not_found:
      return http::ProblemCode::not_found;
    case Code::unavailable:
      return http::ProblemCode::store_unavailable;
    case Code::internal:
      return http::ProblemCode::internal;
  }
  __builtin_unreachable();
}

server::Response guarded(server::Response response) {
  // A page says by itself what it may do.
  if (!response.extra_fields.contains("Content-Security-Policy:")) {
    response.extra_fields.append(answer_fields);
  }
  response.extra_fields.append(browser_fields);
  return response;
}

}  // namespace pawl::admin
