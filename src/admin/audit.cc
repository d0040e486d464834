#include "admin/audit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "admin/parameters.h"
#include "base/bounds.h"
#include "base/text.h"

namespace pawl::admin {
namespace {

using json::Object;
using json::Value;

constexpr std::int64_t seq_max = std::int64_t{1} << 53;

// Clocks of those who share a log differ, and what is on record was begun before.
constexpr Duration clock_slack = Duration::minutes(1);

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view text_in(const Value& record, std::string_view name) {
  const Value* member = record.find(name);
  if (member == nullptr || member->if_string() == nullptr) return {};
  return *member->if_string();
}

bool agrees(std::string_view wanted, const Value& record, std::string_view name) {
  return wanted.empty() || wanted == text_in(record, name);
}

constexpr std::array<std::string_view, 5> thread_names = {
    "correlation_id", "request_id", "external_reference", "trace_id", "task_id"};

bool is_called(std::string_view id, const Value& record) {
  return std::ranges::any_of(thread_names,
                             [&](std::string_view name) { return text_in(record, name) == id; });
}

// No id has blanks.
bool is_of(std::string_view thread, const Value& record) {
  if (thread.empty()) return true;
  while (!thread.empty()) {
    if (is_called(take_until(thread, ' '), record)) return true;
  }
  return false;
}

bool is_refused_by(std::string_view bucket, const Value& record) {
  if (bucket.empty()) return true;
  const Value* policies = record.find("policies");
  if (policies == nullptr || policies->if_array() == nullptr) return false;
  return std::ranges::any_of(*policies->if_array(), [&](const Value& policy) {
    const Value* allowed = policy.find("allowed");
    return text_in(policy, "name") == bucket && allowed != nullptr &&
           allowed->if_bool() != nullptr && !*allowed->if_bool();
  });
}

EventFilter filter_of(const Call& call) {
  return {.type = call.text("type"),
          .correlation_id = call.text("correlation_id"),
          .thread = call.text("thread"),
          .refused_by = call.text("refused_by")};
}

void refuse_without_log(Call call) {
  std::move(call).refuse(
      http::ProblemCode::not_found,
      "No audit sink is a file, so there is nothing to read. Add file:PATH to audit.sinks.");
}

// Where a reading back from the end has come to.
struct Back {
  std::uint64_t from = 0;  // the first record that was looked at
  Instant at = {};
  bool earlier = false;  // something stands before it
};

struct Page {
  std::vector<std::string_view> lines = {};
  std::uint64_t next = 0;
  bool more = false;
  std::optional<Back> back = {};
};

std::string to_json(const Page& page) {
  std::string out = "{\"events\":[";
  for (const std::string_view line : page.lines) {
    if (out.back() != '[') out.push_back(',');
    out.append(line);
  }
  out.append("],\"more\":").append(page.more ? "true" : "false").append(",\"next\":");
  append_number(out, page.next);
  if (page.back) {
    out.append(",\"earlier\":").append(page.back->earlier ? "true" : "false").append(",\"from\":");
    append_number(out, page.back->from);
    out.append(",\"from_at\":");
    out.append(page.back->from == 0 ? "null" : json::print(to_string(page.back->at)));
  }
  return out.append("}\n");
}

// Where the log ends now.
Result<std::uint64_t> end_of(AuditTrail& trail) {
  const AuditTrail::Piece piece =
      PAWL_TRY(trail.last(bounds::audit_event_bytes_max + bounds::audit_event_bytes_max));
  std::uint64_t seq = 0;
  for (std::string_view rest = piece.lines; !rest.empty();) next_event(rest, {}, seq);
  return seq;
}

// The last record before all those of `since` or later, found by halving.
Result<std::uint64_t> last_before(AuditTrail& trail, Instant since) {
  std::uint64_t low = 0;
  std::uint64_t high = PAWL_TRY(end_of(trail));
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const AuditTrail::Piece piece =
        PAWL_TRY(trail.after(middle, bounds::audit_event_bytes_max + 1));
    std::string_view lines = piece.lines;
    std::uint64_t seq = high;
    const std::optional<SeenEvent> event = next_event(lines, {}, seq);
    if (event && event->at >= since) {
      high = middle;
    } else {
      low = seq;
    }
  }
  return low;
}

// Behind which record to begin; nothing: what is asked for is the end, or what is before a record.
Result<std::optional<std::uint64_t>> place_of(const Call& call, AuditTrail& trail) {
  if (const std::int64_t after = call.number("after", -1); after >= 0) {
    return static_cast<std::uint64_t>(after);
  }
  if (call.text("since").empty()) return std::nullopt;
  return PAWL_TRY(last_before(trail, PAWL_TRY(parse_instant(call.text("since"))) - clock_slack));
}

Page page_behind(const AuditTrail::Piece& piece, const Call& call, std::uint64_t place) {
  const EventFilter filter = filter_of(call);
  const std::size_t limit = limit_of(call);
  Page page{.next = place};
  std::string_view rest = piece.lines;
  while (!rest.empty() && page.lines.size() < limit) {
    const auto event = next_event(rest, filter, page.next);
    if (event) page.lines.push_back(event->line);
  }
  page.more = !rest.empty() || !piece.at_end;
  return page;
}

// The newest of a piece. What it had no room for stands before it, as what was not read does.
Page page_before(const AuditTrail::Piece& piece, const Call& call) {
  const EventFilter filter = filter_of(call);
  const std::size_t limit = limit_of(call);
  Page page{.back = Back{.earlier = !piece.at_end}};
  for (std::string_view rest = piece.lines; !rest.empty();) {
    const auto event = next_event(rest, filter, page.next);
    if (event) page.lines.push_back(event->line);
  }
  std::string_view first = piece.lines;
  if (page.lines.size() > limit) {
    page.lines.erase(page.lines.begin(), page.lines.end() - static_cast<std::ptrdiff_t>(limit));
    first = page.lines.front();
    page.back->earlier = true;
  }
  for (bool found = false; !first.empty() && !found;) {
    const auto event = next_event(first, {}, page.back->from);
    found = event.has_value();
    if (found) page.back->at = event->at;
  }
  return page;
}

void list(Context& context, Call call) {
  if (context.trail == nullptr) return refuse_without_log(std::move(call));
  const auto place = place_of(call, *context.trail);
  if (!place) return std::move(call).fail(place.error());
  const auto before = static_cast<std::uint64_t>(call.number("before", seq_max));
  const auto piece = *place ? context.trail->after(**place, bounds::admin_scan_bytes_max)
                            : context.trail->before(before, bounds::admin_scan_bytes_max);
  if (!piece) return std::move(call).fail(piece.error());
  const Page page = *place ? page_behind(*piece, call, **place) : page_before(*piece, call);
  std::move(call).answer(server::Response{.status = 200,
                                          .content_type = "application/json",
                                          .body = to_json(page),
                                          .extra_fields = {}});
}

std::string to_text(const SeenEvent& event) {
  std::string out = "id: ";
  append_number(out, event.seq);
  return out.append("\nevent: ")
      .append(event.type)
      .append("\ndata: ")
      .append(event.line)
      .append("\n\n");
}

// A browser that comes back says what it has seen; others may name a place.
Result<std::uint64_t> start_of(const Call& call, AuditTrail& trail) {
  const std::string_view seen = call.request().header("Last-Event-ID");
  if (!seen.empty()) {
    const auto seq = number_of(seen);
    if (!seq) return failure(Code::invalid, "Last-Event-ID is no number of an event");
    return *seq;
  }
  const std::int64_t after = call.number("after", -1);
  if (after >= 0) return static_cast<std::uint64_t>(after);
  return end_of(trail);
}

std::vector<Parameter> parameters() {
  return {
      {"after", "What stands behind the event of this number.", schema::whole(0, seq_max)},
      {"type", "Of this event_type alone.", schema::text(1, 64)},
      {"correlation_id", "Of this correlation_id alone.",
       schema::text(1, bounds::request_id_bytes_max)},
      {"thread",
       "Of one operation alone: its correlation_id, request_id, external_reference, trace_id or "
       "task_id; or several of these, with blanks between.",
       schema::text(1, 16 * bounds::request_id_bytes_max)},
      {"refused_by",
       "Decisions alone in which this bucket refused, or would have were it not in shadow.",
       schema::text(1, bounds::config_name_bytes_max)}};
}

}  // namespace

