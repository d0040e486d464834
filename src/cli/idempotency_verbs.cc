#include "cli/idempotency_verbs.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapter/system/system_clock.h"
#include "assembly/audit_sinks.h"
#include "assembly/record_stores.h"
#include "base/bounds.h"
#include "base/json.h"
#include "cli/audit_settings.h"
#include "cli/configuration.h"
#include "cli/idempotency_text.h"
#include "cli/output.h"
#include "config/values.h"
#include "core/audit/retry_event.h"
#include "core/request/write.h"
#include "port/answer_of.h"

namespace pawl::cli {
namespace {

using idempotency::Completion;
using idempotency::Record;
using idempotency::Status;

Result<std::unique_ptr<RecordStore>> open_store(const config::Idempotency& settings, Clock& clock) {
  // Looking must not make one.
  if (settings.store.kind == StoreSetting::Kind::sqlite &&
      !std::filesystem::exists(settings.store.path)) {
    return failure(Code::not_found, "there is no '" + settings.store.path +
                                        "' yet; idempotency.store names it, and whoever keeps the "
                                        "first record makes it");
  }
  auto store = PAWL_TRY(open_records(settings.store, settings.durability, clock));
  if (settings.store.kind == StoreSetting::Kind::memory) {
    return failure(Code::refused,
                   "idempotency.store is memory: its records are those of a running process, and "
                   "nobody else can see them");
  }
  return store;
}

Result<KeptRecord> find(RecordStore& store, RecordKey key) {
  Record record = PAWL_TRY(answer_of<Record>([&](auto done) { store.get(key, std::move(done)); }));
  return KeptRecord{.key = std::move(key), .record = std::move(record)};
}

// The record of that key, or else the one write of the gateway whose client called it so.
Result<KeptRecord> find_meant(RecordStore& store, const Arguments& arguments) {
  const RecordKey typed{.scope = arguments.value("TENANT"), .key = arguments.value("KEY")};
  Result<KeptRecord> whole = find(store, typed);
  if (whole || whole.error().code != Code::not_found) return whole;
  const auto records = PAWL_TRY(answer_of<std::vector<KeptRecord>>(
      [&](auto done) { store.list({.scope = typed.scope}, std::move(done)); }));
  std::vector<RecordKey> meant;
  for (const KeptRecord& each : records) {
    const auto write = request::parse_record_key(each.key.key);
    if (each.key.scope == typed.scope && write && write->key == typed.key) {
      meant.push_back(each.key);
    }
  }
  if (meant.empty()) return whole;
  if (meant.size() == 1) return find(store, meant.front());
  std::string names;
  for (const RecordKey& each : meant) names.append("\n  '").append(each.key).append("'");
  return failure(Code::refused, "several writes have this key; name one of them whole:" + names);
}

// What somebody is about to do to a record.
struct Deed {
  audit::IdempotencyAction action;
  std::string_view operation;
  RecordKey key;
  std::vector<std::pair<std::string_view, json::Value>> details = {};
};

Result<void> put_on_record(const Deed& deed, const config::Audit& audit, Clock& clock) {
  const auto sink = PAWL_TRY(open_audit(audit_settings(audit)));
  audit::Event event =
      audit::to_event(audit::Idempotency{.subject = {.category = {},
                                                     .operation = deed.operation,
                                                     .correlation = {.tenant_id = deed.key.scope},
                                                     .timestamp = clock.wall_now()},
                                         .idempotency_key = deed.key.key,
                                         .action = deed.action});
  event.details.insert(event.details.end(), deed.details.begin(), deed.details.end());
  PAWL_TRY(sink->append(std::move(event)));
  return sink->flush();
}

Result<void> list(const config::Config& config, const Arguments& arguments) {
  const auto limit =
      config::parse_whole(arguments.value("--limit"), 1, std::int64_t{bounds::record_list_max});
  if (!limit) {
    return std::unexpected(
        usage_error("idempotency list", "--limit is '" + arguments.value("--limit") +
                                            "'; it is a number from 1 to " +
                                            std::to_string(bounds::record_list_max)));
  }
  SystemClock clock;
  const auto store = PAWL_TRY(open_store(config.idempotency, clock));
  const std::string tenant = arguments.has("--tenant") ? arguments.value("--tenant") : "";
  const auto records = PAWL_TRY(answer_of<std::vector<KeptRecord>>([&](auto done) {
    store->list({.scope = tenant, .limit = static_cast<std::size_t>(*limit)}, std::move(done));
  }));
  print(arguments.has("--json") ? records_json(records) : records_text(records));
  return {};
}

Result<void> show(const config::Config& config, const Arguments& arguments) {
  SystemClock clock;
  const auto store = PAWL_TRY(open_store(config.idempotency, clock));
  const KeptRecord kept = PAWL_TRY(find_meant(*store, arguments));
  print(arguments.has("--json") ? record_json(kept) : record_text(kept));
  return {};
}

Result<void> clear(const config::Config& config, const Arguments& arguments) {
  const bool force = arguments.has("--force");
  SystemClock clock;
  const auto store = PAWL_TRY(open_store(config.idempotency, clock));
  const auto [key, record] = PAWL_TRY(find_meant(*store, arguments));
  std::optional<Record> found = record;
  PAWL_TRY(idempotency::clear(found, force, clock.wall_now()));
  Deed deed{
      .action = audit::IdempotencyAction::clear, .operation = "idempotency clear", .key = key};
  if (force) deed.details.emplace_back("force", true);
  PAWL_TRY(put_on_record(deed, config.audit, clock));
  PAWL_TRY(answer_of<void>([&](auto done) { store->clear(key, force, std::move(done)); }));
  print("cleared " + name_of(key) + "\n");
  return {};
}

// What was typed, as the machine takes it.
Result<Completion> completion_of(const Arguments& arguments, Duration ttl) {
  const auto usage = [](std::string message) {
    return std::unexpected(usage_error("idempotency settle", std::move(message)));
  };
  if (!arguments.has("--as")) return usage("--as is missing; say how it ended");
  if (!arguments.has("--reason") || arguments.value("--reason").empty()) {
    return usage("--reason is missing; say how you know");
  }
  if (arguments.value("--as") == to_string(Outcome::applied)) {
    Completion how{.status = Status::done, .response = {}, .ttl = ttl};
    if (arguments.has("--result")) how.response.body = arguments.value("--result");
    return how;
  }
  if (arguments.has("--result")) return usage("--result goes with --as applied");
  return Completion{
      .status = Status::failed,
      .response = {.metadata = json::print(json::Object{{"reason", arguments.value("--reason")}})},
      .ttl = ttl};
}

Result<void> settle(const config::Config& config, const Arguments& arguments) {
  const Completion how = PAWL_TRY(completion_of(arguments, config.idempotency.ttl));
  SystemClock clock;
  const auto store = PAWL_TRY(open_store(config.idempotency, clock));
  const auto [key, record] = PAWL_TRY(find_meant(*store, arguments));
  std::optional<Record> found = record;
  PAWL_TRY(idempotency::settle(found, how, clock.wall_now()));
  const std::string& outcome = arguments.value("--as");
  const Deed deed{.action = audit::IdempotencyAction::settle,
                  .operation = "idempotency settle",
                  .key = key,
                  .details = {{"outcome", outcome}, {"reason", arguments.value("--reason")}}};
  PAWL_TRY(put_on_record(deed, config.audit, clock));
  PAWL_TRY(answer_of<void>([&](auto done) { store->settle(key, how, std::move(done)); }));
  print("settled " + name_of(key) + " as " + outcome + "\n");
  return {};
}

int run(const Arguments& arguments, Result<void> (*verb)(const config::Config&, const Arguments&)) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<void> done = verb(*config, arguments);
  return done ? 0 : fail(done.error());
}

}  // namespace

int idempotency_list(const Arguments& arguments) {
  return run(arguments, list);
}

int idempotency_show(const Arguments& arguments) {
  return run(arguments, show);
}

int idempotency_clear(const Arguments& arguments) {
  return run(arguments, clear);
}

int idempotency_settle(const Arguments& arguments) {
  return run(arguments, settle);
}

}  // namespace pawl::cli
