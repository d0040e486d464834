// The envelopes in which OKX answers: {"code", "msg", "data"}, and what stands in them.
//
// Contract: pure. A refusal of an order is an HTTP 200 whose code is 1, with the reason in the
//           item's sCode; of several orders some of which were taken, the code is 2. What is wrong
//           with the call as a whole has a code, and an HTTP status, of its own.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "emulator/core/exchange.h"
#include "emulator/core/okx_codes.h"
#include "pawl/time.h"

namespace pawl::emulator {

// What became of one order of a call that changes orders.
struct OkxItem {
  std::string order_id = {};
  std::string reference = {};  // clOrdId
  std::string tag = {};
  std::string request = {};  // reqId of an amendment
  OkxRefusal refusal = {};
};

Reply okx_data(json::Array rows);
Reply okx_refused(const OkxRefusal& refusal);
// `says_success`: code 0, whatever the items say.
Reply okx_items(const std::vector<OkxItem>& items, Instant now, bool says_success);

}  // namespace pawl::emulator
