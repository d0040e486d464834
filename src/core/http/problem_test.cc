// Goal: every problem of pawl's own has the code and status users script against, and is valid JSON
// whatever stands in it. Method: pinned body; the table of codes; a hostile detail.
#include "core/http/problem.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace pawl::http {
namespace {

TEST(Problem, CarriesTypeCodePoliciesAndErrorObject) {
  const std::string_view violated[] = {"global"};
  const std::string body = body_of({.code = ProblemCode::rate_limit,
                                    .detail = "Limit 'global' is used up.",
                                    .violated_policies = violated});
  EXPECT_EQ(body,
            R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
            R"("title":"Rate limit exceeded","status":429,"detail":"Limit 'global' is used up.",)"
            R"("code":"ERR_RATE_LIMIT","violated-policies":["global"],)"
            R"("error":{"type":"rate_limit_error","code":"ERR_RATE_LIMIT",)"
            R"("message":"Limit 'global' is used up."}})"
            "\n");
}

TEST(Problem, HasTheStatusesOfTheContract) {
  const std::tuple<ProblemCode, int, const char*> cases[] = {
      {ProblemCode::rate_limit, 429, "ERR_RATE_LIMIT"},
      {ProblemCode::tenant_unknown, 401, "ERR_TENANT_UNKNOWN"},
      {ProblemCode::store_unavailable, 503, "ERR_STORE_UNAVAILABLE"},
      {ProblemCode::upstream_unreachable, 502, "ERR_UPSTREAM_UNREACHABLE"},
      {ProblemCode::upstream_timeout, 504, "ERR_UPSTREAM_TIMEOUT"},
      {ProblemCode::bad_request, 400, "ERR_BAD_REQUEST"},
      {ProblemCode::too_large, 413, "ERR_TOO_LARGE"},
      {ProblemCode::unauthorized, 401, "ERR_UNAUTHORIZED"},
      {ProblemCode::not_found, 404, "ERR_NOT_FOUND"},
      {ProblemCode::method_not_allowed, 405, "ERR_METHOD_NOT_ALLOWED"},
      {ProblemCode::forbidden, 403, "ERR_FORBIDDEN"},
      {ProblemCode::overloaded, 503, "ERR_OVERLOADED"},
      {ProblemCode::upgrade_refused, 501, "ERR_UPGRADE_REFUSED"},
      {ProblemCode::idempotency_key_missing, 400, "ERR_IDEMPOTENCY_KEY_MISSING"},
      {ProblemCode::idempotency_key_invalid, 400, "ERR_IDEMPOTENCY_KEY_INVALID"},
      {ProblemCode::idempotency_mismatch, 422, "ERR_IDEMPOTENCY_MISMATCH"},
      {ProblemCode::idempotency_in_flight, 409, "ERR_IDEMPOTENCY_IN_FLIGHT"},
      {ProblemCode::idempotency_key_forgotten, 409, "ERR_IDEMPOTENCY_KEY_FORGOTTEN"},
      {ProblemCode::outcome_unknown, 409, "ERR_OUTCOME_UNKNOWN"},
      {ProblemCode::conflict, 409, "ERR_CONFLICT"},
      {ProblemCode::locked_out, 429, "ERR_LOCKED_OUT"},
      {ProblemCode::internal, 500, "ERR_INTERNAL"},
  };
  for (const auto& [code, status, name] : cases) {
    EXPECT_EQ(status_of(code), status);
    EXPECT_EQ(to_string(code), name);
    EXPECT_FALSE(reason_phrase(status).empty());
  }
}

TEST(Problem, MayHaveAnotherStatusThanItsCode) {
  const Problem problem{.code = ProblemCode::idempotency_mismatch, .detail = "x", .status = 409};
  EXPECT_EQ(status_of(problem), 409);
  EXPECT_NE(body_of(problem).find("\"status\":409,"), std::string::npos);
}

TEST(Problem, IsJsonWhateverTheDetailHolds) {
  const std::string hostile = "\"}\r\n\x01\xff\xe2\x80\xa8";
  const auto parsed = json::parse(body_of({.code = ProblemCode::bad_request, .detail = hostile}));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(*parsed->find("code")->if_string(), "ERR_BAD_REQUEST");
}

}  // namespace
}  // namespace pawl::http
