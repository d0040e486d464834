// The names of what Redis keeps of records. The grammar stands in docs/formats.md.
//
// Why:      a script reaches one slot of a Cluster only, so records lie in groups, each with a hash
//           tag of its own: beside a record stand its group's last fence and list.
// Contract: pure. Scope and key may be any bytes, and two that differ have two names. Nothing in a
//           name is a brace or a colon but what stands there for all, so nobody chooses a slot, and
//           none is named like a group's own keys. The key can be read off the name.
// Bounds:   three characters a byte.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"
#include "port/record_store.h"

namespace pawl::redis {

inline constexpr int record_groups = 64;

// What all names of a group begin with: "idem:{07}:".
std::string group_prefix(int group);
// Of a group: the last fence that was given out, and the names of its records by their time.
std::string fence_key(std::string_view prefix);
std::string newest_key(std::string_view prefix);

// What the names of a scope's records begin with, behind the prefix.
std::string scope_prefix(std::string_view scope);
// A record's name behind the prefix, and what it is the name of.
std::string record_name(const RecordKey& key);
Result<RecordKey> parse_record_name(std::string_view name);
// The prefix of the group that the name lies in.
std::string prefix_of(std::string_view name);

}  // namespace pawl::redis
