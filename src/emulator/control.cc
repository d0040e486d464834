// The control port of Server: what a test asks an emulated venue, and what it does to it.
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "emulator/core/calls.h"
#include "emulator/server.h"

namespace pawl::emulator {
namespace {

std::string told(const json::Value& value) {
  return json::print(value) + "\n";
}

int status_of(Code code) {
  switch (code) {
    case Code::not_found:
      return 404;
    case Code::refused:
      return 409;
    default:
      return 400;
  }
}

}  // namespace

server::Response Server::control(const server::Request& request) {
  Result<std::string> done = steer(request);
  if (done && !keep_changes()) done = std::unexpected(*failed_);
  push(false);
  if (done) return {.body = *std::move(done)};
  json::Object problem;
  problem["error"] = done.error().message;
  return {.status = status_of(done.error().code), .body = told(std::move(problem))};
}

Result<std::string> Server::steer(const server::Request& request) {
  const std::vector<std::string> path = path_parts(request.path());
  const std::string name = request.method + " " + (path.empty() ? "" : path.front());
  const bool is_plain = path.size() == 1;
  if (is_plain && (name == "GET orders" || name == "GET objects"))
    return told(venue_.exchange->orders());
  if (is_plain && name == "GET stats") return told(venue_.exchange->stats());
  if (is_plain && name == "GET log") return log_.all();
  if (is_plain && name == "GET clock") return move_clock("{}");
  if (is_plain && name == "POST clock") return move_clock(request.body);
  if (is_plain && name == "POST faults") {
    PAWL_TRY(play(request.body));
    return told(json::Object());
  }
  if (is_plain && name == "POST reset") {
    venue_.exchange->reset();
    log_.clear();
    return told(json::Object());
  }
  if (path.size() == 3 && name == "POST orders") {
    PAWL_TRY(venue_.exchange->act(path[1], path[2], clock_.now()));
    return told(json::Object());
  }
  return failure(
      Code::not_found,
      "there is no " + request.method + " " + std::string(request.path()) +
          ": GET /orders (/objects), /stats, /log, /clock; POST /faults, /clock, /reset, "
          "/orders/ID/fill|cancel|expire|reject are");
}

// {"advance": "3h"}, {"skew_ms": -5000}; both, neither: then it only tells the time.
Result<std::string> Server::move_clock(const std::string& body) {
  const json::Value asked = PAWL_TRY(json::parse(body));
  const json::Object* members = asked.if_object();
  if (members == nullptr) return failure(Code::invalid, "the body must be a JSON object");
  for (const auto& [name, value] : *members) {
    const std::string text = text_of(asked, name);
    if (name == "advance") {
      clock_.advance(PAWL_TRY(parse_duration(text)));
    } else if (name == "skew_ms") {
      std::int64_t skew = 0;
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data(), end, skew).ptr != end || text.empty()) {
        return failure(Code::invalid, "skew_ms must be a whole number of milliseconds");
      }
      clock_.set_skew(Duration::milliseconds(skew));
    } else {
      return failure(Code::invalid, name + " is not known: advance and skew_ms are");
    }
  }
  venue_.exchange->tick(clock_.now());
  json::Object now;
  now["now"] = to_string(clock_.now());
  now["skew_ms"] = clock_.skew().milliseconds_up();
  return told(std::move(now));
}

}  // namespace pawl::emulator
