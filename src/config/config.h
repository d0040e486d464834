// Config: every setting of pawl, as plain values.
//
// Contract: a default-constructed Config holds the defaults, which stand in one place, the table of
//           schema.cc. load() gives either a Config that passed every check or the list of what is
//           wrong. A Config is never changed after that: a reload makes a new one.
// Threads:  any; values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/calendar.h"
#include "base/decimal.h"
#include "base/on_full.h"
#include "base/secret.h"
#include "base/store_setting.h"
#include "base/zone.h"
#include "core/limit/calendar_window.h"
#include "core/limit/plans.h"
#include "core/limit/policy.h"
#include "core/order/quota.h"
#include "core/queue/command.h"
#include "core/request/match.h"
#include "core/request/write.h"
#include "core/retry/breaker.h"
#include "core/retry/budget.h"
#include "core/retry/classify.h"
#include "core/retry/policy.h"
#include "pawl/durability.h"

namespace pawl::config {

// A service behind pawl.
struct Upstream {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 80;
  bool tls = false;  // https
  bool operator==(const Upstream&) const = default;
};

// Of each upstream: whether it is asked for more.
struct Health {
  std::string path;  // of a GET that must answer 2xx; empty: that it takes a connection is enough
  Duration interval;
  Duration timeout;
  int unhealthy_after = 0;  // failures in a row
  int healthy_after = 0;    // successes in a row
};

// How long each part of an exchange may take.
struct Timeouts {
  Duration head;     // a client's request line and fields, in all
  Duration idle;     // a client between two requests, or two pieces of a body
  Duration connect;  // to an upstream, TLS included
  Duration answer;   // an upstream between two signs of life
};

// Files in PEM form; both empty: no TLS.
struct Tls {
  std::string certificate;
  std::string key;
};

// What operators may do in the panel, and what it offers tenants near a limit.
struct Panel {
  bool trading = false;      // orders may be placed and changed there
  std::string upgrade_text;  // of a call to upgrade
  std::string upgrade_link;  // empty: none
};

struct Admin {
  Endpoint listen;
  Secret<std::string> token;       // empty: none is asked for
  std::vector<std::string> hosts;  // that a Host or Origin field may name, beside its own address
  Panel panel;
};

struct Server {
  Endpoint listen;
  std::vector<Upstream> upstreams;  // at least one
  std::string upstream_ca;          // PEM file; empty: the system's authorities
  Health health;
  Timeouts timeouts;
  int threads = 0;  // 0: one per core
  Tls tls;
  std::int64_t connections = 0;              // at once
  std::int64_t connections_per_address = 0;  // trusted proxies excepted
  std::int64_t requests = 0;                 // in flight at once; above it 503
  bool websocket = false;                    // upgrades to WebSocket are passed on
  Admin admin;
};

enum class MissingTenant : std::uint8_t { anonymous, reject };

// The plan that is there without being named, and changes nothing unless `plans` says so.
inline constexpr std::string_view free_plan = "free";

struct ApiKey {
  std::string sha256 = {};  // of the key, 64 lower-case hexadecimal digits
  std::string tenant = {};
  std::string plan = {};  // empty: the tenant's own
};

struct Tenants {
  std::string header;
  std::vector<Prefix> trusted_proxies;  // empty: everybody is trusted
  std::vector<ApiKey> api_keys;         // no key twice
  MissingTenant missing{};
  int ipv6_prefix = 64;  // so many bits of an IPv6 address are one client
  std::string default_plan;
  std::string plans_file;                         // where plans changed by the API are kept
  std::map<std::string, std::string> upgrades;    // the plan that tenants of a plan are offered
  std::map<std::string, std::string> plans;       // by tenant
  std::map<std::string, limit::Rates> overrides;  // by tenant
};

enum class OnStoreFailure : std::uint8_t { local, allow, deny };
enum class LimitHeader : std::uint8_t { ratelimit, draft7, draft6, legacy };
enum class Scope : std::uint8_t { tenant, api_key, address, everyone };
enum class Algorithm : std::uint8_t {
  sliding_window,
  sliding_log,
  token_bucket,
  concurrency,
  calendar,
};

// What an algorithm has no use for is not there.
struct Bucket {
  std::string name = {};
  request::Match match = {};  // which requests are counted
  Scope scope{};
  Algorithm algorithm{};
  std::optional<limit::Rate> rate = {};    // of the first three
  std::optional<std::int64_t> burst = {};  // token_bucket: at once, beyond the even pace
  std::optional<std::int64_t> slots = {};  // concurrency
  std::optional<Duration> lease = {};      // concurrency
  std::optional<std::int64_t> limit = {};  // calendar
  std::optional<limit::CalendarUnit> every = {};
  std::optional<std::string> zone = {};
  std::optional<CivilTime> anchor = {};
  bool shadow = false;
  limit::OnChange on_change{};

