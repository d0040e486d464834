#include <filesystem>
#include <string>
#include <string_view>

#include "assembly/record_stores.h"
#include "cli/checks.h"

namespace pawl::cli {
namespace {

constexpr const char* store_check = "idempotency.store";

std::string_view survival(Durability durability) {
  switch (durability) {
    case Durability::none:
      return "records end with the process that keeps them";
    case Durability::process:
      return "records survive the process that keeps them, and not a power cut";
    case Durability::fsync:
      return "records survive a power cut";
  }
  __builtin_unreachable();
}

}  // namespace

// A bucket that is missing is made, as at the first start.
Finding check_record_store(const config::Idempotency& idempotency, Clock& clock) {
  const StoreSetting& store = idempotency.store;
  if (store.kind == StoreSetting::Kind::sqlite && !std::filesystem::exists(store.path)) {
    return {.check = store_check,
            .found = store.path + ": not there yet; it is made at the first start",
            .advice = ""};
  }
  const auto opened = open_records(store, idempotency.durability, clock);
  if (opened) {
    return {.check = store_check,
            .found = "it opens; " + std::string(survival((*opened)->durability())),
            .advice = ""};
  }
  return {.check = store_check,
          .health = Health::fail,
          .found = opened.error().message,
          .advice = opened.error().code == Code::unavailable
                        ? "start the server or set the file right, or correct idempotency.store"
                        : "correct idempotency.store or idempotency.durability"};
}

}  // namespace pawl::cli
