#include "emulator/core/saxo_book.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/member_reader.h"
#include "base/text.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

constexpr std::pair<SaxoState, std::string_view> states[] = {
    {SaxoState::pending, "pending"},         {SaxoState::working, "working"},
    {SaxoState::not_working, "not_working"}, {SaxoState::filled, "filled"},
    {SaxoState::cancelled, "cancelled"},     {SaxoState::expired, "expired"},
    {SaxoState::rejected, "rejected"},
};

std::optional<SaxoState> parse_state(std::string_view text) {
  for (const auto& [state, name] : states) {
    if (name == text) return state;
  }
  return std::nullopt;
}

std::string digits(std::int64_t number) {
  std::string text;
  append_number(text, number);
  return text;
}

Instant instant(MemberReader& reader, std::string_view name) {
  return Instant::from_ns(reader.time(name).ns());
}

SaxoActivity read_activity(MemberReader& reader) {
  return {.log_id = reader.id("log_id"),
          .time = instant(reader, "time"),
          .status = std::string(reader.word("status")),
          .sub_status = std::string(reader.word("sub_status")),
          .fill_amount = std::string(reader.word("fill_amount")),
          .price = std::string(reader.word("price"))};
}

}  // namespace

std::string_view to_string(SaxoState state) {
  return std::ranges::find(states, state, [](const auto& row) { return row.first; })->second;
}

json::Value to_json(const SaxoOrder& order) {
  json::Array activities;
  for (const SaxoActivity& activity : order.activities) {
    json::Object row;
    row["log_id"] = digits(static_cast<std::int64_t>(activity.log_id));
    row["time"] = digits(activity.time.ns());
    row["status"] = activity.status;
    row["sub_status"] = activity.sub_status;
    row["fill_amount"] = activity.fill_amount;
    row["price"] = activity.price;
    activities.emplace_back(std::move(row));
  }
  json::Object out;
  out["order_id"] = order.id;
  out["reference"] = order.reference;
  out["request"] = order.request;
  out["state"] = to_string(order.state);
  out["placed"] = digits(order.placed.ns());
  out["visible"] = digits(order.visible.ns());
  out["resolved"] = digits(order.resolved.ns());
  out["resolves"] = to_string(order.resolves);
  out["hides_reference"] = order.hides_reference;
  out["activities"] = std::move(activities);
  return out;
}

const SaxoOrder* SaxoBook::place(SaxoOrder order, Instant now) {
  if (orders_.size() >= bounds::emulator_orders_max) return nullptr;
  order.id = digits(static_cast<std::int64_t>(++last_id_));
  order.placed = now;
  const std::string id = order.id;
  SaxoOrder& kept = orders_[id] = std::move(order);
  note(kept, "Placed", kept.state == SaxoState::pending ? "Requested" : "Confirmed", now);
  if (kept.state == SaxoState::pending) {
    pending_[id] = kept.resolved;
  } else {
    enter(kept, kept.state, now);
  }
  changed(kept);
  return &kept;
}

void SaxoBook::become(const std::string& id, SaxoState state, Instant now) {
  const auto found = orders_.find(id);
  PAWL_ASSERT(found != orders_.end() && is_open(found->second.state));
  pending_.erase(id);
  enter(found->second, state, now);
  changed(found->second);
}

void SaxoBook::change(const std::string& id, json::Value request, Instant now) {
  const auto found = orders_.find(id);
  PAWL_ASSERT(found != orders_.end());
  found->second.request = std::move(request);
  note(found->second, "Changed", "Confirmed", now);
  changed(found->second);
}

void SaxoBook::tick(Instant now) {
  std::vector<std::string> due;
  for (const auto& [id, resolved] : pending_) {
    if (resolved <= now) due.push_back(id);
  }
  for (const std::string& id : due) become(id, orders_.find(id)->second.resolves, now);
}

void SaxoBook::clear() {
  orders_.clear();
  pending_.clear();
}

const SaxoOrder* SaxoBook::find(std::string_view id) const {
  const auto found = orders_.find(id);
  return found == orders_.end() ? nullptr : &found->second;
}

std::vector<std::string> SaxoBook::take_changes() {
  return std::exchange(changes_, {});
}

Result<void> SaxoBook::restore(const json::Value& value) {
  MemberReader reader(value);
  SaxoOrder order{.id = std::string(reader.word("order_id")),
                  .reference = std::string(reader.word("reference")),
                  .request = reader.object("request"),
                  .state = reader.one_of("state", parse_state),
                  .placed = instant(reader, "placed"),
                  .visible = instant(reader, "visible"),
                  .resolved = instant(reader, "resolved"),
                  .resolves = reader.one_of("resolves", parse_state),
                  .hides_reference = reader.truth("hides_reference")};
  for (const json::Value& row : reader.array("activities")) {
    MemberReader inner(row);
    order.activities.push_back(read_activity(inner));
    if (!inner.wrong().empty()) reader.fail("activities");
    last_log_id_ = std::max(last_log_id_, order.activities.back().log_id);
  }
  std::uint64_t id = 0;
  std::from_chars(order.id.data(), order.id.data() + order.id.size(), id);
  if (id == 0) reader.fail("order_id");
  if (!reader.wrong().empty()) {
    return failure(Code::invalid, "an order of the book has no good '" + reader.wrong() + "'");
  }
  last_id_ = std::max(last_id_, id);
  pending_.erase(order.id);
  if (order.state == SaxoState::pending) pending_[order.id] = order.resolved;
  orders_[order.id] = std::move(order);
  return {};
}

void SaxoBook::note(SaxoOrder& order, std::string_view status, std::string_view sub_status,
                    Instant now) {
  order.activities.push_back({.log_id = ++last_log_id_,
                              .time = now,
                              .status = std::string(status),
                              .sub_status = std::string(sub_status)});
}

void SaxoBook::enter(SaxoOrder& order, SaxoState state, Instant now) {
  order.state = state;
  switch (state) {
    case SaxoState::pending:
    case SaxoState::not_working:
      break;
    case SaxoState::working:
      note(order, "Working", "Confirmed", now);
      break;
    case SaxoState::filled: {
      note(order, "FinalFill", "Confirmed", now);
      const std::string price = text_of(order.request, "OrderPrice");
      order.activities.back().fill_amount = text_of(order.request, "Amount");
      order.activities.back().price = price.empty() ? fill_price_ : price;
      break;
    }
    case SaxoState::cancelled:
      note(order, "Cancelled", "Confirmed", now);
      break;
    case SaxoState::expired:
      note(order, "Expired", "Confirmed", now);
      break;
    case SaxoState::rejected:
      note(order, "Placed", "Rejected", now);
      break;
  }
}

void SaxoBook::changed(const SaxoOrder& order) {
  json::Object line;
  line["order"] = to_json(order);
  changes_.push_back(json::print(json::Value(std::move(line))));
}

}  // namespace pawl::emulator
