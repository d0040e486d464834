#include "admin/answers.h"

#include <algorithm>
#include <utility>

#include "admin/call.h"
#include "base/bounds.h"
#include "base/bounds_panel.h"
#include "base/sha256.h"
#include "base/text.h"

namespace pawl::admin {
namespace {

using http::ProblemCode;

constexpr int error_of_ours = 500;

// Lengths stand before the parts, so that no two requests have one text.
std::string hash_of(const server::Request& request) {
  std::string all;
  for (const std::string_view part :
       {std::string_view(request.method), std::string_view(request.target),
        std::string_view(request.body)}) {
    all.append(std::to_string(part.size())).append(":").append(part);
  }
  return to_hex(sha256(all));
}

bool is_key(std::string_view key) {
  return key.size() <= bounds::idempotency_key_bytes_max && is_visible(key);
}

void send(server::Reply reply, server::Response response) {
  std::move(reply).send(guarded(std::move(response)));
}

server::Response again(server::Response response) {
  response.extra_fields.append(replay_fields);
  return response;
}

}  // namespace

Answers::Tap::~Tap() {
  if (answers_ != nullptr) answers_->end(key_, nullptr);
}

void Answers::Tap::answered(const server::Response& response) {
  std::exchange(answers_, nullptr)->end(key_, &response);
}

std::unique_ptr<Answers::Tap> Answers::begin(const server::Request& request, server::Reply& reply,
                                             SteadyInstant now) {
  const std::string key(request.header("Idempotency-Key"));
  if (!is_key(key)) {
    send(std::move(reply), problem(ProblemCode::idempotency_key_invalid,
                                   "An Idempotency-Key has 1 to 255 visible characters."));
    return nullptr;
  }
  make_room(now);
  const auto found = kept_.find(key);
  if (found == kept_.end()) {
    kept_.emplace(key, Kept{.request = hash_of(request), .at = now});
    return std::make_unique<Tap>(*this, key);
  }
  Kept& kept = found->second;
  if (kept.request != hash_of(request)) {
    send(std::move(reply), problem(ProblemCode::idempotency_mismatch,
                                   "This Idempotency-Key was used for another request. Take a new "
                                   "one."));
  } else if (kept.response) {
    send(std::move(reply), again(*kept.response));
  } else if (kept.waiting.size() < bounds::admin_answer_waiters_max) {
    kept.waiting.push_back(std::move(reply));
  } else {
    send(std::move(reply),
         problem(ProblemCode::idempotency_in_flight,
                 "The first request with this key is under way.", "Retry-After: 1\r\n"));
  }
  return nullptr;
}

// What is at work stays: its end must be told to who waits.
void Answers::make_room(SteadyInstant now) {
  std::erase_if(kept_, [&](const auto& each) {
    return each.second.response && now - each.second.at > bounds::admin_answer_kept;
  });
  while (kept_.size() >= bounds::admin_answers_max) {
    auto oldest = kept_.end();
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->second.response && (oldest == kept_.end() || at->second.at < oldest->second.at)) {
        oldest = at;
      }
    }
    if (oldest == kept_.end()) return;
    kept_.erase(oldest);
  }
}

void Answers::end(const std::string& key, const server::Response* response) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  std::vector<server::Reply> waiting = std::move(found->second.waiting);
  found->second.waiting.clear();
  const bool keeps = response != nullptr && response->status < error_of_ours &&
                     response->body.size() <= bounds::admin_answer_bytes_max;
  const std::optional<server::Response> told =
      response == nullptr ? std::nullopt : std::optional(*response);
  if (keeps) {
    found->second.response = told;
  } else {
    kept_.erase(found);
  }
  if (!told) return;  // their connections close with them, as the first one's did
  for (server::Reply& reply : waiting) send(std::move(reply), again(*told));
}

}  // namespace pawl::admin
