#include "tests/campaign/venues.h"

#include "venue/okx/okx_venue.h"
#include "venue/saxo/saxo_venue.h"

namespace pawl::campaign {

Result<std::unique_ptr<Venue>> open_venue(Against against, const std::string& token_file,
                                          VenuePorts ports) {
  if (against == Against::okx) {
    return PAWL_TRY(okx::OkxVenue::open(
        {.session = "one",
         .base_url = "http://okx.test",
         .credentials = {.api_key = Secret<std::string>("emulated-demo"),
                         .secret_key = Secret<std::string>("22582BD0CFF14C41EDBF1AB98506286D"),
                         .passphrase = Secret<std::string>("emulated-passphrase")}},
        {.http = ports.http,
         .clock = ports.clock,
         .timers = ports.timers,
         .entropy = ports.entropy}));
  }
  return PAWL_TRY(saxo::SaxoVenue::open(
      {.session = "one",
       .base_url = "http://saxo.test/sim/openapi/",
       .token_url = "http://saxo.test/token",
       .access_token = Secret<std::string>(token_file.empty() ? "access-1" : ""),
       .refresh_token = Secret<std::string>(token_file.empty() ? "" : "refresh-1"),
       .app_key = "app",
       .app_secret = Secret<std::string>("secret"),
       .client_key = "emulated-client",
       .account_key = "emulated-account",
       .token_file = token_file},
      {.http = ports.http, .clock = ports.clock, .timers = ports.timers}));
}

}  // namespace pawl::campaign
