// Exchange: a venue that is not one. It answers the calls of a client from a book of its own.
//
// Why:      a program that trades is only as good as the worst answer it was tested with. Here such
//           answers come when they are asked for.
// Contract: pure. answer() takes a whole call and gives a whole reply; what happens to the bytes on
//           their way (lost, late, cut, twice) is said in the reply and done by the shell
//           (emulator/server.h). Time is an argument, and may be moved by whoever tests.
//           What must outlive the emulator's process is given as lines (take_changes), which
//           restore() takes one by one, in order. A change is on the disk before its reply leaves.
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

struct Script;  // faults.h

struct Field {
  std::string name = {};
  std::string value = {};
};

struct Call {
  std::uint64_t number = 0;  // from 1, of all calls
  std::string method = {};
  std::string path = {};           // without the query
  std::string query = {};          // without the question mark, as it came
  std::vector<Field> fields = {};  // names in lower case
  std::string body = {};
  bool held = false;  // it was answered with Reply::hold before, and comes again
};

// What happens to a reply on its way.
enum class Wire : std::uint8_t {
  whole,
  drop,          // the connection is cut, nothing is sent
  half,          // cut in the middle of the body
  wrong_length,  // Content-Length promises more than comes
  twice,         // the same answer comes a second time
  restart,       // every connection is cut, and the venue forgets what was only in memory
};

struct Reply {
  int status = 200;
  std::vector<Field> fields = {};  // without Content-Length and Date, which the shell adds
  std::string body = {};
  Wire wire = Wire::whole;
  Duration delay = {};  // before the first byte
  // Not zero: no reply yet. The call has not been looked at, and is to be handed in again, with
  // `held`, that much later.
  Duration hold = {};
  // What the log tells of the call.
  std::string operation = {};  // place, cancel, open_orders …
  std::string reference = {};  // ExternalReference or clOrdId
  std::string order_id = {};
  bool accepted = false;   // an order was made by it
  std::string fault = {};  // that was chosen for it; empty: none
  std::string note = {};   // what else there is to say; empty: nothing
  bool tells_body = true;  // of the call
};

// What is told to a client without being asked (OKX's order channel).
struct Push {
  std::string channel = {};
  std::string text = {};
  bool before_reply = false;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual Reply answer(const Call& call, Instant now) = 0;
  // What has become of orders by the mere passing of time, and what was pushed since the last call.
  virtual void tick(Instant) {}
  virtual std::vector<Push> take_pushes() { return {}; }

  // From now on these faults and settings, in place of those before.
  virtual Result<void> play(const Script& script) = 0;
  // As after a restart: what is only in memory (windows of limits, what counts as a repeat) is
  // gone, orders stay.
  virtual void forget() = 0;
  // Without any order, and forget().
  virtual void reset() = 0;

  // One line of JSON for each change since the last call; restore() takes such a line.
  virtual std::vector<std::string> take_changes() = 0;
  virtual Result<void> restore(std::string_view line) = 0;

  // For the control port.
  virtual json::Value orders() const = 0;
  virtual json::Value stats() const = 0;
  // verb: fill, cancel, expire, reject.
  virtual Result<void> act(std::string_view order_id, std::string_view verb, Instant now) = 0;
};

}  // namespace pawl::emulator
