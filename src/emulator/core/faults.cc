#include "emulator/core/faults.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bounds.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/similar.h"
#include "base/text.h"
#include "emulator/core/gzip.h"

namespace pawl::emulator {
namespace {

constexpr std::uint64_t million = 1'000'000;

constexpr std::pair<FaultKind, std::string_view> names[] = {
    {FaultKind::drop_before_accept, "drop_before_accept"},
    {FaultKind::drop_after_accept, "drop_after_accept"},
    {FaultKind::delay_before_accept, "delay_before_accept"},
    {FaultKind::delay_after_accept, "delay_after_accept"},
    {FaultKind::half_answer, "half_answer"},
    {FaultKind::wrong_length, "wrong_length"},
    {FaultKind::duplicate_answer, "duplicate_answer"},
    {FaultKind::html_502_before_accept, "html_502_before_accept"},
    {FaultKind::html_502_after_accept, "html_502_after_accept"},
    {FaultKind::html_503_before_accept, "html_503_before_accept"},
    {FaultKind::html_503_after_accept, "html_503_after_accept"},
    {FaultKind::empty_401, "empty_401"},
    {FaultKind::gzip, "gzip"},
    {FaultKind::restart, "restart"},
    {FaultKind::rate_limited, "rate_limited"},
    {FaultKind::headers_missing, "headers_missing"},
    {FaultKind::reset_zero, "reset_zero"},
    {FaultKind::lag, "lag"},
    {FaultKind::error_before, "error_before"},
    {FaultKind::error_after, "error_after"},
    {FaultKind::trade_not_completed, "trade_not_completed"},
    {FaultKind::error_in_200, "error_in_200"},
    {FaultKind::order_id_in_400, "order_id_in_400"},
    {FaultKind::reference_missing, "reference_missing"},
    {FaultKind::condition_ignored, "condition_ignored"},
    {FaultKind::wrong_tag, "wrong_tag"},
    {FaultKind::s_code_in_0, "s_code_in_0"},
    {FaultKind::push_before_reply, "push_before_reply"},
    {FaultKind::push_silence, "push_silence"},
    {FaultKind::push_close, "push_close"},
};

std::unexpected<Error> wrong(std::string_view where, std::string_view what) {
  return failure(Code::invalid, "the fault script: " + std::string(where) + " " +
                                    std::string(what) + ": see docs/emulators.md");
}

Result<FaultKind> kind_of(std::string_view name, std::string_view where) {
  std::vector<std::string_view> known;
  for (const auto& [kind, text] : names) {
    if (text == name) return kind;
    known.push_back(text);
  }
  std::string message = "names the fault '" + std::string(name) + "', which nobody knows";
  const std::string_view meant = nearest(name, known);
  if (!meant.empty()) message += "; did you mean '" + std::string(meant) + "'?";
  return wrong(where, message);
}

Result<Duration> read_duration(const json::Value& value, std::string_view where) {
  const std::string* text = value.if_string();
  if (text == nullptr) return wrong(where, "must be a duration, as \"3s\"");
  Result<Duration> read = parse_duration(*text);
  if (!read) return wrong(where, "must be a duration, as \"3s\": " + read.error().message);
  return read;
}

Result<std::uint64_t> read_count(const json::Value& value, std::string_view where) {
  std::uint64_t count = 0;
  const json::Number* number = value.if_number();
  if (number == nullptr) return wrong(where, "must be a whole number from 0");
  const char* end = number->text.data() + number->text.size();
  const auto read = std::from_chars(number->text.data(), end, count);
  if (read.ec != std::errc() || read.ptr != end) {
    return wrong(where, "must be a whole number from 0");
  }
  return count;
}

Result<std::string> read_word(const json::Value& value, std::string_view where) {
  if (const std::string* text = value.if_string()) return *text;
  return wrong(where, "must be a text");
}

// What a fault may be told besides its kind. False: the member is none of these.
Result<bool> read_parameter(Fault& fault, const std::string& name, const json::Value& value) {
  if (name == "delay") {
    fault.delay = PAWL_TRY(read_duration(value, name));
  } else if (name == "lag") {
    fault.lag = PAWL_TRY(read_duration(value, name));
  } else if (name == "after") {
    fault.after = PAWL_TRY(read_duration(value, name));
  } else if (name == "reset") {
    fault.reset = PAWL_TRY(read_count(value, name));
  } else if (name == "code") {
    fault.code = PAWL_TRY(read_word(value, name));
  } else if (name == "status") {
    const std::uint64_t status = PAWL_TRY(read_count(value, name));
    if (status < 200 || status > 599) return wrong(name, "must be from 200 to 599");
    fault.status = static_cast<int>(status);
  } else if (name == "resolves") {
    fault.resolves = PAWL_TRY(read_word(value, name));
    const auto known = {"FinalFill", "Working", "Rejected"};
    if (std::ranges::find(known, fault.resolves) == known.end()) {
      return wrong(name, "must be FinalFill, Working or Rejected");
    }
  } else {
    return false;
  }
  return true;
}

Result<void> read_when(Faults::Row& row, const json::Value& when) {
  const json::Object* members = when.if_object();
  if (members == nullptr) return wrong("when", "must be an object");
  for (const auto& [name, value] : *members) {
    if (name == "call") {
      row.operation = PAWL_TRY(read_word(value, name));
    } else if (name == "reference") {
      row.reference = PAWL_TRY(read_word(value, name));
    } else if (name == "nth") {
      row.nth = PAWL_TRY(read_count(value, name));
      if (row.nth == 0) return wrong(name, "counts from 1");
    } else if (name == "times") {
      row.times = PAWL_TRY(read_count(value, name));
    } else {
      return wrong(name, "is no member of when: call, reference, nth, times are");
    }
  }
  return {};
}

Result<Faults::Row> read_row(const json::Value& value) {
  const json::Object* members = value.if_object();
  if (members == nullptr) return wrong("script", "must be a list of objects");
  Faults::Row row;
  bool has_kind = false;
  for (const auto& [name, member] : *members) {
    if (name == "do") {
      row.fault.kind = PAWL_TRY(kind_of(PAWL_TRY(read_word(member, name)), "do"));
      has_kind = true;
    } else if (name == "when") {
      PAWL_TRY(read_when(row, member));
    } else if (name == "times") {
      row.times = PAWL_TRY(read_count(member, name));
    } else if (!PAWL_TRY(read_parameter(row.fault, name, member))) {
      return wrong(name, "is no member of a row");
    }
  }
  if (!has_kind) return wrong("script", "has a row without \"do\"");
  return row;
}

Result<std::vector<std::string>> read_calls(const json::Value& value) {
  const json::Array* array = value.if_array();
  if (array == nullptr) return wrong("calls", "must be a list of texts");
  std::vector<std::string> calls;
  for (const json::Value& item : *array) {
    calls.push_back(PAWL_TRY(read_word(item, "calls")));
    if (calls.back() == "*") return std::vector<std::string>();
  }
  if (calls.empty()) return wrong("calls", "must not be empty; [\"*\"] is every call");
  return calls;
}

Result<std::uint64_t> read_rate(const json::Value& value) {
  constexpr std::string_view expected = "must be from 0 to 1, with at most six places";
  const json::Number* number = value.if_number();
  if (number == nullptr) return wrong("rate", expected);
  const Result<Decimal> rate = parse_decimal(number->text);
  if (!rate) return wrong("rate", expected);
  const Result<Decimal> scaled = multiply(*rate, PAWL_TRY(parse_decimal("1000000")));
  const Result<Decimal> whole =
      scaled ? scaled->round_down_to(PAWL_TRY(parse_decimal("1"))) : scaled;
  if (!whole || *whole != *scaled) return wrong("rate", expected);
  const std::string text = to_string(*whole);
  std::uint64_t millionths = million + 1;
  std::from_chars(text.data(), text.data() + text.size(), millionths);
  if (text.starts_with('-') || millionths > million) return wrong("rate", expected);
  return millionths;
}

Result<Faults::Rate> read_rate_row(const std::string& name, const json::Value& value,
                                   const std::vector<std::string>& calls) {
  Faults::Rate rate{.fault = {.kind = PAWL_TRY(kind_of(name, "rates"))}, .operations = calls};
  const json::Object* members = value.if_object();
  if (members == nullptr) {
    rate.millionths = PAWL_TRY(read_rate(value));
    return rate;
  }
  for (const auto& [member, inner] : *members) {
    if (member == "rate") {
      rate.millionths = PAWL_TRY(read_rate(inner));
    } else if (member == "calls") {
      rate.operations = PAWL_TRY(read_calls(inner));
    } else if (!PAWL_TRY(read_parameter(rate.fault, member, inner))) {
      return wrong(member, "is no member of a rate");
    }
  }
  return rate;
}

Result<void> read_rates(Faults& faults, const json::Value& rates, const json::Value* calls) {
  const json::Object* members = rates.if_object();
  if (members == nullptr) return wrong("rates", "must be an object of faults");
  std::vector<std::string> usual = {"place"};
  if (calls != nullptr) usual = PAWL_TRY(read_calls(*calls));
  for (const auto& [name, value] : *members) {
    faults.rates.push_back(PAWL_TRY(read_rate_row(name, value, usual)));
  }
  return {};
}

Result<void> read_script(Faults& faults, const json::Value& script) {
  const json::Array* rows = script.if_array();
  if (rows == nullptr) return wrong("script", "must be a list");
  if (rows->size() > bounds::emulator_faults_max) return wrong("script", "has too many rows");
  for (const json::Value& row : *rows) faults.rows.push_back(PAWL_TRY(read_row(row)));
  return {};
}

Reply page(int status, std::string_view title) {
  return {.status = status,
          .fields = {{.name = "Content-Type", .value = "text/html"}},
          .body = "<html><head><title>" + std::to_string(status) + " " + std::string(title) +
                  "</title></head>\r\n<body><center><h1>" + std::to_string(status) + " " +
                  std::string(title) + "</h1></center></body></html>\r\n"};
}

// The reply to a call that never gets to the venue.
std::optional<Reply> early_reply(const Fault& fault, bool was_held) {
  switch (fault.kind) {
    case FaultKind::drop_before_accept:
      return Reply{.status = 0, .wire = Wire::drop};
    case FaultKind::delay_before_accept:
      if (was_held) return std::nullopt;
      return Reply{.hold = fault.delay};
    case FaultKind::html_502_before_accept:
      return page(502, "Bad Gateway");
    case FaultKind::html_503_before_accept:
      return page(503, "Service Unavailable");
    case FaultKind::empty_401:
      return Reply{.status = 401};
    default:
      return std::nullopt;
  }
}

void replace(Reply& reply, Reply by) {
  reply.status = by.status;
  reply.fields = std::move(by.fields);
  reply.body = std::move(by.body);
}

// What happens to a reply after the venue gave it.
void spoil(const Fault& fault, Reply& reply) {
  switch (fault.kind) {
    case FaultKind::drop_after_accept:
      reply.wire = Wire::drop;
      break;
    case FaultKind::delay_after_accept:
      reply.delay = fault.delay;
      break;
    case FaultKind::half_answer:
      reply.wire = Wire::half;
      break;
    case FaultKind::wrong_length:
      reply.wire = Wire::wrong_length;
      break;
    case FaultKind::duplicate_answer:
      reply.wire = Wire::twice;
      break;
    case FaultKind::html_502_after_accept:
      replace(reply, page(502, "Bad Gateway"));
      break;
    case FaultKind::html_503_after_accept:
      replace(reply, page(503, "Service Unavailable"));
      break;
    case FaultKind::gzip:
      reply.body = gzipped(reply.body);
      reply.fields.push_back({.name = "Content-Encoding", .value = "gzip"});
      break;
    case FaultKind::restart:
      reply.wire = Wire::restart;
      break;
    default:
      break;
  }
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  const auto* row = std::ranges::find(names, kind, [](const auto& name) { return name.first; });
  return row->second;
}

std::optional<Fault> Faults::meet(const Sighting& call) {
  const std::uint64_t count = ++counts_[call.operation];
  const Row* first = nullptr;
  for (Row& row : rows) {
    if (!row.operation.empty() && row.operation != call.operation) continue;
    if (!row.reference.empty() && row.reference != call.reference) continue;
    ++row.seen;
    const bool is_due = row.seen >= row.nth && (row.times == 0 || row.seen < row.nth + row.times);
    if (is_due && first == nullptr) first = &row;
  }
  if (first != nullptr) return first->fault;
  if (rates.empty()) return std::nullopt;
  std::string drawn = call.operation + " ";
  append_number(drawn, count);
  std::uint64_t left = hash_of(drawn, seed).low % million;
  for (const Rate& rate : rates) {
    const bool fits = rate.operations.empty() ||
                      std::ranges::find(rate.operations, call.operation) != rate.operations.end();
    if (!fits) continue;
    if (left < rate.millionths) return rate.fault;
    left -= rate.millionths;
  }
  return std::nullopt;
}

void Faults::forget() {
  counts_.clear();
  for (Row& row : rows) row.seen = 0;
}

Result<Script> parse_script(std::string_view text) {
  const json::Value document = PAWL_TRY(json::parse(text));
  const json::Object* members = document.if_object();
  if (members == nullptr) return wrong("the file", "must hold one JSON object");
  Script script;
  for (const auto& [name, value] : *members) {
    if (name == "settings") {
      script.settings = value;
    } else if (name == "seed") {
      script.faults.seed = PAWL_TRY(read_count(value, name));
    } else if (name == "script") {
      PAWL_TRY(read_script(script.faults, value));
    } else if (name == "rates") {
      const json::Value* calls = document.find("calls");
      PAWL_TRY(read_rates(script.faults, value, calls));
    } else if (name != "calls") {
      return wrong(name, "is not known: settings, script, seed, rates, calls are");
    }
  }
  return script;
}

Result<void> check_kinds(const Faults& faults, std::span<const FaultKind> not_here,
                         std::string_view venue) {
  const auto check = [&](const Fault& fault) -> Result<void> {
    if (std::ranges::find(not_here, fault.kind) == not_here.end()) return {};
    return wrong("the fault '" + std::string(to_string(fault.kind)) + "'",
                 "is none that the emulated " + std::string(venue) + " has");
  };
  for (const Faults::Row& row : faults.rows) PAWL_TRY(check(row.fault));
  for (const Faults::Rate& rate : faults.rates) PAWL_TRY(check(rate.fault));
  return {};
}

Reply with_faults(Faults& faults, const Call& call, const Sighting& sighting,
                  const Process& process) {
  // A call that was held has met its fault.
  const std::optional<Fault> fault = call.held ? std::nullopt : faults.meet(sighting);
  Reply reply;
  if (!fault) {
    reply = process(nullptr);
  } else if (std::optional<Reply> early = early_reply(*fault, call.held)) {
    reply = *std::move(early);
  } else {
    reply = process(&*fault);
    spoil(*fault, reply);
  }
  if (fault) reply.fault = to_string(fault->kind);
  if (call.held) reply.fault = to_string(FaultKind::delay_before_accept);
  if (reply.operation.empty()) reply.operation = sighting.operation;
  if (reply.reference.empty()) reply.reference = sighting.reference;
  return reply;
}

}  // namespace pawl::emulator