  Zone zone_rules = Zone::utc();  // of `zone`, once the whole has been read
};

struct Limits {
  StoreSetting store;           // memory, sqlite or redis
  StoreSetting calendar_store;  // sqlite, or none: calendar buckets are kept where the others are
  Duration store_deadline;      // redis: of an ask
  OnStoreFailure on_store_failure{};
  std::int64_t batch = 1;  // taken from the store at once; 1: each ask is decided there
  std::vector<LimitHeader> headers;
  std::vector<Bucket> buckets;
};

struct RetryJitter {
  retry::Jitter kind{};
  std::int64_t milli = 0;  // proportional
};

// What the file says of one category's policy; the rest is as it is without a file.
struct RetryPolicy {
  std::optional<int> max_attempts = {};
  std::optional<Duration> base_delay = {};
  std::optional<Duration> max_delay = {};
  std::optional<Duration> min_delay = {};
  std::optional<std::int64_t> multiplier_milli = {};
  std::optional<RetryJitter> jitter = {};
  std::optional<std::vector<Duration>> delays = {};
  std::optional<Duration> deadline = {};
  std::optional<Duration> attempt_timeout = {};
  std::optional<std::vector<std::string>> retryable = {};
  std::optional<std::vector<std::string>> non_retryable = {};
};

using request::StatusRange;

// A row of a classification table. What is not there matches anything.
struct RetryRow {
  std::optional<StatusRange> status = {};
  std::optional<std::string> code = {};
  retry::Transport transport{};
  std::optional<bool> names_effect = {};
  retry::Failure failure = retry::Failure::unknown;
  Outcome outcome = Outcome::unknown;
  bool retryable = false;
};

struct Retry {
  std::map<std::string, RetryPolicy> policies;            // by code
  std::map<std::string, std::vector<RetryRow>> classify;  // by the name of the table
  retry::BudgetRule budget;
  retry::BreakerRule breaker;
};

// Of the records of intents, and of the gateway's writes that are kept there.
struct Idempotency {
  StoreSetting store;       // memory, sqlite, redis or nats
  Durability durability{};  // at the least
  Duration ttl;
  Duration lease;
  Duration store_deadline;  // redis and nats: of an ask of the gateway
  std::string header;
  std::vector<std::string> methods;
  std::vector<request::PathPattern> require;  // where a write must have a key
  request::Fingerprint fingerprint{};
  request::OnMismatch on_mismatch{};
  request::OnInFlight on_in_flight{};
  request::OnUnknown on_unknown{};
  request::OnRecordFailure on_store_failure{};
  std::vector<StatusRange> store_statuses;  // without those that are never stored
  std::int64_t body_limit = 0;              // of a write with a key, and of an answer kept
};

// Where events are sent.
struct Webhook {
  std::string name = {};
  std::string url = {};
  Secret<std::string> secret = {};       // signs what is sent
  std::vector<std::string> events = {};  // types; empty: all
};

struct Webhooks {
  std::string database;  // a file: what is not acknowledged yet, and the latest that is
  std::vector<Webhook> endpoints;
};

struct Audit {
  std::vector<StoreSetting> sinks;  // file or nats
  OnFull on_full{};
  std::int64_t rotate = 0;       // bytes of a file, then a new one is begun
  std::int64_t retry_alert = 0;  // retries a minute
};

struct OrderControl {
  order::FrequencyLimit frequency_limit;
  bool given = false;  // the file has something to say of it
};

struct OrderRetry {
  int max_retries = 0;
  Duration base_delay;
  Duration max_delay;
  Duration min_delay;
  std::int64_t multiplier_milli = 0;
  std::int64_t jitter_milli = 0;
};

struct SaxoVenue {
  std::string base_url = {};
  std::string token_url = {};
  Secret<std::string> access_token = {};
  Secret<std::string> refresh_token = {};
  Secret<std::string> app_key = {};
  Secret<std::string> app_secret = {};
  std::string token_file = {};  // where tokens are kept once they were renewed; empty: nowhere
  std::string client_key = {};
  std::string account_key = {};
  bool manual_order = false;       // a person decides on each order
  Secret<std::string> proxy = {};  // may hold a password; empty: none
};

struct OkxVenue {
  std::string base_url = {};
  Secret<std::string> api_key = {};
  Secret<std::string> secret_key = {};
  Secret<std::string> passphrase = {};
  bool simulated = true;
  std::string ws_url = {};  // of the order channel; empty: none
  Secret<std::string> proxy = {};
};

struct Venues {
  std::optional<SaxoVenue> saxo = {};
  std::optional<OkxVenue> okx = {};
  bool any() const { return saxo || okx; }
};

struct Orders {
  std::string database;
  Duration settle;
  Duration patience;
  limit::Rate rate;
  std::int64_t burst = 0;
  bool adaptive = true;
  OrderRetry retry;
  Duration timeout;
  Duration poll;
  Venues venues;
};

// What may be claimed of the queue, a type or a key.
struct QueueLimit {
  queue::Limited scope = queue::Limited::queue;
  std::optional<std::string> name = {};  // of the key or type
  std::optional<limit::Rate> rate = {};
  std::optional<std::int64_t> running = {};  // at once
};

// Of requests to the store, for `pawl cost`.
struct QueuePrices {
  std::string currency;
  Decimal put_per_1000;
  Decimal get_per_1000;
  Decimal list_per_1000;
  Decimal delete_per_1000;
};

struct Queue {
  std::string url;
  std::uint32_t shards = 1;
  Duration kept;   // tasks that are over
  Duration lease;  // of a worker's claim
  std::vector<QueueLimit> limits;
  QueuePrices prices;
};

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

struct Log {
  LogLevel level{};
  LogFormat format{};
};

struct Config {
  Config();

  Server server;
  Tenants tenants;
  std::map<std::string, limit::Rates> plans;  // by name
  Limits limits;
  Idempotency idempotency;
  OrderControl order_control;
  Orders orders;
  Webhooks webhooks;
  Retry retry;
  Queue queue;
  Audit audit;
  Log log;
};

}  // namespace pawl::config
