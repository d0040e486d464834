#include "core/limit/pushback.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/bounds.h"
#include "base/calendar.h"
#include "base/text.h"
#include "core/http/chars.h"
#include "core/limit/structured_fields.h"

namespace pawl::limit {
namespace {

using structured::BareItem;
using Kind = BareItem::Kind;

constexpr std::int64_t first_epoch_second = 1'000'000'000;  // 2001; nobody waits 31 years
constexpr std::int64_t first_epoch_millisecond = 1'000'000'000'000;
constexpr Duration reset_min = Duration::seconds(1);
constexpr std::int64_t near_below = 3;

enum class Part : std::uint8_t { limit, remaining, reset, used };

struct PartName {
  std::string_view word;
  Part part;
};
constexpr std::array<PartName, 4> parts = {PartName{"Limit", Part::limit},
                                           {"Remaining", Part::remaining},
                                           {"Reset", Part::reset},
                                           {"Used", Part::used}};

constexpr std::array<std::string_view, 3> prefixes = {"X-RateLimit-", "X-Rate-Limit-",
                                                      "RateLimit-"};

// Of Kong's dimensions; the longest of its kind where the calendar has several.
struct WindowName {
  std::string_view word;
  Duration window;
};
constexpr std::array<WindowName, 6> windows = {WindowName{"Second", Duration::seconds(1)},
                                               {"Minute", Duration::minutes(1)},
                                               {"Hour", Duration::hours(1)},
                                               {"Day", Duration::days(1)},
                                               {"Month", Duration::days(31)},
                                               {"Year", Duration::days(366)}};

bool begins(std::string_view text, std::string_view prefix) {
  return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool ends(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         equal_ignoring_case(text.substr(text.size() - suffix.size()), suffix);
}

// The name of a field without its prefix: "SessionOrders-Reset".
std::optional<std::string_view> without_prefix(std::string_view name) {
  for (const std::string_view prefix : prefixes) {
    if (begins(name, prefix)) return name.substr(prefix.size());
  }
  return std::nullopt;
}

struct Place {
  std::string_view dimension;
  Part part;
};

// "Reset", "SessionOrders-Reset" and "Reset-Minute".
std::optional<Place> place_of(std::string_view name) {
  for (const auto& [word, part] : parts) {
    if (equal_ignoring_case(name, word)) return Place{.dimension = {}, .part = part};
  }
  for (const auto& [word, part] : parts) {
    const std::size_t rest = name.size() - std::min(name.size(), word.size() + 1);
    if (rest > 0 && ends(name, word) && name[rest] == '-') {
      return Place{.dimension = name.substr(0, rest), .part = part};
    }
  }
  for (const auto& [word, part] : parts) {
    if (name.size() > word.size() + 1 && begins(name, word) && name[word.size()] == '-') {
      return Place{.dimension = name.substr(word.size() + 1), .part = part};
    }
  }
  return std::nullopt;
}

std::optional<Duration> window_of(std::string_view dimension) {
  for (const auto& [word, window] : windows) {
    if (equal_ignoring_case(dimension, word)) return window;
  }
  return std::nullopt;
}

// Delta or epoch, as the value itself shows.
Instant epoch_or_delta(std::int64_t value, Instant now) {
  return value >= first_epoch_millisecond ? Instant() + Duration::milliseconds(value)
         : value >= first_epoch_second    ? Instant() + Duration::seconds(value)
                                          : now + Duration::seconds(value);
}

Instant reset_at(std::int64_t value, Instant now) {
  return std::max(epoch_or_delta(value, now), now + reset_min);
}

void lower(std::optional<std::int64_t>& kept, std::int64_t found) {
  kept = std::min(kept.value_or(found), found);
}

void later(std::optional<Instant>& kept, Instant found) {
  kept = std::max(kept.value_or(found), found);
}

// A number that may be missing, but not be wrong.
struct Number {
  std::optional<std::int64_t> value;
  bool fits;
};

Number number(const BareItem* bare, std::int64_t least) {
  if (!bare) return {.value = {}, .fits = true};
  return {.value = bare->number, .fits = bare->kind == Kind::integer && bare->number >= least};
}

bool is_count(const BareItem& bare) {
  return bare.kind == Kind::integer && bare.number >= 0;
}

// The drafts ask for a string, and give a token in an example.
bool is_name(const BareItem& bare) {
  return bare.kind == Kind::string || bare.kind == Kind::token;
}

bool is_dimension(std::string_view text) {
  return http::is_token(text) && text.size() <= bounds::limit_dimension_bytes_max;
}

// Any number of digits, as RFC 9110 has it; with a fraction, as some write it. Rounded up.
std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), http::is_digit);
  };
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!digits(whole) || !digits(fraction)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : whole) {
    value = time_detail::add(time_detail::multiply(value, 10), c - '0');
  }
  const bool more = fraction.find_first_not_of('0') != std::string_view::npos;
  return time_detail::add(value, more ? 1 : 0);
}

