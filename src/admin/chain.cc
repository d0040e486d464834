#include "admin/chain.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/bounds_panel.h"

namespace pawl::admin {
namespace {

using json::Object;
using json::Value;

constexpr std::int64_t checks_max = std::int64_t{1} << 53;

// Each is a reading of its own, begun by one caller and gone on with call by call.
struct Checks {
  struct Begun {
    std::int64_t number;
    std::unique_ptr<AuditCheck> check;
  };

  AuditCheck* find(std::int64_t number) {
    const auto found = std::ranges::find(all, number, &Begun::number);
    return found == all.end() ? nullptr : found->check.get();
  }
  Result<std::int64_t> begin(AuditTrail& trail) {
    all.push_back({.number = last + 1, .check = PAWL_TRY(trail.check())});
    if (all.size() > bounds::audit_checks_max) all.pop_front();
    return ++last;
  }

  std::deque<Begun> all;
  std::int64_t last = 0;
};

Value broken_json(const AuditVerdict& verdict) {
  if (!verdict.flaw) return {};
  return Object{{"fault", to_string(verdict.flaw->fault)},
                {"file", verdict.flawed_file},
                {"line", verdict.flaw->line},
                {"reason", verdict.flaw->message}};
}

void tell(Context& context, Checks& checks, Call call) {
  if (context.trail == nullptr) {
    return std::move(call).refuse(
        http::ProblemCode::not_found,
        "No audit sink is a file, so there is nothing to read. Add file:PATH to audit.sinks.");
  }
  std::int64_t which = call.number("check", 0);
  if (which == 0) {
    const Result<std::int64_t> begun = checks.begin(*context.trail);
    if (!begun) return std::move(call).fail(begun.error());
    which = *begun;
  }
  AuditCheck* check = checks.find(which);
  if (check == nullptr) {
    return std::move(call).refuse(http::ProblemCode::not_found,
                                  "There is no such check any more: begin one, without check.");
  }
  const Result<bool> more = check->go_on(bounds::audit_chain_bytes_max);
  if (!more) return std::move(call).fail(more.error());
  const AuditVerdict& verdict = check->verdict();
  std::move(call).answer(Object{{"check", which},
                                {"records", verdict.verified},
                                {"anchor", verdict.anchor ? Value(verdict.anchor->seq) : Value()},
                                {"more", *more},
                                {"broken", broken_json(verdict)}});
}

}  // namespace

Routes chain_routes(Context& context) {
  const Schema broken =
      schema::object({{"fault", schema::word({"changed", "missing", "swapped", "repeated", "cut"})},
                      {"file", schema::text()},
                      {"line", schema::count()},
                      {"reason", schema::text()}});
  return {{.path = "/v1/audit/chain",
           .id = "verify_audit_chain",
           .summary = "Checks the audit log piece by piece; go on with check while more.",
           .parameters = {{"check", "That of the call before.", schema::whole(1, checks_max)}},
           .answers = {{200, "Whether the log is as it was written, as far as it was read.",
                        schema::object({{"check", schema::count()},
                                        {"records", schema::count()},
                                        {"anchor", schema::or_null(schema::count())},
                                        {"more", schema::truth()},
                                        {"broken", schema::or_null(broken)}})}},
           .problems = {404, 503},
           .handle = [&context, checks = std::make_shared<Checks>()](Call call) {
             tell(context, *checks, std::move(call));
           }}};
}

}  // namespace pawl::admin
