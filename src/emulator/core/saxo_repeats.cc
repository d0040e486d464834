#include "emulator/core/saxo_repeats.h"

#include "base/json.h"
#include "emulator/core/calls.h"
#include "emulator/core/saxo_tokens.h"

namespace pawl::emulator {

bool SaxoRepeats::see(const Call& call, Instant now) {
  const auto is_over = [&](Instant at) { return at > now || at + settings_.repeat_window <= now; };
  std::erase_if(seen_, [&](const auto& row) { return is_over(row.second); });
  const auto [found, is_new] = seen_.emplace(key_of(call), now);
  if (is_new) return false;
  if (settings_.repeat_rolling) found->second = now;
  return true;
}

std::string SaxoRepeats::key_of(const Call& call) const {
  json::Array parts = {call.method, call.path, call.query};
  if (settings_.repeat_scope == "session") parts.emplace_back(SaxoTokens::session_of(call));
  if (settings_.repeat_request_id) parts.emplace_back(field(call, "x-request-id"));
  const Result<json::Value> body = json::parse(call.body);
  if (settings_.repeat_body == "canonical" && body) {
    parts.emplace_back(*body);
  } else {
    parts.emplace_back(call.body);
  }
  return json::print(json::Value(std::move(parts)));
}

}  // namespace pawl::emulator
