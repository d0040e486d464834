#include "core/audit/backlog.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::audit {
namespace {

// An event is packed as a Head, the part of its kind, and the texts that part tells the sizes of.
enum class Kind : std::uint8_t { draft, success, limit, request };

struct Head {
  std::uint32_t bytes = 0;  // of all of it
  Kind kind{};
};

struct DraftPart {
  std::size_t hash_at = 0;
  std::size_t prev_at = 0;
  std::size_t seq_at = 0;
};

// What both events of a request say of it.
using Names = std::array<std::string_view, 6>;
struct NamesPart {
  Instant timestamp = {};
  std::array<std::uint32_t, 6> sizes = {};
};

struct RequestPart {
  Outcome outcome = Outcome::unknown;
  int status = 0;
};

struct LimitPart {
  std::int64_t cost = 0;
  Duration retry_after = {};
  limit::Now now = {};
  std::uint8_t policies = 0;
  bool allowed = false;
  limit::CountedBy counted_by{};
  bool as_decided = false;
  std::uint8_t binding = 0;
};

struct PolicyPart {
  const limit::Policy* policy = nullptr;
  limit::Verdict verdict = {};
  limit::KeyId id = {};
  std::uint32_t key_bytes = 0;
  bool is_id = false;
};

Names names_of(std::string_view operation, const Ids& ids) {
  return {operation,          ids.tenant_id, ids.request_id, ids.external_reference,
          ids.correlation_id, ids.trace_id};
}

std::size_t packed_bytes(const Names& names) {
  std::size_t bytes = sizeof(NamesPart);
  for (const std::string_view name : names) bytes += name.size();
  return bytes;
}

class Packer {
 public:
  Packer(char* to, Kind kind, std::size_t bytes) : to_(to) {
    put(Head{.bytes = static_cast<std::uint32_t>(bytes), .kind = kind});
  }

  template <class T>
  void put(const T& part) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(to_, &part, sizeof(part));
    to_ += sizeof(part);
  }
  void put_text(std::string_view text) { to_ += text.copy(to_, text.size()); }
  void put_names(Instant timestamp, const Names& names) {
    NamesPart part{.timestamp = timestamp};
    for (std::size_t i = 0; i < names.size(); ++i) {
      part.sizes[i] = static_cast<std::uint32_t>(names[i].size());
    }
    put(part);
    for (const std::string_view name : names) put_text(name);
  }

 private:
  char* to_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view from) : from_(from) {}

  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T part;
    std::memcpy(&part, take_text(sizeof(part)).data(), sizeof(part));
    return part;
  }
  std::string_view take_text(std::size_t bytes) {
    PAWL_ASSERT(bytes <= from_.size());
    const std::string_view text = from_.substr(0, bytes);
    from_.remove_prefix(bytes);
    return text;
  }
  std::string_view rest() const { return from_; }
  // Of an event that has them.
  template <class Named>
  void take_names(Named& event) {
    const auto part = take<NamesPart>();
    Names names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = take_text(part.sizes[i]);
    event.timestamp = part.timestamp;
    event.operation = names[0];
    event.correlation.tenant_id = names[1];
    event.correlation.request_id = names[2];
    event.correlation.external_reference = names[3];
    event.correlation.correlation_id = names[4];
    event.correlation.trace_id = names[5];
  }

 private:
  std::string_view from_;
};

void unpack_draft(Unpacker& from, Draft& draft) {
  const auto part = from.take<DraftPart>();
  draft.hash_at = part.hash_at;
  draft.prev_at = part.prev_at;
  draft.seq_at = part.seq_at;
  draft.text = from.rest();
}

void word_success(Unpacker& from, Wording& wording, Draft& draft) {
  // Borrowed: the backlog keeps the trail.
  Success success{.trail = {std::shared_ptr<const Trail>(), from.take<const Trail*>()}};
  success.facts = from.take<retry::Facts>();
  success.decision = from.take<retry::Decision>();
  success.timestamp = from.take<Instant>();
  wording.word(success, draft);
}

void word_limit(Unpacker& from, Wording& wording, Draft& draft, std::vector<limit::Count>& counts) {
  LimitDecided decided;
  from.take_names(decided);
  const auto part = from.take<LimitPart>();
  limit::Answer answer;
  answer.allowed = part.allowed;
  answer.counted_by = part.counted_by;
  answer.as_decided = part.as_decided;
  answer.binding = part.binding;
  answer.retry_after = part.retry_after;
  answer.now = part.now;
  counts.clear();
  for (std::size_t i = 0; i < part.policies; ++i) {
    const auto policy = from.take<PolicyPart>();
    const std::string_view name = from.take_text(policy.key_bytes);
    const limit::Key key = policy.is_id ? limit::Key(policy.id) : limit::Key(name);
    counts.push_back({.policy = policy.policy, .key = key});
    answer.verdicts.add(policy.verdict);
  }
  decided.counts = counts;
  decided.answer = &answer;
  decided.cost = part.cost;
  wording.word(decided, draft);
}

