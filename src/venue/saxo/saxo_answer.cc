#include "venue/saxo/saxo_answer.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/json.h"
#include "base/text.h"
#include "venue/common/wire.h"

namespace pawl::saxo {
namespace {

using order::Answer;
using order::Sent;

// The venue has taken it and does not say yet what becomes of it.
constexpr std::string_view undecided_codes[] = {"TradeNotCompleted", "OrderCommandTimeout",
                                                "OrderCommandPending"};

bool is_undecided(std::string_view code) {
  return std::ranges::any_of(undecided_codes, [&](std::string_view undecided) {
    return equal_ignoring_case(undecided, code);
  });
}

struct Complaint {
  std::string code = {};
  std::string message = {};
};

// All that a body says, wherever it says it.
struct Said {
  bool readable = false;              // it is JSON, and whole
  bool strange = false;               // an OrderId that is none
  std::string first_id = {};          // the outermost one
  std::vector<std::string> ids = {};  // all that differ, the outermost first
  std::vector<Complaint> complaints = {};
  std::string reference = {};

  bool names_order() const { return strange || !ids.empty(); }
};

std::string model_state(const json::Value& object) {
  const json::Value* state = object.find("ModelState");
  const json::Object* fields = state == nullptr ? nullptr : state->if_object();
  std::string out;
  if (fields == nullptr) return out;
  for (const auto& [name, messages] : *fields) {
    if (const json::Array* list = messages.if_array()) {
      for (const json::Value& message : *list) {
        const std::string* text = message.if_string();
        if (text != nullptr) out += (out.empty() ? "" : "; ") + name + ": " + *text;
      }
    }
    if (out.size() > bounds::venue_message_bytes_max) break;
  }
  return out;
}

void note_complaint(Said& said, const json::Value& object) {
  if (said.complaints.size() >= 8) return;
  std::string message = venue::text_of(object, "Message");
  const std::string state = model_state(object);
  if (!state.empty()) message += (message.empty() ? "" : ": ") + state;
  said.complaints.push_back(
      {.code = venue::text_of(object, "ErrorCode"), .message = std::move(message)});
}

void note_id(Said& said, const json::Value& object) {
  const json::Value* member = object.find("OrderId");
  if (member == nullptr || member->is_null()) return;
  const bool scalar = member->if_string() != nullptr || member->if_number() != nullptr;
  if (!scalar) return;  // ModelState lists what is wrong with a member under its name
  std::string id = venue::text_of(object, "OrderId");
  if (id.empty()) return;
  if (!is_order_id(id)) {
    said.strange = true;
    return;
  }
  if (said.ids.size() < 8 && std::ranges::find(said.ids, id) == said.ids.end()) {
    said.ids.push_back(std::move(id));
  }
}

void walk(Said& said, const json::Value& value, bool is_error_info) {
  if (const json::Array* list = value.if_array()) {
    for (const json::Value& item : *list) walk(said, item, false);
  }
  const json::Object* object = value.if_object();
  if (object == nullptr) return;
  note_id(said, value);
  if (said.reference.empty()) said.reference = venue::text_of(value, "ExternalReference");
  if (is_error_info || !venue::text_of(value, "ErrorCode").empty()) note_complaint(said, value);
  for (const auto& [name, member] : *object) {
    walk(said, member, name == "ErrorInfo" && member.if_object() != nullptr);
  }
}

Said look_at(const HttpAnswer& answer) {
  Said said;
  const auto body = json::parse(answer.body);
  if (!body) {
    // Half of a body may still name an order.
    said.strange = answer.body.find("OrderId") != std::string::npos;
    return said;
  }
  said.readable = answer.complete && body->if_object() != nullptr;
  walk(said, *body, false);
  if (said.complaints.empty() && !venue::text_of(*body, "Message").empty()) {
    if (answer.status >= 400) note_complaint(said, *body);
  }
  if (!said.ids.empty()) said.first_id = said.ids.front();
  return said;
}

bool is_undecided(const Said& said) {
  return std::ranges::any_of(said.complaints, [](const Complaint& complaint) {
    return is_undecided(complaint.code) ||
           complaint.message.find(undecided_codes[0]) != std::string::npos;
  });
}

std::string words_of(const HttpAnswer& answer, const Said& said) {
  std::string out = "HTTP " + std::to_string(answer.status);
  for (const Complaint& complaint : said.complaints) {
    out += ' ' + complaint.code;
    if (!complaint.message.empty()) out += ": " + complaint.message;
  }
  if (said.complaints.empty() && answer.body.empty()) out += " without a body";
  if (!answer.complete) out += " (cut off)";
  if (said.ids.size() > 1) {
    out += " (orders";
    for (const std::string& id : said.ids) out += ' ' + id;
    out += ')';
  }
  return venue::for_people(out);
}

Answer answer_with(Sent sent, const HttpAnswer& from, const Said& said, Instant now) {
  Answer answer{.sent = sent,
                .turned_away = sent == Sent::not_sent,
                .order_id = said.first_id,
                .status = from.status,
                .code = said.complaints.empty() ? "" : venue::for_people(said.complaints[0].code),
                .message = words_of(from, said),
                .correlation = venue::for_people(venue::field_of(from, "x-correlation"))};
  for (const Complaint& complaint : said.complaints) {
    if (is_undecided(complaint.code)) answer.code = complaint.code;
  }
  venue::note_limits(answer, from, now);
  return answer;
}

// What the status alone says, where no order is named and nothing is undecided.
Sent by_status(int status, bool complete) {
  switch (status) {
    case 401:
      return Sent::not_sent;
    case 403:
      return Sent::refused;
    case 408:
    case 425:
    case 499:
      return Sent::unknown;
    case 409:
      return Sent::duplicate;
    case 429:
      return Sent::rate_limited;
    default:
      break;
  }
  const bool client_error = status >= 400 && status < 500;
  return client_error && complete ? Sent::refused : Sent::unknown;
}

bool is_success(int status) {
  return status == 200 || status == 201;
}

Sent judge_placement(const HttpAnswer& answer, const Said& said) {
  if (is_undecided(said)) return Sent::unknown;
  if (!is_success(answer.status)) {
    const Sent sent = by_status(answer.status, answer.complete);
    return said.names_order() && sent != Sent::duplicate ? Sent::unknown : sent;
  }
  if (!said.readable || said.strange) return Sent::unknown;
  if (said.complaints.empty()) return said.ids.size() == 1 ? Sent::accepted : Sent::unknown;
  return said.ids.empty() ? Sent::refused : Sent::unknown;
}

}  // namespace

bool is_order_id(std::string_view text) {
  return !text.empty() && text.size() <= bounds::venue_id_bytes_max &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

Answer place_answer(const HttpAnswer& from, std::string_view reference, Instant now) {
  const Said said = look_at(from);
  if (!said.reference.empty() && said.reference != reference) {
    Answer answer = answer_with(Sent::unknown, from, said, now);
    answer.order_id.clear();
    answer.code = "ForeignAnswer";
    answer.message = venue::for_people("the answer is about another reference, " + said.reference);
    return answer;
  }
  return answer_with(judge_placement(from, said), from, said, now);
}

Answer change_answer(const HttpAnswer& from, std::string_view order_id, Instant now) {
  const Said said = look_at(from);
  const bool others = std::ranges::any_of(said.ids, [&](const auto& id) { return id != order_id; });
  Sent sent = by_status(from.status, from.complete);
  if (is_success(from.status)) {
    const bool clear = said.readable && !said.strange && !others;
    sent = !clear                     ? Sent::unknown
           : !said.complaints.empty() ? Sent::refused
           : !said.ids.empty()        ? Sent::accepted
                                      : Sent::unknown;
  }
  if (is_undecided(said)) sent = Sent::unknown;
  Answer answer = answer_with(sent, from, said, now);
  answer.order_id = order_id;
  return answer;
}

Answer cancel_answer(const HttpAnswer& from, std::string_view order_id, Instant now) {
  Answer answer = change_answer(from, order_id, now);
  if (answer.sent == Sent::refused && from.status == 404 && answer.code.empty()) {
    answer.code = "OrderNotFound";
  }
  return answer;
}

namespace {

// "Costs.Amount": what a person wants to see before placing.
void flatten(std::vector<std::pair<std::string, std::string>>& out, const std::string& prefix,
             const json::Value& value) {
  if (out.size() >= bounds::venue_precheck_max) return;
  if (const json::Object* object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      if (name == "ErrorInfo" || name == "PreCheckResult") continue;
      flatten(out, prefix.empty() ? name : prefix + '.' + name, member);
    }
    return;
  }
  if (const json::Array* list = value.if_array()) {
    for (const json::Value& item : *list) flatten(out, prefix, item);
    return;
  }
  if (prefix.empty() || value.is_null()) return;
  const std::string* text = value.if_string();
  out.emplace_back(venue::for_people(prefix),
                   text != nullptr ? venue::for_people(*text) : json::print(value));
}

}  // namespace

Result<Precheck> precheck_answer(const HttpAnswer& from, Instant now) {
  const Said said = look_at(from);
  const Answer heard = answer_with(Sent::unknown, from, said, now);
  if (from.status == 429 || from.status == 409 || from.status == 401 || from.status == 403) {
    const Code code = from.status == 401 ? Code::unavailable : Code::refused;
    Error error(code, Outcome::not_applied, "Saxo did not look at it: " + heard.message);
    error.retry_after = heard.retry_after;
    return std::unexpected(std::move(error));
  }
  const bool client_error = from.status >= 400 && from.status < 500;
  if (!said.readable && !(client_error && from.complete)) {
    return failure(Code::unavailable, "the precheck had no answer: " + heard.message);
  }
  if (client_error) return Precheck{.ok = false, .code = heard.code, .message = heard.message};
  if (!is_success(from.status)) {
    return failure(Code::unavailable, "the precheck had no answer: " + heard.message);
  }
  const json::Value body = *json::parse(from.body);
  const std::string result = venue::text_of(body, "PreCheckResult");
  Precheck precheck{.ok = equal_ignoring_case(result, "Ok") && said.complaints.empty()};
  precheck.code = heard.code;
  if (precheck.code.empty() && !precheck.ok) precheck.code = venue::for_people(result);
  if (!said.complaints.empty()) precheck.message = heard.message;
  flatten(precheck.details, "", body);
  if (body.find("PreTradeDisclaimers") != nullptr) {
    precheck.ok = false;
    if (precheck.code.empty()) precheck.code = "DisclaimersPending";
    if (precheck.message.empty()) {
      precheck.message = "disclaimers must be accepted at Saxo before this can be traded";
    }
  }
  return precheck;
}

}  // namespace pawl::saxo
