#include "core/audit/chain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/sha256.h"
#include "base/text.h"

namespace pawl::audit {
namespace {

constexpr std::size_t hash_digits = 64;
// What link() adds at most: "hash":"…", and "prev":"…", and "seq":18446744073709551615,
constexpr std::size_t link_bytes_max = 2 * (10 + hash_digits) + 27;

// A member of the record: a detail, or a text, or (with neither) one that link() will fill in.
struct Member {
  std::string_view name;
  const json::Value* detail = nullptr;
  std::string_view text = {};
};

// Such a name needs no escape, and sorts by its bytes as RFC 8785 wants it.
bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Empty texts stay in, so that a detail cannot take the name of a field that happens to be empty.
std::vector<Member> members_in_order(const Event& event, std::string_view timestamp) {
  const Correlation& ids = event.correlation;
  const std::array<Member, 11> fixed = {{
      {.name = "correlation_id", .text = ids.correlation_id},
      {.name = "event_type", .text = to_string(event.type)},
      {.name = "external_reference", .text = ids.external_reference},
      {.name = "hash"},
      {.name = "operation", .text = event.operation},
      {.name = "prev"},
      {.name = "request_id", .text = ids.request_id},
      {.name = "seq"},
      {.name = "tenant_id", .text = ids.tenant_id},
      {.name = "timestamp", .text = timestamp},
      {.name = "trace_id", .text = ids.trace_id},
  }};
  std::vector<Member> members;
  members.reserve(fixed.size() + event.details.size());
  members.assign(fixed.begin(), fixed.end());
  for (const auto& [name, value] : event.details) {
    PAWL_ASSERT(is_name(name));
    const auto after = std::ranges::upper_bound(members, name, {}, &Member::name);
    const bool name_is_free = after == members.begin() || std::prev(after)->name != name;
    PAWL_ASSERT(name_is_free);
    members.insert(after, {.name = name, .detail = &value});
  }
  return members;
}

// Arrays and objects inside one another.
std::size_t depth(const json::Value& value) {
  std::size_t deepest = 0;
  if (const json::Array* elements = value.if_array()) {
    for (const json::Value& element : *elements) deepest = std::max(deepest, depth(element));
    return deepest + 1;
  }
  if (const json::Object* members = value.if_object()) {
    for (const auto& [name, member] : *members) deepest = std::max(deepest, depth(member));
    return deepest + 1;
  }
  return 0;
}

void append_value(std::string& out, const json::Value& value) {
  if (const std::string* text = value.if_string()) {
    json::append_quoted(out, *text);
  } else if (const json::Number* number = value.if_number()) {
    out.append(number->text);
  } else {
    out.append(json::print(value));
  }
}

void append_name(std::string& out, std::string_view name) {
  out.append("\"").append(name).append("\":");
}

void append_hash(std::string& out, std::string_view name, std::string_view hash) {
  append_name(out, name);
  out.append("\"").append(hash).append("\",");
}

std::unexpected<Error> no_record(std::string why) {
  return failure(Code::invalid, "this is no audit record: " + std::move(why));
}

Result<std::string> hash_member(const json::Value& record, std::string_view name) {
  const json::Value* member = record.find(name);
  const std::string* text = member == nullptr ? nullptr : member->if_string();
  if (text == nullptr || text->size() != hash_digits ||
      text->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return no_record("it has no member '" + std::string(name) +
                     "' of 64 lower-case hexadecimal digits");
  }
  return *text;
}

Result<std::uint64_t> seq_member(const json::Value& record) {
  const json::Value* member = record.find("seq");
  const json::Number* number = member == nullptr ? nullptr : member->if_number();
  std::uint64_t seq = 0;
  if (number != nullptr) {
    const char* end = number->text.data() + number->text.size();
    const auto [rest, error] = std::from_chars(number->text.data(), end, seq);
    if (error != std::errc() || rest != end) seq = 0;
  }
  if (seq == 0) return no_record("it has no member 'seq' that counts 1, 2, …");
  return seq;
}

}  // namespace

Result<Draft> draft(const Event& event) {
  const std::string timestamp = to_string(event.timestamp);
  Draft draft;
  draft.text.reserve(512);
  draft.text.push_back('{');
  for (const Member& member : members_in_order(event, timestamp)) {
    if (member.detail != nullptr) {
      // The record is one level itself.
      if (depth(*member.detail) >= bounds::json_depth_max) {
        return failure(Code::invalid, "the audit detail '" + std::string(member.name) +
                                          "' is nested more than " +
                                          std::to_string(bounds::json_depth_max - 1) +
                                          " levels deep; keep less of it");
      }
      append_name(draft.text, member.name);
      append_value(draft.text, *member.detail);
    } else if (member.name == "hash") {
      draft.hash_at = draft.text.size();
      continue;
    } else if (member.name == "prev") {
      draft.prev_at = draft.text.size();
      continue;
    } else if (member.name == "seq") {
      draft.seq_at = draft.text.size();
      continue;
    } else if (!member.text.empty()) {
      append_name(draft.text, member.name);
      json::append_quoted(draft.text, member.text);
    } else {
      continue;
    }
    draft.text.push_back(',');
  }
  // "event_type" stands before the three and "timestamp" after them, so a comma always follows.
  draft.text.back() = '}';
  if (draft.text.size() + link_bytes_max > bounds::audit_event_bytes_max) {
    return failure(Code::invalid, "an audit event of " + std::to_string(draft.text.size()) +
                                      " bytes; a record, its place in the chain included, takes at "
                                      "most " +
                                      std::to_string(bounds::audit_event_bytes_max));
  }
  return draft;
}

void Chain::link(const Draft& draft, std::string& out) {
  const std::string_view text = draft.text;
  const std::size_t start = out.size();
  out.append(text.substr(0, draft.prev_at));
  append_hash(out, "prev", head_.hash);
  out.append(text.substr(draft.prev_at, draft.seq_at - draft.prev_at));
  append_name(out, "seq");
  append_number(out, head_.seq + 1);
  out.append(",").append(text.substr(draft.seq_at));

  head_.seq += 1;
  head_.prev = std::exchange(head_.hash, to_hex(sha256(std::string_view(out).substr(start))));
  std::string member;
  append_hash(member, "hash", head_.hash);
  out.insert(start + draft.hash_at, member);
  out.push_back('\n');
}

Result<Link> read_link(std::string_view line) {
  if (line.size() > bounds::audit_event_bytes_max) {
    return no_record("a line of more than " + std::to_string(bounds::audit_event_bytes_max) +
                     " bytes");
  }
  const Result<json::Value> record = json::parse(line);
  if (!record) return no_record(record.error().message);
  Link link;
  link.seq = PAWL_TRY(seq_member(*record));
  link.prev = PAWL_TRY(hash_member(*record, "prev"));
  link.hash = PAWL_TRY(hash_member(*record, "hash"));

  // The text cannot stand inside a string, where quotes are escaped; and a deeper member would have
  // to hold the hash of the record that holds it.
  std::string member;
  append_hash(member, "hash", link.hash);
  const std::size_t at = line.find(member);
  if (at == std::string_view::npos)
    return no_record("its member 'hash' is not written as pawl does");
  Sha256 hash;
  hash.update(line.substr(0, at));
  hash.update(line.substr(at + member.size()));
  if (to_hex(hash.finish()) != link.hash) {
    return failure(Code::invalid,
                   "the hash of record " + std::to_string(link.seq) + " does not fit its text");
  }
  return link;
}

}  // namespace pawl::audit
