#include "config/buckets.h"

#include <array>

#include "base/bounds.h"
#include "config/match.h"
#include "config/values.h"

namespace pawl::config {
namespace {

Type<Algorithm> algorithm() {
  return one_of<Algorithm>({{"sliding_window", Algorithm::sliding_window},
                            {"sliding_log", Algorithm::sliding_log},
                            {"token_bucket", Algorithm::token_bucket},
                            {"concurrency", Algorithm::concurrency},
                            {"calendar", Algorithm::calendar}});
}

Type<limit::CalendarUnit> calendar_unit() {
  using limit::CalendarUnit;
  return one_of<CalendarUnit>({{"minute", CalendarUnit::minute},
                               {"hour", CalendarUnit::hour},
                               {"day", CalendarUnit::day},
                               {"week", CalendarUnit::week},
                               {"month", CalendarUnit::month},
                               {"year", CalendarUnit::year}});
}

Fields<Bucket> common_fields() {
  return {
      bind<Bucket>(row("name", "What headers, metrics and the audit log call it.", {}),
                   bucket_name(), PAWL_MEMBER(name)),
      bind<Bucket>(part("match",
                        "Which requests are counted (left out: all). What is named of path, "
                        "method and header must all agree."),
                   match(), PAWL_MEMBER(match)),
      bind<Bucket>(row("scope",
                       "Who shares one count: each tenant has its own, each API key (without one, "
                       "the tenant), each client address, or everyone together has one.",
                       Node::of("tenant")),
                   one_of<Scope>({{"tenant", Scope::tenant},
                                  {"api_key", Scope::api_key},
                                  {"address", Scope::address},
                                  {"everyone", Scope::everyone}}),
                   PAWL_MEMBER(scope)),
      bind<Bucket>(row("algorithm",
                       "How requests are counted: sliding_window in two numbers, close to the "
                       "rate, for limits from about ten up; sliding_log exactly, a mark a request; "
                       "token_bucket earns them back one by one; concurrency counts those under "
                       "way; calendar by the day or month.",
                       Node::of("sliding_window")),
                   algorithm(), PAWL_MEMBER(algorithm)),
  };
}

Fields<Bucket> part_fields() {
  return {
      bind<Bucket>(part("rate",
                        "sliding_window, sliding_log and token_bucket: how many in how long. A "
                        "sliding_log counts up to " +
                            std::to_string(bounds::limit_log_count_max) + "."),
                   maybe(rate()), PAWL_MEMBER(rate)),
      bind<Bucket>(part("burst",
                        "token_bucket: how many may come at once beyond the even pace (0 when left "
                        "out). sliding_window and sliding_log have no use for it."),
                   maybe(whole_number<std::int64_t>(0, bounds::limit_count_max)),
                   PAWL_MEMBER(burst)),
      bind<Bucket>(part("slots", "concurrency: how many at once."),
                   maybe(whole_number<std::int64_t>(1, bounds::limit_slots_max)),
                   PAWL_MEMBER(slots)),
      bind<Bucket>(part("lease",
                        "concurrency: when the slot of a pawl that died comes back (60s when left "
                        "out)."),
                   maybe(duration(bounds::limit_lease_min, bounds::limit_hold_max)),
                   PAWL_MEMBER(lease)),
      bind<Bucket>(part("limit", "calendar: how many in each of its windows."),
                   maybe(whole_number<std::int64_t>(1, bounds::limit_count_max)),
                   PAWL_MEMBER(limit)),
      bind<Bucket>(part("every", "calendar: how long a window is."), maybe(calendar_unit()),
                   PAWL_MEMBER(every)),
      bind<Bucket>(part("zone", "calendar: whose calendar and clocks (UTC when left out)."),
                   maybe(zone_name()), PAWL_MEMBER(zone)),
      bind<Bucket>(part("anchor",
                        "calendar: a time at which one of its windows begins, as the day of a "
                        "month's bill (left out: midnight, Mondays, the first)."),
                   maybe(local_time()), PAWL_MEMBER(anchor)),
  };
}

Fields<Bucket> way_fields() {
  return {
      bind<Bucket>(
          row("shadow", "true: counted and reported, never enforced.", truth().print(false)),
          truth(), PAWL_MEMBER(shadow)),
      bind<Bucket>(
          row("on_change",
              "What was used when the limit changes, or the plan: as_is keeps the number, "
              "proportional the share, reset nothing; where programs with two rules share a "
              "store, reset is no limit at all.",
              Node::of("as_is")),
          one_of<limit::OnChange>({{"as_is", limit::OnChange::as_is},
                                   {"proportional", limit::OnChange::proportional},
                                   {"reset", limit::OnChange::reset}}),
          PAWL_MEMBER(on_change)),
  };
}

// Which part belongs to which algorithm.
struct Part {
  std::string_view key;
  std::vector<Algorithm> of;
  bool must = false;
};

std::vector<Part> parts() {
  const std::vector<Algorithm> rated = {Algorithm::sliding_window, Algorithm::sliding_log,
                                        Algorithm::token_bucket};
  const std::vector<Algorithm> lending = {Algorithm::concurrency};
  const std::vector<Algorithm> calendar = {Algorithm::calendar};
  return {{"rate", rated, true}, {"burst", rated},          {"slots", lending, true},
          {"lease", lending},    {"limit", calendar, true}, {"every", calendar, true},
          {"zone", calendar},    {"anchor", calendar}};
}

std::string word_of(Algorithm value) {
  return algorithm().print(value).text;
}

std::string words_of(const std::vector<Algorithm>& values) {
  std::vector<std::string> words;
  for (const Algorithm each : values) words.push_back(word_of(each));
  return alternatives(words);
}

void check_parts(const Bucket& bucket, const Node& node, const std::string& path, Reader& reader) {
  for (const Part& part : parts()) {
    const std::string place = join(path, part.key);
    const auto given = std::ranges::find(node.members, part.key, &Member::key);
    const bool belongs = std::ranges::find(part.of, bucket.algorithm) != part.of.end();
    if (given != node.members.end() && !belongs) {
      reader.problem(given->line, place,
                     "found in a bucket whose algorithm is " + word_of(bucket.algorithm) +
                         "; it belongs to " + words_of(part.of) +
                         ": leave it out, or choose that algorithm");
    }
    if (given != node.members.end() || !belongs || !part.must) continue;
    const auto& fields = bucket_fields();
    const auto field = std::ranges::find(fields, part.key, &Field<Bucket>::path);
    reader.problem(node.line, place, "missing; allowed: " + field->type.allowed);
  }
}

// Beyond this the time at which a bucket is full could not be told any more.
void check_refill(const Bucket& bucket, const std::string& path, Reader& reader) {
  if (!bucket.burst) return;
  const std::int64_t interval_ns = bucket.rate->period.ns() / bucket.rate->count + 1;
  const Duration refill = Duration::nanoseconds(interval_ns) * (*bucket.burst + 1);
  if (refill <= bounds::limit_refill_max) return;
  reader.problem(reader.line_of(path + ".burst"), path + ".burst",
                 "found " + std::to_string(*bucket.burst) + ", which takes longer than " +
                     to_string(bounds::limit_refill_max) + " to earn at " +
                     limit::to_string(*bucket.rate) +
                     "; allowed: a smaller burst or a faster rate");
}

}  // namespace

const Fields<Bucket>& bucket_fields() {
  static const Fields<Bucket> fields = joined({common_fields(), part_fields(), way_fields()});
  return fields;
}

Type<Bucket> bucket() {
  Type<Bucket> type = map_of(bucket_fields());
  type.read = [read = std::move(type.read)](Reader& reader, const Node& node,
                                            const std::string& path) {
    auto value = read(reader, node, path);
    const bool whole = value && node.kind == Node::Kind::map && reader.sound(path + ".algorithm");
    if (whole) check_parts(*value, node, path, reader);
    return value;
  };
  return type;
}

void check_bucket(const Bucket& bucket, const std::string& path, Reader& reader) {
  if (!bucket.rate || !reader.sound(path + ".rate") || !reader.sound(path + ".burst")) return;
  if (bucket.algorithm == Algorithm::token_bucket) check_refill(bucket, path, reader);
  if (bucket.algorithm == Algorithm::sliding_log &&
      bucket.rate->count > bounds::limit_log_count_max) {
    reader.problem(reader.line_of(path + ".rate"), path + ".rate",
                   "found " + limit::to_string(*bucket.rate) +
                       ", of which every one would be remembered by itself; allowed: up to " +
                       std::to_string(bounds::limit_log_count_max) +
                       ", or the algorithm sliding_window");
  }
}

}  // namespace pawl::config
