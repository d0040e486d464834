#include "venue/okx/okx_answer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/bounds.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_codes.h"

namespace pawl::okx {
namespace {

using order::Answer;
using order::Life;
using order::Sent;
using order::VenueOrder;
using venue::for_people;
using venue::text_of;

// An id is one of our making of digits; what is longer is no id.
std::string id_of(const json::Value& row, std::string_view member) {
  std::string id = text_of(row, member);
  if (id.size() > bounds::venue_id_bytes_max) id.clear();
  return for_people(id);
}

// Does the envelope as a whole say that its items may have been done?
bool may_have_been_done(const Envelope& envelope) {
  return envelope.code == no_error || envelope.code == "2";
}

Answer answer_without_item(const HttpAnswer& from, std::string code, std::string message) {
  return {.sent = sent_of(from.status, code),
          .status = from.status,
          .code = std::move(code),
          .message = std::move(message)};
}

Answer answer_without_envelope(const HttpAnswer& from) {
  const std::string said = for_people(from.body);
  const std::string message = from.complete ? "OKX gave an answer that is none of its own: " + said
                                            : "the answer of OKX was cut off after " +
                                                  std::to_string(from.body.size()) + " bytes";
  return answer_without_item(from, "", said.empty() ? "OKX gave an empty answer" : message);
}

Answer answer_of_item(const HttpAnswer& from, const Envelope& envelope, const json::Value& item) {
  const std::string item_code = text_of(item, "sCode");
  const bool item_done = item_code == no_error;
  const bool item_failed = !item_code.empty() && !item_done;
  Answer answer{.status = from.status,
                .code = item_failed ? item_code : envelope.code,
                .message = for_people(text_of(item, "sMsg"))};
  answer.order_id = id_of(item, "ordId");
  if (from.status == 200 && may_have_been_done(envelope) && item_done) {
    answer.sent = answer.order_id.empty() ? Sent::unknown : Sent::accepted;
    return answer;
  }
  if (answer.message.empty()) answer.message = envelope.message;
  // A code of 1 with an item that was done contradicts itself.
  answer.sent = item_done ? Sent::unknown : sent_of(from.status, answer.code);
  return answer;
}

// What it says to the next attempt.
void note_again(Answer& answer) {
  answer.turned_away = answer.sent == Sent::not_sent;
  if (answer.sent != Sent::rate_limited) return;
  answer.retry_after = std::max(answer.retry_after, rate_window);
}

// The item of the order: by its clOrdId, else by its place where no item has one.
const json::Value* item_of(const Envelope& envelope, std::span<const std::string> client_ids,
                           std::size_t index) {
  for (const json::Value& item : envelope.data) {
    if (text_of(item, "clOrdId") == client_ids[index]) return &item;
  }
  const bool unnamed = std::ranges::all_of(
      envelope.data, [](const json::Value& item) { return text_of(item, "clOrdId").empty(); });
  return unnamed && envelope.data.size() == client_ids.size() ? &envelope.data[index] : nullptr;
}

Answer place_answer(const HttpAnswer& from, const Envelope& envelope,
                    std::span<const std::string> client_ids, std::size_t index) {
  const json::Value* item = item_of(envelope, client_ids, index);
  Answer answer = item != nullptr ? answer_of_item(from, envelope, *item)
                                  : answer_without_item(from, envelope.code, envelope.message);
  if (item == nullptr && !envelope.data.empty()) {
    answer.sent = Sent::unknown;
    answer.message = "OKX answered about other orders than this one";
  }
  // A batch that was done has a word about each of its orders.
  if (item == nullptr && may_have_been_done(envelope)) answer.sent = Sent::unknown;
  const bool has_id = !answer.order_id.empty();
  if (has_id && (answer.sent == Sent::refused || answer.sent == Sent::rate_limited ||
                 answer.sent == Sent::not_sent)) {
    answer.sent = Sent::unknown;
  }
  return answer;
}

Life life_of_state(std::string_view state) {
  if (state == "live" || state == "partially_filled") return Life::working;
  if (state == "filled") return Life::filled;
  if (state == "canceled" || state == "mmp_canceled") return Life::canceled;
  return Life::unknown;
}

}  // namespace

std::optional<Envelope> envelope_of(const HttpAnswer& answer) {
  if (!answer.complete) return std::nullopt;
  const auto body = json::parse(answer.body);
  if (!body) return std::nullopt;
  Envelope envelope{.code = for_people(text_of(*body, "code")),
                    .message = for_people(text_of(*body, "msg"))};
  if (envelope.code.empty()) return std::nullopt;
  if (const json::Array* data = venue::list_of(*body, "data")) envelope.data = *data;
  return envelope;
}

std::string code_of(const HttpAnswer& answer) {
  const auto envelope = envelope_of(answer);
  return envelope ? envelope->code : "";
}

std::vector<Answer> place_answers(const HttpAnswer& answer,
                                  std::span<const std::string> client_ids) {
  std::vector<Answer> answers;
  answers.reserve(client_ids.size());
  const auto envelope = envelope_of(answer);
  for (std::size_t index = 0; index < client_ids.size(); ++index) {
    answers.push_back(envelope ? place_answer(answer, *envelope, client_ids, index)
                               : answer_without_envelope(answer));
    note_again(answers.back());
  }
  return answers;
}

Answer change_answer(const HttpAnswer& answer) {
  const auto envelope = envelope_of(answer);
  if (!envelope) return answer_without_envelope(answer);
  Answer changed = envelope->data.size() == 1
                       ? answer_of_item(answer, *envelope, envelope->data.front())
                       : answer_without_item(answer, envelope->code, envelope->message);
  // Nothing was said of the order: whatever the code says, it was not done for sure.
  if (envelope->data.size() != 1 && may_have_been_done(*envelope)) changed.sent = Sent::unknown;
  if (is_over(changed.code) && answer.status < 500) changed.sent = Sent::refused;
  note_again(changed);
  return changed;
}

Result<json::Array> data_of(const HttpAnswer& answer, std::string_view what) {
  auto envelope = envelope_of(answer);
  const std::string name(what);
  if (!envelope) {
    return failure(Code::unavailable, name + ": status " + std::to_string(answer.status) + ", " +
                                          answer_without_envelope(answer).message);
  }
  if (envelope->code == no_error && answer.status == 200) return std::move(envelope->data);
  const std::string said = name + ": " + envelope->code + ": " + envelope->message;
  if (envelope->code == no_such_order && answer.status < 500) {
    return failure(Code::not_found, said);
  }
  Error error(Code::unavailable, Outcome::not_applied,
              said + " (status " + std::to_string(answer.status) + ")");
  const Sent sent = sent_of(answer.status, envelope->code);
  if (sent == Sent::refused) error.code = Code::refused;
  if (sent == Sent::rate_limited) error.retry_after = rate_window;
  return std::unexpected(std::move(error));
}

std::optional<VenueOrder> order_of_row(const json::Value& row) {
  VenueOrder order{.order_id = id_of(row, "ordId"),
                   .reference = id_of(row, "clOrdId"),
                   .instrument = id_of(row, "instId"),
                   .type = id_of(row, "ordType"),
                   .price = venue::decimal_of(row, "px"),
                   .filled = venue::decimal_of(row, "accFillSz").value_or(Decimal()),
                   .reduce_only = text_of(row, "reduceOnly") == "true",
                   .says = id_of(row, "state")};
  const auto side = order::side_of(text_of(row, "side"));
  const auto size = venue::decimal_of(row, "sz");
  const auto placed = time_member(row, "cTime");
  if (order.order_id.empty() || order.instrument.empty() || !side || !size || !placed) {
    return std::nullopt;
  }
  order.side = *side;
  order.size = *size;
  order.placed_at = *placed;
  order.life = life_of_state(order.says);
  return order;
}

Result<std::vector<VenueOrder>> orders_of(const HttpAnswer& answer, std::string_view what) {
  const json::Array rows = PAWL_TRY(data_of(answer, what));
  std::vector<VenueOrder> orders;
  orders.reserve(rows.size());
  for (const json::Value& row : rows) {
    auto order = order_of_row(row);
    if (!order) {
      return failure(Code::unavailable, std::string(what) + ": a row that is no order: " +
                                            for_people(json::print(row)));
    }
    orders.push_back(std::move(*order));
  }
  return orders;
}

std::optional<Instant> time_member(const json::Value& row, std::string_view member) {
  const std::string text = text_of(row, member);
  std::int64_t milliseconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, milliseconds);
  if (read.ec != std::errc() || read.ptr != end || milliseconds <= 0) return std::nullopt;
  return Instant() + Duration::milliseconds(milliseconds);
}

std::string to_milliseconds(Instant instant) {
  return std::to_string(instant.ns() / Duration::milliseconds(1).ns());
}

Result<Instant> venue_time_of(const HttpAnswer& answer) {
  const json::Array data = PAWL_TRY(data_of(answer, "public/time"));
  const auto time = data.size() == 1 ? time_member(data.front(), "ts") : std::nullopt;
  if (!time) return failure(Code::unavailable, "public/time: OKX did not tell its time");
  return *time;
}

}  // namespace pawl::okx
