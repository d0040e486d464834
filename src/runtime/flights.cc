#include "runtime/flights.h"

namespace pawl {
namespace {

constexpr std::size_t waiting_max = 1'000;  // a key

}  // namespace

Flights::Ticket& Flights::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  end();
  flights_ = std::exchange(other.flights_, nullptr);
  key_ = std::move(other.key_);
  return *this;
}

void Flights::Ticket::end() {
  if (flights_ != nullptr) std::exchange(flights_, nullptr)->end(key_);
}

std::optional<Flights::Ticket> Flights::begin(const RecordKey& key, std::string fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] = flights_.try_emplace(key, Flight{std::move(fingerprint)});
  if (!added) return std::nullopt;
  return Ticket(*this, key);
}

std::optional<std::string> Flights::find(const RecordKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = flights_.find(key);
  if (found == flights_.end()) return std::nullopt;
  return found->second.fingerprint;
}

bool Flights::on_end(const RecordKey& key, std::move_only_function<void()> call) {
  const std::lock_guard lock(mutex_);
  const auto found = flights_.find(key);
  if (found == flights_.end() || found->second.waiting.size() == waiting_max) return false;
  found->second.waiting.push_back(std::move(call));
  return true;
}

// Those that waited are called when the key is free again, so that one of them may have it next.
void Flights::end(const RecordKey& key) {
  std::vector<std::move_only_function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    auto ended = flights_.extract(key);
    if (!ended.empty()) waiting = std::move(ended.mapped().waiting);
  }
  for (auto& call : waiting) call();
}

}  // namespace pawl