// parse_http_date refuses what no Instant holds, and "Fri, 31 Dec 9999 23:59:59 GMT" is how some
// say never.
bool is_beyond_all_instants(std::string_view date) {
  constexpr std::size_t year_at = 12;
  if (date.size() < year_at + 4 || date.substr(year_at, 4) <= "2262") return false;
  std::string nearer(date);
  nearer.replace(year_at, 4, "2260");
  return parse_http_date(nearer).has_value();
}

std::optional<Instant> parse_retry_after(std::string_view text, Instant now) {
  if (const auto seconds = parse_time(text)) return std::max(now, epoch_or_delta(*seconds, now));
  if (const auto date = parse_http_date(text)) return std::max(now, *date);
  if (is_beyond_all_instants(text)) return Instant::max();
  return std::nullopt;
}

// Always a delta, however large: no other reading of it is known.
std::optional<Instant> parse_amz_retry_after(std::string_view text, Instant now) {
  const auto wait = parse_time(text);
  return wait ? std::optional(now + Duration::milliseconds(*wait)) : std::nullopt;
}

// Puts the readings of an answer together, line by line.
class Collector {
 public:
  Collector(std::string_view plain, Instant now) : plain_(plain), now_(now) {}

  void take_retry_after(std::optional<Instant> at);
  void take_state(std::string_view value);
  void take_policies(std::string_view value);
  void take_part(const Place& place, std::string_view value);
  void ignore() { ++malformed_; }
  Pushback finish() &&;

 private:
  struct Entry {
    Reading reading;
    std::optional<std::int64_t> used = {};
  };
  struct Nameless {
    std::int64_t limit;
    Duration window;
    bool operator==(const Nameless&) const = default;
  };
  enum class Spelling : std::uint8_t { exact, any_case };

  // The entry of that dimension, made when there is none; nullptr, and counted, when there may be
  // no more. Good until the next call.
  Entry* entry(std::string_view dimension, Spelling spelling);
  void add(Entry& entry, Part part, const BareItem& bare);
  void take_dictionary(const structured::Dictionary& dictionary);
  bool take_state_item(const structured::Item& item);
  bool take_named_policy(const structured::Item& item);
  bool take_bare_policy(const structured::Item& item);

  std::string_view plain_;  // the dimension of fields that name none
  Instant now_;
  std::vector<Entry> entries_;
  std::vector<Nameless> nameless_;
  std::optional<Instant> retry_at_;
  int malformed_ = 0;
};

Collector::Entry* Collector::entry(std::string_view dimension, Spelling spelling) {
  for (Entry& known : entries_) {
    const std::string_view name = known.reading.dimension;
    const bool any_case = spelling == Spelling::any_case;
    if (name == dimension || (any_case && equal_ignoring_case(name, dimension))) return &known;
  }
  if (entries_.size() == bounds::limit_readings_max ||
      dimension.size() > bounds::limit_dimension_bytes_max) {
    ignore();
    return nullptr;
  }
  return &entries_.emplace_back(Entry{.reading = {.dimension = std::string(dimension)}});
}

void Collector::take_retry_after(std::optional<Instant> at) {
  if (!at) return ignore();
  later(retry_at_, *at);
}

// RateLimit: a list of items named by policy (draft 08 on), or a dictionary (draft 07).
void Collector::take_state(std::string_view value) {
  if (const auto list = structured::parse_list(value); list && !list->empty()) {
    for (const auto& item : *list) {
      if (!take_state_item(item)) ignore();
    }
    return;
  }
  const auto dictionary = structured::parse_dictionary(value);
  if (!dictionary || dictionary->empty()) return ignore();
  take_dictionary(*dictionary);
}

bool Collector::take_state_item(const structured::Item& item) {
  // The draft is about to call r "a" and t "w". Beside an r, a "w" is somebody's extension.
  const bool renamed = !item.find("r");
  const BareItem* const after = item.find("t");
  const Number remaining = number(item.find(renamed ? "a" : "r"), 0);
  const Number more_after = number(renamed && !after ? item.find("w") : after, 0);
  if (!is_name(item.bare) || !remaining.value) return false;
  if (!remaining.fits || !more_after.fits) return false;
  Entry* const found = entry(item.bare.text, Spelling::exact);
  if (!found) return true;
  lower(found->reading.remaining, *remaining.value);
  // Here a delta is what the draft says, however large.
  if (more_after.value) {
    const Duration delta = Duration::seconds(*more_after.value);
    later(found->reading.resets_at, now_ + std::max(delta, reset_min));
  }
  return true;
}

