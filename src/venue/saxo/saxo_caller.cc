#include "venue/saxo/saxo_caller.h"

#include <utility>

#include "venue/common/wire.h"

namespace pawl::saxo {
namespace {

HttpRequest request_of(const Call& call, const std::string& base_url,
                       const Secret<std::string>& token) {
  HttpRequest request{.method = call.method,
                      .url = venue::url_of(base_url, call.path, call.query),
                      .body = call.body,
                      .deadline = call.timeout};
  request.connect_deadline = std::min(request.connect_deadline, call.timeout);
  request.fields = {{"Authorization", "Bearer " + token.reveal()},
                    {"Accept", "application/json"},
                    {"Accept-Encoding", "gzip"}};
  if (!call.body.empty()) request.fields.push_back({"Content-Type", "application/json"});
  if (!call.ids.request_id.empty()) {
    request.fields.push_back({"x-request-id", call.ids.request_id});
  }
  return request;
}

}  // namespace

struct Caller::Flight {
  Call call;
  Done done;
  Secret<std::string> token = {};
  bool renewed = false;
};

void Caller::send(Call call, Done done) {
  auto flight = std::make_shared<Flight>(std::move(call), std::move(done));
  if (flight->call.in_turn) {
    auto token = tokens_->at_hand();
    if (!token) return flight->done(std::unexpected(token.error()));
    flight->token = *std::move(token);
    return leave(flight);
  }
  tokens_->get([self = shared_from_this(), flight](Result<Secret<std::string>> token) {
    if (!token) return flight->done(std::unexpected(token.error()));
    flight->token = *std::move(token);
    self->leave(flight);
  });
}

void Caller::ready(std::move_only_function<void(Result<void>)> done) {
  tokens_->get([done = std::move(done)](const Result<Secret<std::string>>& token) mutable {
    const bool hopeless = !token && token.error().code == Code::refused;
    done(hopeless ? Result<void>(std::unexpected(token.error())) : Result<void>());
  });
}

void Caller::on_heard(HeardAnswer heard) {
  const std::lock_guard lock(mutex_);
  heard_ = std::move(heard);
}

void Caller::leave(const std::shared_ptr<Flight>& flight) {
  http_.send(request_of(flight->call, base_url_, flight->token),
             [self = shared_from_this(), flight](Result<HttpAnswer> answer) {
               self->arrive(flight, std::move(answer));
             });
}

void Caller::arrive(const std::shared_ptr<Flight>& flight, Result<HttpAnswer> answer) {
  const bool in_turn = flight->call.in_turn;
  if (answer && in_turn) hear(*answer, flight->call.ids);
  // Whoever names an order has looked at it, whatever the status says.
  const bool turned_away =
      answer && answer->status == 401 && answer->body.find("OrderId") == std::string::npos;
  if (turned_away && in_turn) tokens_->refused(flight->token);
  if (!turned_away || in_turn || flight->renewed) return flight->done(std::move(answer));
  flight->renewed = true;
  tokens_->renew(flight->token,
                 [self = shared_from_this(), flight](Result<Secret<std::string>> token) {
                   if (!token) {
                     Error error(Code::unavailable, Outcome::not_applied,
                                 "Saxo turned the call away (401): " + token.error().message);
                     return flight->done(std::unexpected(std::move(error)));
                   }
                   flight->token = *std::move(token);
                   self->leave(flight);
                 });
}

void Caller::hear(const HttpAnswer& answer, const Correlation& ids) {
  HeardAnswer heard;
  {
    const std::lock_guard lock(mutex_);
    heard = heard_;
  }
  if (heard) heard(answer.status, venue::limit_fields(answer), ids);
}

}  // namespace pawl::saxo
