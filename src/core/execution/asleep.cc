#include "core/execution/asleep.h"

#include <utility>

#include "base/json.h"
#include "base/member_reader.h"
#include "base/sha256.h"

namespace pawl::execution {
namespace {

constexpr std::string_view whole_name = "the sleeping operation";

void add_text(json::Object& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.emplace(name, text);
}

std::string text_in(MemberReader& from, std::string_view name) {
  return from.has(name) ? std::string(from.word(name)) : std::string();
}

std::map<std::string, std::string> texts_in(MemberReader& from, std::string_view name) {
  std::map<std::string, std::string> texts;
  if (!from.has(name)) return texts;
  const json::Object* members = from.object(name).if_object();
  if (members == nullptr) return texts;
  for (const auto& [each, value] : *members) {
    const std::string* text = value.if_string();
    if (text == nullptr) {
      from.fail(name);
    } else {
      texts.emplace(each, *text);
    }
  }
  return texts;
}

std::unexpected<Error> strange(const std::string& why) {
  return failure(Code::invalid, std::string(whole_name) + " cannot go on: " + why);
}

}  // namespace

std::string to_text(const Asleep& asleep) {
  json::Object operation;
  add_text(operation, "key", asleep.key);
  add_text(operation, "fingerprint", asleep.fingerprint);
  add_text(operation, "tenant_id", asleep.correlation.tenant_id);
  add_text(operation, "correlation_id", asleep.correlation.correlation_id);
  add_text(operation, "trace_id", asleep.correlation.trace_id);
  if (!asleep.context.empty()) {
    json::Object context;
    for (const auto& [name, text] : asleep.context) context.emplace(name, text);
    operation.emplace("context", std::move(context));
  }
  const retry::RecordedDecision& of = asleep.decided;
  json::Object sleep{{"decision", retry::decision_record(of.policy, of.facts, of.decision)},
                     {"fence", std::to_string(asleep.fence)},
                     {"since_ns", std::to_string(asleep.since.ns())}};
  json::Object whole{{"operation", std::move(operation)}, {"sleep", std::move(sleep)}};
  const auto input = json::parse(asleep.input);
  whole.emplace("input", input ? *input : json::Value(asleep.input));
  return json::print(whole);
}

Result<Asleep> read_asleep(std::string_view text) {
  const auto whole = json::parse(text);
  if (!whole) return strange("its task's input is no JSON: " + whole.error().message);
  const json::Value* input = whole->find("input");
  const json::Value* decision = nullptr;
  if (const json::Value* sleep = whole->find("sleep")) decision = sleep->find("decision");
  if (input == nullptr || decision == nullptr) {
    return strange("its task's input has no input, or no sleep: the executor writes both");
  }
  MemberReader members(*whole);
  MemberReader operation(members.object("operation"));
  MemberReader sleep(members.object("sleep"));
  auto decided = retry::read_decision(*decision);
  if (!decided) return strange(decided.error().message);
  Asleep asleep{.input = json::print(*input),
                .key = text_in(operation, "key"),
                .fingerprint = text_in(operation, "fingerprint"),
                .context = texts_in(operation, "context"),
                .decided = *std::move(decided)};
  asleep.correlation.tenant_id = text_in(operation, "tenant_id");
  asleep.correlation.correlation_id = text_in(operation, "correlation_id");
  asleep.correlation.trace_id = text_in(operation, "trace_id");
  asleep.fence = sleep.id("fence");
  asleep.since = Instant() + sleep.time("since_ns");
  for (const std::string& wrong : {members.wrong(), operation.wrong(), sleep.wrong()}) {
    if (!wrong.empty()) return strange("its '" + wrong + "' is missing or makes no sense");
  }
  return asleep;
}

std::string intent_name(std::string_view operation, std::string_view tenant, std::string_view key) {
  const json::Array parts{json::Value(operation), json::Value(tenant), json::Value(key)};
  return to_hex(sha256(json::print(parts))).substr(0, 32);
}

}  // namespace pawl::execution
