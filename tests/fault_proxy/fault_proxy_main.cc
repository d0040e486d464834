// fault_proxy --upstream PORT [--listen PORT]: the fault proxy for tests in other languages.
//
// Prints "listening PORT", then takes commands from standard input, one a line, and answers each
// with one line once it is in force: a fault as parse_fault() reads it or "clear" with "ok",
// "stats" with a JSON object, anything else with "error: ...". Ends at the end of its input.
#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tests/fault_proxy/fault_proxy.h"

namespace pawl {
namespace {

struct Options {
  std::uint16_t upstream = 0;
  std::uint16_t listen = 0;
};

Result<Options> parse_options(int count, char** words) {
  const auto usage = [] {
    return failure(Code::usage, "usage: fault_proxy --upstream PORT [--listen PORT]");
  };
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    if ((name != "--upstream" && name != "--listen") || i + 1 == count) return usage();
    const std::string_view value = words[i + 1];
    std::uint16_t& port = name == "--upstream" ? options.upstream : options.listen;
    const auto [rest, error] = std::from_chars(value.begin(), value.end(), port);
    if (error != std::errc() || rest != value.end()) return usage();
  }
  if (options.upstream == 0) return usage();
  return options;
}

json::Value number(std::uint64_t n) {
  return json::Number{std::to_string(n)};
}

std::string stats(const FaultProxy& proxy) {
  json::Object bytes;
  json::Object faults;
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    const std::string towards(to_string(direction));
    bytes[towards] = number(proxy.bytes(direction));
    json::Object counts;
    for (int i = 0; i < fault_kinds; ++i) {
      const auto kind = static_cast<FaultKind>(i);
      counts[std::string(to_string(kind))] = number(proxy.count(kind, direction));
    }
    faults[towards] = std::move(counts);
  }
  return json::print(json::Object{{"connections", number(proxy.connections())},
                                  {"bytes", std::move(bytes)},
                                  {"faults", std::move(faults)}});
}

std::string answer(FaultProxy& proxy, const std::string& command) {
  if (command == "stats") return stats(proxy);
  if (command == "clear") {
    proxy.clear();
    return "ok";
  }
  const auto fault = parse_fault(command);
  if (!fault) return "error: " + fault.error().message;
  proxy.set(*fault);
  return "ok";
}

int run(int count, char** words) {
  const auto complain = [](const Error& error) {
    std::cerr << error.message << '\n';
    return static_cast<int>(error.code);
  };
  const auto options = parse_options(count, words);
  if (!options) return complain(options.error());
  FaultProxy proxy(options->upstream, options->listen);
  if (const auto started = proxy.started(); !started) return complain(started.error());
  std::cout << "listening " << proxy.port() << std::endl;
  for (std::string command; std::getline(std::cin, command);) {
    std::cout << answer(proxy, command) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace pawl

int main(int count, char** words) {
  return pawl::run(count, words);
}
