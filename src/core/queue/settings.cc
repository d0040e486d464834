// queue.json: what holds for a queue for good (segment.h).
#include <algorithm>
#include <array>

#include "base/bounds_queue.h"
#include "base/json.h"
#include "base/member_reader.h"
#include "core/queue/frame.h"
#include "core/queue/segment.h"

namespace pawl::queue {
namespace {

constexpr std::array<std::string_view, 3> members = {"format", "kept_seconds", "shards"};
constexpr std::int64_t kept_seconds_max = bounds::task_kept_max.seconds_up();
constexpr std::int64_t format_max = 1'000'000;

std::unexpected<Error> wrong(const std::string& what) {
  return failure(Code::invalid, "queue.json " + what);
}

std::string printed(const Settings& settings) {
  return json::print(json::Object{{"format", std::int64_t{queue_format}},
                                  {"kept_seconds", settings.kept.seconds_up()},
                                  {"shards", std::int64_t{settings.shards}}});
}

}  // namespace

std::string write_settings(const Settings& settings) {
  return printed(settings) + "\n";
}

Result<Settings> parse_settings(std::string_view text) {
  const auto value = json::parse(text);
  if (!value) return wrong("is damaged: " + value.error().message);
  if (value->if_object() == nullptr) return wrong("is damaged: it is not an object");
  MemberReader reader(*value);
  const std::int64_t format = reader.number("format", format_max);
  // Before everything else: a newer one may have other members.
  if (reader.wrong().empty() && format > std::int64_t{queue_format}) {
    return wrong("was written by a newer pawl (format " + std::to_string(format) +
                 "); this one reads format " + std::to_string(queue_format) + ": update pawl");
  }
  const std::int64_t shards = reader.number("shards", bounds::queue_shards_max);
  const std::int64_t kept = reader.number("kept_seconds", kept_seconds_max);
  if (format < 1) reader.fail("format");
  if (shards < 1) reader.fail("shards");
  for (const auto& [name, _] : *value->if_object()) {
    if (std::ranges::count(members, name) == 0) reader.fail(name);
  }
  if (!reader.wrong().empty()) {
    return wrong("is damaged: \"" + reader.wrong() +
                 "\" is missing, unknown or out of range; it should look like " +
                 printed(Settings()));
  }
  return Settings{.shards = static_cast<std::uint32_t>(shards), .kept = Duration::seconds(kept)};
}

}  // namespace pawl::queue
