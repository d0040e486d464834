#include "adapter/nats/record_subject.h"

#include <algorithm>
#include <optional>

#include "base/percent.h"
#include "base/text.h"

namespace pawl::nats {
namespace {

constexpr std::string_view digits = "0123456789ABCDEF";

bool is_plain(char c) {
  return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

void append_escaped(std::string& out, std::string_view text) {
  if (text.empty()) out.push_back('=');
  for (const char c : text) {
    if (is_plain(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'=', digits[byte / 16], digits[byte % 16]});
  }
}

// More than is ever written: whoever reads writes it once more, and compares.
std::optional<std::string> unescaped(std::string_view text) {
  if (text == "=") return "";
  std::string encoded(text);
  std::ranges::replace(encoded, '=', '%');
  return percent_decoded(encoded);
}

std::string beginning(std::string_view bucket) {
  return "$KV." + std::string(bucket) + ".";
}

}  // namespace

std::string record_subject(std::string_view bucket, const RecordKey& key) {
  std::string subject = beginning(bucket);
  append_escaped(subject, key.scope);
  subject.push_back('.');
  append_escaped(subject, key.key);
  return subject;
}

std::string record_subjects(std::string_view bucket, std::string_view scope) {
  std::string subjects = beginning(bucket);
  if (scope.empty()) return subjects + ">";
  append_escaped(subjects, scope);
  return subjects + ".*";
}

Result<RecordKey> parse_record_subject(std::string_view bucket, std::string_view subject) {
  const std::string start = beginning(bucket);
  std::string_view rest = subject;
  if (rest.starts_with(start)) {
    rest.remove_prefix(start.size());
    const auto scope = unescaped(take_until(rest, '.'));
    const auto key = unescaped(rest);
    if (scope && key) {
      RecordKey found{.scope = *scope, .key = *key};
      if (record_subject(bucket, found) == subject) return found;
    }
  }
  return failure(Code::invalid,
                 "bucket " + std::string(bucket) + " holds '" + std::string(subject) +
                     "', which is no record of pawl's: give pawl a bucket of its own");
}

}  // namespace pawl::nats
