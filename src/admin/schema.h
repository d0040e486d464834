// Schemas: what a body, a parameter or an answer of the admin API looks like, as JSON Schema.
//
// Why:      what is promised in the OpenAPI document is the value that requests are checked with,
//           so the two cannot drift apart.
// Contract: pure. Objects are closed: a member that is not named is an error. The few keywords that
//           these functions write are the ones flaw() knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace pawl::admin {

using Schema = json::Value;

namespace schema {

Schema text();
Schema text(std::size_t least, std::size_t most);  // in bytes
Schema instant();                                  // RFC 3339
Schema whole(std::int64_t least, std::int64_t most);
Schema count();  // a whole number from 0
Schema truth();
Schema word(std::initializer_list<std::string_view> words);
Schema list_of(Schema item);
Schema map_of(Schema value);
Schema anything();
Schema or_null(Schema schema);

struct Member {
  std::string_view name;
  Schema schema;
  bool required = true;
};
Schema object(std::vector<Member> members);
// As it is told elsewhere in the document.
Schema reference(std::string_view name);

}  // namespace schema

// What is wrong with it: the member, what was found and what is allowed. Empty: nothing.
std::string flaw(const Schema& schema, const json::Value& value, std::string_view name);

}  // namespace pawl::admin
