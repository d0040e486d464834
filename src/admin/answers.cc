#include "admin/answers.h"

#include <algorithm>
#include <utility>

#include "admin/call.h"
#include "base/bounds.h"
#include "base/bounds_panel.h"
#include "base/json.h"
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

// With its status: whoever goes by that sees that it was done.
server::Response done_before(int status) {
  return json_response(
      status,
      json::Object{{"code", to_string(ProblemCode::idempotency_not_replayable)},
                   {"detail",
                    "This was done before, under the same Idempotency-Key, and answered with this "
                    "status. Nothing was done now. That answer was too large to keep: look at what "
                    "it changed."}});
}

server::Response full(Duration wait) {
  return problem(
      ProblemCode::overloaded,
      "As many Idempotency-Keys as are kept were used within the last hour. Nothing was "
      "done. Send it again with the same key after Retry-After, or without a key where "
      "it does no harm to do it twice.",
      "Retry-After: " + std::to_string(std::max<std::int64_t>(wait.seconds_up(), 1)) + "\r\n");
}

}  // namespace

Answers::Tap::~Tap() {
  if (answers_ != nullptr) answers_->end(key_, nullptr);
}

void Answers::Tap::answered(const server::Response& response) {
  std::exchange(answers_, nullptr)->end(key_, &response);
}

Answers::Answers()
    : Answers({.keys = bounds::admin_answers_max, .bytes = bounds::admin_answers_bytes_max},
              {.keys = bounds::panel_answers_max, .bytes = bounds::panel_answers_bytes_max}) {}

Answers::Answers(Bounds of_programs, Bounds of_panel)
    : rooms_{Room{.bounds = of_programs}, Room{.bounds = of_panel}} {}

std::unique_ptr<Answers::Tap> Answers::begin(const server::Request& request, From from,
                                             server::Reply& reply, SteadyInstant now) {
  const std::string key(request.header("Idempotency-Key"));
  if (!is_key(key)) {
    send(std::move(reply), problem(ProblemCode::idempotency_key_invalid,
                                   "An Idempotency-Key has 1 to 255 visible characters."));
    return nullptr;
  }
  for (Room& room : rooms_) forget_old(room, now);
  const auto found = kept_.find(key);
  if (found == kept_.end()) {
    const Room& room = room_of(from);
    if (room.by_age.size() < room.bounds.keys) {
      return insert(key, {.request = hash_of(request), .from = from}, now);
    }
    send(std::move(reply), full(room.by_age.begin()->first + bounds::admin_answer_kept - now));
    return nullptr;
  }
  Kept& kept = found->second;
  if (kept.request != hash_of(request)) {
    send(std::move(reply), problem(ProblemCode::idempotency_mismatch,
                                   "This Idempotency-Key was used for another request. Take a new "
                                   "one."));
  } else if (kept.response) {
    send(std::move(reply),
         again(kept.is_whole ? *kept.response : done_before(kept.response->status)));
  } else if (kept.waiting.size() < bounds::admin_answer_waiters_max) {
    kept.waiting.push_back(std::move(reply));
  } else {
    send(std::move(reply),
         problem(ProblemCode::idempotency_in_flight,
                 "The first request with this key is under way.", "Retry-After: 1\r\n"));
  }
  return nullptr;
}

std::unique_ptr<Answers::Tap> Answers::insert(const std::string& key, Kept kept,
                                              SteadyInstant now) {
  const auto at = kept_.emplace(key, std::move(kept)).first;
  at->second.age = room_of(at->second.from).by_age.emplace(now, at);
  return std::make_unique<Tap>(*this, key);
}

void Answers::erase(ByKey::iterator kept) {
  Room& room = room_of(kept->second.from);
  if (kept->second.response) room.bytes -= kept->second.response->body.size();
  room.by_age.erase(kept->second.age);
  kept_.erase(kept);
}

// What is at work stays: its end must be told to who waits.
void Answers::forget_old(Room& room, SteadyInstant now) {
  for (auto each = room.by_age.begin(); each != room.by_age.end();) {
    if (now - each->first <= bounds::admin_answer_kept) return;
    const ByKey::iterator kept = (each++)->second;
    if (kept->second.response) erase(kept);
  }
}

void Answers::keep(Kept& kept, const server::Response& response) {
  Room& room = room_of(kept.from);
  kept.is_whole = response.body.size() <= bounds::admin_answer_bytes_max &&
                  room.bytes + response.body.size() <= room.bounds.bytes;
  kept.response = kept.is_whole ? response : server::Response{.status = response.status};
  room.bytes += kept.response->body.size();
}

void Answers::end(const std::string& key, const server::Response* response) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  std::vector<server::Reply> waiting = std::exchange(found->second.waiting, {});
  const std::optional<server::Response> told =
      response == nullptr ? std::nullopt : std::optional(*response);
  if (told && told->status < error_of_ours) {
    keep(found->second, *told);
  } else {
    erase(found);
  }
  if (!told) return;  // their connections close with them, as the first one's did
  for (server::Reply& reply : waiting) send(std::move(reply), again(*told));
}

}  // namespace pawl::admin
