#include "venue/okx/okx_caller.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_codes.h"

namespace pawl::okx {
namespace {

constexpr Duration expires_after_min = Duration::seconds(1);

std::unexpected<Error> never_left(std::string why) {
  return std::unexpected(Error(Code::unavailable, Outcome::not_applied, std::move(why)));
}

std::unexpected<Error> time_is_unknown(const std::string& why) {
  return never_left("the time of OKX is not known: " + why);
}

// Whole milliseconds, not before.
Instant in_milliseconds(Instant instant) {
  constexpr std::int64_t unit = Duration::milliseconds(1).ns();
  return Instant::from_ns((instant.ns() + unit - 1) / unit * unit);
}

// Of the call as a whole, or of an order in it.
bool refuses_for_its_rate(const HttpAnswer& answer) {
  if (answer.status == 429) return true;
  const auto envelope = envelope_of(answer);
  if (!envelope) return false;
  const auto is_rate = [&](std::string_view code) {
    return sent_of(answer.status, code) == order::Sent::rate_limited;
  };
  return is_rate(envelope->code) ||
         std::ranges::any_of(envelope->data, [&](const json::Value& item) {
           return is_rate(venue::text_of(item, "sCode"));
         });
}

}  // namespace

struct Caller::Flight {
  std::optional<ReadCall> reads = {};  // else it changes something
  ChangeCall change = {};
  Done done;
  SteadyInstant left = {};
  std::optional<Instant> expires = {};
  bool sent_again = false;

