// MemberReader: reads the members of a JSON object that nobody vouches for.
//
// Contract: every call gives a value, whatever stands there; the first member that is missing or
//           makes no sense is remembered, and whoever reads asks for it once, at the end. Numbers
//           that may pass 2^53 are read from text: the log's form of a number is a double's.
// Threads:  none. The object outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pawl/time.h"

namespace pawl {

inline constexpr std::string_view never_text = "never";  // Duration::max()

class MemberReader {
 public:
  explicit MemberReader(const json::Value& object) : object_(object) {}

  bool has(std::string_view name) const { return object_.find(name) != nullptr; }
  bool has_word(std::string_view name) const {
    const json::Value* value = object_.find(name);
    return value != nullptr && value->if_string() != nullptr;
  }
  std::string_view word(std::string_view name);
  // `parse` gives an optional.
  template <class Parse>
  auto one_of(std::string_view name, const Parse& parse) {
    const auto found = parse(word(name));
    if (!found) fail(name);
    return found.value_or(typename decltype(parse(word(name)))::value_type{});
  }
  bool truth(std::string_view name);
  // From 0.
  std::int64_t number(std::string_view name, std::int64_t max);
  std::uint64_t id(std::string_view name);
  // Nanoseconds as text, or "never".
  Duration time(std::string_view name);
  std::vector<Duration> times(std::string_view name);
  // Texts of whole numbers, exactly so many.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count);
  // An empty one, of this reader, where there is none.
  const json::Array& array(std::string_view name);
  // The whole in place of what is no object.
  const json::Value& object(std::string_view name);

  void fail(std::string_view name) {
    if (wrong_.empty()) wrong_ = name;
  }
  // Empty: everything made sense.
  const std::string& wrong() const { return wrong_; }
  // The same, and there are so many members: those that were read, and no others.
  std::string wrong_among(std::size_t members) const;

 private:
  std::int64_t within(std::string_view name, std::string_view text, std::int64_t max);
  Duration time_of(std::string_view name, std::string_view text);

  const json::Value& object_;
  const json::Array none_ = {};
  std::string wrong_;
};

}  // namespace pawl
