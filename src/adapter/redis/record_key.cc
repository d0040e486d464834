#include "adapter/redis/record_key.h"

#include <optional>

#include "adapter/redis/slots.h"
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

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const auto high = i + 1 < text.size() ? digits.find(text[i + 1]) : digits.npos;
    const auto low = i + 2 < text.size() ? digits.find(text[i + 2]) : digits.npos;
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
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
  const auto scope = unescaped(take_until(rest, ':'));
  const auto key = unescaped(rest);
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
