#include "cli/emulate.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "adapter/system/system_clock.h"
#include "base/address.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "emulator/server.h"
#include "emulator/venues.h"
#include "net/loop.h"

namespace pawl::cli {
namespace {

Result<std::string> read_script(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failure(Code::not_found, path + " cannot be read: name a fault script");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// As --listen and --control name it.
Result<Endpoint> endpoint_of(const Arguments& arguments, std::string_view option) {
  const Result<Endpoint> endpoint = parse_endpoint(arguments.value(option));
  if (!endpoint) {
    return std::unexpected(
        usage_error("emulate", std::string(option) + ": " + endpoint.error().message));
  }
  PAWL_TRY(require_free(*endpoint, option));
  return endpoint;
}

Result<void> prepare(emulator::Server& server, const Arguments& arguments) {
  if (arguments.has("--faults")) {
    const std::string& path = arguments.value("--faults");
    const Result<void> played = server.play(PAWL_TRY(read_script(path)));
    if (!played) return failure(Code::invalid, path + ": " + played.error().message);
  }
  if (arguments.has("--book")) PAWL_TRY(server.keep_book(arguments.value("--book")));
  if (arguments.has("--log")) PAWL_TRY(server.keep_log(arguments.value("--log")));
  return {};
}

Result<void> serve_venue(const Arguments& arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  const Endpoint listen = PAWL_TRY(endpoint_of(arguments, "--listen"));
  SystemClock clock;
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  emulator::Server server(*loop, clock, emulator::make_venue(arguments.value("VENUE")));
  PAWL_TRY(prepare(server, arguments));
  std::string said = "listening on " + to_string(PAWL_TRY(server.listen(listen))) + "\n";
  if (arguments.has("--control")) {
    const Endpoint control = PAWL_TRY(endpoint_of(arguments, "--control"));
    said += "control on " + to_string(PAWL_TRY(server.listen_for_control(control))) + "\n";
  }
  print(said);
  std::fflush(stdout);
  loop->on_signals({SIGTERM, SIGINT}, [&](int) { loop->stop(); });
  loop->run();
  if (server.failed()) return std::unexpected(*server.failed());
  return {};
}

}  // namespace

int emulate(const Arguments& arguments) {
  const Result<void> served = serve_venue(arguments);
  return served ? 0 : fail(served.error());
}

}  // namespace pawl::cli
