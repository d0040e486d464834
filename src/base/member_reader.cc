#include "base/member_reader.h"

#include <charconv>
#include <limits>
#include <optional>

namespace pawl {

namespace {

constexpr std::int64_t whole_max = std::numeric_limits<std::int64_t>::max();

template <class T>
std::optional<T> digits(std::string_view text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

std::string_view MemberReader::word(std::string_view name) {
  const json::Value* value = object_.find(name);
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr) return fail(name), std::string_view();
  return *text;
}

bool MemberReader::truth(std::string_view name) {
  const json::Value* value = object_.find(name);
  const bool* found = value == nullptr ? nullptr : value->if_bool();
  if (found == nullptr) return fail(name), false;
  return *found;
}

std::int64_t MemberReader::number(std::string_view name, std::int64_t max) {
  const json::Value* value = object_.find(name);
  const json::Number* found = value == nullptr ? nullptr : value->if_number();
  return within(name, found == nullptr ? "" : std::string_view(found->text), max);
}

std::uint64_t MemberReader::id(std::string_view name) {
  return one_of(name, digits<std::uint64_t>);
}

Duration MemberReader::time(std::string_view name) {
  return time_of(name, word(name));
}

std::vector<Duration> MemberReader::times(std::string_view name) {
  std::vector<Duration> times;
  for (const json::Value& item : array(name)) {
    const std::string* text = item.if_string();
    if (text == nullptr) return fail(name), times;
    times.push_back(time_of(name, *text));
  }
  return times;
}

std::vector<std::int64_t> MemberReader::integers(std::string_view name, std::size_t count) {
  std::vector<std::int64_t> integers;
  for (const json::Value& item : array(name)) {
    const std::string* text = item.if_string();
    const auto integer = text == nullptr ? std::nullopt : digits<std::int64_t>(*text);
    if (!integer) fail(name);
    integers.push_back(integer.value_or(0));
  }
  if (integers.size() != count) fail(name);
  integers.resize(count);
  return integers;
}

const json::Array& MemberReader::array(std::string_view name) {
  const json::Value* value = object_.find(name);
  const json::Array* items = value == nullptr ? nullptr : value->if_array();
  if (items == nullptr) return fail(name), none_;
  return *items;
}

const json::Value& MemberReader::object(std::string_view name) {
  const json::Value* value = object_.find(name);
  if (value == nullptr || value->if_object() == nullptr) return fail(name), object_;
  return *value;
}

Duration MemberReader::time_of(std::string_view name, std::string_view text) {
  if (text == never_text) return Duration::max();
  return Duration::nanoseconds(within(name, text, whole_max));
}

std::int64_t MemberReader::within(std::string_view name, std::string_view text, std::int64_t max) {
  const auto number = digits<std::int64_t>(text);
  if (number && *number >= 0 && *number <= max) return *number;
  return fail(name), 0;
}

std::string MemberReader::wrong_among(std::size_t members) const {
  if (!wrong_.empty()) return wrong_;
  const json::Object* all = object_.if_object();
  return all != nullptr && all->size() == members ? "" : "of another name";
}

}  // namespace pawl
