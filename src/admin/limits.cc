#include "admin/limits.h"

#include <memory>

#include "base/bounds.h"
#include "core/limit/api.h"
#include "core/request/limit_record.h"

namespace pawl::admin {
namespace {

using Kind = Settlement::Kind;

std::vector<schema::Member> ask_members(std::int64_t cost_least) {
  return {{"tenant", schema::text(1, bounds::tenant_bytes_max)},
          {"bucket", schema::text(1, bounds::config_name_bytes_max)},
          {"cost", schema::whole(cost_least, bounds::limit_count_max), false}};
}

schema::Member hold_member() {
  return {"hold_ms", schema::whole(1, bounds::limit_hold_max.milliseconds_up())};
}

schema::Member token_member() {
  return {"reservation", schema::text(1, limit::reservation_token_bytes_max)};
}

std::vector<schema::Member> decision_members() {
  return {{"allowed", schema::truth()},   {"retry_after_ms", schema::or_null(schema::count())},
          {"policy", schema::text()},     {"limit", schema::count()},
          {"remaining", schema::count()}, {"reset_seconds", schema::count()},
          {"why", schema::text()}};
}

template <class T>
std::vector<T> with(std::vector<T> list, std::initializer_list<T> more) {
  list.insert(list.end(), more);
  return list;
}

server::Response raw_json(std::string text) {
  return {.status = 200,
          .content_type = "application/json",
          .body = std::move(text) + "\n",
          .extra_fields = {}};
}

// One ask from its counts to its record. The counts live until the store has answered.
struct Ask {
  OwnedCounts counts;
  std::string operation;
  std::string tenant;
  std::int64_t cost = 1;
};

Result<void> record_decision(Context& context, const Call& call, const Ask& ask,
                             limit::Answer& answer) {
  // A store that had no use for the world's clock has not read it.
  if (answer.now.wall == Instant()) answer.now.wall = context.clock.wall_now();
  return record_change(context, call,
                       {.type = audit::EventType::limit,
                        .timestamp = context.clock.wall_now(),
                        .operation = ask.operation,
                        .correlation = {.tenant_id = ask.tenant},
                        .details = request::limit_record(ask.counts.counts, answer, ask.cost)});
}

void check(Context& context, Call call) {
  const auto request = limit::parse_check_request(call.request().body);
  if (!request) return std::move(call).fail(request.error());
  auto counts = context.tenants.counts(request->tenant, request->bucket);
  if (!counts) return std::move(call).fail(counts.error());
  auto ask = std::make_shared<Ask>(Ask{.counts = *std::move(counts),
                                       .operation = "POST /v1/check",
                                       .tenant = request->tenant,
                                       .cost = request->charge()});
  const auto tell = [&context, ask, request = *request](Call asked, limit::Answer answer) {
    const limit::Counts asked_for = ask->counts.counts;
    if (ask->cost > 0) {
      if (const auto recorded = record_decision(context, asked, *ask, answer); !recorded) {
        for (std::size_t i = 0; i < asked_for.size(); ++i) {
          if (!limit::is_charged(limit::charged_mask(answer), i)) continue;
          context.counters.refund(asked_for[i], ask->cost, [ask](const Result<void>&) {});
        }
        return std::move(asked).fail(recorded.error());
      }
      context.tenants.saw(ask->tenant, ask->counts, answer);
    }
    std::move(asked).answer(
        raw_json(limit::to_json(limit::check_answer(request, asked_for, answer))));
  };
  context.counters.check(ask->counts.counts, ask->cost,
                         back<limit::Answer>(context, std::move(call), tell));
}

void reserve(Context& context, Call call) {
  const auto request = limit::parse_reserve_request(call.request().body);
  if (!request) return std::move(call).fail(request.error());
  auto counts = context.tenants.counts(request->tenant, request->bucket);
  if (!counts) return std::move(call).fail(counts.error());
  auto ask = std::make_shared<Ask>(Ask{.counts = *std::move(counts),
                                       .operation = "POST /v1/reserve",
                                       .tenant = request->tenant,
                                       .cost = request->cost});
  const auto tell = [&context, ask, request = *request](Call asked, Reservation made) {
    const limit::Counts asked_for = ask->counts.counts;
    if (const auto recorded = record_decision(context, asked, *ask, made.answer); !recorded) {
      if (made.id != 0) {
        context.counters.settle(asked_for, made.id, {.kind = Kind::cancel},
                                [ask](const Result<void>&) {});
      }
      return std::move(asked).fail(recorded.error());
    }
    context.tenants.saw(ask->tenant, ask->counts, made.answer);
    std::move(asked).answer(
        raw_json(limit::to_json(limit::reserve_answer(request, asked_for, made.answer, made.id))));
  };
  context.counters.reserve(ask->counts.counts, ask->cost, request->hold,
                           back<Reservation>(context, std::move(call), tell));
}

void settle(Context& context, Call call, const limit::ReservationToken& token, Settlement how) {
  auto counts = context.tenants.counts(token.tenant, token.bucket);
  if (!counts) return std::move(call).fail(counts.error());
  const auto kept = std::make_shared<OwnedCounts>(*std::move(counts));
  context.counters.settle(kept->counts, token.id, how,
                          back<void>(context, std::move(call), [kept](Call asked) {
                            std::move(asked).answer(json::Object{{"settled", true}});
                          }));
}

void commit(Context& context, Call call) {
  const auto request = limit::parse_commit_request(call.request().body);
  if (!request) return std::move(call).fail(request.error());
  settle(context, std::move(call), request->reservation,
         {.kind = Kind::commit, .actual = request->actual});
}

void cancel(Context& context, Call call) {
  const auto request = limit::parse_cancel_request(call.request().body);
  if (!request) return std::move(call).fail(request.error());
  settle(context, std::move(call), request->reservation, {.kind = Kind::cancel});
}

void renew(Context& context, Call call) {
  const auto request = limit::parse_renew_request(call.request().body);
  if (!request) return std::move(call).fail(request.error());
  settle(context, std::move(call), request->reservation,
         {.kind = Kind::renew, .hold = request->hold});
}

// Those three have nothing to answer but that they were done.
Route settling(Route route) {
  route.method = "POST";
  route.answers = {{200, "It is done.", schema::object({{"settled", schema::truth()}})}};
  route.problems = {404, 503};
  return route;
}

}  // namespace

Routes limit_routes(Context& context) {
  return {
      {.method = "POST",
       .path = "/v1/check",
       .id = "check",
       .summary = "Asks for a decision: may a tenant do this now? Charged when it is allowed.",
       .body = schema::object(with(ask_members(0), {{"peek", schema::truth(), false}})),
       .answers = {{200, "The decision; refused ones have allowed: false.",
                    schema::object(decision_members())}},
       .problems = {404, 503},
       .handle = [&context](Call call) { check(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/reserve",
       .id = "reserve",
       .summary = "As check, and what was charged can be committed, cancelled or renewed.",
       .body = schema::object(with(ask_members(1), {hold_member()})),
       .answers = {{200, "The decision; reservation is null when it was refused.",
                    schema::object(with(decision_members(),
                                        {{"reservation", schema::or_null(schema::text())},
                                         {"expires_in_ms", schema::or_null(schema::count())}}))}},
       .problems = {404, 503},
       .handle = [&context](Call call) { reserve(context, std::move(call)); }},
      settling({.path = "/v1/commit",
                .id = "commit",
                .summary = "Says what of a reservation was used.",
                .body = schema::object(
                    {token_member(), {"actual", schema::whole(0, bounds::limit_count_max)}}),
                .handle = [&context](Call call) { commit(context, std::move(call)); }}),
      settling({.path = "/v1/cancel",
                .id = "cancel",
                .summary = "Gives a reservation back.",
                .body = schema::object({token_member()}),
                .handle = [&context](Call call) { cancel(context, std::move(call)); }}),
      settling({.path = "/v1/renew",
                .id = "renew",
                .summary = "Holds a reservation for longer.",
                .body = schema::object({token_member(), hold_member()}),
                .handle = [&context](Call call) { renew(context, std::move(call)); }}),
  };
}

}  // namespace pawl::admin
