#include "core/http/problem.h"

#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"

namespace pawl::http {
namespace {

struct Row {
  ProblemCode code;
  int status;
  std::string_view name;
  std::string_view kind;  // the `type` of the error object
  std::string_view title;
};

constexpr Row rows[] = {
    {ProblemCode::rate_limit, 429, "ERR_RATE_LIMIT", "rate_limit_error", "Rate limit exceeded"},
    {ProblemCode::tenant_unknown, 401, "ERR_TENANT_UNKNOWN", "authentication_error",
     "Tenant unknown"},
    {ProblemCode::store_unavailable, 503, "ERR_STORE_UNAVAILABLE", "api_error",
     "Store unavailable"},
    {ProblemCode::upstream_unreachable, 502, "ERR_UPSTREAM_UNREACHABLE", "api_error",
     "Upstream unreachable"},
    {ProblemCode::upstream_timeout, 504, "ERR_UPSTREAM_TIMEOUT", "api_error", "Upstream timed out"},
    {ProblemCode::bad_request, 400, "ERR_BAD_REQUEST", "invalid_request_error", "Bad request"},
    {ProblemCode::too_large, 413, "ERR_TOO_LARGE", "invalid_request_error", "Too large"},
    {ProblemCode::unauthorized, 401, "ERR_UNAUTHORIZED", "authentication_error",
     "Admin token missing or wrong"},
    {ProblemCode::not_found, 404, "ERR_NOT_FOUND", "invalid_request_error", "Not found"},
    {ProblemCode::method_not_allowed, 405, "ERR_METHOD_NOT_ALLOWED", "invalid_request_error",
     "Method not allowed"},
};

const Row& row_of(ProblemCode code) {
  const Row& row = rows[static_cast<std::size_t>(code)];
  PAWL_ASSERT(row.code == code);  // the rows stand in the order of the codes
  return row;
}

// The draft registers a type for this one; the others are named by their code alone.
std::string_view type_of(ProblemCode code) {
  return code == ProblemCode::rate_limit
             ? "https://iana.org/assignments/http-problem-types#quota-exceeded"
             : "about:blank";
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out.append(out.back() == '{' ? "\"" : ",\"").append(name).append("\":");
  json::append_quoted(out, value);
}

}  // namespace

int status_of(ProblemCode code) {
  return row_of(code).status;
}

std::string_view to_string(ProblemCode code) {
  return row_of(code).name;
}

std::string body_of(const Problem& problem) {
  const Row& row = row_of(problem.code);
  std::string out = "{";
  append_member(out, "type", type_of(problem.code));
  append_member(out, "title", row.title);
  out.append(",\"status\":");
  append_number(out, row.status);
  append_member(out, "detail", problem.detail);
  append_member(out, "code", row.name);
  if (!problem.violated_policies.empty()) {
    out.append(",\"violated-policies\":");
    char separator = '[';
    for (const std::string_view policy : problem.violated_policies) {
      out.push_back(separator);
      json::append_quoted(out, policy);
      separator = ',';
    }
    out.push_back(']');
  }
  out.append(",\"error\":{");
  append_member(out, "type", row.kind);
  append_member(out, "code", row.name);
  append_member(out, "message", problem.detail);
  out.append("}}\n");
  return out;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "";
  }
}

}  // namespace pawl::http
