#include "core/order/intent_text.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bounds.h"
#include "base/member_reader.h"

namespace pawl::order {
namespace {

json::Value number_of(Instant instant) {
  return std::to_string(instant.ns());
}

std::optional<std::int64_t> nanoseconds(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Reads all members of an object, each once, and knows whether there are others.
class Reader {
 public:
  explicit Reader(const json::Value& object) : from_(object) {}

  std::string line(std::string_view name, std::size_t most = bounds::order_text_bytes_max) {
    const std::string_view found = from_.word(counted(name));
    if (found.size() > most || line_of(found) != found) from_.fail(name);
    return std::string(found);
  }
  Instant instant(std::string_view name) {
    return Instant::from_ns(from_.one_of(counted(name), nanoseconds));
  }
  int number(std::string_view name, int least, int most) {
    const auto found = static_cast<int>(from_.number(counted(name), most));
    if (found < least) from_.fail(name);
    return found;
  }
  bool truth(std::string_view name) { return from_.truth(counted(name)); }
  template <class Parse>
  auto one_of(std::string_view name, const Parse& parse) {
    return from_.one_of(counted(name), parse);
  }
  const json::Array& array(std::string_view name) { return from_.array(counted(name)); }
  bool has(std::string_view name) const { return from_.has(name); }
  void fail(std::string_view name) { from_.fail(name); }

  // The member that makes no sense; empty: everything did.
  std::string wrong() const { return from_.wrong_among(count_); }

 private:
  std::string_view counted(std::string_view name) {
    ++count_;
    return name;
  }

  MemberReader from_;
  std::size_t count_ = 0;
};

std::vector<Evidence> evidence_of(Reader& from) {
  std::vector<Evidence> evidence;
  for (const json::Value& each : from.array("evidence")) {
    Reader row(each);
    evidence.push_back(
        {.at = row.instant("at"), .source = row.line("source"), .says = row.line("says")});
    if (!row.wrong().empty() || evidence.size() > bounds::order_evidence_max) {
      from.fail("evidence");
      break;
    }
  }
  return evidence;
}

}  // namespace

json::Value to_json(const Progress& progress) {
  json::Array evidence;
  for (const Evidence& each : progress.evidence) {
    evidence.push_back(
        json::Object{{"at", number_of(each.at)}, {"source", each.source}, {"says", each.says}});
  }
  json::Object members{{"status", to_string(progress.status)},
                       {"attempts", progress.attempts},
                       {"request_id", progress.request_id},
                       {"order_id", progress.order_id},
                       {"life", to_string(progress.life)},
                       {"reason", progress.reason},
                       {"sealed", progress.sealed},
                       {"evidence", std::move(evidence)}};
  if (progress.expires) members["expires"] = number_of(*progress.expires);
  if (progress.unsent) members["unsent"] = true;
  return members;
}

Result<Progress> progress_of(const json::Value& value) {
  Reader from(value);
  Progress progress;
  progress.status = from.one_of("status", status_of);
  progress.attempts = from.number("attempts", 1, bounds::retry_attempts_max);
  progress.request_id = from.line("request_id", bounds::request_id_bytes_max);
  progress.order_id = from.line("order_id");
  progress.life = from.one_of("life", life_of);
  progress.reason = from.line("reason");
  progress.sealed = from.truth("sealed");
  if (from.has("expires")) progress.expires = from.instant("expires");
  if (from.has("unsent")) {
    progress.unsent = from.truth("unsent");
    if (!progress.unsent || progress.status != Status::rejected) from.fail("unsent");
  }
  progress.evidence = evidence_of(from);
  if (const std::string wrong = from.wrong(); !wrong.empty()) {
    return failure(Code::invalid, "what is kept of an intent has a member '" + wrong +
                                      "' that is missing or makes no sense: it is damaged, or a "
                                      "newer pawl wrote it");
  }
  return progress;
}

json::Value to_json(const Evidence& evidence) {
  return json::Object{
      {"at", to_string(evidence.at)}, {"source", evidence.source}, {"says", evidence.says}};
}

}  // namespace pawl::order
