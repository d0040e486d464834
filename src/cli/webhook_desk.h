// WebhookDesk: what the binary needs to send webhooks: the outbox in its file, a client, timers.
//
// Contract: the file and the client are opened with the first endpoint that the settings name, at
//           the start or by a reload: who has none has no file. They stay open until the end.
// Threads:  one for open(), reload(), tick() and stop(), which is also the one on which deliveries
//           are listed.
#pragma once

#include <memory>

#include "adapter/system/waiting_room.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "runtime/webhooks.h"

namespace pawl::cli {

class WebhookDesk {
 public:
  struct Parts {
    Clock& clock;
    RecordStore& records;
    EventSink& audit;
    metrics::Registry& metrics;
  };
  static Result<std::unique_ptr<WebhookDesk>> open(const config::Webhooks& settings,
                                                   const Parts& parts);
  ~WebhookDesk();

  Webhooks& webhooks() { return *webhooks_; }
  // An error: nothing has changed.
  Result<void> reload(const config::Webhooks& settings);
  // Once a second.
  void tick();
  // What is under way is waited for; the rest goes on after the next start.
  void stop();

 private:
  class LateOutbox;
  class LateHttpClient;

  explicit WebhookDesk(const Parts& parts);

  Clock& clock_;
  std::unique_ptr<LateOutbox> outbox_;
  std::unique_ptr<LateHttpClient> http_;
  WaitingRoom timers_;
  std::unique_ptr<Webhooks> webhooks_;
  WebhookCounts told_;
  metrics::Counter& acknowledged_;
  metrics::Counter& given_up_;
  metrics::Counter& attempts_;
  metrics::Gauge& pending_;
};

}  // namespace pawl::cli
