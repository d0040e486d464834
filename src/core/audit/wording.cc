#include "core/audit/wording.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/member_reader.h"
#include "base/pen.h"
#include "base/scan.h"
#include "base/scrub.h"
#include "core/limit/explain.h"
#include "core/retry/decision_record.h"

namespace pawl::audit {
namespace {

class Pen : public pawl::Pen {
 public:
  // `spare` is kept for its room.
  Pen(char* begin, std::size_t bytes, std::string& spare)
      : pawl::Pen(begin, bytes), spare_(spare) {}

  // In quotes, and what looks like a credential masked.
  void quoted(std::string_view words) {
    const bool is_plain = is_clearly_plain(words) ||
                          (!holds_secret(words) && find_byte(words, 0, Escaped()) == words.size());
    if (!is_plain) return escaped(words);
    put("\"");
    put(words);
    put("\"");
  }
  // `name` with its quotes and colon. One that would be empty is left out.
  void member(std::string_view name, std::string_view words) {
    if (words.empty()) return;
    put(name);
    quoted(words);
    put(",");
  }
  // Closes what was opened with it: the last comma is one too many.
  void close(char bracket) { end_with(bracket); }

 private:
  void escaped(std::string_view words) {
    spare_.clear();
    append_text(spare_, words);
    put(spare_);
  }

