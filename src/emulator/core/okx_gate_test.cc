// Goal: the emulated OKX lets in whoever the venue would, and tells the others why not.
// Method: published signatures, and good calls with one thing spoilt.
#include "emulator/core/okx_gate.h"

#include <gtest/gtest.h>

#include "emulator/core/okx_fixture.h"

namespace pawl::emulator {
namespace {

const Secret<std::string> secret(std::string("22582BD0CFF14C41EDBF1AB98506286D"));
constexpr std::string_view timestamp = "2020-12-08T09:08:57.715Z";

TEST(OkxSignature, IsThatOfTheVectors) {
  EXPECT_EQ(
      okx_signature(secret, timestamp, "GET/api/v5/trade/order?instId=BTC-USDT&clOrdId=pawl0001"),
      "DfcdXeDovk7vfcnz2Al3IhmvmIvRxsCLk90qVBiG7JY=");
  EXPECT_EQ(okx_signature(secret, timestamp,
                          "POST/api/v5/trade/order"
                          R"({"instId":"BTC-USDT","tdMode":"cash","clOrdId":"pawl0001",)"
                          R"("side":"buy","ordType":"limit","px":"2.15","sz":"2"})"),
            "xu92qZS7gLnz/l1PxPBtDs4xgnMw+OWWmp6Pkp1Xlsw=");
  EXPECT_EQ(okx_signature(secret, "1704876947", "GET/users/self/verify"),
            "5/36BgGV6m/6pmdc20zdqk0mzF5ZalmzzPD2fo3wavU=");
}

class OkxGate : public OkxFixture {
 protected:
  static constexpr std::string_view target = "/api/v5/account/config";

  OkxTold with(std::string_view name, std::string_view value) {
    Call made = call("GET", target);
    for (Field& found : made.fields) {
      if (found.name == name) found.value = value;
    }
    return told(exchange.answer(made, now));
  }
};

TEST_F(OkxGate, LetsAGoodCallIn) {
  const OkxTold answer = get(target);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.code, "0");
}

TEST_F(OkxGate, NamesWhatIsMissingOrWrong) {
  const std::pair<std::pair<std::string_view, std::string_view>, std::string_view> spoilt[] = {
      {{"ok-access-key", ""}, "50103"},
      {{"ok-access-passphrase", ""}, "50104"},
      {{"ok-access-sign", ""}, "50106"},
      {{"ok-access-timestamp", ""}, "50107"},
      {{"ok-access-key", "nobody"}, "50111"},
      {{"ok-access-passphrase", "wrong"}, "50105"},
      {{"ok-access-sign", "c2lnbg=="}, "50113"},
      {{"ok-access-timestamp", "1704876947"}, "50112"},
      {{"ok-access-timestamp", "2026-01-25T12:00:00Z"}, "50112"},
      {{"x-simulated-trading", "0"}, "50101"},
      {{"ok-access-key", "emulated-live"}, "50101"},
  };
  for (const auto& [change, code] : spoilt) {
    const OkxTold answer = with(change.first, change.second);
    EXPECT_EQ(answer.code, code) << change.first << ": " << change.second;
    EXPECT_EQ(answer.status, 401);
  }
}

TEST_F(OkxGate, RefusesATimestampThatIsMoreThanHalfAMinuteOff) {
  const Call made = call("GET", target);
  EXPECT_EQ(told(exchange.answer(made, now + Duration::seconds(30))).code, "0");
  EXPECT_EQ(told(exchange.answer(made, now + Duration::milliseconds(30'001))).code, "50102");
  EXPECT_EQ(told(exchange.answer(made, now - Duration::milliseconds(30'001))).code, "50102");
}

TEST_F(OkxGate, LetsInACallThatWaitedBehindIt) {
  Call made = call("GET", target);
  made.held = true;
  EXPECT_EQ(told(exchange.answer(made, now + Duration::minutes(5))).code, "0");
}

TEST_F(OkxGate, SignsTheQueryAndTheBodyAsWell) {
  Call read = call("GET", "/api/v5/trade/orders-pending?instType=SPOT");
  read.query = "instType=SWAP";
  EXPECT_EQ(told(exchange.answer(read, now)).code, "50113");
  Call write = call("POST", "/api/v5/trade/order", limit_order("a"));
  write.body = limit_order("b");
  EXPECT_EQ(told(exchange.answer(write, now)).code, "50113");
}

TEST_F(OkxGate, AsksNothingOfPublicCalls) {
  Call made = call("GET", "/api/v5/public/time");
  made.fields.clear();
  EXPECT_EQ(told(exchange.answer(made, now)).at("ts"), "1769342400000");
}

TEST_F(OkxGate, CanBeOpened) {
  play(R"({"settings": {"authentication": false}})");
  Call made = call("GET", target);
  made.fields.clear();
  EXPECT_EQ(told(exchange.answer(made, now)).code, "0");
}

json::Value login(std::string_view key, std::string_view at, std::string_view passphrase) {
  return json::Object{{"apiKey", key},
                      {"passphrase", passphrase},
                      {"timestamp", at},
                      {"sign", okx_signature(secret, at, "GET/users/self/verify")}};
}

TEST_F(OkxGate, ChecksALogin) {
  const OkxSettings settings = default_okx_settings();
  const auto code = [&](const json::Value& value) {
    return check_okx_login(settings, value, now).code;
  };
  EXPECT_EQ(code(login("emulated-demo", "1769342400", "emulated-passphrase")), "");
  EXPECT_EQ(code(login("emulated-live", "1769342400", "emulated-passphrase")), "");
  EXPECT_EQ(code(login("nobody", "1769342400", "emulated-passphrase")), "60005");
  EXPECT_EQ(code(login("emulated-demo", "1769342400", "wrong")), "60024");
  EXPECT_EQ(code(login("emulated-demo", "1769342431", "emulated-passphrase")), "60006");
  EXPECT_EQ(code(login("emulated-demo", "now", "emulated-passphrase")), "60004");
  EXPECT_EQ(code(json::Object{{"apiKey", "emulated-demo"}, {"timestamp", "1769342400"}}), "60007");
}

}  // namespace
}  // namespace pawl::emulator
