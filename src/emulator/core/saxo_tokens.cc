#include "emulator/core/saxo_tokens.h"

#include <optional>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/member_reader.h"
#include "base/text.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view bearer = "bearer ";

std::string_view token_of(const Call& call) {
  const std::string_view value = field(call, "authorization");
  if (!equal_ignoring_case(value.substr(0, bearer.size()), bearer)) return {};
  return trim_blanks(value.substr(bearer.size()));
}

std::string numbered(std::string_view word, std::uint64_t number) {
  std::string text(word);
  append_number(text, number);
  return text;
}

Reply refused(std::string_view error) {
  json::Object body;
  body["error"] = error;
  return {.status = 400,
          .fields = {{.name = "Content-Type", .value = "application/json"}},
          .body = json::print(json::Value(std::move(body)))};
}

}  // namespace

SaxoTokens::SaxoTokens(const SaxoSettings& settings)
    : settings_(settings), access_(settings.access_token), refresh_(settings.refresh_token) {}

void SaxoTokens::change(const SaxoSettings& settings) {
  const bool same_pair = settings.access_token == settings_.access_token &&
                         settings.refresh_token == settings_.refresh_token;
  if (same_pair) {
    settings_ = settings;
  } else {
    *this = SaxoTokens(settings);
  }
}

Reply SaxoTokens::refresh(const Call& call, Instant now) {
  if (!client_is_good(call)) {
    Reply reply = refused("invalid_client");
    reply.status = 401;
    return reply;
  }
  if (parameter(call.body, "grant_type") != "refresh_token") {
    return refused("unsupported_grant_type");
  }
  const std::optional<std::string> token = parameter(call.body, "refresh_token");
  const bool is_current = token == refresh_ && now < refresh_ends_;
  if (!token || (settings_.auth != "any" && !is_current)) return refused("invalid_grant");
  ++generation_;
  access_ = numbered("access-", generation_ + 1);
  refresh_ = numbered("refresh-", generation_ + 1);
  access_ends_ = now + settings_.token_lifetime;
  refresh_ends_ = now + settings_.refresh_lifetime;
  changed_ = true;
  json::Object body;
  body["access_token"] = access_;
  body["token_type"] = "Bearer";
  body["expires_in"] = settings_.token_lifetime.seconds_up();
  body["refresh_token"] = refresh_;
  body["refresh_token_expires_in"] = settings_.refresh_lifetime.seconds_up();
  return {.status = 200,
          .fields = {{.name = "Content-Type", .value = "application/json"}},
          .body = json::print(json::Value(std::move(body)))};
}

bool SaxoTokens::admits(const Call& call, Instant now) const {
  const std::string_view token = token_of(call);
  if (settings_.auth == "any") return !token.empty();
  return token == access_ && now < access_ends_;
}

std::string SaxoTokens::session_of(const Call& call) {
  return std::string(token_of(call));
}

bool SaxoTokens::client_is_good(const Call& call) const {
  if (settings_.app_key.empty()) return true;
  const std::string pair = settings_.app_key + ":" + settings_.app_secret;
  const auto bytes = std::as_bytes(std::span(pair));
  const std::string expected =
      "Basic " + to_base64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  if (field(call, "authorization") == expected) return true;
  return parameter(call.body, "client_id") == settings_.app_key &&
         parameter(call.body, "client_secret") == settings_.app_secret;
}

std::string SaxoTokens::take_change() {
  if (!std::exchange(changed_, false)) return {};
  json::Object tokens;
  tokens["generation"] = numbered("", generation_);
  tokens["access"] = access_;
  tokens["refresh"] = refresh_;
  std::string ends;
  append_number(ends, access_ends_.ns());
  tokens["access_ends"] = ends;
  ends.clear();
  append_number(ends, refresh_ends_.ns());
  tokens["refresh_ends"] = ends;
  json::Object line;
  line["tokens"] = std::move(tokens);
  return json::print(json::Value(std::move(line)));
}

Result<void> SaxoTokens::restore(const json::Value& value) {
  MemberReader reader(value);
  generation_ = reader.id("generation");
  access_ = reader.word("access");
  refresh_ = reader.word("refresh");
  access_ends_ = Instant::from_ns(reader.time("access_ends").ns());
  refresh_ends_ = Instant::from_ns(reader.time("refresh_ends").ns());
  if (reader.wrong().empty()) return {};
  return failure(Code::invalid, "the tokens of the book have no good '" + reader.wrong() + "'");
}

}  // namespace pawl::emulator
