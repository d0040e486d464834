#include "admin/idempotency.h"

#include <memory>
#include <optional>
#include <utility>

#include "admin/parameters.h"
#include "base/bounds.h"
#include "core/audit/retry_event.h"
#include "core/request/write.h"

namespace pawl::admin {
namespace {

using audit::IdempotencyAction;
using idempotency::Completion;
using idempotency::Status;
using json::Array;
using json::Object;
using json::Value;

constexpr const char* no_such_record = "This tenant has no record of such a key.";

Schema status_word() {
  return schema::word({"in_flight", "done", "failed", "unknown"});
}

Schema record_schema() {
  return schema::object({{"tenant", schema::text()},
                         {"key", schema::text()},
                         {"method", schema::or_null(schema::text())},
                         {"path", schema::or_null(schema::text())},
                         {"status", status_word()},
                         {"created_at", schema::instant()},
                         {"expires_at", schema::instant()},
                         {"lease_until", schema::or_null(schema::instant())},
                         {"replays", schema::count()},
                         {"tombstone", schema::truth()}});
}

Schema hit_schema() {
  return schema::object({{"at", schema::instant()},
                         {"what", schema::text()},
                         {"tenant", schema::text()},
                         {"operation", schema::text()},
                         {"key", schema::text()}});
}

Value to_json(const KeptRecord& kept) {
  const std::optional<request::WriteKey> write = request::parse_record_key(kept.key.key);
  const bool in_flight = kept.record.status == Status::in_flight;
  return Object{
      {"tenant", kept.key.scope},
      {"key", write ? write->key : kept.key.key},
      {"method", write ? Value(write->method) : Value()},
      {"path", write ? Value(write->path) : Value()},
      {"status", to_string(kept.record.status)},
      {"created_at", to_string(kept.record.created_at)},
      {"expires_at", to_string(kept.record.expires_at)},
      {"lease_until", in_flight ? Value(to_string(kept.record.lease_until)) : Value()},
      {"replays", kept.record.replays},
      {"tombstone", kept.record.response.tombstone},
  };
}

Value to_json(const WriteStats::Hit& hit) {
  return Object{{"at", to_string(hit.at)},
                {"what", to_string(hit.what)},
                {"tenant", hit.tenant},
                {"operation", hit.operation},
                {"key", hit.key}};
}

template <class Items>
Value to_array(const Items& items) {
  Array out;
  for (const auto& item : items) out.push_back(to_json(item));
  return out;
}

void list(Context& context, Call call) {
  const RecordFilter filter{.scope = call.text("tenant"),
                            .key_part = call.text("key"),
                            .status = idempotency::status_of(call.text("status")),
                            .limit = limit_of(call)};
  std::vector<WriteStats::Hit> hits = context.writes.recent(bounds::write_hits_max);
  std::erase_if(hits, [&](const WriteStats::Hit& hit) {
    return !fits(filter, {.scope = hit.tenant, .key = hit.operation + " " + hit.key});
  });
  if (hits.size() > filter.limit) hits.resize(filter.limit);
  context.records.list(filter, back<std::vector<KeptRecord>>(
                                   context, std::move(call),
                                   [hits](Call asked, const std::vector<KeptRecord>& records) {
                                     std::move(asked).answer(Object{{"records", to_array(records)},
                                                                    {"hits", to_array(hits)}});
                                   }));
}

void tell_stats(Context& context, Call call) {
  Object counts;
  for (std::size_t i = 0; i < request::write_events; ++i) {
    const auto what = static_cast<request::WriteEvent>(i);
    counts.emplace(to_string(what), context.writes.count(what));
  }
  const Result<void> health = context.records.health();
  std::move(call).answer(
      Object{{"counts", std::move(counts)},
             {"store", Object{{"durability", to_string(context.records.durability())},
                              {"available", health.has_value()}}}});
}

// What is to be done to the records of a key.
struct Deed {
  IdempotencyAction action{};
  std::string_view operation;
  bool force = false;
  std::optional<Completion> how = {};  // to settle
  std::string reason = {};
  std::vector<KeptRecord> records = {};
  std::size_t done = 0;
};

Result<void> put_on_record(Context& context, const Call& call, const Deed& deed,
                           const RecordKey& key) {
  audit::Event event =
      audit::to_event(audit::Idempotency{.subject = {.category = {},
                                                     .operation = deed.operation,
                                                     .correlation = {.tenant_id = key.scope},
                                                     .timestamp = context.clock.wall_now()},
                                         .idempotency_key = key.key,
                                         .action = deed.action});
  if (deed.force) event.details.emplace_back("force", true);
  if (deed.how) {
    const bool done = deed.how->status == Status::done;
    event.details.emplace_back("outcome",
                               to_string(done ? Outcome::applied : Outcome::not_applied));
    event.details.emplace_back("reason", deed.reason);
  }
  return record_change(context, call, std::move(event));
}

// One after the other: on record, then done.
void go_on(Context& context, Call call, const std::shared_ptr<Deed>& deed) {
  if (deed->done == deed->records.size()) {
    return std::move(call).answer(Object{{"records", to_array(deed->records)}});
  }
  const RecordKey key = deed->records[deed->done].key;
  if (const auto recorded = put_on_record(context, call, *deed, key); !recorded) {
    return std::move(call).fail(recorded.error());
  }
  auto next = back<void>(context, std::move(call), [&context, deed](Call asked) {
    ++deed->done;
    go_on(context, std::move(asked), deed);
  });
  if (deed->how) {
    context.records.settle(key, *deed->how, std::move(next));
  } else {
    context.records.clear(key, deed->force, std::move(next));
  }
}

// Those that the deed cannot be done to are told before anything is.
void begin(Context& context, Call call, std::shared_ptr<Deed> deed) {
  const auto is = [](Status status) {
    return [status](const KeptRecord& kept) { return kept.record.status == status; };
  };
  if (deed->how) {
    std::erase_if(deed->records, std::not_fn(is(Status::unknown)));
    if (deed->records.empty()) {
      return std::move(call).refuse(http::ProblemCode::conflict,
                                    "It is known how this key ended, or it is in flight: only one "
                                    "of unknown end is settled.");
    }
  } else if (!deed->force && std::ranges::any_of(deed->records, is(Status::in_flight))) {
    return std::move(call).refuse(http::ProblemCode::conflict,
                                  "The key is in flight: wait for its end, or add ?force=true if "
                                  "nobody works on it any more.");
  }
  go_on(context, std::move(call), deed);
}

// A key stands in the path of a call, or in its body: one that is a dot segment, in the body alone.
std::string given(const Call& call, std::string_view name) {
  std::string text = call.text(name);
  return text.empty() ? call.member(name) : text;
}

// What a call names: a key, and perhaps the method and path that it was used with.
struct Named {
  explicit Named(const Call& call)
      : write{.method = given(call, "method"),
              .path = given(call, "path"),
              .key = given(call, "key")} {}

