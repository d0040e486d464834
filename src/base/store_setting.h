// StoreSetting: where something is kept, as one word of a configuration or of an option says it.
//
//   memory                                 this process
//   file:PATH                              a file of lines
//   sqlite:PATH                            a SQLite file
//   redis://… rediss://… +cluster          a Redis: redis_url.h
//   nats://… tls://…                       a bucket or a stream of a NATS: nats_url.h
//
// Why:      limits, records and the audit log take some of these each; what a word means is the
//           same for all of them.
// Contract: pure. parse_store() goes by the form of the word, check_url() looks at the parts of a
//           URL. Which kinds it takes is for the user of a setting to say. What print() gives is
//           parsed to the same. No error repeats a word: it may hold a password.
// Bounds:   bounds::config_path_bytes_max bytes a path or a URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "pawl/result.h"

namespace pawl {

struct StoreSetting {
  enum class Kind : std::uint8_t { none, memory, file, sqlite, redis, nats };

  Kind kind{};
  std::string path = {};         // of a file: relative to the working directory unless absolute
  Secret<std::string> url = {};  // redis, nats: as written; it may hold a password
};

Result<StoreSetting> parse_store(std::string_view text);
Result<void> check_url(const StoreSetting& store);
// With the password: not for people. Empty for none.
std::string print(const StoreSetting& store);

}  // namespace pawl