void Collector::take_dictionary(const structured::Dictionary& dictionary) {
  const auto part = [&](std::string_view key) {
    const structured::Item* const item = structured::find(dictionary, key);
    return number(item ? &item->bare : nullptr, 0);
  };
  const Number limit = part("limit");
  const Number remaining = part("remaining");
  const Number reset = part("reset");
  if (!limit.value && !remaining.value && !reset.value) return ignore();
  if (!limit.fits || !remaining.fits || !reset.fits) return ignore();
  Entry* const found = entry(plain_, Spelling::any_case);
  if (!found) return;
  if (limit.value) lower(found->reading.limit, *limit.value);
  if (remaining.value) lower(found->reading.remaining, *remaining.value);
  if (reset.value) later(found->reading.resets_at, reset_at(*reset.value, now_));
}

void Collector::take_policies(std::string_view value) {
  const auto list = structured::parse_list(value);
  if (!list || list->empty()) return ignore();
  for (const auto& item : *list) {
    if (!(is_name(item.bare) ? take_named_policy(item) : take_bare_policy(item))) ignore();
  }
}

// "burst";q=100;w=60;qu="requests"
bool Collector::take_named_policy(const structured::Item& item) {
  const Number quota = number(item.find("q"), 0);
  const Number window = number(item.find("w"), 1);
  const BareItem* const unit = item.find("qu");
  if (!quota.value || !quota.fits || !window.fits || (unit && !is_name(*unit))) return false;
  Entry* const found = entry(item.bare.text, Spelling::exact);
  if (!found) return true;
  lower(found->reading.limit, *quota.value);
  if (window.value) found->reading.window = Duration::seconds(*window.value);
  // The draft's text says "requests", its registry "request".
  const bool requests = !unit || unit->text == "requests" || unit->text == "request";
  if (!requests) found->reading.unit = unit->text;
  return true;
}

// 100;w=60, and 100;w=60;name="burst" in draft-polli-03.
bool Collector::take_bare_policy(const structured::Item& item) {
  const Number window = number(item.find("w"), 1);
  const BareItem* const name = item.find("name");
  if (!is_count(item.bare) || !window.value || !window.fits) return false;
  if (name && !is_name(*name)) return false;
  const Duration length = Duration::seconds(*window.value);
  if (!name) {
    const Nameless policy{.limit = item.bare.number, .window = length};
    const bool known = std::find(nameless_.begin(), nameless_.end(), policy) != nameless_.end();
    if (known) return true;
    if (nameless_.size() == bounds::limit_readings_max) return false;
    nameless_.push_back(policy);
    return true;
  }
  Entry* const found = entry(name->text, Spelling::exact);
  if (!found) return true;
  lower(found->reading.limit, item.bare.number);
  found->reading.window = length;
  return true;
}

// One number; or several, where lines of two servers were joined. Behind the plain limit stand the
// policies of draft-polli-03: 10, 10;w=1, 1000;w=3600.
void Collector::take_part(const Place& place, std::string_view value) {
  const auto list = structured::parse_list(value);
  const auto fits = [&](const structured::Item& item) {
    const bool fraction = place.part == Part::reset && item.bare.kind == Kind::decimal;
    return is_count(item.bare) || (fraction && item.bare.number >= 0);
  };
  if (!list || list->empty() || !std::all_of(list->begin(), list->end(), fits)) return ignore();
  const bool plain = place.dimension.empty();
  if (!plain && !is_dimension(place.dimension)) return ignore();
  Entry* const found = entry(plain ? plain_ : place.dimension, Spelling::any_case);
  if (!found) return;
  if (const auto window = window_of(place.dimension)) found->reading.window = window;
  const auto is_policy = [&](const structured::Item& item) {
    return plain && place.part == Part::limit && &item != &list->front() && item.find("w");
  };
  for (const auto& item : *list) {
    if (!is_policy(item)) add(*found, place.part, item.bare);
  }
  for (const auto& item : *list) {
    if (is_policy(item) && !take_bare_policy(item)) ignore();
  }
}

void Collector::add(Entry& entry, Part part, const BareItem& bare) {
  switch (part) {
    case Part::limit:
      return lower(entry.reading.limit, bare.number);
    case Part::remaining:
      return lower(entry.reading.remaining, bare.number);
    case Part::reset: {
      const bool thousandths = bare.kind == Kind::decimal;
      const std::int64_t value = thousandths ? (bare.number + 999) / 1000 : bare.number;
      return later(entry.reading.resets_at, reset_at(value, now_));
    }
    case Part::used:
      entry.used = std::max(entry.used.value_or(0), bare.number);
  }
}

