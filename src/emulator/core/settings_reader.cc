#include "emulator/core/settings_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/similar.h"

namespace pawl::emulator {

void SettingsReader::read(std::string_view name, Duration& into) {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  const std::string* text = value->if_string();
  const Result<Duration> read = parse_duration(text == nullptr ? "" : *text);
  if (!read) return fail(name, "a duration, as \"15s\"");
  into = *read;
}

void SettingsReader::read(std::string_view name, std::size_t& into) {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  const json::Number* number = value->if_number();
  const std::string_view text = number == nullptr ? std::string_view() : number->text;
  std::size_t read = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), read);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    return fail(name, "a whole number from 0");
  }
  into = read;
}

void SettingsReader::read(std::string_view name, bool& into) {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  if (value->if_bool() == nullptr) return fail(name, "true or false");
  into = *value->if_bool();
}

void SettingsReader::read(std::string_view name, std::string& into) {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  if (value->if_string() == nullptr) return fail(name, "a text");
  into = *value->if_string();
}

void SettingsReader::read(std::string_view name, std::string& into,
                          std::initializer_list<std::string_view> choices) {
  std::string word = into;
  read(name, word);
  if (std::ranges::find(choices, word) != choices.end()) {
    into = std::move(word);
    return;
  }
  std::string expected = "one of";
  for (const std::string_view choice : choices) expected.append(" ").append(choice);
  fail(name, expected);
}

void SettingsReader::read(std::string_view name, std::set<std::string>& into) {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  const json::Array* array = value->if_array();
  if (array == nullptr) return fail(name, "a list of texts");
  into.clear();
  for (const json::Value& item : *array) {
    if (item.if_string() == nullptr) return fail(name, "a list of texts");
    into.insert(*item.if_string());
  }
}

Result<void> SettingsReader::finish() const {
  if (!problem_.empty()) return failure(Code::invalid, problem_);
  if (settings_.is_null()) return {};
  const json::Object* members = settings_.if_object();
  if (members == nullptr) return failure(Code::invalid, "settings must be an object");
  for (const auto& [name, value] : *members) {
    if (known_.contains(name)) continue;
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    std::string message = "settings." + name + " is not known";
    const std::string_view meant = nearest(name, known);
    if (!meant.empty()) message.append("; did you mean ").append(meant).append("?");
    return failure(Code::invalid, message);
  }
  return {};
}

const json::Value* SettingsReader::find(std::string_view name) {
  known_.emplace(name);
  return settings_.find(name);
}

void SettingsReader::fail(std::string_view name, std::string_view expected) {
  if (!problem_.empty()) return;
  problem_ = "settings." + std::string(name) + " must be " + std::string(expected);
}

}  // namespace pawl::emulator
