#include "tests/campaign/weather.h"

#include <string>
#include <utility>
#include <vector>

namespace pawl::campaign {
namespace {

using emulator::Fault;
using enum emulator::FaultKind;

struct Row {
  emulator::FaultKind kind;
  std::uint64_t percent;
};

constexpr Row of_placements[] = {{drop_before_accept, 4},
                                 {drop_after_accept, 8},
                                 {delay_before_accept, 4},
                                 {delay_after_accept, 4},
                                 {half_answer, 3},
                                 {wrong_length, 2},
                                 {duplicate_answer, 2},
                                 {html_502_before_accept, 3},
                                 {html_502_after_accept, 4},
                                 {html_503_before_accept, 3},
                                 {html_503_after_accept, 3},
                                 {empty_401, 2},
                                 {gzip, 1},
                                 {restart, 2},
                                 {rate_limited, 4},
                                 {lag, 5},
                                 {error_before, 3},
                                 {error_after, 3}};
constexpr Row of_saxo[] = {{headers_missing, 3}, {reset_zero, 2},      {trade_not_completed, 4},
                           {error_in_200, 2},    {order_id_in_400, 3}, {reference_missing, 2}};
constexpr Row of_okx[] = {{s_code_in_0, 3}};
constexpr Row of_changes[] = {{drop_before_accept, 3},
                              {drop_after_accept, 6},
                              {delay_after_accept, 3},
                              {half_answer, 2},
                              {html_502_before_accept, 2},
                              {html_502_after_accept, 3},
                              {rate_limited, 3},
                              {empty_401, 2},
                              {restart, 1},
                              {error_before, 2},
                              {error_after, 3}};
constexpr Row of_others[] = {{drop_after_accept, 2},     {half_answer, 2},
                             {html_502_after_accept, 2}, {gzip, 1},
                             {rate_limited, 2},          {empty_401, 1}};

Fault fault_of(emulator::FaultKind kind, Dice& dice) {
  constexpr const char* resolutions[] = {"FinalFill", "Working", "Rejected"};
  // Longer than the timeout of an attempt, shorter than what settles it.
  return {.kind = kind,
          .delay = dice.within(Duration::milliseconds(200), Duration::seconds(16)),
          .lag = dice.within(Duration::milliseconds(200), Duration::seconds(9)),
          .after = dice.within(Duration::milliseconds(200), Duration::seconds(9)),
          .resolves = resolutions[dice.below(3)]};
}

json::Value saxo_rules(std::uint64_t seed, Dice& dice) {
  json::Object rules;
  if (tokens_end(Against::saxo, seed)) {
    rules["auth"] = "issued";
    rules["token_lifetime"] = "25s";
  }
  rules["lag"] = dice.chance(30) ? "3s" : "0s";
  rules["repeat_rolling"] = dice.chance(50);
  rules["repeat_request_id"] = dice.chance(70);
  rules["activities_reference"] = dice.chance(80);
  rules["rate_headers"] = dice.chance(80);
  // Without its limit, nobody but pawl keeps two orders from meeting in a second.
  if (dice.chance(50)) rules["orders_limit"] = 0;
  return rules;
}

json::Value okx_rules(Dice& dice) {
  constexpr const char* dedups[] = {"for_ever", "while_live", "5s"};
  json::Object rules;
  rules["dedup"] = dedups[dice.below(3)];
  rules["lag"] = dice.chance(30) ? "3s" : "0s";
  rules["duplicate_code"] = dice.chance(50) ? "51016" : "50071";
  rules["order_keeps_canceled"] = dice.chance(50);
  rules["archive_keeps_canceled"] = dice.chance(50);
  return rules;
}

}  // namespace

bool tokens_end(Against against, std::uint64_t seed) {
  return against == Against::saxo && seed % 10 == 3;
}

emulator::Script weather_of(Against against, std::uint64_t seed, Dice& dice) {
  constexpr std::uint64_t one_percent = 10'000;
  emulator::Script script;
  script.settings = against == Against::saxo ? saxo_rules(seed, dice) : okx_rules(dice);
  script.faults.seed = seed;
  const auto add = [&](const auto& rows, const std::vector<std::string>& operations) {
    for (const Row& row : rows) {
      script.faults.rates.push_back({.fault = fault_of(row.kind, dice),
                                     .operations = operations,
                                     .millionths = row.percent * one_percent});
    }
  };
  add(of_placements, {"place", "batch"});
  add(of_changes, {"modify", "amend", "cancel"});
  if (against == Against::saxo) {
    add(of_saxo, {"place"});
  } else {
    add(of_okx, {"place", "batch"});
  }
  add(of_others, {"open_orders", "order", "details", "activities", "pending", "history", "archive",
                  "fills", "time"});
  return script;
}

}  // namespace pawl::campaign
