#include "adapter/redis/record_key.h"

#include "adapter/redis/slots.h"
#include "base/percent.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

bool is_plain(char c) {
  return c > ' ' && c < 0x7f && c != '%' && c != ':' && c != '{' && c != '}';
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_plain(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', digits[byte / 16], digits[byte % 16]});
  }
}

}  // namespace

std::string group_prefix(int group) {
  const char tens = static_cast<char>('0' + group / 10);
  const char ones = static_cast<char>('0' + group % 10);
  return std::string("idem:{") + tens + ones + "}:";
}

std::string fence_key(std::string_view prefix) {
  return std::string(prefix) + "fence";
}

std::string newest_key(std::string_view prefix) {
  return std::string(prefix) + "newest";
}

std::string scope_prefix(std::string_view scope) {
  std::string prefix;
  append_escaped(prefix, scope);
  prefix.push_back(':');
  return prefix;
}

std::string record_name(const RecordKey& key) {
  std::string name = scope_prefix(key.scope);
  append_escaped(name, key.key);
  return name;
}

Result<RecordKey> parse_record_name(std::string_view name) {
  std::string_view rest = name;
  // Either case of digits is decoded, and one is what a name has: so it is written once more.
  const auto scope = percent_decoded(take_until(rest, ':'));
  const auto key = percent_decoded(rest);
  if (scope && key) {
    RecordKey found{.scope = *scope, .key = *key};
    if (check(found) && record_name(found) == name) return found;
  }
  return failure(Code::invalid, "'" + std::string(name) + "' is not the name of a record");
}

std::string prefix_of(std::string_view name) {
  return group_prefix(key_slot(name) % record_groups);
}

}  // namespace pawl::redis
