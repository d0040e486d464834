// Goal: the names of the event types are the ones users search by, and the page about them tells
//       of each one and of nothing else.
// Method: pinned; the tables of docs/audit-events.md are read and compared.
#include "core/audit/event.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "core/audit/retry_event.h"

namespace pawl::audit {
namespace {

using Names = std::set<std::string, std::less<>>;

TEST(EventType, HasTheNameThatUsersSearchBy) {
  EXPECT_EQ(to_string(EventType::limit), "limit");
  EXPECT_EQ(to_string(EventType::pace), "pace");
  EXPECT_EQ(to_string(EventType::request), "request");
  EXPECT_EQ(to_string(EventType::config), "config");
  EXPECT_EQ(to_string(EventType::rejected), "rejected");
  EXPECT_EQ(to_string(EventType::retry_attempt), "retry_attempt");
  EXPECT_EQ(to_string(EventType::retry_exhausted), "retry_exhausted");
  EXPECT_EQ(to_string(EventType::retry_succeeded), "retry_succeeded");
  EXPECT_EQ(to_string(EventType::idempotency), "idempotency");
  EXPECT_EQ(to_string(EventType::breaker), "breaker");
  EXPECT_EQ(to_string(EventType::budget), "budget");
  EXPECT_EQ(to_string(EventType::reconcile), "reconcile");
  EXPECT_EQ(to_string(EventType::quota), "quota");
  EXPECT_EQ(to_string(EventType::order), "order");
  EXPECT_EQ(to_string(EventType::task), "task");
}

TEST(EventType, AllOfThemAreListed) {
  std::size_t expected = 0;
  for (const EventType type : all_event_types()) {
    EXPECT_EQ(static_cast<std::size_t>(type), expected++);
  }
  EXPECT_EQ(all_event_types().back(), EventType::operation_resumed);
}

// What stands in backquotes in a text: its names.
Names names_in(std::string_view text) {
  Names names;
  while (true) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos) return names;
    names.emplace(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

// The rows of the table whose first heading this is, cell by cell.
std::vector<std::vector<std::string>> table(std::string_view heading) {
  std::ifstream page(PAWL_SOURCE_DIR "/docs/audit-events.md");
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) inside = false;
    if (inside && !line.starts_with("| ---")) {
      std::vector<std::string> cells;
      std::istringstream rest(line.substr(1));
      for (std::string cell; std::getline(rest, cell, '|');) cells.push_back(cell);
      rows.push_back(std::move(cells));
    }
    if (line.starts_with("| " + std::string(heading) + " |")) inside = true;
  }
  return rows;
}

Names first_cells(std::string_view heading) {
  Names names;
  for (const auto& row : table(heading)) names.merge(names_in(row.front()));
  return names;
}

template <class Values>
Names names_of(const Values& values) {
  Names names;
  for (const auto& value : values) names.emplace(to_string(value));
  return names;
}

TEST(AuditEventsPage, HasARowForEveryEventTypeAndNoOther) {
  EXPECT_EQ(first_cells("`event_type`"), names_of(all_event_types()));
}

TEST(AuditEventsPage, HasARowForEveryActionAndStateAndNoOther) {
  EXPECT_EQ(first_cells("`action`"), names_of(all_idempotency_actions()));
  EXPECT_EQ(first_cells("`state`"), names_of(all_breaker_states()));
}

TEST(AuditEventsPage, NamesTheFieldsOfEveryBuilder) {
  const RetrySubject subject{.category = "RETRY_API_REQUEST", .operation = "call"};
  const std::vector<Event> events = {
      to_event(RetryAttempt{.subject = subject}),
      to_event(RetryExhausted{.subject = subject}),
      to_event(RetrySucceeded{.subject = subject}),
      to_event(Idempotency{.subject = subject, .idempotency_key = {}}),
      to_event(Breaker{.subject = subject, .key = {}}),
      to_event(BudgetRefusal{.subject = subject}),
      to_event(Hedge{.subject = subject}),
      to_event(ReconcileAhead{.subject = subject}),
      to_event(Reconciliation{.subject = subject, .found = Outcome::unknown})};
  std::map<EventType, Names> fields;
  for (const Event& event : events) {
    for (const auto& [name, value] : event.details) fields[event.type].emplace(name);
  }
  const auto rows = table("`event_type`");
  for (const auto& [type, names] : fields) {
    const auto row = std::ranges::find_if(
        rows, [&](const auto& cells) { return names_in(cells.front()).contains(to_string(type)); });
    ASSERT_NE(row, rows.end()) << to_string(type);
    EXPECT_EQ(names_in(row->at(2)), names) << to_string(type);
  }
}

}  // namespace
}  // namespace pawl::audit