Pushback Collector::finish() && {
  Pushback result{.retry_at = retry_at_};
  for (auto& [reading, used] : entries_) {
    if (used && reading.limit) {
      lower(reading.remaining, std::max<std::int64_t>(0, *reading.limit - *used));
    }
    const bool says_something = reading.limit || reading.remaining || reading.resets_at;
    if (says_something) result.readings.push_back(std::move(reading));
  }
  const auto plain =
      std::find_if(result.readings.begin(), result.readings.end(),
                   [&](const Reading& reading) { return reading.dimension == plain_; });
  std::vector<Reading> others;
  for (const auto& [limit, window] : nameless_) {
    const bool explains = plain != result.readings.end() && plain->limit == limit &&
                          plain->window.value_or(window) == window;
    if (explains) {
      plain->window = window;
    } else if (result.readings.size() + others.size() < bounds::limit_readings_max) {
      others.push_back({.limit = limit, .window = window});
    } else {
      ignore();
    }
  }
  std::move(others.begin(), others.end(), std::back_inserter(result.readings));
  result.malformed = malformed_;
  return result;
}

bool is_resource(std::string_view name) {
  const auto rest = without_prefix(name);
  return rest && equal_ignoring_case(*rest, "Resource");
}

// What GitHub calls the limit that its plain fields are about.
std::string_view resource(std::span<const Field> fields) {
  for (const auto& [name, value] : fields) {
    if (is_resource(name) && is_dimension(trim_blanks(value))) return trim_blanks(value);
  }
  return {};
}

bool comes_from_a_cache(std::span<const Field> fields) {
  return std::any_of(fields.begin(), fields.end(), [](const Field& field) {
    if (!equal_ignoring_case(field.name, "Age")) return false;
    const auto age = parse_time(trim_blanks(field.value));
    return age && *age > 0;
  });
}

}  // namespace

std::string to_string(const Reading& reading) {
  std::string text = reading.dimension.empty() ? "-" : reading.dimension;
  std::string_view before = ": ";
  const auto add = [&](std::string_view name, const std::string& value) {
    text.append(std::exchange(before, ", ")).append(name).append(" ").append(value);
  };
  if (reading.limit) add("limit", std::to_string(*reading.limit));
  if (reading.remaining) add("remaining", std::to_string(*reading.remaining));
  if (reading.resets_at) add("reset", to_string(*reading.resets_at));
  return text;
}

std::string to_string(std::span<const Reading> readings) {
  std::string text;
  for (const Reading& reading : readings) {
    text.append(text.empty() ? "" : "; ").append(to_string(reading));
  }
  return text;
}

Pushback parse_pushback(std::span<const Field> fields, Instant now) {
  Collector collector(resource(fields), now);
  const bool cached = comes_from_a_cache(fields);
  for (const auto& [name, whole] : fields) {
    // No dialect allows an empty value, so a line that is too long is counted where it would count.
    const bool too_long = name.size() + whole.size() > bounds::http_header_bytes_max;
    const std::string_view value = too_long ? std::string_view() : trim_blanks(whole);
    if (equal_ignoring_case(name, "Retry-After")) {
      collector.take_retry_after(parse_retry_after(value, now));
    } else if (equal_ignoring_case(name, "x-amz-retry-after")) {
      collector.take_retry_after(parse_amz_retry_after(value, now));
    } else if (cached) {
      continue;
    } else if (equal_ignoring_case(name, "RateLimit")) {
      collector.take_state(value);
    } else if (equal_ignoring_case(name, "RateLimit-Policy")) {
      collector.take_policies(value);
    } else if (is_resource(name)) {
      if (!is_dimension(value)) collector.ignore();
    } else if (const auto rest = without_prefix(name)) {
      if (const auto place = place_of(*rest)) collector.take_part(*place, value);
    }
  }
  return std::move(collector).finish();
}

std::optional<Instant> exhausted_until(const Pushback& pushback) {
  std::optional<Instant> until;
  for (const Reading& reading : pushback.readings) {
    if (reading.remaining == 0 && reading.resets_at) later(until, *reading.resets_at);
  }
  return until;
}

std::optional<Instant> refused_until(const Pushback& pushback) {
  std::optional<Instant> until = exhausted_until(pushback);
  if (pushback.retry_at) later(until, *pushback.retry_at);
  if (until) return until;
  for (const Reading& reading : pushback.readings) {
    if (reading.remaining || !reading.resets_at) continue;
    until = std::min(until.value_or(*reading.resets_at), *reading.resets_at);
  }
  return until;
}

bool is_near_limit(const Reading& reading) {
  if (!reading.remaining || *reading.remaining >= near_below) return false;
  return *reading.remaining == 0 || !reading.limit || *reading.remaining < *reading.limit;
}

}  // namespace pawl::limit
