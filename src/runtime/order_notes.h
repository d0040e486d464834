// What an order desk tells the log: each is one line, or a few, of src/log/order_log.h.
//
// Contract: values. Whatever is about one order carries its external_reference, and its request_id
//           where an attempt has one. No secret is in any of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>

#include "base/correlation.h"
#include "core/order/intent.h"
#include "core/order/placement.h"
#include "core/order/quota.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::desk {

// The weekly limit let an order pass, or did not.
struct QuotaPassed {
  Correlation ids = {};
  order::Quota quota = {};  // `used` without this order
  order::Order order = {};
};
struct QuotaDenied {
  Correlation ids = {};
  order::Quota quota = {};
  order::Order order = {};
};
// The venue enforces reduce-only, so the order is not counted.
struct QuotaReduceOnly {
  Correlation ids = {};
  order::Quota quota = {};
  order::Order order = {};
};
// Reduce-only is the caller's word alone here: the order is counted.
struct ReduceOnlyIsAWord {
  Correlation ids = {};
  order::Order order = {};
};
struct QuotaBypassed {  // the limit is disabled
  Correlation ids = {};
  order::Order order = {};
};

// A call of the intent store failed, and is made again after `delay`; zero: that was the last time.
struct StoreFailed {
  enum class What : std::uint8_t { check, record, read };
  What what = What::read;
  Correlation ids = {};
  int attempt = 1;
  int max_attempts = 1;
  Duration delay = {};
  Error error;
};

// How a placement ended. Confirmed: it is in order_history. Rejected: it is not.
struct PlacementEnded {
  order::Intent intent = {};
};
// Another process works on the reference: this one waits for its outcome.
struct WaitsForOther {
  Correlation ids = {};
};
struct StatusUpdated {  // of order_history
  Correlation ids = {};
  std::string venue = {};
  std::string order_id = {};
  order::Life life = order::Life::unknown;
};
// A modification or a cancellation ended.
struct ChangeEnded {
  Correlation ids = {};
  std::string operation = {};  // modify, cancel
  std::string venue = {};
  std::string order_id = {};
  order::Answer answer = {};
};
// At the start.
struct HistoryIsEmpty {};
struct Resumed {
  std::size_t taken = 0;       // open intents of processes that are gone
  std::size_t resolved = 0;    // of these
  std::size_t unresolved = 0;  // of these, and those that were so before
};
struct Backfilled {
  std::string venue = {};
  std::size_t inserted = 0;
};
// What the audit log did not take; what depended on it was not sent.
struct AuditFailed {
  Correlation ids = {};
  std::string operation = {};
  Error error;
};

using Note = std::variant<order::Note, QuotaPassed, QuotaDenied, QuotaReduceOnly, ReduceOnlyIsAWord,
                          QuotaBypassed, StoreFailed, PlacementEnded, WaitsForOther, StatusUpdated,
                          ChangeEnded, HistoryIsEmpty, Resumed, Backfilled, AuditFailed>;
using Tell = std::function<void(const Note&)>;

}  // namespace pawl::desk
