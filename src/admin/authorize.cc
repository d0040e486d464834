#include "admin/authorize.h"

#include <string>

#include "base/text.h"

namespace pawl::admin {
namespace {

constexpr std::string_view summary =
    "May this request pass? With an unknown tenant 401, over a limit 429.";

void ask(Context& context, Call call, Context::Question question) {
  // The request is good during the call, and the call goes to whoever answers it.
  const server::Request request = call.request();
  question.request = &request;
  context.authorize(std::move(question),
                    [call = std::move(call)](server::Response response) mutable {
                      std::move(call).answer(std::move(response));
                    });
}

// What the fields say of a request, when they can be believed: they come from the proxy itself.
void ask_for_nginx(Context& context, Call call) {
  const std::string target(call.request().header("X-Original-URI"));
  std::string method(call.request().header("X-Original-Method"));
  if (!target.starts_with('/')) {
    return std::move(call).refuse(
        http::ProblemCode::bad_request,
        "X-Original-URI does not say what the client asked for. Let the proxy set it (nginx: "
        "proxy_set_header X-Original-URI $request_uri), or ask below /v1/authorize/.");
  }
  if (method.empty()) method = "GET";
  const int status = call.text("deny") == "403" ? 403 : 0;
  ask(context, std::move(call),
      {.method = std::move(method), .target = target, .refusal_status = status});
}

void ask_for_envoy(Context& context, Call call) {
  const std::string method = call.request().method;
  const std::string target = "/" + call.text("path");
  ask(context, std::move(call), {.method = method, .target = target});
}

std::vector<Told> answers() {
  return {{200, "It may pass; the rate fields are those of its limits.",
           schema::object({{"allowed", schema::truth()}})}};
}

}  // namespace

Routes authorize_routes(Context& context) {
  return {
      {.method = "GET",
       .path = "/v1/authorize",
       .id = "authorize",
       .summary = summary,
       .access = Access::proxy,
       .parameters = {{"deny", "The status of a refusal, in place of 429.",
                       schema::word({"403", "429"})}},
       .answers = answers(),
       .problems = {400, 403, 503},
       .handle = [&context](Call call) { ask_for_nginx(context, std::move(call)); }},
      {.method = "*",
       .path = "/v1/authorize/{path}",
       .id = "authorize_path",
       .summary = summary,
       .access = Access::proxy,
       .parameters = {{"path", "What the client asked for, slashes and query included.",
                       schema::text(), Parameter::In::path}},
       .answers = answers(),
       .problems = {503},
       .takes_rest = true,
       .handle = [&context](Call call) { ask_for_envoy(context, std::move(call)); }},
  };
}

}  // namespace pawl::admin