std::optional<SeenEvent> next_event(std::string_view& lines, const EventFilter& filter,
                                    std::uint64_t& last_seq) {
  const std::string_view line = take_until(lines, '\n');
  const Result<Value> record = json::parse(line);
  if (!record) return std::nullopt;
  const Value* number = record->find("seq");
  const auto seq = number == nullptr || number->if_number() == nullptr
                       ? std::nullopt
                       : number_of(number->if_number()->text);
  if (!seq) return std::nullopt;
  last_seq = *seq;
  if (!agrees(filter.type, *record, "event_type") ||
      !agrees(filter.correlation_id, *record, "correlation_id") || !is_of(filter.thread, *record) ||
      !is_refused_by(filter.refused_by, *record)) {
    return std::nullopt;
  }
  return SeenEvent{.seq = *seq,
                   .type = std::string(text_in(*record, "event_type")),
                   .at = parse_instant(text_in(*record, "timestamp")).value_or(Instant()),
                   .line = line};
}

void Listeners::add(Call call) {
  if (context_.trail == nullptr) return refuse_without_log(std::move(call));
  std::erase_if(listeners_, [](const Listener& each) { return !each.stream.is_open(); });
  if (listeners_.size() >= bounds::admin_listeners_max) {
    return std::move(call).answer(problem(http::ProblemCode::overloaded,
                                          "Too many listen already. Close one, or read /v1/audit.",
                                          "Retry-After: 5\r\n"));
  }
  const Result<std::uint64_t> start = start_of(call, *context_.trail);
  if (!start) return std::move(call).fail(start.error());
  EventFilter filter = filter_of(call);
  server::Request request = call.request();
  listeners_.push_back({.request = std::move(request),
                        .stream = std::move(call).stream({.status = 200,
                                                          .content_type = "text/event-stream",
                                                          .body = "retry: 2000\n\n",
                                                          .extra_fields = {}}),
                        .filter = std::move(filter),
                        .seq = *start,
                        .sent_at = context_.clock.steady_now()});
}

