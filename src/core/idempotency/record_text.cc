#include "core/idempotency/record_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"

namespace pawl::idempotency {
namespace {

constexpr std::string_view magic = "pawl-record";
constexpr std::string_view version = "1";
constexpr std::size_t head_bytes_max = 256;

std::unexpected<Error> unreadable(const std::string& why) {
  return failure(Code::invalid, "it is not a record of pawl's: " + why);
}

std::uint64_t microseconds(Instant instant) {
  const std::int64_t ns = std::max<std::int64_t>(instant.ns(), 0);
  const auto whole = static_cast<std::uint64_t>(ns / 1'000 + (ns % 1'000 > 0 ? 1 : 0));
  return std::min(whole, bounds::record_number_max);
}

void append_word(std::string& out, std::uint64_t number) {
  out.push_back(' ');
  append_number(out, number);
}

std::string head_of(const Record& record) {
  std::string out;
  out.append(magic).append(" ").append(version).append(" ").append(to_string(record.status));
  append_word(out, record.fence);
  append_word(out, microseconds(record.created_at));
  append_word(out, microseconds(record.lease_until));
  append_word(out, microseconds(record.expires_at));
  append_word(out, std::min(record.replays, bounds::record_number_max));
  append_word(out, record.response.tombstone ? 1 : 0);
  append_word(out, record.fingerprint.size());
  append_word(out, record.response.metadata.size());
  append_word(out, record.response.body.size());
  out.push_back('\n');
  return out;
}

// Takes words off the front of a head, and texts off the front of what follows it. What is not as
// it must be spoils the whole.
class Reader {
 public:
  Reader(std::string_view head, std::string_view texts) : head_(head), texts_(texts) {}

  std::string_view word() { return take_until(head_, ' '); }
  std::uint64_t number(std::uint64_t most) {
    const std::string_view text = word();
    const char* end = text.data() + text.size();
    std::uint64_t n = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, n);
    good_ = good_ && error == std::errc() && stop == end && n <= most;
    return good_ ? n : 0;
  }
  Instant time() {
    const auto n = static_cast<std::int64_t>(number(bounds::record_number_max));
    return Instant() + Duration::microseconds(n);
  }
  std::string text(std::uint64_t size) {
    good_ = good_ && size <= texts_.size();
    const std::string_view found = texts_.substr(0, good_ ? size : 0);
    texts_.remove_prefix(found.size());
    return std::string(found);
  }
  bool good() const { return good_; }
  bool at_end() const { return texts_.empty(); }

 private:
  std::string_view head_;
  std::string_view texts_;
  bool good_ = true;
};

// Whether the machine could have made it.
bool is_possible(const Record& record) {
  const Response& response = record.response;
  if (record.fence == 0) return false;
  if (response.tombstone && !response.body.empty()) return false;
  if (record.replays != 0 && record.status != Status::done) return false;
  if (record.status != Status::in_flight) return record.lease_until == Instant();
  return record.lease_until <= record.expires_at && response == Response();
}

}  // namespace

std::string to_text(const Record& record) {
  std::string out = head_of(record);
  out.reserve(out.size() + record.fingerprint.size() + record.response.metadata.size() +
              record.response.body.size());
  out += record.fingerprint;
  out += record.response.metadata;
  out += record.response.body;
  return out;
}

Result<Record> parse_record(std::string_view text) {
  const std::size_t end = text.substr(0, head_bytes_max).find('\n');
  if (end == std::string_view::npos) return unreadable("it has no head");
  const std::string_view head = text.substr(0, end + 1);
  Reader reader(text.substr(0, end), text.substr(end + 1));
  if (reader.word() != magic)
    return unreadable("it does not begin with '" + std::string(magic) + "'");
  if (const std::string_view found = reader.word(); found != version) {
    return failure(Code::invalid, "the record has version '" + std::string(found) +
                                      "' and this pawl reads version " + std::string(version) +
                                      ": it takes a newer pawl");
  }
  const auto status = status_of(reader.word());
  if (!status) return unreadable("its status is none");
  Record record{.status = *status};
  record.fence = reader.number(bounds::record_number_max);
  record.created_at = reader.time();
  record.lease_until = reader.time();
  record.expires_at = reader.time();
  record.replays = reader.number(bounds::record_number_max);
  record.response.tombstone = reader.number(1) == 1;
  const std::uint64_t fingerprint = reader.number(bounds::record_fingerprint_bytes_max);
  const std::uint64_t metadata = reader.number(bounds::record_metadata_bytes_max);
  const std::uint64_t body = reader.number(bounds::record_bytes_max);
  record.fingerprint = reader.text(fingerprint);
  record.response.metadata = reader.text(metadata);
  record.response.body = reader.text(body);
  if (!reader.good() || !reader.at_end()) {
    return unreadable("a number in its head is wrong, or does not fit what follows");
  }
  if (!is_possible(record)) return unreadable("its parts contradict each other");
  // Whatever else stands in the head: zeros in front, words at the end.
  if (head_of(record) != head) return unreadable("its head is written in another way");
  return record;
}

}  // namespace pawl::idempotency
