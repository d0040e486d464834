// What the tests of calls to Saxo share: a Saxo that is a function of the call.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"
#include "runtime/webhooks_fixture.h"
#include "venue/saxo/saxo_venue.h"

namespace pawl::saxo {

inline const Instant test_now = parse_instant("2026-01-25T21:15:00Z").value();

inline order::Order stock_order() {
  return {.venue = "saxo",
          .instrument = "211",
          .asset_type = "Stock",
          .type = order::Type::limit,
          .size = parse_decimal("10").value(),
          .price = parse_decimal("150.10").value()};
}

// The members that every row of stock_order() has, without braces.
inline std::string terms(std::string_view id, std::string_view amount = "10") {
  return R"("OrderId":")" + std::string(id) +
         R"(","AccountKey":"account","Uic":211,"AssetType":"Stock","BuySell":"Buy","Amount":)" +
         std::string(amount) + R"(,"OrderType":"Limit","Price":150.1)";
}
inline std::string open_row(std::string_view id, std::string_view reference,
                            std::string_view amount = "10") {
  const std::string carried =
      reference.empty() ? "" : R"(,"ExternalReference":")" + std::string(reference) + '"';
  return "{" + terms(id, amount) + R"(,"Status":"Working","OrderTime":"2026-01-25T21:14:50Z")" +
         carried + "}";
}
inline std::string activity_row(std::string_view id, std::string_view status,
                                std::string_view sub_status, std::string_view log_id,
                                std::string_view reference = "") {
  const std::string carried =
      reference.empty() ? "" : R"(,"ExternalReference":")" + std::string(reference) + '"';
  return "{" + terms(id) + R"(,"ActivityTime":"2026-01-25T21:14:50Z","LogId":")" +
         std::string(log_id) + R"(","Status":")" + std::string(status) + R"(","SubStatus":")" +
         std::string(sub_status) + '"' + carried + "}";
}
inline HttpAnswer json_answer(int status, std::string body) {
  return {.status = status, .body = std::move(body), .complete = true};
}
inline HttpAnswer shown(const std::string& rows) {
  return json_answer(200, R"({"Data":[)" + rows + "]}");
}

// Answers by method and path, without the query; shows no order where it was told nothing.
class FakeSaxo {
 public:
  using Answering = std::function<FakeEndpoints::Reply(const HttpRequest&)>;

  FakeSaxo() {
    clock.set_wall(test_now);
    http.answer = [this](const HttpRequest& request) { return answer_to(request); };
  }
  static std::string path_of(const HttpRequest& request) {
    const std::string path = request.url.substr(std::string_view("http://saxo.test").size());
    return request.method + ' ' + path.substr(0, path.find('?'));
  }
  static std::string query_of(const HttpRequest& request) {
    const auto question = request.url.find('?');
    return question == std::string::npos ? "" : request.url.substr(question + 1);
  }
  void on(const std::string& path, HttpAnswer answer) {
    answers[path] = [answer](const HttpRequest&) { return answer; };
  }
  std::vector<HttpRequest> calls(std::string_view path) const {
    std::vector<HttpRequest> found;
    for (const HttpRequest& request : http.sent) {
      if (path_of(request) == path) found.push_back(request);
    }
    return found;
  }
  static SaxoOptions options() {
    return {.base_url = "http://saxo.test/openapi/",
            .token_url = "http://saxo.test/token",
            .access_token = Secret<std::string>("access-0"),
            .refresh_token = Secret<std::string>("refresh-0"),
            .app_key = "app",
            .app_secret = Secret<std::string>("app-secret"),
            .client_key = "client",
            .account_key = "account"};
  }
  std::unique_ptr<SaxoVenue> venue(SaxoOptions settings = options()) {
    auto opened = SaxoVenue::open(
        std::move(settings),
        {http, clock, timers, [this](const std::string& note) { notes.push_back(note); }});
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(*opened);
  }

  ManualClock clock;
  ManualTimers timers{clock};
  FakeEndpoints http;
  std::map<std::string, Answering> answers;
  std::vector<std::string> notes;

 private:
  FakeEndpoints::Reply answer_to(const HttpRequest& request) {
    const auto found = answers.find(path_of(request));
    if (found != answers.end()) return found->second(request);
    return shown("");
  }
};

inline const std::string place_call = "POST /openapi/trade/v2/orders";
inline const std::string open_call = "GET /openapi/port/v1/orders/me";
inline const std::string activities_call = "GET /openapi/cs/v1/audit/orderactivities";
inline const std::string events_call = "GET /openapi/ens/v1/activities";
inline const std::string token_call = "POST /token";

}  // namespace pawl::saxo
