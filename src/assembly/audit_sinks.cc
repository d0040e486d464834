#include "assembly/audit_sinks.h"

#include <algorithm>
#include <utility>

#include "adapter/file/audit_file.h"
#include "adapter/nats/nats_event_sink.h"
#include "adapter/sqlite/power_cut.h"
#include "assembly/sink_group.h"
#include "base/assert.h"

namespace pawl {
namespace {

// Whatever is wrong with the log, the setting that names it is valid.
template <class Sink>
Result<std::unique_ptr<Sink>> opened(Result<std::unique_ptr<Sink>> sink) {
  if (!sink) return failure(Code::unavailable, std::move(sink.error().message));
  return sink;
}

Result<OpenedAudit> open_sink(const StoreSetting& sink, const AuditSettings& settings) {
  if (sink.kind == StoreSetting::Kind::file) {
    std::unique_ptr<EventSink> file =
        PAWL_TRY(opened(AuditFile::open({.path = sink.path,
                                         .on_full = settings.on_full,
                                         .part_bytes_max = settings.part_bytes_max})));
    return OpenedAudit{
        .sink = std::move(file),
        .durability = lies_in_memory(sink.path) ? Durability::process : Durability::fsync};
  }
  if (sink.kind == StoreSetting::Kind::nats) {
    const nats::NatsUrl url = PAWL_TRY(nats::parse_nats_url(sink.url.reveal()));
    std::unique_ptr<NatsEventSink> stream =
        PAWL_TRY(opened(NatsEventSink::open({.url = url, .queue = {.on_full = settings.on_full}})));
    const Durability found = stream->durability();
    return OpenedAudit{.sink = std::move(stream), .durability = found};
  }
  return failure(Code::invalid,
                 "an audit log cannot be kept there; name file:PATH or nats://HOST:PORT/STREAM");
}

}  // namespace

Result<OpenedAudit> open_probed_audit(const AuditSettings& settings) {
  PAWL_ASSERT(!settings.sinks.empty());
  std::vector<std::unique_ptr<EventSink>> sinks;
  Durability weakest = Durability::fsync;
  for (const StoreSetting& sink : settings.sinks) {
    OpenedAudit one = PAWL_TRY(open_sink(sink, settings));
    weakest = std::min(weakest, one.durability);
    sinks.push_back(std::move(one.sink));
  }
  if (sinks.size() == 1) return OpenedAudit{std::move(sinks.front()), weakest};
  return OpenedAudit{std::make_unique<SinkGroup>(std::move(sinks)), weakest};
}

Result<std::unique_ptr<EventSink>> open_audit(const AuditSettings& settings) {
  return PAWL_TRY(open_probed_audit(settings)).sink;
}

}  // namespace pawl