void word_request(Unpacker& from, Wording& wording, Draft& draft) {
  RequestEnded ended;
  from.take_names(ended);
  const auto part = from.take<RequestPart>();
  ended.outcome = part.outcome;
  ended.status = part.status;
  wording.word(ended, draft);
}

}  // namespace

// Room for an event of so many bytes at the end.
char* Backlog::grow(std::size_t bytes) {
  if (bytes_.size() - used_ < bytes) bytes_.resize(std::max(2 * bytes_.size(), used_ + bytes));
  char* const end = bytes_.data() + used_;
  used_ += bytes;
  ++events_;
  return end;
}

std::size_t Backlog::add(const Draft& draft) {
  const std::size_t bytes = sizeof(Head) + sizeof(DraftPart) + draft.text.size();
  Packer to(grow(bytes), Kind::draft, bytes);
  to.put(DraftPart{.hash_at = draft.hash_at, .prev_at = draft.prev_at, .seq_at = draft.seq_at});
  to.put_text(draft.text);
  return bytes;
}

std::size_t Backlog::add(Late&& late) {
  const std::size_t before = used_;
  std::visit([this](auto& each) { pack(std::move(each)); }, late);
  return used_ - before;
}

void Backlog::pack(Success&& success) {
  const std::size_t bytes = sizeof(Head) + sizeof(const Trail*) + sizeof(retry::Facts) +
                            sizeof(retry::Decision) + sizeof(Instant);
  Packer to(grow(bytes), Kind::success, bytes);
  to.put(static_cast<const Trail*>(success.trail.get()));
  to.put(success.facts);
  to.put(success.decision);
  to.put(success.timestamp);
  owners_.push_back(std::move(success.trail));
}

void Backlog::pack(const LimitDecided& decided) {
  PAWL_ASSERT(decided.counts.size() <= bounds::limit_policies_max);
  const Names names = names_of(decided.operation, decided.correlation);
  std::size_t bytes = sizeof(Head) + packed_bytes(names) + sizeof(LimitPart) +
                      decided.counts.size() * sizeof(PolicyPart);
  for (const limit::Count& count : decided.counts) bytes += count.key.name().size();

  const limit::Answer& answer = *decided.answer;
  Packer to(grow(bytes), Kind::limit, bytes);
  to.put_names(decided.timestamp, names);
  to.put(LimitPart{.cost = decided.cost,
                   .retry_after = answer.retry_after,
                   .now = answer.now,
                   .policies = static_cast<std::uint8_t>(decided.counts.size()),
                   .allowed = answer.allowed,
                   .counted_by = answer.counted_by,
                   .as_decided = answer.as_decided,
                   .binding = answer.binding});
  for (std::size_t i = 0; i < decided.counts.size(); ++i) {
    const limit::Key& key = decided.counts[i].key;
    to.put(PolicyPart{.policy = decided.counts[i].policy,
                      .verdict = answer.verdicts[i],
                      .id = key.id(),
                      .key_bytes = static_cast<std::uint32_t>(key.name().size()),
                      .is_id = key.is_id()});
    to.put_text(key.name());
  }
  // Most that come one behind the other have one owner.
  const auto is_kept = [this](const std::shared_ptr<const void>& owner) {
    return !owners_.empty() && !owners_.back().owner_before(owner) &&
           !owner.owner_before(owners_.back());
  };
  if (decided.policies != nullptr && !is_kept(*decided.policies)) {
    owners_.push_back(*decided.policies);
  }
}

void Backlog::pack(const RequestEnded& ended) {
  const Names names = names_of(ended.operation, ended.correlation);
  const std::size_t bytes = sizeof(Head) + packed_bytes(names) + sizeof(RequestPart);
  Packer to(grow(bytes), Kind::request, bytes);
  to.put_names(ended.timestamp, names);
  to.put(RequestPart{.outcome = ended.outcome, .status = ended.status});
}

std::size_t Backlog::next(Wording& wording, Draft& draft) {
  if (is_read()) return 0;
  Unpacker head(std::string_view(bytes_).substr(read_, used_ - read_));
  const auto [bytes, kind] = head.take<Head>();
  Unpacker from(std::string_view(bytes_).substr(read_ + sizeof(Head), bytes - sizeof(Head)));
  switch (kind) {
    case Kind::draft:
      unpack_draft(from, draft);
      break;
    case Kind::success:
      word_success(from, wording, draft);
      break;
    case Kind::limit:
      word_limit(from, wording, draft, counts_);
      break;
    case Kind::request:
      word_request(from, wording, draft);
      break;
  }
  read_ += bytes;
  return bytes;
}

// Its room stays, but for what a jam took and nobody needs any more: that goes back half at a time.
void Backlog::clear() {
  const bool is_too_large = used_ < bytes_.size() / 8;
  if (is_too_large && bytes_.size() > bounds::audit_batch_bytes_max) {
    bytes_ = std::string(bytes_.size() / 2, '\0');
  }
  used_ = 0;
  read_ = 0;
  events_ = 0;
  owners_.clear();
}

}  // namespace pawl::audit
