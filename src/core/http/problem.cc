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
    {ProblemCode::forbidden, 403, "ERR_FORBIDDEN", "invalid_request_error", "Forbidden"},
    {ProblemCode::overloaded, 503, "ERR_OVERLOADED", "api_error", "Too many requests at once"},
    {ProblemCode::upgrade_refused, 501, "ERR_UPGRADE_REFUSED", "invalid_request_error",
     "Upgrade refused"},
    {ProblemCode::idempotency_key_missing, 400, "ERR_IDEMPOTENCY_KEY_MISSING", "idempotency_error",
     "Idempotency key missing"},
    {ProblemCode::idempotency_key_invalid, 400, "ERR_IDEMPOTENCY_KEY_INVALID", "idempotency_error",
     "Idempotency key invalid"},
    {ProblemCode::idempotency_mismatch, 422, "ERR_IDEMPOTENCY_MISMATCH", "idempotency_error",
     "Idempotency key used for another request"},
    {ProblemCode::idempotency_in_flight, 409, "ERR_IDEMPOTENCY_IN_FLIGHT", "idempotency_error",
     "Request in flight"},
    {ProblemCode::idempotency_not_replayable, 409, "ERR_IDEMPOTENCY_NOT_REPLAYABLE",
     "idempotency_error", "Executed before, and its answer is not kept"},
    {ProblemCode::idempotency_key_forgotten, 409, "ERR_IDEMPOTENCY_KEY_FORGOTTEN",
     "idempotency_error", "Keys of before are forgotten"},
    {ProblemCode::outcome_unknown, 409, "ERR_OUTCOME_UNKNOWN", "idempotency_error",
     "Outcome unknown"},
    {ProblemCode::conflict, 409, "ERR_CONFLICT", "invalid_request_error",
     "Not possible as things stand"},
    {ProblemCode::locked_out, 429, "ERR_LOCKED_OUT", "authentication_error",
     "Too many wrong tokens"},
    {ProblemCode::internal, 500, "ERR_INTERNAL", "api_error", "Internal error"},
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

// `name` with its quotes and colon, and what stands before it.
void append_member(std::string& out, std::string_view name, std::string_view value) {
  out.append(name);
  json::append_quoted(out, value);
}

}  // namespace

int status_of(ProblemCode code) {
  return row_of(code).status;
}

int status_of(const Problem& problem) {
  return problem.status != 0 ? problem.status : status_of(problem.code);
}

std::string_view to_string(ProblemCode code) {
  return row_of(code).name;
}

std::string body_of(const Problem& problem) {
  std::string out;
  append_body(out, {.code = problem.code,
                    .detail = problem.detail,
                    .violated_policies = problem.violated_policies,
                    .status = status_of(problem)});
  return out;
}

void append_body(std::string& out, const ProblemWords& problem) {
  const Row& row = row_of(problem.code);
  append_member(out, "{\"type\":", type_of(problem.code));
  append_member(out, ",\"title\":", row.title);
  out.append(",\"status\":");
  append_number(out, problem.status);
  append_member(out, ",\"detail\":", problem.detail);
  append_member(out, ",\"code\":", row.name);
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
  append_member(out, ",\"error\":{\"type\":", row.kind);
  append_member(out, ",\"code\":", row.name);
  append_member(out, ",\"message\":", problem.detail);
  out.append("}}\n");
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
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
