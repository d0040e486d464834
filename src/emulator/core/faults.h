// Faults: what goes wrong, and with which call.
//
// Why:      a fault is worth testing with when it comes again in the next run. So faults are either
//           written down one by one (script), or drawn by a seed: what is drawn depends on the
//           seed, the operation and how many of them came before, not on time or on other traffic.
// Contract: pure. parse_script() reads the file that docs/emulators.md describes, and refuses what
//           it does not know. meet() is asked once for every call; the first row of the script that
//           fits it is taken, and only when none does, a fault is drawn.
//           with_faults() does what is the same for every venue: it gives the answers that need no
//           venue, and spoils the others on their way out.
// Bounds:   bounds::emulator_faults_max rows.
// Threads:  none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "emulator/core/exchange.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

// "before" and "after" speak of the venue's work on the call: what is asked for is, or is not, done
// although the client does not hear so.
enum class FaultKind : std::uint8_t {
  drop_before_accept,
  drop_after_accept,
  delay_before_accept,  // the venue begins so much later ("delay"); the client may have left
  delay_after_accept,   // the work is done at once, the answer comes so much later
  half_answer,
  wrong_length,
  duplicate_answer,
  html_502_before_accept,
  html_502_after_accept,
  html_503_before_accept,
  html_503_after_accept,
  empty_401,
  gzip,
  restart,  // after the work: every connection is cut, memory is lost
  // The venue itself looks at these.
  rate_limited,     // refused as if the limit were used up
  headers_missing,  // an answer without its rate-limit fields
  reset_zero,       // the rate-limit fields say: wait 0 s
  lag,              // accepted; for "lag" no reading call shows it
  error_before,     // an error of the venue's own ("code", "status"), nothing done
  error_after,      // the same, and yet the work is done
  // Saxo.
  trade_not_completed,  // 202 with OrderId; later it is ("after") what "resolves" says
  error_in_200,         // refused, as a 200 with ErrorInfo; S3: with an <Error>
  order_id_in_400,      // refused, says the answer, with the id of an order that lives
  reference_missing,    // lists leave the order's ExternalReference out
  // S3.
  condition_ignored,  // If-None-Match or If-Match of a write is passed over
  wrong_tag,          // the answer has the ETag of other bytes
  // OKX.
  s_code_in_0,        // code 0, but sCode ("code") says no
  push_before_reply,  // the order channel tells before the answer does
  push_silence,       // the order channel says nothing of it
  push_close,         // the order channel's connection is closed
};

std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::drop_after_accept;
  Duration delay = Duration::seconds(30);
  Duration lag = Duration::seconds(2);
  Duration after = Duration::seconds(2);
  std::uint64_t reset = 1;    // seconds that a refused call is told to wait, where that is told
  std::string code = {};      // empty: the venue's usual one
  int status = 0;             // 0: the venue's usual one
  std::string resolves = {};  // FinalFill | Working | Rejected
};

// What is known of a call when a fault is chosen.
struct Sighting {
  std::string operation = {};
  std::string reference = {};
};

class Faults {
 public:
  // Of the script: which calls of an operation (empty: any) and a reference (empty: any).
  struct Row {
    Fault fault = {};
    std::string operation = {};
    std::string reference = {};
    std::uint64_t nth = 1;    // of those that fit, from 1
    std::uint64_t times = 1;  // so many of them, from the nth; 0: all
    std::uint64_t seen = 0;
  };
  // Drawn: so many in a million.
  struct Rate {
    Fault fault = {};
    std::vector<std::string> operations = {};  // empty: any
    std::uint64_t millionths = 0;
  };

  std::optional<Fault> meet(const Sighting& call);
  // As if no call had come yet.
  void forget();

  std::uint64_t seed = 0;
  std::vector<Row> rows = {};
  std::vector<Rate> rates = {};

 private:
  std::map<std::string, std::uint64_t> counts_;  // calls of an operation
};

// A whole file: {"settings": {…}, "script": […], "seed": 7, "rates": {…}, "calls": […]}.
struct Script {
  Faults faults = {};
  json::Value settings = {};  // null: none were named; the venue reads them
};
Result<Script> parse_script(std::string_view text);
// Refuses a script with a fault that the venue does not have.
Result<void> check_kinds(const Faults& faults, std::span<const FaultKind> not_here,
                         std::string_view venue);

// The venue's work on a call. The fault is null, or one that the venue has to look at itself.
using Process = std::function<Reply(const Fault*)>;
Reply with_faults(Faults& faults, const Call& call, const Sighting& sighting,
                  const Process& process);

}  // namespace pawl::emulator
