// What the tests of calls to OKX share: an OKX that is a function of the call, and its envelopes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "port/entropy.h"
#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"
#include "runtime/webhooks_fixture.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_sign.h"

namespace pawl::okx {

inline const Credentials test_credentials{.api_key = Secret<std::string>("the-key"),
                                          .secret_key = Secret<std::string>("the-secret"),
                                          .passphrase = Secret<std::string>("the-passphrase")};

// No two calls give the same.
class CountingEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    Entropy16 bytes = {};
    bytes[0] = ++calls_;
    return bytes;
  }

 private:
  std::uint8_t calls_ = 0;
};

inline HttpAnswer enveloped(std::string_view code, const std::string& data, int status = 200) {
  return {.status = status,
          .body = R"({"code":")" + std::string(code) + R"(","msg":"","data":)" + data + "}",
          .complete = true};
}
inline std::string order_row(std::string_view id, std::string_view client_id,
                             std::string_view state) {
  return R"({"instId":"BTC-USDT","ordId":")" + std::string(id) + R"(","clOrdId":")" +
         std::string(client_id) + R"(","sz":"2","px":"2.15","side":"buy","ordType":"limit",)" +
         R"("accFillSz":"0","state":")" + std::string(state) + R"(","cTime":"1700000000000"})";
}

// Answers by path, without its query; tells its time, which may be another than ours.
class FakeOkx {
 public:
  using Answering = std::function<FakeEndpoints::Reply(const HttpRequest&)>;

  FakeOkx() {
    http.answer = [this](const HttpRequest& request) { return answer_to(request); };
  }
  static std::string path_of(const HttpRequest& request) {
    const std::string path = request.url.substr(std::string_view("http://okx.test").size());
    return path.substr(0, path.find('?'));
  }
  void on(const std::string& path, HttpAnswer answer) {
    answers[path] = [answer](const HttpRequest&) { return answer; };
  }
  Instant venue_time() { return clock.wall_now() + skew; }
  // The calls of this path, oldest first.
  std::vector<HttpRequest> calls(std::string_view path) const {
    std::vector<HttpRequest> found;
    for (const HttpRequest& request : http.sent) {
      if (path_of(request) == path) found.push_back(request);
    }
    return found;
  }

  ManualClock clock;
  ManualTimers timers{clock};
  FakeEndpoints http;
  Duration skew = {};
  std::map<std::string, Answering> answers;

 private:
  FakeEndpoints::Reply answer_to(const HttpRequest& request) {
    const std::string path = path_of(request);
    const auto found = answers.find(path);
    if (found != answers.end()) return found->second(request);
    if (path == "/api/v5/public/time") {
      return enveloped("0", R"([{"ts":")" + to_milliseconds(venue_time()) + R"("}])");
    }
    if (path == "/api/v5/trade/order" && request.method == "GET") return enveloped("51603", "[]");
    return enveloped("0", "[]");
  }
};

}  // namespace pawl::okx
