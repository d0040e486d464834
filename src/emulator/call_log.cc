#include "emulator/call_log.h"

#include <utility>

#include "base/bounds.h"
#include "base/json.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view told_fields[] = {"x-request-id", "exptime",      "x-simulated-trading",
                                            "content-type", "user-agent",   "range",
                                            "if-match",     "if-none-match"};

std::string_view name_of(Wire wire) {
  switch (wire) {
    case Wire::whole:
      return "whole";
    case Wire::drop:
      return "drop";
    case Wire::half:
      return "half";
    case Wire::wrong_length:
      return "wrong_length";
    case Wire::twice:
      return "twice";
    case Wire::restart:
      return "restart";
  }
  return "whole";
}

}  // namespace

Result<void> CallLog::add(const Call& call, const Reply& reply, Instant now) {
  json::Object fields;
  for (const std::string_view name : told_fields) {
    const std::string_view value = field(call, name);
    if (!value.empty()) fields[std::string(name)] = value;
  }
  json::Object row;
  row["time"] = to_string(now);
  row["time_ms"] = now.ns() / 1'000'000;
  row["number"] = static_cast<std::int64_t>(call.number);
  row["method"] = call.method;
  row["path"] = call.path;
  row["query"] = call.query;
  row["fields"] = std::move(fields);
  if (reply.tells_body) {
    row["body"] = reply.operation == "token" ? std::string("***") : call.body;
  } else {
    row["body_bytes"] = static_cast<std::int64_t>(call.body.size());
  }
  row["request_id"] = field(call, "x-request-id");
  row["operation"] = reply.operation;
  row["reference"] = reply.reference;
  row["order_id"] = reply.order_id;
  row["status"] = reply.status;
  row["accepted"] = reply.accepted;
  row["fault"] = reply.fault;
  if (!reply.note.empty()) row["note"] = reply.note;
  row["wire"] = name_of(reply.wire);
  rows_.push_back(json::print(json::Value(std::move(row))));
  if (rows_.size() > bounds::emulator_log_rows_max) rows_.pop_front();
  if (!file_) return {};
  return file_->append({rows_.back()}, false);
}

std::string CallLog::all() const {
  std::string text = "{\"log\":[";
  for (const std::string& row : rows_) {
    if (text.back() == '}') text.push_back(',');
    text.append(row);
  }
  return text.append("]}\n");
}

}  // namespace pawl::emulator
