#include "config/schema.h"

#include <algorithm>
#include <filesystem>

#include "base/bounds.h"
#include "config/idempotency.h"
#include "config/orders.h"
#include "config/places.h"
#include "config/policies.h"
#include "config/queue.h"
#include "config/server.h"
#include "config/values.h"

namespace pawl::config {
namespace {

Node standard_buckets() {
  return Node::list(
      {Node::map({{"name", 0, Node::of("global")}, {"rate", 0, Node::of("100/1m")}})});
}

Fields<Config> plans_fields() {
  return {
      bind<Config>(
          {"plans",
           "Rates that a plan gives to buckets of scope tenant or api_key, in place of their own. "
           "For concurrency COUNT is slots and DURATION the lease; for calendar DURATION "
           "is the length of its window.",
           Node::map({})},
          map_by(name_key(), rates(), "a map of plans and rates, as in {pro: {global: 1000/1m}}"),
          PAWL_MEMBER(plans)),
  };
}

Type<LimitHeader> limit_header() {
  return one_of<LimitHeader>({{"ratelimit", LimitHeader::ratelimit},
                              {"draft7", LimitHeader::draft7},
                              {"draft6", LimitHeader::draft6},
                              {"legacy", LimitHeader::legacy}});
}

Fields<Config> store_fields() {
  return {
      bind<Config>({"limits.store",
                    "Where counts are kept: memory is this process alone, sqlite a file that "
                    "survives it, a Redis is shared by many.",
                    Node::of("memory"), needs_restart},
                   limit_store(), PAWL_MEMBER(limits.store)),
      bind<Config>({"limits.calendar_store",
                    "Where calendar buckets are kept, so that a month's count outlives the "
                    "process; empty: where the others are.",
                    Node::of(""), needs_restart},
                   calendar_store(), PAWL_MEMBER(limits.calendar_store)),
      bind<Config>({"limits.store_deadline",
                    "How long a Redis may take over an ask. One that takes longer is decided as "
                    "on_store_failure says; three in a row, or a lost connection, and so are all.",
                    Node::of("50ms"), needs_restart},
                   duration(bounds::redis_deadline_min, bounds::redis_deadline_max),
                   PAWL_MEMBER(limits.store_deadline)),
      bind<Config>({"limits.on_store_failure",
                    "While the store does not answer: local counts in this process, allow lets "
                    "everything through, deny refuses everything.",
                    Node::of("local"), needs_restart},
                   one_of<OnStoreFailure>({{"local", OnStoreFailure::local},
                                           {"allow", OnStoreFailure::allow},
                                           {"deny", OnStoreFailure::deny}}),
                   PAWL_MEMBER(limits.on_store_failure)),
      bind<Config>({"limits.batch",
                    "How many are taken from the store at once and handed out here: fewer trips, "
                    "and up to so many too many a process; 1 is exact.",
                    Node::of("1"), needs_restart},
                   whole_number<std::int64_t>(1, bounds::limit_batch_max),
                   PAWL_MEMBER(limits.batch)),
  };
}

Fields<Config> limits_fields() {
  return {
      bind<Config>({"limits.headers",
                    "What an answer says of its limits: ratelimit is RateLimit and "
                    "RateLimit-Policy, draft7 and draft6 their older forms, legacy is "
                    "X-RateLimit-Limit, -Remaining and -Reset.",
                    Node::texts({"ratelimit", "legacy"})},
                   list_of(limit_header(), {0, bounds::config_list_max},
                           "a list of at most one of ratelimit, draft7 and draft6, and legacy or "
                           "not"),
                   PAWL_MEMBER(limits.headers)),
      bind<Config>(
          {"limits.buckets",
           "The limits that requests are counted against: all of them let a request through, or "
           "none is charged.",
           standard_buckets()},
          list_of(bucket(), {1, bounds::limit_policies_max},
                  "a list of 1 to " + std::to_string(bounds::limit_policies_max) + " buckets"),
          PAWL_MEMBER(limits.buckets)),
  };
}

// Rows of classification tables, by the names of the tables.
Type<std::map<std::string, std::vector<RetryRow>>> tables() {
  return map_by(name_key(),
                list_of(retry_row(), {0, bounds::retry_rows_max},
                        "a list of up to " + std::to_string(bounds::retry_rows_max) + " rows"),
                "a map of tables and lists of rows, as in {http: [{status: 503, failure: "
                "rate_limited, outcome: not_applied, retryable: true}]}");
}

Fields<Config> retry_fields() {
  return {
      bind<Config>(
          {"retry.policies",
           "How often and how late each category is tried again. What an entry leaves out stays "
           "as `pawl retry policies` shows it; categories of your own begin as an unknown one.",
           Node::map({})},
          map_by(category_key(), map_of(retry_policy_fields()),
                 "a map of categories and policies, as in {RETRY_API_REQUEST: {max_attempts: 5}}"),
          PAWL_MEMBER(retry.policies)),
      bind<Config>(
          {"retry.classify",
           "What answers mean, and failures without one. The rows of http are looked at before "
           "those that are built in; any other name is a table of its own, whose rows are looked "
           "at before those of http. The first row that matches holds; `pawl retry classify` "
           "shows which.",
           Node::map({})},
          tables(), PAWL_MEMBER(retry.classify)),
      bind<Config>({"retry.budget.ratio",
                    "How many retries there may be for each call, on the whole.", Node::of("0.2")},
                   factor(0, bounds::retry_budget_ratio_milli_max),
                   PAWL_MEMBER(retry.budget.ratio_milli)),
      bind<Config>({"retry.budget.min_per_second",
                    "How many retries there may be besides, so that few calls can be retried too.",
                    Node::of("10")},
                   whole_number<std::int64_t>(0, bounds::retry_budget_per_second_max),
                   PAWL_MEMBER(retry.budget.min_per_second)),
      bind<Config>(
          {"retry.breaker.failures",
           "After so many failures in a row nobody is let through for a while.", Node::of("5")},
          whole_number<int>(1, bounds::retry_breaker_failures_max),
          PAWL_MEMBER(retry.breaker.failures)),
      bind<Config>(
          {"retry.breaker.wait_min",
           "How long that is at first; then one call is let through, to see.", Node::of("1s")},
          duration(bounds::retry_breaker_wait_min, bounds::retry_breaker_wait_max),
          PAWL_MEMBER(retry.breaker.wait_min)),
      bind<Config>(
          {"retry.breaker.wait_max",
           "How long it is at the most; it doubles each time that call fails.", Node::of("1m")},
          duration(bounds::retry_breaker_wait_min, bounds::retry_breaker_wait_max),
          PAWL_MEMBER(retry.breaker.wait_max)),
  };
}

Fields<Config> audit_fields() {
  return {
      bind<Config>(
          {"audit.sinks",
           "Where audit events are written, each event to all of them. The commands that read the "
           "log read the first file.",
           Node::texts({"file:data/audit.jsonl"}), needs_restart},
          list_of(sink(), {1, 2},
                  "a list of one or two of file:PATH and nats://HOST:PORT/STREAM, as in "
                  "[file:data/audit.jsonl]"),
          PAWL_MEMBER(audit.sinks)),
      bind<Config>({"audit.on_full",
                    "What a full sink does: block makes the caller wait, fail fails the "
                    "operation; no event is dropped.",
                    Node::of("block"), needs_restart},
                   one_of<OnFull>({{"block", OnFull::block}, {"fail", OnFull::fail}}),
                   PAWL_MEMBER(audit.on_full)),
      bind<Config>({"audit.rotate",
                    "The size at which a file is set aside, as PATH.N with the number of its last "
                    "record, and a new one is begun. Nothing is ever deleted.",
                    Node::of("1GiB"), needs_restart},
                   bytes(bounds::audit_part_bytes_min, bounds::audit_part_bytes_max),
                   PAWL_MEMBER(audit.rotate)),
      bind<Config>(
          {"audit.retry_alert", "Retries a minute above which there is an alert.", Node::of("60")},
          whole_number<std::int64_t>(1, bounds::limit_count_max), PAWL_MEMBER(audit.retry_alert)),
  };
}

Fields<Config> log_fields() {
  return {
      bind<Config>({"log.level", "The least level that is logged.", Node::of("info")},
                   one_of<LogLevel>({{"trace", LogLevel::trace},
                                     {"debug", LogLevel::debug},
                                     {"info", LogLevel::info},
                                     {"warn", LogLevel::warn},
                                     {"error", LogLevel::error}}),
                   PAWL_MEMBER(log.level)),
      bind<Config>({"log.format", "text is for people, json for machines; one line an event.",
                    Node::of("text")},
                   one_of<LogFormat>({{"text", LogFormat::text}, {"json", LogFormat::json}}),
                   PAWL_MEMBER(log.format)),
  };
}

// Of a file's path, however it is written.
std::string file_of(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

// A file of each of these has its own tables, and its own locks.
void check_files(const Config& config, Reader& reader) {
  struct File {
    Said said;
    std::string path;
    std::string_view owner;
  };
  std::vector<File> files;
  const auto add = [&](std::string at, const StoreSetting& store, std::string_view owner) {
    if (store.kind != StoreSetting::Kind::sqlite || !reader.sound(at)) return;
    files.push_back({{std::move(at), print(store)}, file_of(store.path), owner});
  };
  add("limits.store", config.limits.store, "limits");
  add("limits.calendar_store", config.limits.calendar_store, "limits");
  add("idempotency.store", config.idempotency.store, "idempotency");
  if (reader.sound("webhooks.database")) {
    const std::string& path = config.webhooks.database;
    files.push_back({{"webhooks.database", path}, file_of(path), "webhooks"});
  }
  if (reader.sound("orders.database")) {
    const std::string& path = config.orders.database;
    files.push_back({{"orders.database", path}, file_of(path), "orders"});
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (files[i].owner == files[j].owner || files[i].path != files[j].path) continue;
      reader.refuse_collision(files[i].said, files[j].said, "give each a file of its own");
    }
  }
}

void check_store(const StoreSetting& store, const std::string& path, Reader& reader) {
  if (!reader.sound(path)) return;
  const auto url = check_url(store);
  if (!url) reader.problem(reader.line_of(path), path, url.error().message);
}

void check_sinks(const Audit& audit, Reader& reader) {
  const std::string path = "audit.sinks";
  if (!reader.sound_below(path)) return;
  for (std::size_t i = 0; i < audit.sinks.size(); ++i) {
    const auto url = check_url(audit.sinks[i]);
    if (url) continue;
    const std::string place = path + "[" + std::to_string(i) + "]";
    reader.problem(reader.line_of(place), place, url.error().message);
  }
}

// The three say the same in the same fields, so only one of them can be said.
void check_headers(const Limits& limits, Reader& reader) {
  const std::string path = "limits.headers";
  const auto standards = std::ranges::count_if(
      limits.headers, [](LimitHeader each) { return each != LimitHeader::legacy; });
  if (standards <= 1 || !reader.sound_below(path)) return;
  reader.problem(reader.line_of(path), path,
                 "found " + std::to_string(standards) +
                     " of ratelimit, draft7 and draft6, which use the same fields; keep one");
}

void check_buckets(const Limits& limits, Reader& reader) {
  const std::string path = "limits.buckets";
  for (std::size_t i = 0; i < limits.buckets.size(); ++i) {
    check_bucket(limits.buckets[i], path + "[" + std::to_string(i) + "]", reader);
  }
  check_distinct(limits.buckets, &Bucket::name,
                 {path, "name", "give each bucket a name of its own"}, reader);
}

}  // namespace

const Fields<Config>& config_fields() {
  static const Fields<Config> fields =
      joined({server_fields(), tenants_fields(), plans_fields(), store_fields(), limits_fields(),
              idempotency_fields(), orders_fields(), webhooks_fields(), retry_fields(),
              queue_fields(), audit_fields(), log_fields()});
  return fields;
}

Config::Config() {
  set_defaults(config_fields(), *this);
}

void check_together(const Config& config, Reader& reader) {
  check_server(config.server, reader);
  check_api_keys(config.tenants, reader);
  check_store(config.limits.store, "limits.store", reader);
  check_store(config.idempotency.store, "idempotency.store", reader);
  check_files(config, reader);
  check_headers(config.limits, reader);
  check_buckets(config.limits, reader);
  check_plans(config, reader);
  check_idempotency(config.idempotency, reader);
  check_orders(config.orders, reader);
  check_webhooks(config.webhooks, reader);
  check_retry(config.retry, reader);
  check_queue(config.queue, reader);
  check_sinks(config.audit, reader);
}

}  // namespace pawl::config
