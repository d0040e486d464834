// Records of intents as people and programs read them.
//
// Contract: pure. What could disturb a terminal is escaped as in JSON. A result that is no UTF-8
//           text is told by its size alone.
#pragma once

#include <span>
#include <string>

#include "port/record_store.h"

namespace pawl::cli {

// A line a record, under a head.
std::string records_text(std::span<const KeptRecord> records);
std::string records_json(std::span<const KeptRecord> records);

// All of one, its result included: a line a member.
std::string record_text(const KeptRecord& kept);
std::string record_json(const KeptRecord& kept);

// "'key' of tenant 'acme'"
std::string name_of(const RecordKey& key);

}  // namespace pawl::cli
