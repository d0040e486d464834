#include "emulator/core/okx_limits.h"

namespace pawl::emulator {
namespace {

constexpr Duration span = Duration::seconds(2);
constexpr std::string_view account = "account";

// What has a limit of its own; the others share one.
std::string_view limit_of(const OkxLimits::Ask& ask) {
  // A batch of one counts as one order.
  if (ask.operation == "batch" && ask.instruments.size() == 1) return "place";
  if (ask.operation == "cancel_batch" && ask.instruments.size() == 1) return "cancel";
  if (ask.operation == "time" || ask.operation == "instruments") return "public";
  if (ask.operation == "config" || ask.operation == "rate_limit") return "read";
  return ask.operation;
}

}  // namespace

OkxLimits::OkxLimits(const OkxSettings& settings) {
  for (const auto& [name, limit] : settings.limits) windows_.emplace(name, Windows(limit, span));
}

OkxRefusal OkxLimits::take(const Ask& ask, Instant now) {
  Windows& windows = windows_.find(limit_of(ask))->second;
  std::map<std::string_view, std::size_t> costs;
  for (const std::string& instrument : ask.instruments) ++costs[instrument];
  if (costs.empty()) costs[ask.operation] = 1;
  for (const auto& [key, cost] : costs) {
    if (!windows.take(key, now, cost)) return refuse("50011");
  }
  if (ask.counted_by_account == 0) return {};
  const bool has_room = windows_.find(account)->second.take(account, now, ask.counted_by_account);
  return has_room ? OkxRefusal() : refuse("50061");
}

OkxRefusal OkxLimits::refuse(std::string_view code) {
  ++breaches_[std::string(code)];
  return okx_whole(code);
}

void OkxLimits::forget() {
  for (auto& [name, windows] : windows_) windows.forget();
}

}  // namespace pawl::emulator
