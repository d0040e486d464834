#include "core/retry/decision_record.h"

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/member_reader.h"
#include "base/text.h"

namespace pawl::retry {
namespace {

std::string text_of(Duration duration) {
  return duration == Duration::max() ? std::string(never_text) : std::to_string(duration.ns());
}

std::optional<Outcome> outcome_named(std::string_view name) {
  for (const Outcome each : {Outcome::not_applied, Outcome::applied, Outcome::unknown}) {
    if (to_string(each) == name) return each;
  }
  return std::nullopt;
}

// What is as it is by default is left out: every operation leaves a record, and most of it would
// never change. Names come in their order, so that no place is searched for, and a text can be
// written as it comes.
class TreeWriter {
 public:
  template <class T>
  void add(std::string_view name, const T& value, const T& standard) {
    if (value != standard) record_.emplace_hint(record_.end(), name, printed(value));
  }
  json::Object take() { return std::move(record_); }

 private:
  static json::Value printed(bool value) { return value; }
  static json::Value printed(int value) { return value; }
  static json::Value printed(std::int64_t value) { return value; }
  static json::Value printed(std::uint64_t value) { return std::to_string(value); }
  static json::Value printed(Duration value) { return text_of(value); }
  static json::Value printed(const std::vector<Duration>& values) {
    json::Array texts;
    for (const Duration value : values) texts.emplace_back(text_of(value));
    return texts;
  }
  template <class Named>
    requires std::is_enum_v<Named>
  static json::Value printed(Named value) {
    return to_string(value);
  }

  json::Object record_;
};

// None of its texts needs an escape.
class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) { out_.push_back('{'); }

  template <class T>
  void add(std::string_view name, const T& value, const T& standard) {
    if (value == standard) return;
    out_.append("\"").append(name).append("\":");
    print(value);
    out_.push_back(',');
  }
  void close() {
    if (out_.ends_with(',')) out_.pop_back();
    out_.push_back('}');
  }

 private:
  void print(bool value) { out_.append(value ? "true" : "false"); }
  void print(int value) { append_number(out_, value); }
  void print(std::int64_t value) { append_number(out_, value); }
  void print(std::uint64_t value) { print_text(std::to_string(value)); }
  void print(Duration value) { print_text(text_of(value)); }
  void print(const std::vector<Duration>& values) {
    char before = '[';
    for (const Duration value : values) {
      out_.push_back(before);
      print(value);
      before = ',';
    }
    out_.append(values.empty() ? "[]" : "]");
  }
  template <class Named>
    requires std::is_enum_v<Named>
  void print(Named value) {
    print_text(to_string(value));
  }
  void print_text(std::string_view text) { out_.append("\"").append(text).append("\""); }

  std::string& out_;
};

template <class Writer>
void add_policy(Writer& to, const Policy& policy) {
  const Policy standard;
  to.add("attempt_timeout_ns", policy.attempt_timeout, standard.attempt_timeout);
  to.add("base_delay_ns", policy.base_delay, standard.base_delay);
  to.add("deadline_ns", policy.deadline, standard.deadline);
  to.add("delays_ns", policy.delays, standard.delays);
  to.add("jitter", policy.jitter, standard.jitter);
  to.add("jitter_milli", policy.jitter_milli, standard.jitter_milli);
  to.add("max_attempts", policy.max_attempts, standard.max_attempts);
  to.add("max_delay_ns", policy.max_delay, standard.max_delay);
  to.add("min_delay_ns", policy.min_delay, standard.min_delay);
  to.add("multiplier_milli", policy.multiplier_milli, standard.multiplier_milli);
}

template <class Writer>
void add_facts(Writer& to, const Facts& facts) {
  const Facts standard;
  to.add("attempt", facts.attempt, standard.attempt);
  to.add("breaker_open", facts.breaker_open, standard.breaker_open);
  to.add("budget_allows", facts.budget_allows, standard.budget_allows);
  to.add("can_reconcile", facts.can_reconcile, standard.can_reconcile);
  to.add("cancelled", facts.cancelled, standard.cancelled);
  to.add("elapsed_ns", facts.elapsed, standard.elapsed);
  to.add("failure", facts.seen.failure, standard.seen.failure);
  to.add("found", facts.found, standard.found);
  to.add("harmless", facts.harmless, standard.harmless);
  to.add("key", facts.key, standard.key);
  to.add("listed", facts.listed, standard.listed);
  to.add("may_be_applied", facts.may_be_applied, standard.may_be_applied);
  to.add("outcome", facts.seen.outcome, standard.seen.outcome);
  to.add("previous_delay_ns", facts.previous_delay, standard.previous_delay);
  to.add("probe_in_ns", facts.probe_in, standard.probe_in);
  to.add("pushback_ns", facts.pushback, standard.pushback);
  to.add("reconciles", facts.reconciles, standard.reconciles);
  to.add("retryable", facts.seen.retryable, standard.seen.retryable);
  to.add("sleep_from_ns", facts.sleep_from, standard.sleep_from);
}

// What is not there stays as it is by default; what else is there makes no sense.
class Reader {
 public:
  explicit Reader(const json::Value& object) : from_(object) {}

