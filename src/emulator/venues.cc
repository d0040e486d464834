#include "emulator/venues.h"

#include <memory>
#include <utility>

#include "base/bounds_queue.h"
#include "emulator/core/okx_exchange.h"
#include "emulator/core/s3_exchange.h"
#include "emulator/core/saxo_exchange.h"
#include "emulator/okx_channel.h"

namespace pawl::emulator {

Venue make_venue(std::string_view name) {
  if (name == "okx") {
    auto exchange = std::make_unique<OkxExchange>();
    auto channels = std::make_unique<OkxChannels>(*exchange);
    return {.exchange = std::move(exchange), .channels = std::move(channels)};
  }
  if (name == "s3") {
    return {.exchange = std::make_unique<S3Exchange>(),
            .body_bytes_max = bounds::emulated_object_bytes_max};
  }
  return {.exchange = std::make_unique<SaxoExchange>()};
}

}  // namespace pawl::emulator
