// S3Exchange: the emulated S3. See docs/emulators.md for what it serves.
//
// Contract: as emulator/core/exchange.h. A call passes, in this order: its signature (403), what
//           is implemented (501), the bucket (404), its own checks, and then it is done. Addresses
//           are by path: /BUCKET/KEY. What is written is read at once, as on S3.
//           Stricter than S3: the only condition of a write is one of If-None-Match: * and
//           If-Match with a tag; a list of deletions must bring its Content-MD5.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/faults.h"
#include "emulator/core/s3_gate.h"
#include "emulator/core/s3_settings.h"
#include "emulator/core/s3_shelf.h"

namespace pawl::emulator {

class S3Exchange final : public Exchange {
 public:
  S3Exchange();

  Reply answer(const Call& call, Instant now) override;
  Result<void> play(const Script& script) override;
  void forget() override {}
  void reset() override;
  std::vector<std::string> take_changes() override { return shelf_.take_changes(); }
  Result<void> restore(std::string_view line) override { return shelf_.restore(line); }
  // {"objects": [{"bucket", "key", "bytes", "etag", "modified"}]}
  json::Value orders() const override;
  // {"calls": {operation: n}, "requests": {"puts", …}, "bytes_in", "bytes_out", "objects", "bytes"}
  json::Value stats() const override;
  Result<void> act(std::string_view order_id, std::string_view verb, Instant now) override;

 private:
  struct Visit {
    const Call& call;
    const S3Target& target;
    std::string_view operation;
    const Fault* fault;
    Instant now;
  };

  Reply serve(const Visit& visit);
  Reply spoil(const Visit& visit, Reply reply) const;
  S3Refusal admit(const Visit& visit) const;
  Reply work(const Visit& visit);
  Reply make_bucket(const Visit& visit);
  Reply remove_bucket(const Visit& visit);
  Reply put(const Visit& visit);
  Reply get(const Visit& visit) const;
  Reply remove(const Visit& visit);
  Reply remove_many(const Visit& visit);
  Reply list(const Visit& visit) const;
  S3Refusal check_condition(const Visit& visit) const;
  void make_buckets();

  S3Settings settings_;
  Faults faults_;
  S3Shelf shelf_;
  std::map<std::string, std::int64_t, std::less<>> calls_;  // of an operation
  std::int64_t bytes_in_ = 0;
  std::int64_t bytes_out_ = 0;
};

}  // namespace pawl::emulator