  void read(std::string_view name, bool& to) {
    if (has(name)) to = from_.truth(name);
  }
  void read(std::string_view name, int& to) {
    if (has(name)) to = static_cast<int>(from_.number(name, std::numeric_limits<int>::max()));
  }
  void read(std::string_view name, std::int64_t& to) {
    if (has(name)) to = from_.number(name, std::numeric_limits<int>::max());
  }
  void read(std::string_view name, std::uint64_t& to) {
    if (has(name)) to = from_.id(name);
  }
  void read(std::string_view name, Duration& to) {
    if (has(name)) to = from_.time(name);
  }
  void read(std::string_view name, std::vector<Duration>& to) {
    if (has(name)) to = from_.times(name);
  }
  template <class Named, class Parse>
  void read(std::string_view name, Named& to, const Parse& parse) {
    if (has(name)) to = from_.one_of(name, parse);
  }

  // The member that makes no sense; empty: everything did.
  std::string wrong() const { return from_.wrong_among(found_); }

 private:
  bool has(std::string_view name) {
    const bool there = from_.has(name);
    if (there) ++found_;
    return there;
  }

  MemberReader from_;
  std::size_t found_ = 0;
};

Policy read_policy(Reader& from) {
  Policy policy;
  from.read("max_attempts", policy.max_attempts);
  from.read("base_delay_ns", policy.base_delay);
  from.read("max_delay_ns", policy.max_delay);
  from.read("min_delay_ns", policy.min_delay);
  from.read("multiplier_milli", policy.multiplier_milli);
  from.read("jitter", policy.jitter, jitter_of);
  from.read("jitter_milli", policy.jitter_milli);
  from.read("delays_ns", policy.delays);
  from.read("deadline_ns", policy.deadline);
  from.read("attempt_timeout_ns", policy.attempt_timeout);
  return policy;
}

Facts read_facts(Reader& from) {
  Facts facts;
  from.read("attempt", facts.attempt);
  from.read("failure", facts.seen.failure, failure_of);
  from.read("outcome", facts.seen.outcome, outcome_named);
  from.read("retryable", facts.seen.retryable);
  from.read("listed", facts.listed, listed_of);
  from.read("reconciles", facts.reconciles);
  from.read("found", facts.found, outcome_named);
  from.read("may_be_applied", facts.may_be_applied);
  from.read("harmless", facts.harmless);
  from.read("can_reconcile", facts.can_reconcile);
  from.read("key", facts.key);
  from.read("previous_delay_ns", facts.previous_delay);
  from.read("elapsed_ns", facts.elapsed);
  from.read("pushback_ns", facts.pushback);
  from.read("sleep_from_ns", facts.sleep_from);
  from.read("budget_allows", facts.budget_allows);
  from.read("breaker_open", facts.breaker_open);
  from.read("probe_in_ns", facts.probe_in);
  from.read("cancelled", facts.cancelled);
  return facts;
}

std::unexpected<Error> strange(const std::string& member) {
  return failure(Code::invalid, "the decision's member '" + member + "' is missing or no sense");
}

}  // namespace

json::Value decision_record(const Policy& policy, const Facts& facts, const Decision& decision) {
  TreeWriter of_policy;
  add_policy(of_policy, policy);
  TreeWriter of_facts;
  add_facts(of_facts, facts);
  return json::Object{{"policy", of_policy.take()},
                      {"facts", of_facts.take()},
                      {"next", to_string(decision.next)},
                      {"reason", to_string(decision.reason)},
                      {"outcome", to_string(decision.outcome)},
                      {"delay_ns", text_of(decision.delay)}};
}

void append_decision(std::string& out, const Policy& policy, const Facts& facts,
                     const Decision& decision) {
  out.append("{\"delay_ns\":\"").append(text_of(decision.delay)).append("\",\"facts\":");
  TextWriter of_facts(out);
  add_facts(of_facts, facts);
  of_facts.close();
  out.append(",\"next\":\"").append(to_string(decision.next));
  out.append("\",\"outcome\":\"").append(to_string(decision.outcome)).append("\",\"policy\":");
  TextWriter of_policy(out);
  add_policy(of_policy, policy);
  of_policy.close();
  out.append(",\"reason\":\"").append(to_string(decision.reason)).append("\"}");
}

Result<RecordedDecision> read_decision(const json::Value& record) {
  MemberReader whole(record);
  Reader policy(whole.object("policy"));
  Reader facts(whole.object("facts"));
  RecordedDecision read{.policy = read_policy(policy), .facts = read_facts(facts), .decision = {}};
  read.decision.next = whole.one_of("next", next_of);
  read.decision.reason = whole.one_of("reason", reason_of);
  read.decision.outcome = whole.one_of("outcome", outcome_named);
  read.decision.delay = whole.time("delay_ns");
  for (const std::string& wrong : {whole.wrong(), policy.wrong(), facts.wrong()}) {
    if (!wrong.empty()) return strange(wrong);
  }
  if (auto good = check(read.policy); !good) return std::unexpected(std::move(good).error());
  return read;
}

}  // namespace pawl::retry
