// Orders, intents, answers and readings for tests, and a placement that is driven by hand: what it
// asks for is kept as text, and the clocks move when the test says so.
#pragma once

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/order/placement.h"

namespace pawl::order {

inline constexpr Duration second = Duration::seconds(1);
inline constexpr Instant noon = Instant::from_ns(1'764'763'200'000'000'000);  // 2025-12-03

inline Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

inline Order swap_order() {
  return {.venue = "okx",
          .instrument = "BTC-USDT-SWAP",
          .side = Side::buy,
          .type = Type::limit,
          .size = decimal("0.1"),
          .price = decimal("50000")};
}

inline Order stock_order() {
  return {.venue = "saxo",
          .instrument = "211",
          .asset_type = "Stock",
          .side = Side::sell,
          .type = Type::market,
          .size = decimal("10")};
}

inline Intent fresh_intent() {
  return {.id = 1,
          .reference = "ref-1",
          .order = swap_order(),
          .created = noon,
          .progress = {.request_id = "ref-1_place_1_aaaaaaaa"}};
}

inline VenueOrder shown(std::string order_id, Life life = Life::working) {
  return {.order_id = std::move(order_id),
          .reference = "ref-1",
          .instrument = "BTC-USDT-SWAP",
          .side = Side::buy,
          .size = decimal("0.1"),
          .life = life,
          .says = "live"};
}

inline Reading empty_reading() {
  return {.sources = {{.source = "GET orders", .at = noon, .found = SourceRead::Found::absent}},
          .whole = true};
}

inline Reading reading_of(std::vector<VenueOrder> orders) {
  Reading reading = empty_reading();
  reading.sources[0].found = SourceRead::Found::present;
  reading.orders = std::move(orders);
  return reading;
}

inline Reading unreadable() {
  Reading reading = empty_reading();
  reading.sources[0].found = SourceRead::Found::unreadable;
  reading.whole = false;
  reading.why_not_whole = "GET orders: 503";
  return reading;
}

inline Answer answered_with(Sent sent, std::string order_id = {}) {
  return {.sent = sent, .order_id = std::move(order_id)};
}

// ---- effects as text

inline std::string text(const AskPace& effect) {
  return effect.urgent ? "pace urgent" : "pace";
}
inline std::string text(const LeavePace&) {
  return "leave pace";
}
inline std::string text(const Save& effect) {
  return "save " + std::string(to_string(effect.progress.status)) + " " +
         std::to_string(effect.progress.attempts);
}
inline std::string text(const Send& effect) {
  return "send " + std::to_string(effect.attempt);
}
inline std::string text(const ReadVenue& effect) {
  return effect.order_id.empty() ? "read" : "read " + effect.order_id;
}
inline std::string text(const WakeAt&) {
  return "wake";
}
inline std::string text(const Finish& effect) {
  return "finish " + std::string(to_string(effect.progress.status)) +
         (effect.kept ? "" : " not kept");
}
inline std::string text(const Keep& effect) {
  return "keep " + std::string(to_string(effect.event.type));
}
inline std::string text(const Note& effect) {
  return "note " + std::string(to_string(effect.what));
}

class Driven {
 public:
  explicit Driven(Intent intent = fresh_intent(), Settings settings = {})
      : machine_(std::move(intent), std::move(settings), {7}) {}

  // What it asks for, without what it tells logs.
  std::string decide(const Event& event) {
    last_ = machine_.decide(event, now_);
    std::string out;
    for (const Effect& effect : last_) {
      if (const auto* wake = std::get_if<WakeAt>(&effect)) wake_at_ = wake->at;
      if (std::holds_alternative<Note>(effect) || std::holds_alternative<Keep>(effect)) continue;
      out += (out.empty() ? "" : ", ") + std::visit([](const auto& e) { return text(e); }, effect);
    }
    return out;
  }
  void pass(Duration time) {
    now_.steady = now_.steady + time;
    now_.wall = now_.wall + time;
  }
  // To the instant it wants to be woken at.
  std::string wake() {
    pass(wake_at_ - now_.steady);
    return decide(Woken{});
  }
  // Answers what it saves and paces until it is sending.
  void send() {
    decide(Begun{});
    decide(PaceGranted{});
    ASSERT_EQ(machine_.state(), Placement::State::sending);
  }
  // Of unknown outcome, and about to be read.
  void lose() {
    send();
    decide(Answered{answered_with(Sent::unknown)});
    ASSERT_EQ(decide(Saved{}), "read");
  }
  // Reads the same again and again, each in no time, until it wants something else.
  std::string read_until_decided(const Reading& reading) {
    for (int i = 0; i < 1'000; ++i) {
      const std::string wants = decide(ReadDone{reading});
      if (wants != "wake") return wants;
      if (!wake().starts_with("read")) return "does not read";
    }
    return "reads for ever";
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> told;
    for (const Effect& effect : last_) {
      if (const auto* note = std::get_if<Note>(&effect)) told.emplace_back(to_string(note->what));
    }
    return told;
  }
  template <class T>
  std::optional<T> last() const {
    for (const Effect& effect : last_) {
      if (const auto* found = std::get_if<T>(&effect)) return *found;
    }
    return std::nullopt;
  }
  const Progress& progress() const { return machine_.intent().progress; }
  Placement& machine() { return machine_; }
  Time now() const { return now_; }
  SteadyInstant wake_at() const { return wake_at_; }
  const Effects& effects() const { return last_; }
  void set_wall(Instant wall) { now_.wall = wall; }

 private:
  Placement machine_;
  Time now_{SteadyInstant::from_ns(1'000'000'000'000), noon};
  SteadyInstant wake_at_;
  Effects last_;
};

}  // namespace pawl::order
