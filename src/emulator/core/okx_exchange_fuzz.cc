// Any calls: the emulated OKX must not crash, must answer each in JSON, and must be the same when
// its lines are read back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "emulator/core/faults.h"
#include "emulator/core/okx_exchange.h"

using namespace pawl;
using namespace pawl::emulator;

static void require(bool condition) {
  if (!condition) std::abort();
}

// A line is a call: a letter for the operation, then its body or query.
static Call call_of(std::string_view line) {
  static constexpr std::string_view posts[] = {
      "/api/v5/trade/order", "/api/v5/trade/batch-orders", "/api/v5/trade/cancel-order",
      "/api/v5/trade/amend-order", "/api/v5/trade/cancel-batch-orders"};
  static constexpr std::string_view gets[] = {
      "/api/v5/trade/order", "/api/v5/trade/orders-pending", "/api/v5/trade/orders-history",
      "/api/v5/trade/fills", "/api/v5/account/positions",    "/api/v5/public/instruments"};
  const auto kind = static_cast<std::uint8_t>(line.empty() ? 0 : line.front());
  const std::string rest(line.empty() ? line : line.substr(1));
  if (kind % 2 == 0) {
    return {
        .method = "POST", .path = std::string(posts[kind / 2 % std::size(posts)]), .body = rest};
  }
  return {.method = "GET", .path = std::string(gets[kind / 2 % std::size(gets)]), .query = rest};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  OkxExchange exchange;
  const Result<Script> open = parse_script(R"({"settings": {"authentication": false}})");
  require(open && exchange.play(*open));
  OkxExchange again;
  Instant now;
  while (!input.empty()) {
    now = now + Duration::seconds(1);
    const Reply reply = exchange.answer(call_of(take_until(input, '\n')), now);
    require(json::parse(reply.body).has_value());
    for (const Push& push : exchange.take_pushes()) require(json::parse(push.text).has_value());
    for (const std::string& line : exchange.take_changes())
      require(again.restore(line).has_value());
  }
  require(json::print(again.orders()) == json::print(exchange.orders()));
  return 0;
}
