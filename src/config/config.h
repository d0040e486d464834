// Config: every setting of pawl, as plain values.
//
// Contract: a default-constructed Config holds the defaults, which stand in one place, the table of
//           schema.cc. load() gives either a Config that passed every check or the list of what is
//           wrong. A Config is never changed after that: a reload makes a new one.
// Threads:  any; values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "core/limit/rate.h"

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

struct Tenants {
  std::string header;
  std::vector<Prefix> trusted_proxies;  // empty: everybody is trusted
  MissingTenant missing{};
};

enum class LimitStore : std::uint8_t { memory };
enum class LimitHeader : std::uint8_t { ratelimit, legacy };
enum class Scope : std::uint8_t { tenant };
enum class Algorithm : std::uint8_t { token_bucket };

struct Bucket {
  std::string name;
  Scope scope{};
  Algorithm algorithm{};
  limit::Rate rate;
  std::int64_t burst = 0;  // how many may come at once beyond the even pace
};

struct Limits {
  LimitStore store{};
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
  Limits limits;
  Audit audit;
  Log log;
};

}  // namespace pawl::config
