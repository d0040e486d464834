// For tests: a client of the emulated OKX that signs what it sends, and a clock moved by hand.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "emulator/core/okx_exchange.h"
#include "emulator/core/okx_gate.h"
#include "pawl/time.h"

namespace pawl::emulator {

// The code of an answer, and of its first item.
struct OkxTold {
  int status = 0;
  std::string code = {};
  std::string s_code = {};
  std::string order_id = {};
  json::Value body = {};

  // By value: an answer is often a temporary.
  json::Array data() const { return *body.find("data")->if_array(); }
  // Of the first row.
  std::string at(std::string_view member) const {
    const json::Array rows = data();
    const json::Value* value = rows.at(0).find(member);
    return value == nullptr ? "(none)" : *value->if_string();
  }
};

inline std::string member_of(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  return value == nullptr || value->if_string() == nullptr ? "" : *value->if_string();
}

class OkxFixture : public testing::Test {
 protected:
  // Faults and settings, as in a file.
  void play(std::string_view script) {
    const Result<Script> read = parse_script(script);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const Result<void> played = exchange.play(*read);
    ASSERT_TRUE(played.has_value()) << played.error().message;
  }

  Call call(std::string_view method, std::string_view target, std::string_view body = "") {
    const std::size_t question = target.find('?');
    Call made{.number = ++number,
              .method = std::string(method),
              .path = std::string(target.substr(0, question)),
              .query = question == std::string_view::npos
                           ? std::string()
                           : std::string(target.substr(question + 1)),
              .body = std::string(body)};
    sign(made, target);
    return made;
  }

  void sign(Call& made, std::string_view target) {
    const OkxKey& key = exchange.settings().keys.front();
    const std::string timestamp = to_string(now);
    const std::string rest = made.method + std::string(target) + made.body;
    made.fields = {{.name = "ok-access-key", .value = key.key},
                   {.name = "ok-access-timestamp", .value = timestamp},
                   {.name = "ok-access-sign", .value = okx_signature(key.secret, timestamp, rest)},
                   {.name = "ok-access-passphrase", .value = key.passphrase.reveal()},
                   {.name = "x-simulated-trading", .value = "1"}};
  }

  OkxTold told(const Reply& reply) {
    OkxTold answer{.status = reply.status};
    const Result<json::Value> body = json::parse(reply.body);
    if (!body) return answer;
    answer.body = *body;
    answer.code = member_of(*body, "code");
    const json::Value* data = body->find("data");
    if (data != nullptr && !data->if_array()->empty()) {
      answer.s_code = member_of(data->if_array()->front(), "sCode");
      answer.order_id = member_of(data->if_array()->front(), "ordId");
    }
    return answer;
  }

  OkxTold get(std::string_view target) { return told(exchange.answer(call("GET", target), now)); }
  OkxTold post(std::string_view path, std::string_view body) {
    last = exchange.answer(call("POST", path, body), now);
    return told(last);
  }

  // An order on BTC-USDT that rests: far below the market.
  static std::string limit_order(std::string_view client_id, std::string_view more = "") {
    return R"({"instId":"BTC-USDT","tdMode":"cash","side":"buy","ordType":"limit","px":"2.15",)"
           R"("sz":"2","clOrdId":")" +
           std::string(client_id) + "\"" + std::string(more) + "}";
  }
  // One on BTC-USDT-SWAP that fills at once.
  static std::string swap_order(std::string_view side, std::string_view size,
                                std::string_view more = "") {
    return R"({"instId":"BTC-USDT-SWAP","tdMode":"cross","ordType":"market","side":")" +
           std::string(side) + R"(","sz":")" + std::string(size) + "\"" + std::string(more) + "}";
  }

  OkxTold place(std::string_view body) { return post("/api/v5/trade/order", body); }
  OkxTold find(std::string_view client_id) {
    return get("/api/v5/trade/order?instId=BTC-USDT&clOrdId=" + std::string(client_id));
  }

  OkxExchange exchange;
  Instant now = parse_instant("2026-01-25T12:00:00.000Z").value_or(Instant());
  std::uint64_t number = 0;
  Reply last;  // of the last post()
};

}  // namespace pawl::emulator
