// A record as bytes, for stores whose server keeps bytes. The grammar stands in docs/formats.md.
//
// Why:      a head of plain words that a script on a server can take apart, then the texts as they
//           are, whose lengths the head names: nothing is escaped, nothing has to be searched.
// Contract: pure. A record that the machine made reads back the same, but that times are whole
//           microseconds since 1970, rounded up, which is what a script can reckon with. What is
//           read is hostile until parsed: anything that the machine could not have made, or that is
//           written in another way, is refused, so each record has one text alone.
#pragma once

#include <string>
#include <string_view>

#include "core/idempotency/record.h"
#include "pawl/result.h"

namespace pawl::idempotency {

std::string to_text(const Record& record);
// Errors: invalid, and the message says whether a newer pawl has written it.
Result<Record> parse_record(std::string_view text);

}  // namespace pawl::idempotency
