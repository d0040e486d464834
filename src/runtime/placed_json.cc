#include "runtime/placed_json.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pawl {
namespace {

json::Array json_of(const std::vector<order::Evidence>& evidence) {
  json::Array out;
  for (const order::Evidence& each : evidence) {
    out.push_back(
        json::Object{{"at", to_string(each.at)}, {"source", each.source}, {"says", each.says}});
  }
  return out;
}

// What an intent and a placement have in common.
json::Object members_of(const order::Intent& intent) {
  return {{"external_reference", intent.reference},
          {"venue", intent.order.venue},
          {"order_id", intent.progress.order_id},
          {"attempts", intent.progress.attempts},
          {"evidence", json_of(intent.progress.evidence)}};
}

void add_terms(json::Object& out, const order::Intent& intent) {
  out["created_at"] = to_string(intent.created);
  out["counts"] = intent.counts;
  out["order"] = to_json(intent.order);
}

}  // namespace

json::Object json_of(const order::Quota& quota) {
  return {{"used", quota.used},
          {"limit", quota.limit},
          {"week_start", order::week_text(quota.week_start)}};
}

json::Object whole_json_of(const order::Quota& quota) {
  json::Object out = json_of(quota);
  out["enabled"] = quota.enabled;
  out["remaining"] = quota.enabled
                         ? json::Value(std::max<std::int64_t>(0, quota.limit - quota.used))
                         : json::Value();
  out["next_week"] = to_string(quota.week_start + Duration::days(7));
  return out;
}

json::Object json_of(const Placed& placed) {
  json::Object out = members_of(placed.intent);
  if (placed.as == PlacedAs::denied) out["attempts"] = 0;
  out["status"] = to_string(placed.as);
  out["life"] = to_string(placed.intent.progress.life);
  out["message"] = placed.message;
  out["quota"] = json_of(placed.quota);
  return out;
}

json::Object whole_json_of(const Placed& placed) {
  json::Object out = json_of(placed);
  add_terms(out, placed.intent);
  return out;
}

json::Object json_of(const order::Intent& intent) {
  json::Object out = members_of(intent);
  out["status"] = to_string(intent.progress.status);
  out["life"] = to_string(intent.progress.life);
  out["reason"] = intent.progress.reason;
  out["request_id"] = intent.progress.request_id;
  add_terms(out, intent);
  return out;
}

json::Object json_of(const DryRun& run) {
  return {{"external_reference", run.reference},
          {"order", to_json(run.order)},
          {"would_send", run.would_send},
          {"counts", run.counts},
          {"message", run.message},
          {"quota", json_of(run.quota)}};
}

json::Object json_of(const Precheck& precheck) {
  json::Object details;
  for (const auto& [name, text] : precheck.details) details[name] = text;
  return {{"ok", precheck.ok},
          {"code", precheck.code},
          {"message", precheck.message},
          {"details", std::move(details)}};
}

json::Object json_of(const Changed& changed) {
  json::Object out = json_of(changed.intent);
  out["life"] = to_string(changed.life);
  out["answer"] = to_string(changed.answer.sent);
  out["code"] = changed.answer.code;
  out["message"] = changed.answer.message;
  return out;
}

Result<PlaceRequest> place_request_of_json(const json::Value& value) {
  const json::Object* members = value.if_object();
  if (members == nullptr) return failure(Code::invalid, "an order is a JSON object");
  constexpr std::string_view name = "external_reference";
  PlaceRequest request;
  if (const auto found = members->find(name); found != members->end()) {
    const std::string* reference = found->second.if_string();
    if (reference == nullptr) return failure(Code::invalid, "external_reference is a text");
    PAWL_TRY(order::check_reference(*reference));
    request.reference = *reference;
  }
  request.order = PAWL_TRY(order::order_of(value, name));
  return request;
}

json::Object json_of(const BackfillSummary& summary) {
  json::Array notes;
  for (const std::string& note : summary.notes) notes.emplace_back(note);
  return {{"orders", summary.orders}, {"inserted", summary.inserted}, {"notes", std::move(notes)}};
}

}  // namespace pawl
