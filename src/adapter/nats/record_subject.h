// The subject under which a key's record stands in a bucket: $KV.BUCKET.scope.key.
//
// Contract: pure. Scope and key may be any bytes; letters, digits, _ and - stand for themselves,
//           every other byte is =XX, and an empty one is a lone =. So two keys never share a
//           subject, nobody's key becomes a pattern, and the key can be read off the subject.
// Bounds:   three characters a byte; with the bounds of keys well below the 4,096 that a server
//           takes in one line.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"
#include "port/record_store.h"

namespace pawl::nats {

std::string record_subject(std::string_view bucket, const RecordKey& key);
// All keys of the scope; of all scopes when it is empty.
std::string record_subjects(std::string_view bucket, std::string_view scope);
Result<RecordKey> parse_record_subject(std::string_view bucket, std::string_view subject);

}  // namespace pawl::nats
