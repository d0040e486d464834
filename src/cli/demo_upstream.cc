#include "cli/demo_upstream.h"

#include <csignal>
#include <cstdio>
#include <string>

#include "adapter/system/system_clock.h"
#include "base/address.h"
#include "base/bounds.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "net/loop.h"
#include "server/http_server.h"
#include "server/responder.h"

namespace pawl::cli {
namespace {

// {"served":3,"method":"POST","path":"/orders","tenant":"acme","body_bytes":12}; the path /fail
// answers 500, so that an unknown outcome can be seen.
server::Response answer(const server::Request& request, std::int64_t served) {
  json::Object seen;
  seen["served"] = served;
  seen["method"] = request.method;
  seen["path"] = request.path();
  seen["tenant"] = request.header("X-Tenant-Id");
  seen["body_bytes"] = request.body.size();
  const bool fails = request.path() == "/fail";
  return {.status = fails ? 500 : 200,
          .body = json::print(json::Value(std::move(seen))) + "\n",
          .extra_fields = {}};
}

Result<void> serve_demo(const Endpoint& listen) {
  std::signal(SIGPIPE, SIG_IGN);
  PAWL_TRY(require_free(listen, "--listen"));
  SystemClock clock;
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  std::int64_t served = 0;
  server::HttpServer server(
      *loop, clock, {.make_handler = [&served](server::Connection& connection) {
        return server::make_responder(
            connection, [&served](const server::Request& r) { return answer(r, ++served); },
            bounds::admin_body_bytes_max);
      }});
  const Endpoint bound = PAWL_TRY(server.listen(listen));
  std::printf("demo upstream on http://%s\n", to_string(bound).c_str());
  std::fflush(stdout);
  loop->on_signals({SIGTERM, SIGINT}, [&](int) { loop->stop(); });
  loop->run();
  return {};
}

}  // namespace

int demo_upstream(const Arguments& arguments) {
  const Result<Endpoint> listen = parse_endpoint(arguments.value("--listen"));
  if (!listen) return fail(usage_error("demo-upstream", "--listen: " + listen.error().message));
  const Result<void> served = serve_demo(*listen);
  return served ? 0 : fail(served.error());
}

}  // namespace pawl::cli
