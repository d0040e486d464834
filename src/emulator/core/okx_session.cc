#include "emulator/core/okx_session.h"

#include <algorithm>
#include <utility>

#include "base/bounds.h"
#include "emulator/core/calls.h"
#include "emulator/core/okx_gate.h"

namespace pawl::emulator {
namespace {

constexpr std::size_t requests_an_hour = 480;

OkxRefusal refusal(std::string_view code, std::string message) {
  return {.code = std::string(code), .message = std::move(message), .is_whole = true};
}

json::Array arguments_of(const json::Value& message) {
  const json::Value* found = message.find("args");
  const json::Array* list = found == nullptr ? nullptr : found->if_array();
  return list == nullptr ? json::Array() : *list;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

OkxRefusal check_channel(const json::Value& argument) {
  const std::string channel = text_of(argument, "channel");
  const bool has_type = is_one_of(text_of(argument, "instType"),
                                  {"ANY", "SPOT", "MARGIN", "SWAP", "FUTURES", "OPTION"});
  if (channel == "orders" && has_type) return {};
  return refusal("60018", "Wrong URL or channel:" + channel + " doesn't exist. Please use the " +
                              "correct URL, channel and parameters referring to API document.");
}

// What the subscription names must be what the order has.
bool fits(const json::Value& argument, const json::Value& order) {
  const std::string type = text_of(argument, "instType");
  const std::string instrument = text_of(argument, "instId");
  return (type == "ANY" || type == text_of(order, "instType")) &&
         (instrument.empty() || instrument == text_of(order, "instId"));
}

std::string id_of(std::uint64_t number) {
  std::string id = "00000000";
  for (std::size_t i = id.size(); i-- > 0; number >>= 4) id[i] = "0123456789abcdef"[number & 0xf];
  return id;
}

}  // namespace

OkxSession::OkxSession(const OkxSettings& settings, std::uint64_t number)
    : settings_(settings), id_(id_of(number)), requests_(requests_an_hour, Duration::hours(1)) {}

std::vector<std::string> OkxSession::hear(std::string_view text, Instant now) {
  if (text == "ping") return {"pong"};
  const Result<json::Value> message = json::parse(text);
  const std::string operation = message ? text_of(*message, "op") : std::string();
  if (!is_one_of(operation, {"login", "subscribe", "unsubscribe"}) ||
      arguments_of(*message).empty()) {
    return {error(refusal("60012", "Invalid request: " + std::string(text)), json::Value())};
  }
  if (!requests_.take("", now)) {
    return {error(refusal("60014", "Requests too frequent"), *message)};
  }
  if (operation == "login") return log_in(*message, now);
  if (!is_logged_in_) return {error(refusal("60011", "Please log in"), *message)};
  return operation == "subscribe" ? subscribe(*message) : unsubscribe(*message);
}

OkxSession::Texts OkxSession::log_in(const json::Value& message, Instant now) {
  const OkxRefusal wrong = check_okx_login(settings_, arguments_of(message).front(), now);
  if (wrong.refuses()) return {error(wrong, message)};
  is_logged_in_ = true;
  return {event("login", {{"code", "0"}, {"msg", ""}}, message)};
}

OkxSession::Texts OkxSession::subscribe(const json::Value& message) {
  Texts answers;
  for (const json::Value& argument : arguments_of(message)) {
    OkxRefusal wrong = check_channel(argument);
    const bool is_new = std::ranges::find(subscriptions_, argument) == subscriptions_.end();
    if (is_new && subscriptions_.size() >= bounds::okx_subscriptions_max) {
      wrong = refusal("60014", "Too many subscriptions");
    }
    if (wrong.refuses()) {
      answers.push_back(error(wrong, message));
      continue;
    }
    if (is_new) subscriptions_.push_back(argument);
    answers.push_back(event("subscribe", {{"arg", argument}}, message));
  }
  return answers;
}

OkxSession::Texts OkxSession::unsubscribe(const json::Value& message) {
  Texts answers;
  for (const json::Value& argument : arguments_of(message)) {
    std::erase(subscriptions_, argument);
    answers.push_back(event("unsubscribe", {{"arg", argument}}, message));
  }
  return answers;
}

std::vector<std::string> OkxSession::tell(const json::Value& order) const {
  Texts texts;
  for (const json::Value& argument : subscriptions_) {
    if (!fits(argument, order)) continue;
    json::Object arg = *argument.if_object();
    arg["uid"] = okx_user_id;
    texts.push_back(
        json::print(json::Object{{"arg", std::move(arg)}, {"data", json::Array{order}}}));
  }
  return texts;
}

std::string OkxSession::event(std::string_view name, json::Object members,
                              const json::Value& message) const {
  members["event"] = name;
  members["connId"] = id_;
  const std::string asked = text_of(message, "id");
  if (!asked.empty()) members["id"] = asked;
  return json::print(json::Value(std::move(members)));
}

std::string OkxSession::error(const OkxRefusal& refusal, const json::Value& message) const {
  return event("error", {{"code", refusal.code}, {"msg", refusal.message}}, message);
}

}  // namespace pawl::emulator
