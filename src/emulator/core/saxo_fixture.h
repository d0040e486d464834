// For tests: an emulated Saxo, a clock, and calls to it that are good unless told otherwise.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "emulator/core/calls.h"
#include "emulator/core/faults.h"
#include "emulator/core/saxo_exchange.h"

namespace pawl::emulator {

class SaxoFixture : public testing::Test {
 protected:
  static Call call(std::string method, std::string target, std::string body = "") {
    const std::size_t mark = target.find('?');
    Call made{.method = std::move(method),
              .path = target.substr(0, mark),
              .query = mark == std::string::npos ? "" : target.substr(mark + 1),
              .fields = {{.name = "authorization", .value = "Bearer t"},
                         {.name = "host", .value = "saxo"}},
              .body = std::move(body)};
    return made;
  }
  static Call with(Call call, std::string name, std::string value) {
    call.fields.push_back({.name = std::move(name), .value = std::move(value)});
    return call;
  }

  static std::string order(std::string_view reference, std::string_view type = "Market") {
    std::string price = type == "Market" ? "" : R"("OrderPrice":12.50,)";
    if (type == "StopLimit") price += R"("StopLimitPrice":12.60,)";
    return R"({"AccountKey":"a","Uic":211,"AssetType":"Stock","BuySell":"Buy","Amount":10,)" +
           price + R"("OrderType":")" + std::string(type) +
           R"(","OrderDuration":{"DurationType":"DayOrder"},"ManualOrder":false,)" +
           R"("ExternalReference":")" + std::string(reference) + R"("})";
  }

  // A second later than the call before: within the limit of orders.
  Reply ask(Call call) {
    now_ = now_ + Duration::seconds(1);
    return ask_now(std::move(call));
  }
  Reply ask_now(Call call) {
    call.number = ++number_;
    return exchange_.answer(call, now_);
  }
  Reply place(std::string_view reference, std::string_view type = "Market") {
    return ask(call("POST", "/trade/v2/orders", order(reference, type)));
  }
  json::Value get(std::string target) { return body(ask(call("GET", std::move(target)))); }

  static json::Value body(const Reply& reply) {
    Result<json::Value> parsed = json::parse(reply.body);
    EXPECT_TRUE(parsed) << reply.body;
    return parsed ? *parsed : json::Value();
  }
  static json::Array data(const json::Value& list) {
    const json::Value* rows = list.find("Data");
    EXPECT_NE(rows, nullptr) << json::print(list);
    return rows == nullptr ? json::Array() : *rows->if_array();
  }
  static std::string told(const Reply& reply, std::string_view name) {
    for (const Field& field : reply.fields) {
      if (field.name == name) return field.value;
    }
    return "";
  }
  void play(std::string_view script) {
    const Result<Script> parsed = parse_script(script);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const Result<void> played = exchange_.play(*parsed);
    ASSERT_TRUE(played) << played.error().message;
  }
  static std::string error_code(const Reply& reply) { return text_of(body(reply), "ErrorCode"); }

  SaxoExchange exchange_;
  Instant now_ = Instant::from_ns(1'790'000'000'000'000'000);
  std::uint64_t number_ = 0;
};

}  // namespace pawl::emulator
