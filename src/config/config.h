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
#include "base/secret.h"
#include "base/zone.h"
#include "core/limit/calendar_window.h"
#include "core/limit/plans.h"
#include "core/limit/policy.h"

namespace pawl::config {

// The service behind pawl, reached over plain HTTP.
struct Upstream {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 80;
};

struct Admin {
  Endpoint listen;
  Secret<std::string> token;  // empty: none is asked for
};

struct Server {
  Endpoint listen;
  Upstream upstream;
  int threads = 0;  // 0: one per core
  Admin admin;
};

enum class MissingTenant : std::uint8_t { anonymous, reject };

// The plan that is there without being named, and changes nothing unless `plans` says so.
inline constexpr std::string_view free_plan = "free";

struct Tenants {
  std::string header;
  std::vector<Prefix> trusted_proxies;  // empty: everybody is trusted
  MissingTenant missing{};
  std::string default_plan;
  std::map<std::string, std::string> plans;       // by tenant
  std::map<std::string, limit::Rates> overrides;  // by tenant
};

// Where counts are kept.
struct LimitStore {
  enum class Kind : std::uint8_t { none, memory, sqlite, redis };

  Kind kind{};
  std::string path;         // sqlite: as written, relative to the working directory unless absolute
  Secret<std::string> url;  // redis: as written; it may hold a password
};
enum class OnStoreFailure : std::uint8_t { local, allow, deny };
enum class LimitHeader : std::uint8_t { ratelimit, draft7, draft6, legacy };
enum class Scope : std::uint8_t { tenant, address, everyone };
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
  LimitStore store;
  LimitStore calendar_store;  // none: calendar buckets are kept where the others are
  Duration store_deadline;    // redis: of an ask
  OnStoreFailure on_store_failure{};
  std::int64_t batch = 1;  // taken from the store at once; 1: each ask is decided there
  std::vector<LimitHeader> headers;
  std::vector<Bucket> buckets;
};

struct AuditSink {
  std::string path;  // of a file, as written: relative to the working directory unless absolute
};

enum class OnFull : std::uint8_t { block, fail };

struct Audit {
  std::vector<AuditSink> sinks;
  OnFull on_full{};
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
  Audit audit;
  Log log;
};

}  // namespace pawl::config
