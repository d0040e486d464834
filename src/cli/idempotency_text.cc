#include "cli/idempotency_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/table.h"

namespace pawl::cli {
namespace {

using idempotency::Record;

std::string quoted(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

// As it is where nobody can misread it.
std::string word(std::string_view text) {
  const bool plain =
      !text.empty() && is_visible(text) && text.find_first_of("\"\\") == std::string_view::npos;
  return plain ? std::string(text) : quoted(text);
}

json::Object members_of(const KeptRecord& kept) {
  const Record& record = kept.record;
  const bool in_flight = record.status == idempotency::Status::in_flight;
  return {
      {"tenant", kept.key.scope},
      {"key", kept.key.key},
      {"status", to_string(record.status)},
      {"fence", record.fence},
      {"fingerprint", record.fingerprint},
      {"created_at", to_string(record.created_at)},
      {"lease_until", in_flight ? json::Value(to_string(record.lease_until)) : json::Value()},
      {"expires_at", to_string(record.expires_at)},
      {"replays", record.replays},
      {"tombstone", record.response.tombstone},
  };
}

std::string line(std::string_view name, std::string_view value) {
  return std::string(name).append(": ").append(value).append("\n");
}

}  // namespace

std::string name_of(const RecordKey& key) {
  return word(key.key) + (key.scope.empty() ? " of no tenant" : " of tenant " + word(key.scope));
}

std::string records_text(std::span<const KeptRecord> records) {
  std::vector<std::vector<std::string>> rows = {
      {"key", "tenant", "status", "begun", "expires", "replays"}};
  for (const KeptRecord& kept : records) {
    rows.push_back({word(kept.key.key), word(kept.key.scope),
                    std::string(to_string(kept.record.status)), to_string(kept.record.created_at),
                    to_string(kept.record.expires_at), std::to_string(kept.record.replays)});
  }
  return table(rows);
}

std::string records_json(std::span<const KeptRecord> records) {
  json::Array all;
  for (const KeptRecord& kept : records) all.push_back(members_of(kept));
  return json::print(json::Object{{"records", std::move(all)}}) + "\n";
}

std::string record_text(const KeptRecord& kept) {
  const Record& record = kept.record;
  std::string out = line("tenant", word(kept.key.scope)) + line("key", word(kept.key.key)) +
                    line("status", to_string(record.status)) +
                    line("fence", std::to_string(record.fence)) +
                    line("fingerprint", word(record.fingerprint)) +
                    line("created_at", to_string(record.created_at));
  if (record.status == idempotency::Status::in_flight) {
    out += line("lease_until", to_string(record.lease_until));
  }
  out += line("expires_at", to_string(record.expires_at)) +
         line("replays", std::to_string(record.replays));
  if (!record.response.metadata.empty()) out += line("metadata", quoted(record.response.metadata));
  if (record.status != idempotency::Status::done) return out;
  const std::string& body = record.response.body;
  return out + line("result", record.response.tombstone ? "was too large to be kept"
                              : is_utf8(body)           ? quoted(body)
                                              : std::to_string(body.size()) + " bytes, not text");
}

std::string record_json(const KeptRecord& kept) {
  const idempotency::Response& response = kept.record.response;
  const bool has_result = kept.record.status == idempotency::Status::done && !response.tombstone;
  json::Object members = members_of(kept);
  members["metadata"] = response.metadata;
  members["result"] =
      has_result && is_utf8(response.body) ? json::Value(response.body) : json::Value();
  members["result_bytes"] = response.body.size();
  return json::print(members) + "\n";
}

}  // namespace pawl::cli