  std::string& spare_;
};

std::string_view word_of(bool truth) {
  return truth ? "true" : "false";
}

// Two numbers as texts.
void put_pair(Pen& pen, std::int64_t first, std::int64_t second) {
  pen.put("[\"");
  pen.number(first);
  pen.put("\",\"");
  pen.number(second);
  pen.put("\"],");
}

void put_timestamp(Pen& pen, std::string_view instant) {
  pen.put("\"timestamp\":\"");
  pen.put(instant);
  pen.put("\",");
}

void put_wait(Pen& pen, Duration wait) {
  pen.put("\"retry_after_ms\":");
  if (wait == Duration::max()) {
    pen.quoted(never_text);
  } else {
    pen.number(wait.milliseconds_up());
  }
  pen.put(",");
}

void put_key(Pen& pen, const limit::Key& key) {
  pen.put("\"key\":");
  if (key.is_id()) {
    pen.quoted(key.text().substr(1));
  } else {
    pen.quoted(key.name());
  }
  pen.put(",");
}

void put_policy(Pen& pen, const limit::Count& count, const limit::Verdict& verdict) {
  const limit::Policy& policy = *count.policy;
  pen.put("{\"algorithm\":\"");
  pen.put(limit::algorithm_of(policy.rule));
  pen.put("\",\"allowed\":");
  pen.put(word_of(verdict.allowed));
  pen.put(",");
  if (!limit::keeps_marks(policy.rule)) {
    pen.put("\"before\":");
    put_pair(pen, verdict.before.a, verdict.before.b);
  }
  put_key(pen, count.key);
  pen.put("\"limit\":");
  pen.number(verdict.limit);
  pen.put(",\"name\":");
  pen.quoted(policy.name);
  pen.put(",\"remaining\":");
  pen.number(verdict.remaining);
  pen.put(",");
  if (!verdict.allowed) put_wait(pen, verdict.retry_after);
  pen.put("\"rule\":");
  pen.quoted(policy.text);
  pen.put(",");
  if (policy.options.shadow) pen.put("\"shadow\":true,");
  pen.close('}');
  pen.put(",");
}

}  // namespace

std::string_view Wording::text_of(Instant instant) {
  constexpr std::int64_t ns_a_millisecond = 1'000'000;
  const std::int64_t millisecond = instant.ns() / ns_a_millisecond;
  if (millisecond != millisecond_ || instant.ns() < 0) {
    instant_ = to_string(instant);
    millisecond_ = instant.ns() < 0 ? -1 : millisecond;
  }
  return instant_;
}

// Members in the order of their names, as chain.h wants them; so below.
void Wording::word(const Success& success, Draft& to) {
  const Trail& trail = *success.trail;
  if (!trail.context.empty()) {
    Result<Draft> made = draft(to_event(success));
    PAWL_ASSERT(made.has_value());  // its trail was checked
    to = *std::move(made);
    return;
  }
  const Ids ids = trail.correlation;
  Pen pen(record_.data(), record_.size(), spare_);
  pen.put("{");
  pen.member("\"correlation_id\":", ids.correlation_id);
  pen.put("\"decision\":");
  words_.clear();
  retry::append_decision(words_, trail.policy, success.facts, success.decision);
  pen.put(words_);
  pen.put(",\"event_type\":\"retry_succeeded\",");
  pen.member("\"external_reference\":", ids.external_reference);
  to.hash_at = pen.written();
  pen.member("\"operation\":", trail.operation);
  to.prev_at = pen.written();
  pen.member("\"request_id\":", ids.request_id);
  pen.member("\"retry_category\":", trail.category);
  to.seq_at = pen.written();
  pen.member("\"tenant_id\":", ids.tenant_id);
  put_timestamp(pen, text_of(success.timestamp));
  pen.put("\"total_attempts\":");
  pen.number(success.facts.attempt);
  pen.put(",");
  pen.member("\"trace_id\":", ids.trace_id);
  pen.close('}');
  to.text = pen.text();
}

void Wording::word(const LimitDecided& decided, Draft& to) {
  const limit::Answer& answer = *decided.answer;
  const Ids& ids = decided.correlation;
  Pen pen(record_.data(), record_.size(), spare_);
  pen.put("{\"allowed\":");
  pen.put(word_of(answer.allowed));
  pen.put(",");
  pen.member("\"correlation_id\":", ids.correlation_id);
  pen.put("\"cost\":");
  pen.number(decided.cost);
  pen.put(",");
  if (!answer.as_decided) pen.put("\"derived\":true,");
  pen.put("\"event_type\":\"limit\",");
  pen.member("\"external_reference\":", ids.external_reference);
  to.hash_at = pen.written();
  pen.put("\"now_ns\":");
  put_pair(pen, answer.now.moment.ns(), answer.now.wall.ns());
  pen.member("\"operation\":", decided.operation);
  pen.put("\"policies\":[");
  for (std::size_t i = 0; i < decided.counts.size(); ++i) {
    put_policy(pen, decided.counts[i], answer.verdicts[i]);
  }
  pen.close(']');
  pen.put(",\"policy\":");
  pen.quoted(decided.counts[answer.binding].policy->name);
  pen.put(",");
  to.prev_at = pen.written();
  pen.member("\"request_id\":", ids.request_id);
  put_wait(pen, answer.retry_after);
  to.seq_at = pen.written();
  pen.member("\"tenant_id\":", ids.tenant_id);
  put_timestamp(pen, text_of(decided.timestamp));
  pen.member("\"trace_id\":", ids.trace_id);
  words_.clear();
  limit::append_explanation(words_, decided.counts, answer);
  pen.put("\"why\":");
  pen.quoted(words_);
  pen.put("}");
  to.text = pen.text();
}

void Wording::word(const RequestEnded& ended, Draft& to) {
  const Ids& ids = ended.correlation;
  Pen pen(record_.data(), record_.size(), spare_);
  pen.put("{");
  pen.member("\"correlation_id\":", ids.correlation_id);
  pen.put("\"event_type\":\"request\",");
  pen.member("\"external_reference\":", ids.external_reference);
  to.hash_at = pen.written();
  pen.member("\"operation\":", ended.operation);
  pen.put("\"outcome\":\"");
  pen.put(to_string(ended.outcome));
  pen.put("\",");
  to.prev_at = pen.written();
  pen.member("\"request_id\":", ids.request_id);
  to.seq_at = pen.written();
  pen.put("\"status\":");
  pen.number(ended.status);
  pen.put(",");
  pen.member("\"tenant_id\":", ids.tenant_id);
  put_timestamp(pen, text_of(ended.timestamp));
  pen.member("\"trace_id\":", ids.trace_id);
  pen.close('}');
  to.text = pen.text();
}

}  // namespace pawl::audit
