// Structured fields of HTTP (RFC 9651): lists and dictionaries of items with parameters.
//
// Why:      half of the rate-limit dialects are written in it, and its rules are exact: a field
//           that breaks one is ignored as a whole, never read in part.
// Contract: pure. Takes the value of one field line; "no value" and "misfit" are told apart by an
//           empty result and none. Keys and what they are found in point into the text handed in.
//           Of a key that is repeated the last one counts. An inner list is refused: no field read
//           here has one.
// Bounds:   work and memory are linear in the text; the caller bounds that.
// Threads:  any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::structured {

// True, until something else was read: that is what a key without a value means.
struct BareItem {
  enum class Kind : std::uint8_t {
    integer,         // at most 15 digits
    decimal,         // `number` in thousandths
    string,          // `text` without quotes and escapes
    token,           // `text`
    bytes,           // `text` is the base64 as it came
    boolean,         // `number` is 0 or 1
    date,            // `number` is seconds since 1970
    display_string,  // `text` in UTF-8
  };
  Kind kind = Kind::boolean;
  std::int64_t number = 1;
  std::string text = {};
  bool operator==(const BareItem&) const = default;
};

struct Parameter {
  std::string_view key;
  BareItem value = {};
  bool operator==(const Parameter&) const = default;
};

struct Item {
  BareItem bare = {};
  std::vector<Parameter> parameters = {};
  bool operator==(const Item&) const = default;

  const BareItem* find(std::string_view key) const;
};

struct Member {
  std::string_view key;
  Item item = {};
  bool operator==(const Member&) const = default;
};

using List = std::vector<Item>;
using Dictionary = std::vector<Member>;

std::optional<List> parse_list(std::string_view text);
std::optional<Dictionary> parse_dictionary(std::string_view text);

const Item* find(const Dictionary& dictionary, std::string_view key);

}  // namespace pawl::structured