  const std::string& path() const { return reads ? reads->path : change.path; }
  bool needs_time() const { return !reads || !reads->is_public; }
  void end(Result<HttpAnswer> answer) {
    std::exchange(done, {})({.answer = std::move(answer), .expires = expires});
  }
};

// It is its turn to leave. A time that was told a while ago will do; without one it does not leave,
// since to ask would make it late, and the next one follow too soon.
void Caller::change(ChangeCall call, Done done) {
  const auto flight =
      std::make_shared<Flight>(Flight{.change = std::move(call), .done = std::move(done)});
  const std::optional<std::string> why_not = [&]() -> std::optional<std::string> {
    const std::lock_guard lock(mutex_);
    if (venue_clock_.is_usable()) return std::nullopt;
    return time_error_;
  }();
  if (!why_not) return leave(flight);
  flight->end(time_is_unknown(*why_not));
}

void Caller::read(ReadCall call, Done done) {
  wait_for_pace(
      std::make_shared<Flight>(Flight{.reads = std::move(call), .done = std::move(done)}));
}

void Caller::wait_for_pace(const FlightPtr& flight) {
  const auto wait = [&] {
    const std::lock_guard lock(mutex_);
    return pace_.take(flight->reads->kind, ports_.clock.steady_now());
  }();
  if (!wait) return flight->end(never_left("too many calls to OKX wait for their pace"));
  if (*wait <= Duration()) return learn_time(flight);
  ports_.timers.after(*wait, [self = shared_from_this(), flight](bool over) {
    if (over) return flight->end(never_left("pawl is closing"));
    self->learn_time(flight);
  });
}

bool Caller::knows_time() {
  const std::lock_guard lock(mutex_);
  return venue_clock_.is_fresh(ports_.clock.steady_now());
}

void Caller::learn_time(std::move_only_function<void()> done) {
  if (knows_time()) return done();
  if (!learning_time_.join(ports_.clock.steady_now(), std::move(done))) return;
  read(time_call(), [self = shared_from_this()](const Reply& reply) {
    const bool learnt = self->note_time(reply);
    self->learning_time_.end(learnt, self->ports_.clock.steady_now());
  });
}

// Or why it is not known, for those that cannot leave without.
bool Caller::note_time(const Reply& reply) {
  const auto time = reply.answer ? venue_time_of(*reply.answer)
                                 : Result<Instant>(std::unexpected(reply.answer.error()));
  if (time) return true;
  const std::lock_guard lock(mutex_);
  time_error_ = venue::for_people(time.error().message);
  return false;
}

void Caller::learn_time(const FlightPtr& flight) {
  if (!flight->needs_time()) return leave(flight);
  // What waits in it must not hold it, or neither would ever go.
  learn_time([weak = weak_from_this(), flight] {
    const auto self = weak.lock();
    if (!self) return flight->end(never_left("pawl is closing"));
    if (self->venue_now()) return self->leave(flight);
    const std::string why = [&] {
      const std::lock_guard lock(self->mutex_);
      return self->time_error_;
    }();
    flight->end(time_is_unknown(why));
  });
}

HttpRequest Caller::request_of(Flight& flight, Instant now) {
  HttpRequest request{.method = flight.reads ? "GET" : "POST",
                      .url = venue::url_of(options_.base_url, flight.path()),
                      .body = flight.change.body,
                      .deadline = flight.reads ? bounds::okx_call_deadline : flight.change.timeout};
  request.connect_deadline = std::min(request.connect_deadline, request.deadline);
  if (flight.needs_time()) {
    request.fields =
        signed_fields(options_.credentials,
                      {.method = request.method, .path = flight.path(), .body = request.body}, now);
  }
  if (!flight.reads) request.fields.push_back({"Content-Type", "application/json"});
  if (options_.simulated) request.fields.push_back({"x-simulated-trading", "1"});
  if (flight.change.expires) {
    flight.expires = in_milliseconds(now + std::max(flight.change.timeout, expires_after_min));
    request.fields.push_back({"expTime", to_milliseconds(*flight.expires)});
  }
  return request;
}

void Caller::leave(const FlightPtr& flight) {
  flight->left = ports_.clock.steady_now();
  HttpRequest request = request_of(*flight, venue_now().value_or(Instant()));
  ports_.http.send(std::move(request),
                   [self = shared_from_this(), flight](Result<HttpAnswer> answer) {
                     self->arrive(flight, std::move(answer));
                   });
}

// What the answer says about clock and pace.
void Caller::note(const Flight& flight, const HttpAnswer& answer) {
  const SteadyInstant now = ports_.clock.steady_now();
  const std::string code = code_of(answer);
  const bool too_fast = refuses_for_its_rate(answer);
  {
    const std::lock_guard lock(mutex_);
    if (code == clock_is_off || code == has_expired) {
      venue_clock_.doubt();
      time_error_ = "OKX called the last one wrong (" + code + ")";
    }
    if (flight.reads && too_fast) pace_.refused(flight.reads->kind, now);
    if (flight.reads && flight.reads->kind == ReadKind::time) {
      const auto time = venue_time_of(answer);
      if (time) venue_clock_.told({.venue_time = *time, .asked = flight.left, .answered = now});
    }
  }
  if (!flight.reads) hear(flight, answer, too_fast);
}

void Caller::hear(const Flight& flight, const HttpAnswer& answer, bool too_fast) {
  const HeardAnswer heard = [&] {
    const std::lock_guard lock(mutex_);
    return heard_;
  }();
  if (!heard) return;
  auto fields = venue::limit_fields(answer);
  // OKX names no instant; its windows are two seconds.
  if (too_fast && venue::field_of(answer, "retry-after").empty()) {
    fields.push_back({.name = "retry-after", .value = "2"});
  }
  heard(too_fast ? 429 : answer.status, std::move(fields), flight.change.ids);
}

void Caller::arrive(const FlightPtr& flight, Result<HttpAnswer> answer) {
  if (!answer) return flight->end(std::move(answer));
  note(*flight, *answer);
  const bool may_go_again = flight->reads && flight->needs_time() && !flight->sent_again;
  if (may_go_again && code_of(*answer) == clock_is_off) {
    flight->sent_again = true;
    return learn_time(flight);
  }
  flight->end(std::move(answer));
}

void Caller::on_heard(HeardAnswer heard) {
  const std::lock_guard lock(mutex_);
  heard_ = std::move(heard);
}

std::optional<Instant> Caller::venue_now() {
  const std::lock_guard lock(mutex_);
  return venue_clock_.now(ports_.clock.steady_now());
}

}  // namespace pawl::okx
