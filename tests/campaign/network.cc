#include "tests/campaign/network.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/calendar.h"
#include "base/json.h"
#include "emulator/core/calls.h"

namespace pawl::campaign {
namespace {

using emulator::Call;
using emulator::Reply;
using emulator::Wire;

constexpr Duration way_there = Duration::milliseconds(5);

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Call call_of(const HttpRequest& request, std::uint64_t number) {
  const std::size_t host = request.url.find("://") + 3;
  const std::size_t path = request.url.find('/', host);
  const std::size_t question = request.url.find('?', path);
  Call call{.number = number, .method = request.method, .body = request.body};
  call.path = request.url.substr(path, question == std::string::npos ? question : question - path);
  if (question != std::string::npos) call.query = request.url.substr(question + 1);
  for (const HttpField& field : request.fields) {
    call.fields.push_back({.name = lowered(field.name), .value = field.value});
  }
  return call;
}

bool is_renewal(const Call& call) {
  return call.path.ends_with("/token");
}

bool is_write(const Call& call) {
  return call.method != "GET" && !is_renewal(call);
}

std::ptrdiff_t orders_in(std::string_view ids) {
  return ids.empty() ? 0 : 1 + std::ranges::count(ids, ',');
}

Error lost(Outcome outcome, const char* why) {
  return {Code::unavailable, outcome, why};
}

}  // namespace

struct Network::Flight {
  Call call = {};
  HttpClient::Done done = {};
  std::shared_ptr<const bool> alive = {};
  Agenda::Id deadline = {};
  Instant arrived = {};
};

void Network::send(HttpRequest request, const std::shared_ptr<const bool>& alive,
                   HttpClient::Done done) {
  if (!*alive) return;
  const auto flight = std::make_shared<Flight>();
  flight->call = call_of(request, ++last_call_);
  flight->done = std::move(done);
  flight->alive = alive;
  const bool spared = is_renewal(flight->call);
  renewals_ += spared ? 1 : 0;
  if (!spared && happens(2)) {
    agenda_.after(way_there, [flight] {
      end(flight, std::unexpected(lost(Outcome::not_applied, "connection refused")));
    });
    return;
  }
  flight->deadline = agenda_.after(request.deadline, [flight] {
    end(flight, std::unexpected(lost(Outcome::unknown, "timed out")));
  });
  if (!spared && happens(3)) return;  // it left, and never arrives
  agenda_.after(way_there, [this, flight] {
    flight->arrived = agenda_.world_now();
    if (is_write(flight->call)) note_writing(flight);
    arrive(flight);
  });
}

void Network::arrive(const FlightPtr& flight) {
  Reply reply = exchange_.answer(flight->call, agenda_.world_now());
  if (reply.hold > Duration()) {
    flight->call.held = true;
    agenda_.after(reply.hold, [this, flight] { arrive(flight); });
    return;
  }
  note(flight, reply);
  if (reply.wire == Wire::restart) exchange_.forget();
  if (!is_renewal(flight->call) && happens(2)) return;  // the answer never comes
  const Duration way_back =
      dice_.within(Duration::milliseconds(1), Duration::milliseconds(80)) + reply.delay;
  agenda_.after(way_back, [this, flight, reply = std::move(reply)]() mutable {
    bring_back(flight, std::move(reply));
  });
}

void Network::note_writing(const FlightPtr& flight) {
  const Call& call = flight->call;
  const std::string id(emulator::field(call, "x-request-id"));
  if (!id.empty() && !request_ids_.insert(id).second) ++repeated_ids_;
  const auto body = json::parse(call.body);
  const json::Array* batch = body ? body->if_array() : nullptr;
  written_.placed.insert(written_.placed.end(), batch == nullptr ? 1 : batch->size(),
                         flight->arrived);
}

void Network::note(const FlightPtr& flight, const Reply& reply) {
  if (reply.operation == "modify" || reply.operation == "amend") changed_();
  if (reply.operation != "place" && reply.operation != "batch") return;
  if (!reply.accepted) return;
  accepted_.placed.insert(accepted_.placed.end(),
                          static_cast<std::size_t>(orders_in(reply.order_id)), flight->arrived);
}

void Network::bring_back(const FlightPtr& flight, Reply reply) {
  if (reply.wire == Wire::drop || reply.wire == Wire::restart) {
    return end(flight, std::unexpected(lost(Outcome::unknown, "connection reset")));
  }
  HttpAnswer answer{.status = reply.status, .body = std::move(reply.body), .complete = true};
  for (emulator::Field& field : reply.fields) {
    answer.fields.push_back({.name = lowered(field.name), .value = std::move(field.value)});
  }
  answer.fields.push_back({.name = "date", .value = http_date(agenda_.world_now())});
  if (reply.wire == Wire::half || reply.wire == Wire::wrong_length) {
    if (reply.wire == Wire::half) answer.body.resize(answer.body.size() / 2);
    answer.complete = false;
  }
  agenda_.cancel(flight->deadline);
  end(flight, std::move(answer));
}

void Network::end(const FlightPtr& flight, Result<HttpAnswer> answer) {
  if (!flight->done) return;
  HttpClient::Done done = std::exchange(flight->done, {});
  if (*flight->alive) done(std::move(answer));
}

}  // namespace pawl::campaign
