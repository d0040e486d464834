// Caller: one call to OKX, signed by its clock, at its pace.
//
// Contract: what changes something leaves once, and ends with what came back. 50102 and 50036 (the
//           gate found our time wrong, and looked no further) make the time doubtful, and
//           learn_time() asks for it anew before the next turn. A read, which has no turn, does so
//           itself and is sent once more. Every answer to a call that changes something is heard by
//           the pacer; one that refuses it for its rate is heard as a 429 whatever its status was.
//           A call that never left is an Error with the outcome not_applied.
// Time:     before the first signed call, and again when it has grown old (okx_clock.h), OKX is
//           asked for its time, once for all who need it (okx_learning.h). If it cannot be, older
//           knowledge of it does; with none at all nothing leaves, and the error says why it was
//           not told. A change does not ask, since its turn has come: learn_time() before. While
//           the time is doubtful it does not leave either.
// expTime:  of a call that places or amends: its timeout from now by OKX's clock, and never less
//           than a second. OKX takes nothing after it, and Reply::expires tells it.
// Secrets:  stand in the request alone.
// Threads:  any. `done` is called exactly once. Http client, clock and timers outlive what is under
//           way.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/bounds.h"
#include "pawl/clock.h"
#include "port/http_client.h"
#include "port/timers.h"
#include "port/venue.h"
#include "venue/okx/okx_clock.h"
#include "venue/okx/okx_learning.h"
#include "venue/okx/okx_pace.h"
#include "venue/okx/okx_reading.h"
#include "venue/okx/okx_sign.h"

namespace pawl::okx {

// One that changes something; reading ones are ReadCalls.
struct ChangeCall {
  std::string path = {};
  std::string body = {};
  Duration timeout = {};
  bool expires = false;  // has an expTime
  Correlation ids = {};
};

struct Reply {
  Result<HttpAnswer> answer;
  std::optional<Instant> expires = {};
};

class Caller : public std::enable_shared_from_this<Caller> {
 public:
  using Done = std::move_only_function<void(Reply)>;

  struct Options {
    std::string base_url = {};
    Credentials credentials = {};
    bool simulated = false;
  };
  struct Ports {
    HttpClient& http;
    Clock& clock;
    Timers& timers;
  };

  Caller(Options options, Ports ports) : options_(std::move(options)), ports_(ports) {}

  void change(ChangeCall call, Done done);
  void read(ReadCall call, Done done);
  void on_heard(HeardAnswer heard);
  // The venue's, unless it is known.
  void learn_time(std::move_only_function<void()> done);
  // Nothing: it was never told.
  std::optional<Instant> venue_now();
  Clock& clock() { return ports_.clock; }

 private:
  struct Flight;
  using FlightPtr = std::shared_ptr<Flight>;

  void wait_for_pace(const FlightPtr& flight);
  bool knows_time();
  void learn_time(const FlightPtr& flight);
  bool note_time(const Reply& reply);
  void leave(const FlightPtr& flight);
  HttpRequest request_of(Flight& flight, Instant now);
  void arrive(const FlightPtr& flight, Result<HttpAnswer> answer);
  void note(const Flight& flight, const HttpAnswer& answer);
  void hear(const Flight& flight, const HttpAnswer& answer, bool too_fast);

  const Options options_;
  const Ports ports_;
  // Shorter than the desk's first wait: another attempt of an order asks anew.
  Learning learning_time_{Duration::milliseconds(500)};
  std::mutex mutex_;
  VenueClock venue_clock_;
  std::string time_error_ = "it was not asked yet";  // of the last call that did not tell it
  ReadPace pace_;
  HeardAnswer heard_;
};

}  // namespace pawl::okx
