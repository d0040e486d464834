// The venues of a campaign: pawl's own code for them, on a network that is none.
#pragma once

#include <memory>
#include <string>

#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/http_client.h"
#include "port/timers.h"
#include "port/venue.h"
#include "tests/campaign/campaign.h"

namespace pawl::campaign {

struct VenuePorts {
  HttpClient& http;
  Clock& clock;
  Timers& timers;
  Entropy& entropy;
};
// `token_file` is where tokens that end are kept; empty: the first one is good for ever.
Result<std::unique_ptr<Venue>> open_venue(Against against, const std::string& token_file,
                                          VenuePorts ports);

}  // namespace pawl::campaign