  bool is_whole() const { return !write.method.empty() && !write.path.empty(); }
  // Where another body makes another intent, there is a record for each.
  bool is_of(const KeptRecord& kept) const {
    if (is_whole()) {
      return kept.key.key == request::to_record_key(write) ||
             kept.key.key == request::to_record_key(write, kept.record.fingerprint);
    }
    const std::optional<request::WriteKey> found = request::parse_record_key(kept.key.key);
    return found && found->key == write.key;
  }

  request::WriteKey write;
};

// One that is older than those a list holds is still found by all that it is named by, whatever
// body it was sent with.
void find_old(Context& context, Call call, std::shared_ptr<Deed> deed) {
  const RecordFilter filter{.scope = given(call, "tenant"),
                            .key_part = request::to_record_key(Named(call).write)};
  const auto take = [&context, deed](Call asked, std::vector<KeptRecord> records) {
    const Named named(asked);
    std::erase_if(records, [&](const KeptRecord& kept) { return !named.is_of(kept); });
    if (records.empty()) {
      return std::move(asked).refuse(http::ProblemCode::not_found, no_such_record);
    }
    deed->records = std::move(records);
    begin(context, std::move(asked), deed);
  };
  context.records.list(filter, back<std::vector<KeptRecord>>(context, std::move(call), take));
}

void find(Context& context, Call call, Deed wanted) {
  const std::string tenant = given(call, "tenant");
  const auto deed = std::make_shared<Deed>(std::move(wanted));
  const auto take = [&context, deed](Call asked, std::vector<KeptRecord> records) {
    const bool all_seen = records.size() < bounds::record_list_max;
    const Named named(asked);
    std::erase_if(records, [&](const KeptRecord& kept) { return !named.is_of(kept); });
    if (!records.empty()) {
      deed->records = std::move(records);
      begin(context, std::move(asked), deed);
    } else if (named.is_whole() && !all_seen) {
      find_old(context, std::move(asked), deed);
    } else {
      std::move(asked).refuse(
          http::ProblemCode::not_found,
          all_seen ? no_such_record
                   : "None of this tenant's latest records has such a key; for an older one add "
                     "?method=POST&path=/...");
    }
  };
  context.records.list({.scope = tenant},
                       back<std::vector<KeptRecord>>(context, std::move(call), take));
}

void clear(Context& context, Call call) {
  const Value* in_body = call.body().find("force");
  const bool force = call.truth("force") || (in_body != nullptr && *in_body == Value(true));
  find(context, std::move(call),
       {.action = IdempotencyAction::clear, .operation = "idempotency clear", .force = force});
}

// One that is done has no answer to replay, so it is kept as those whose answer was too large.
void settle(Context& context, Call call) {
  const std::string reason = call.member("reason");
  const bool done = call.member("as") == to_string(Status::done);
  Completion how{
      .status = done ? Status::done : Status::failed,
      .response = {.metadata = json::print(Object{{"reason", reason}}), .tombstone = done},
      .ttl = context.record_ttl};
  find(context, std::move(call),
       {.action = IdempotencyAction::settle,
        .operation = "idempotency settle",
        .how = std::move(how),
        .reason = reason});
}

std::vector<Parameter> key_parameters() {
  return {tenant_in_path(),
          {"key", "As the client gave it, without quotes.",
           schema::text(1, bounds::idempotency_key_bytes_max), Parameter::In::path},
          {"method", "With path: the records of that method and path alone.", schema::text(1, 32)},
          {"path", "With method.", schema::text(1, bounds::http_request_line_bytes_max)}};
}

std::vector<schema::Member> key_members() {
  return {{"tenant", schema::text(1, bounds::tenant_bytes_max)},
          {"key", schema::text(1, bounds::idempotency_key_bytes_max)},
          {"method", schema::text(1, 32), false},
          {"path", schema::text(1, bounds::http_request_line_bytes_max), false}};
}

std::vector<schema::Member> settle_members() {
  return {{"as", schema::word({"done", "failed"})},
          {"reason", schema::text(1, bounds::admin_reason_bytes_max)}};
}

Schema records_schema() {
  return schema::object({{"records", schema::list_of(record_schema())}});
}

Route list_route(Context& context) {
  return {
      .path = "/v1/idempotency",
      .id = "list_idempotency",
      .summary = "Recent records of writes with a key, and recent ones that were not executed.",
      .parameters = {limit_in_query(),
                     {"tenant", "Of this tenant alone.", schema::text(1, bounds::tenant_bytes_max)},
                     {"key", "That have this text in method, path or key.",
                      schema::text(1, bounds::idempotency_key_bytes_max)},
                     {"status", "That are this now, however old.", status_word()}},
      .answers = {{200, "The newest first.",
                   schema::object({{"records", schema::list_of(record_schema())},
                                   {"hits", schema::list_of(hit_schema())}})}},
      .problems = {503},
      .handle = [&context](Call call) { list(context, std::move(call)); }};
}

Route stats_route(Context& context) {
  const Schema store =
      schema::object({{"durability", schema::text()}, {"available", schema::truth()}});
  return {.path = "/v1/idempotency/stats",
          .id = "idempotency_stats",
          .summary = "What became of writes with a key since the start.",
          .answers = {{200, "The counts.",
                       schema::object(
                           {{"counts", schema::map_of(schema::count())}, {"store", store}})}},
          .handle = [&context](Call call) { tell_stats(context, std::move(call)); }};
}

Route forget_route(Context& context) {
  std::vector<schema::Member> members = key_members();
  members.push_back({"force", schema::truth(), false});
  return {.method = "POST",
          .path = "/v1/idempotency/forget",
          .id = "forget_any_key",
          .summary = "Forgets a key that the body names, whatever it consists of.",
          .body = schema::object(std::move(members)),
          .answers = {{200, "The records that were forgotten, as they were.", records_schema()}},
          .problems = {404, 409, 503},
          .handle = [&context](Call call) { clear(context, std::move(call)); }};
}

Route settle_route(Context& context) {
  std::vector<schema::Member> members = key_members();
  for (schema::Member& each : settle_members()) members.push_back(std::move(each));
  return {.method = "POST",
          .path = "/v1/idempotency/settle",
          .id = "settle_any_key",
          .summary = "Settles a key that the body names, whatever it consists of.",
          .body = schema::object(std::move(members)),
          .answers = {{200, "The records that were settled, as they were.", records_schema()}},
          .problems = {404, 409, 503},
          .handle = [&context](Call call) { settle(context, std::move(call)); }};
}

}  // namespace

Routes idempotency_routes(Context& context) {
  std::vector<Parameter> with_force = key_parameters();
  with_force.push_back({"force", "Although it is in flight.", schema::truth()});
  return {
      list_route(context),
      stats_route(context),
      {.method = "DELETE",
       .path = "/v1/idempotency/{tenant}/{key}",
       .id = "forget_key",
       .summary = "Forgets a key, as if it had never been used.",
       .parameters = std::move(with_force),
       .answers = {{200, "The records that were forgotten, as they were.", records_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { clear(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/idempotency/{tenant}/{key}/settle",
       .id = "settle_key",
       .summary = "Says how a write ended that nobody knew the end of.",
       .parameters = key_parameters(),
       .body = schema::object(settle_members()),
       .answers = {{200, "The records that were settled, as they were.", records_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { settle(context, std::move(call)); }},
      forget_route(context),
      settle_route(context),
  };
}

}  // namespace pawl::admin
