#include "core/audit/chain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/scrub.h"
#include "base/sha256.h"
#include "base/text.h"

namespace pawl::audit {
namespace {

constexpr std::size_t hash_digits = 64;
constexpr std::size_t hash_member_bytes = 10 + hash_digits;  // "hash":"…",
constexpr std::size_t number_digits_max = 20;
// What link() adds at most: "hash":"…", and "prev":"…", and "seq":18446744073709551615,
constexpr std::size_t link_bytes_max = 2 * hash_member_bytes + 7 + number_digits_max;

// A member of the record: a detail, or a text, or (with neither) one that link() will fill in.
struct Member {
  std::string_view name;
  const json::Value* detail = nullptr;
  std::string_view text = {};
  bool own = false;  // made by us: it holds no secret
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
      {.name = "event_type", .text = to_string(event.type), .own = true},
      {.name = "external_reference", .text = ids.external_reference},
      {.name = "hash"},
      {.name = "operation", .text = event.operation},
      {.name = "prev"},
      {.name = "request_id", .text = ids.request_id},
      {.name = "seq"},
      {.name = "tenant_id", .text = ids.tenant_id},
      {.name = "timestamp", .text = timestamp, .own = true},
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
    append_text(out, *text);
  } else if (const json::Number* number = value.if_number()) {
    out.append(number->text);
  } else if (value_holds_secret(value)) {
    out.append(json::print(scrubbed_value(value)));
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

void append_text(std::string& out, std::string_view text) {
  if (holds_secret(text)) {
    json::append_quoted(out, scrubbed(text));
  } else {
    json::append_quoted(out, text);
  }
}

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
      member.own ? json::append_quoted(draft.text, member.text)
                 : append_text(draft.text, member.text);
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
  const std::size_t most = out.size() + draft.text.size() + link_bytes_max + 1;  // a line feed
  out.resize_and_overwrite(most, [&, at = out.size()](char* text, std::size_t) {
    return at + link_at(draft, text + at);
  });
}

// The record to where there is room for it; gives its bytes. What is hashed stands together first,
// and then gives way to the hash.
std::size_t Chain::link_at(const Draft& draft, char* const begin) {
  const std::string_view text = draft.text;
  char* const message = begin + hash_member_bytes;
  char* at = message;
  const auto put = [&at](std::string_view words) {
    std::memcpy(at, words.data(), words.size());
    at += words.size();
  };
  put(text.substr(0, draft.prev_at));
  put("\"prev\":\"");
  put(head_.hash);
  put("\",");
  put(text.substr(draft.prev_at, draft.seq_at - draft.prev_at));
  put("\"seq\":");
  at = std::to_chars(at, at + number_digits_max, head_.seq + 1).ptr;
  put(",");
  put(text.substr(draft.seq_at));
  *at = '\n';
  const char* const end = at;

  head_.seq += 1;
  std::swap(head_.prev, head_.hash);
  head_.hash.clear();
  append_hex(head_.hash, sha256({message, end}));
  std::memmove(begin, message, draft.hash_at);
  at = begin + draft.hash_at;
  put("\"hash\":\"");
  put(head_.hash);
  put("\",");
  return static_cast<std::size_t>(end + 1 - begin);
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
