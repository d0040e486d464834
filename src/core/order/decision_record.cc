#include "core/order/decision_record.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/member_reader.h"

namespace pawl::order {
namespace {

constexpr std::int64_t count_max = std::numeric_limits<int>::max();

// Both ways by one list of members, so that what is written is what is read.
class Writer {
 public:
  void member(std::string_view name, const int& value) { add(name, value); }
  void member(std::string_view name, const std::int64_t& value) { add(name, value); }
  void member(std::string_view name, const bool& value) { add(name, value); }
  void member(std::string_view name, const std::size_t& value) {
    add(name, static_cast<std::int64_t>(value));
  }
  void member(std::string_view name, const Duration& value) {
    add(name, std::to_string(value.ns()));
  }
  void key(std::string_view name, const std::uint64_t& value) { add(name, std::to_string(value)); }
  template <class Named, class Parse>
  void word(std::string_view name, const Named& value, const Parse&) {
    add(name, to_string(value));
  }
  json::Object take() { return std::move(members_); }

 private:
  void add(std::string_view name, json::Value value) {
    members_.emplace(std::string(name), std::move(value));
  }

  json::Object members_;
};

class Reader {
 public:
  explicit Reader(const json::Value& object) : from_(object) {}

  void member(std::string_view name, int& value) {
    value = static_cast<int>(from_.number(counted(name), count_max));
  }
  void member(std::string_view name, std::int64_t& value) {
    value = from_.number(counted(name), count_max);
  }
  void member(std::string_view name, bool& value) { value = from_.truth(counted(name)); }
  void member(std::string_view name, std::size_t& value) {
    value = static_cast<std::size_t>(from_.number(counted(name), count_max));
  }
  void member(std::string_view name, Duration& value) { value = from_.time(counted(name)); }
  void key(std::string_view name, std::uint64_t& value) { value = from_.id(counted(name)); }
  template <class Named, class Parse>
  void word(std::string_view name, Named& value, const Parse& parse) {
    value = from_.one_of(counted(name), parse);
  }
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

template <class Visitor, class Kind>
void each_member_of_settings(Visitor& to, Kind& settings) {
  to.member("max_attempts", settings.retry.max_attempts);
  to.member("base_delay_ns", settings.retry.base_delay);
  to.member("max_delay_ns", settings.retry.max_delay);
  to.member("min_delay_ns", settings.retry.min_delay);
  to.member("multiplier_milli", settings.retry.multiplier_milli);
  to.word("jitter", settings.retry.jitter, retry::jitter_of);
  to.member("jitter_milli", settings.retry.jitter_milli);
  to.member("attempt_timeout_ns", settings.retry.attempt_timeout);
  to.member("settle_ns", settings.settle);
  to.member("patience_ns", settings.patience);
}

template <class Visitor, class Kind>
void each_member_of_ended(Visitor& to, Kind& ended) {
  to.member("attempt", ended.attempt);
  to.word("sent", ended.sent, sent_of);
  to.member("turned_away", ended.turned_away);
  to.member("has_order_id", ended.has_order_id);
  to.member("not_completed", ended.not_completed);
  to.member("retry_after_ns", ended.retry_after);
  to.member("withdrawn", ended.withdrawn);
  to.member("repeatable", ended.repeatable);
  to.member("unknown_before", ended.unknown_before);
  to.key("key", ended.key);
}

template <class Visitor, class Kind>
void each_member_of_read(Visitor& to, Kind& read) {
  to.member("attempt", read.attempt);
  to.member("readings", read.readings);
  to.member("orders", read.orders);
  to.member("strangers", read.strangers);
  to.member("probable", read.probable);
  to.member("venue_refused", read.venue_refused);
  to.member("whole", read.whole);
  to.member("readable", read.readable);
  to.member("expired", read.expired);
  to.member("quiet_ns", read.quiet);
  to.member("absent_before", read.absent_before);
  to.member("since_absent_ns", read.since_absent);
  to.member("elapsed_ns", read.elapsed);
  to.member("sealed", read.sealed);
  to.member("withdrawn", read.withdrawn);
}

json::Object written(const Ended& ended) {
  Writer to;
  each_member_of_ended(to, ended);
  return to.take();
}
json::Object written(const Read& read) {
  Writer to;
  each_member_of_read(to, read);
  return to.take();
}

DecisionFacts facts_of(Reader& from, bool is_of_attempt) {
  if (is_of_attempt) {
    Ended ended;
    each_member_of_ended(from, ended);
    if (ended.attempt < 1) from.fail("attempt");
    return ended;
  }
  Read read;
  each_member_of_read(from, read);
  return read;
}

}  // namespace

json::Value decision_record(const Settings& settings, const DecisionFacts& facts,
                            const Decision& decision) {
  Writer of_settings;
  each_member_of_settings(of_settings, settings);
  return json::Object{{"settings", of_settings.take()},
                      {"facts", std::visit([](const auto& each) { return written(each); }, facts)},
                      {"next", to_string(decision.next)},
                      {"reason", to_string(decision.reason)},
                      {"delay_ns", std::to_string(decision.delay.ns())}};
}

bool is_order_decision(const json::Value& record) {
  return record.find("settings") != nullptr;
}

Result<RecordedDecision> read_decision(const json::Value& record) {
  MemberReader whole(record);
  Reader of_settings(whole.object("settings"));
  const json::Value& facts = whole.object("facts");
  Reader of_facts(facts);
  RecordedDecision read;
  each_member_of_settings(of_settings, read.settings);
  read.facts = facts_of(of_facts, facts.find("sent") != nullptr);
  read.decision.next = whole.one_of("next", next_of);
  read.decision.reason = whole.one_of("reason", reason_of);
  read.decision.delay = whole.time("delay_ns");
  for (const std::string& wrong : {whole.wrong(), of_settings.wrong(), of_facts.wrong()}) {
    if (wrong.empty()) continue;
    return failure(Code::invalid, "the decision's member '" + wrong + "' is missing or no sense");
  }
  PAWL_TRY(check(read.settings));
  return read;
}

Decision decide(const Settings& settings, const DecisionFacts& facts) {
  return std::visit([&](const auto& each) { return decide(settings, each); }, facts);
}

}  // namespace pawl::order
