// Leaves one record of an intent in a store, as a program that used the key would have.
//
//   record_keeper STORE TENANT KEY STATUS      STATUS is in_flight, done, failed or unknown
#include <cstdlib>
#include <iostream>
#include <string>

#include "adapter/system/system_clock.h"
#include "assembly/record_stores.h"
#include "port/answer_of.h"

namespace {

using namespace pawl;

Result<void> keep(const std::string& store_word, const RecordKey& key, idempotency::Status status) {
  SystemClock clock;
  const auto store =
      PAWL_TRY(open_records(PAWL_TRY(parse_store(store_word)), Durability::none, clock));
  const idempotency::Begin ask{
      .fingerprint = "print", .lease = Duration::minutes(5), .ttl = Duration::hours(1)};
  const auto begun = PAWL_TRY(
      answer_of<idempotency::Begun>([&](auto done) { store->begin(key, ask, std::move(done)); }));
  if (begun.verdict != idempotency::Begun::Verdict::started) {
    return failure(Code::refused, "the key is in use: " + std::string(to_string(begun.verdict)));
  }
  if (status == idempotency::Status::in_flight) return {};
  const idempotency::Completion how{
      .status = status, .response = {.body = "the result"}, .ttl = Duration::hours(1)};
  return answer_of<void>(
      [&](auto done) { store->complete(key, begun.record.fence, how, std::move(done)); });
}

}  // namespace

int main(int count, char** words) {
  const auto status = count == 5 ? idempotency::status_of(words[4]) : std::nullopt;
  if (!status) {
    std::cerr << "usage: record_keeper STORE TENANT KEY STATUS\n";
    return EXIT_FAILURE;
  }
  const auto kept = keep(words[1], {.scope = words[2], .key = words[3]}, *status);
  if (!kept) std::cerr << kept.error().message << "\n";
  return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
