#include "assembly/audit_sinks.h"

#include <utility>

#include "adapter/file/audit_file.h"
#include "adapter/nats/nats_event_sink.h"
#include "assembly/sink_group.h"
#include "base/assert.h"

namespace pawl {
namespace {

// Whatever is wrong with the log, the setting that names it is valid.
template <class Sink>
Result<std::unique_ptr<EventSink>> opened(Result<std::unique_ptr<Sink>> sink) {
  if (!sink) return failure(Code::unavailable, std::move(sink.error().message));
  return *std::move(sink);
}

Result<std::unique_ptr<EventSink>> open_sink(const StoreSetting& sink,
                                             const AuditSettings& settings) {
  if (sink.kind == StoreSetting::Kind::file) {
    return opened(AuditFile::open({.path = sink.path,
                                   .on_full = settings.on_full,
                                   .part_bytes_max = settings.part_bytes_max}));
  }
  if (sink.kind == StoreSetting::Kind::nats) {
    const nats::NatsUrl url = PAWL_TRY(nats::parse_nats_url(sink.url.reveal()));
    return opened(NatsEventSink::open({.url = url, .queue = {.on_full = settings.on_full}}));
  }
  return failure(Code::invalid,
                 "an audit log cannot be kept there; name file:PATH or nats://HOST:PORT/STREAM");
}

}  // namespace

Result<std::unique_ptr<EventSink>> open_audit(const AuditSettings& settings) {
  PAWL_ASSERT(!settings.sinks.empty());
  std::vector<std::unique_ptr<EventSink>> sinks;
  for (const StoreSetting& sink : settings.sinks) {
    sinks.push_back(PAWL_TRY(open_sink(sink, settings)));
  }
  if (sinks.size() == 1) return std::move(sinks.front());
  return std::make_unique<SinkGroup>(std::move(sinks));
}

}  // namespace pawl
