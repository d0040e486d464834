#include "config/idempotency.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "config/places.h"
#include "config/values.h"

namespace pawl::config {
namespace {

using Statuses = std::vector<StatusRange>;

// They say that nothing was decided, so a retry must be let through.
constexpr std::array<int, 4> never_stored = {408, 409, 425, 429};
// Of the classes that can be stored.
constexpr int first_class = 2;
constexpr int last_class = 4;

// All of a class but those that are never stored.
Statuses statuses_of_class(int of) {
  Statuses ranges;
  int least = of * 100;
  for (const int hole : never_stored) {
    if (hole / 100 != of) continue;
    if (least < hole) ranges.push_back({least, hole - 1});
    least = hole + 1;
  }
  ranges.push_back({least, of * 100 + 99});
  return ranges;
}

// "2xx" or "201"
std::optional<Statuses> parse_statuses(std::string_view text) {
  if (text.size() == 3 && text.ends_with("xx")) {
    const auto of = parse_whole(text.substr(0, 1), first_class, last_class);
    return of ? std::optional(statuses_of_class(static_cast<int>(*of))) : std::nullopt;
  }
  const auto status = parse_whole(text, first_class * 100, last_class * 100 + 99);
  if (!status) return std::nullopt;
  const int one = static_cast<int>(*status);
  if (std::ranges::find(never_stored, one) != never_stored.end()) return std::nullopt;
  return Statuses{{one, one}};
}

std::string print_statuses(const Statuses& ranges) {
  const int least = ranges.front().least;
  return least == ranges.back().most ? std::to_string(least) : std::to_string(least / 100) + "xx";
}

Type<Statuses> statuses() {
  return scalar<Statuses>(
      {"status",
       "a class or a status, as in 2xx or 404; 408, 409, 425, 429 and 5xx are never stored"},
      parse_statuses, print_statuses);
}

// The ranges of all items in their order, and back.
Type<Statuses> stored_statuses() {
  const Type<std::vector<Statuses>> items = list_of(
      statuses(), {1, bounds::config_list_max}, "a list of classes and statuses, as in [2xx, 404]");
  Type<Statuses> type{items, {}, {}};
  type.read = [read = items.read](Reader& reader, const Node& node,
                                  const std::string& path) -> std::optional<Statuses> {
    const auto values = read(reader, node, path);
    if (!values) return std::nullopt;
    Statuses all;
    for (const Statuses& each : *values) all.insert(all.end(), each.begin(), each.end());
    return all;
  };
  type.print = [print = items.print](const Statuses& all) {
    std::vector<Statuses> values;
    for (const StatusRange& each : all) {
      // What was one item begins with the whole hundred, or is a status.
      const bool goes_on = each.least != each.most && each.least % 100 != 0;
      if (!goes_on || values.empty()) values.emplace_back();
      values.back().push_back(each);
    }
    return print(values);
  };
  return type;
}

Fields<Config> store_fields() {
  return {
      bind<Config>({"idempotency.store",
                    "Where the records of intents are kept: memory is this process alone, sqlite "
                    "a file that survives it, a Redis or a NATS is shared by many.",
                    Node::of("sqlite:data/pawl.db"), needs_restart},
                   record_store(), PAWL_MEMBER(idempotency.store)),
      bind<Config>({"idempotency.durability",
                    "What a record must survive once it is acknowledged: nothing, the end of the "
                    "process that keeps it, or a power cut. A store that gives less is refused.",
                    Node::of("fsync"), needs_restart},
                   one_of<Durability>({{"none", Durability::none},
                                       {"process", Durability::process},
                                       {"fsync", Durability::fsync}}),
                   PAWL_MEMBER(idempotency.durability)),
      bind<Config>({"idempotency.store_deadline",
                    "How long a Redis or a NATS may take over an ask of the gateway. One that "
                    "takes longer is decided as on_store_failure says.",
                    Node::of("50ms")},
                   duration(bounds::redis_deadline_min, bounds::redis_deadline_max),
                   PAWL_MEMBER(idempotency.store_deadline)),
      bind<Config>(
          {"idempotency.ttl", "How long the result of an intent is kept.", Node::of("24h")},
          duration(bounds::record_ttl_min, bounds::record_ttl_max), PAWL_MEMBER(idempotency.ttl)),
      bind<Config>({"idempotency.lease",
                    "How long whoever acts on an intent has it alone; after that nobody knows how "
                    "it ended.",
                    Node::of("60s")},
                   duration(bounds::record_lease_min, bounds::record_lease_max),
                   PAWL_MEMBER(idempotency.lease)),
  };
}

Fields<Config> write_fields() {
  return {
      bind<Config>({"idempotency.header", "The request header that holds the key.",
                    Node::of("Idempotency-Key")},
                   header_name(), PAWL_MEMBER(idempotency.header)),
      bind<Config>({"idempotency.methods",
                    "Whose requests the gateway sends upstream once for each key; empty: none.",
                    Node::texts({"POST", "PUT", "PATCH", "DELETE"})},
                   list_of(method(), {0, bounds::config_methods_max},
                           "a list of up to " + std::to_string(bounds::config_methods_max) +
                               " methods, as in [POST, PATCH]"),
                   PAWL_MEMBER(idempotency.methods)),
      bind<Config>({"idempotency.require",
                    "Paths where a request of these methods must have a key.", Node::texts({})},
                   list_of(path_pattern(), {0, bounds::config_list_max},
                           "a list of up to " + std::to_string(bounds::config_list_max) +
                               " path patterns, as in [/v1/orders/**]"),
                   PAWL_MEMBER(idempotency.require)),
      bind<Config>({"idempotency.fingerprint",
                    "By what a second request with a key is known to be the same: the bytes of its "
                    "body, or what they mean as JSON.",
                    Node::of("bytes")},
                   one_of<request::Fingerprint>({{"bytes", request::Fingerprint::bytes},
                                                 {"json", request::Fingerprint::json}}),
                   PAWL_MEMBER(idempotency.fingerprint)),
      bind<Config>({"idempotency.store_statuses",
                    "Answers that are kept and given again. 4xx is without 408, 409, 425 and 429. "
                    "5xx is never kept: nobody knows what the upstream did before it failed, so "
                    "the key is left unknown (on_unknown).",
                    Node::texts({"2xx", "4xx"})},
                   stored_statuses(), PAWL_MEMBER(idempotency.store_statuses)),
      bind<Config>({"idempotency.body_limit",
                    "The largest body of a request with a key; one that is larger is refused with "
                    "413. A larger answer is passed on and not kept: its key stays protected, but "
                    "has nothing to give again.",
                    Node::of("1MiB")},
                   bytes(1, bounds::record_bytes_max), PAWL_MEMBER(idempotency.body_limit)),
  };
}

Fields<Config> case_fields() {
  using request::OnInFlight;
  using request::OnMismatch;
  using request::OnRecordFailure;
  using request::OnUnknown;
  return {
      bind<Config>({"idempotency.on_mismatch",
                    "A key that another request has used: reject answers 422, conflict 409, "
                    "separate keeps a record for each request.",
                    Node::of("reject")},
                   one_of<OnMismatch>({{"reject", OnMismatch::reject},
                                       {"conflict", OnMismatch::conflict},
                                       {"separate", OnMismatch::separate}}),
                   PAWL_MEMBER(idempotency.on_mismatch)),
      bind<Config>(
          {"idempotency.on_in_flight",
           "A key whose first request is still under way: conflict answers 409 and "
           "Retry-After, wait waits for its answer.",
           Node::of("conflict")},
          one_of<OnInFlight>({{"conflict", OnInFlight::conflict}, {"wait", OnInFlight::wait}}),
          PAWL_MEMBER(idempotency.on_in_flight)),
      bind<Config>(
          {"idempotency.on_unknown",
           "A key of which nobody knows how it ended: conflict answers 409 until somebody "
           "settles it, execute sends the request again.",
           Node::of("conflict")},
          one_of<OnUnknown>({{"conflict", OnUnknown::conflict}, {"execute", OnUnknown::execute}}),
          PAWL_MEMBER(idempotency.on_unknown)),
      bind<Config>({"idempotency.on_store_failure",
                    "While the store does not answer: execute sends requests unprotected and says "
                    "so in the log, reject answers 503.",
                    Node::of("execute")},
                   one_of<OnRecordFailure>({{"execute", OnRecordFailure::execute},
                                            {"reject", OnRecordFailure::reject}}),
                   PAWL_MEMBER(idempotency.on_store_failure)),
  };
}

}  // namespace

Fields<Config> idempotency_fields() {
  return joined({store_fields(), write_fields(), case_fields()});
}

void check_idempotency(const Idempotency& idempotency, Reader& reader) {
  const std::string path = "idempotency.require";
  if (idempotency.require.empty() || !idempotency.methods.empty()) return;
  if (!reader.sound_below(path) || !reader.sound_below("idempotency.methods")) return;
  reader.problem(reader.line_of(path), path,
                 "found paths that must have a key, but no methods; name some in "
                 "idempotency.methods, or leave this out");
}

}  // namespace pawl::config