void Listeners::tick() {
  const SteadyInstant now = context_.clock.steady_now();
  std::erase_if(listeners_, [&](Listener& each) { return !serve(each, now); });
}

// False: it is gone, or may not listen any more, or the log cannot be read.
bool Listeners::serve(Listener& listener, SteadyInstant now) {
  if (!listener.stream.is_open()) return false;
  if (!gate_.is_still_in(context_.gate, listener.request, now)) return false;
  const auto piece = context_.trail->after(listener.seq, bounds::admin_event_piece_bytes_max);
  if (!piece) return false;
  std::string out;
  for (std::string_view rest = piece->lines; !rest.empty();) {
    const auto event = next_event(rest, listener.filter, listener.seq);
    if (event) out.append(to_text(*event));
  }
  if (out.empty() && now - listener.sent_at >= bounds::admin_heartbeat) out = ": still here\n\n";
  if (out.empty()) return true;
  listener.sent_at = now;
  return listener.stream.push(out);
}

Routes audit_routes(Context& context, Listeners& listeners) {
  std::vector<Parameter> with_limit = parameters();
  with_limit.push_back({"since",
                        "In place of after: about from this instant on, with a minute before it.",
                        schema::instant()});
  with_limit.push_back(
      {"before", "Without after and since: the newest that stand before the event of this number.",
       schema::whole(1, seq_max)});
  with_limit.push_back(limit_in_query());
  return {
      {.path = "/v1/audit",
       .id = "list_audit_events",
       .summary = "Audit events by number, oldest first; without after and since the newest.",
       .parameters = std::move(with_limit),
       .answers = {{200,
                    "Events; go on after next while more, or before from while earlier is true.",
                    schema::object({{"events", schema::list_of(schema::map_of(schema::anything()))},
                                    {"more", schema::truth()},
                                    {"next", schema::count()},
                                    {"from", schema::count(), false},
                                    {"from_at", schema::or_null(schema::instant()), false},
                                    {"earlier", schema::truth(), false}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { list(context, std::move(call)); }},
      {.path = "/v1/events",
       .id = "follow_audit_events",
       .summary = "Audit events as they come, as server-sent events; Last-Event-ID goes on.",
       .parameters = parameters(),
       .answers = {{200, "The stream.", {}, "text/event-stream"}},
       .problems = {404, 503},
       .handle = [&listeners](Call call) { listeners.add(std::move(call)); }},
  };
}

}  // namespace pawl::admin
