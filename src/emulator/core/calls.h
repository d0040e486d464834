// What a call says: its fields, the parameters of its query or form, its JSON.
//
// Contract: pure. Whatever makes no sense is as if it were not there: a venue answers such a call
//           with an error of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "emulator/core/exchange.h"

namespace pawl::emulator {

// Of that name, in lower case; empty when there is none.
std::string_view field(const Call& call, std::string_view name);

// A parameter of a query or of a form, decoded.
std::optional<std::string> parameter(std::string_view query, std::string_view name);
// The same as a number from 0; `otherwise` when there is none.
std::uint64_t number_parameter(std::string_view query, std::string_view name,
                               std::uint64_t otherwise);

// "/a/b" as {"a", "b"}.
std::vector<std::string> path_parts(std::string_view path);

// A member's text, or a number as it was written; empty when there is neither.
std::string text_of(const json::Value& object, std::string_view member);

}  // namespace pawl::emulator
