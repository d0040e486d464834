#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "base/id.h"
#include "base/queue_url.h"
#include "cli/checks.h"
#include "cli/queue_session.h"
#include "cli/queue_text.h"
#include "port/answer_of.h"
#include "runtime/object_store_probe.h"

namespace pawl::cli {
namespace {

constexpr const char* store_check = "queue.url";
constexpr const char* clock_check = "queue clock";
constexpr const char* depth_check = "queue";

Finding broken(const char* check, const Error& error) {
  return {.check = check,
          .health = Health::fail,
          .found = error.message,
          .advice = error.code == Code::invalid
                        ? "correct the setting, or name another store"
                        : "look at the store: its disk, or its server and the credentials in the "
                          "environment; tasks can neither be submitted nor claimed until then"};
}

Finding check_depth(const config::Config& config, const QueueOffice::Parts& parts) {
  const auto office = QueueOffice::open(queue_settings(config, Opens::look), parts);
  if (!office && office.error().code == Code::not_found) {
    return {.check = depth_check,
            .found = "not there yet; it is made by the first submit, worker, closing or limit",
            .advice = ""};
  }
  if (!office && office.error().code == Code::invalid) {
    return {.check = depth_check,
            .health = Health::fail,
            .found = office.error().message,
            .advice = "the queue is left as it is; tasks can neither be submitted nor claimed"};
  }
  if (!office) return broken(depth_check, office.error());
  const auto stats =
      answer_of<queue::Stats>([&](auto done) { (*office)->queue().stats(std::move(done)); });
  if (!stats) return broken(depth_check, stats.error());
  std::uint64_t pending = 0, due = 0, running = 0, failed = 0;
  for (const queue::Depth& type : stats->types) {
    pending += type.pending;
    due += type.due;
    running += type.running;
    failed += type.failed;
  }
  return {.check = depth_check,
          .found = counted(pending, "task") + " pending (" + std::to_string(due) + " due), " +
                   std::to_string(running) + " running, " + std::to_string(failed) + " failed",
          .advice = failed > 0 ? "see 'pawl list --status failed'" : ""};
}

// With what is noted while the queue is open. A queue that cannot be opened says why by itself.
std::vector<Finding> check_log(const config::Config& config, QueueOffice::Parts parts) {
  std::mutex noting;  // shards are opened at once
  std::vector<Finding> findings;
  parts.note = [&](const std::string& text) {
    const std::lock_guard lock(noting);
    findings.push_back({.check = depth_check, .health = Health::fail, .found = text, .advice = ""});
  };
  Finding depth = check_depth(config, parts);
  if (depth.health == Health::fail) return {std::move(depth)};
  findings.push_back(std::move(depth));
  return findings;
}

}  // namespace

Finding check_queue_clock(const std::optional<TimeSample>& sample) {
  if (!sample) {
    return {.check = clock_check,
            .health = Health::warn,
            .found = "the store told no time",
            .advice = "run doctor again"};
  }
  // By how much ours is wrong at the least, whatever the store's resolution and the way cost.
  const Duration behind = sample->store - sample->answered;
  const Duration ahead = sample->asked - (sample->store + sample->resolution);
  const Duration off = std::max({behind, ahead, Duration()});
  constexpr Duration fine = Duration::seconds(2);
  if (off <= fine) {
    return {
        .check = clock_check, .found = "this machine's clock and the store's agree", .advice = ""};
  }
  return {.check = clock_check,
          .health = Health::warn,
          .found = "this machine's clock is " + to_string(off) +
                   (behind > ahead ? " behind" : " ahead of") + " the store's",
          .advice = "set it with NTP; until then tasks are timed by the store's"};
}

// Nothing is made: a folder that is not there is no store to be tried.
std::vector<Finding> check_queue_store(const config::Config& config, Clock& clock) {
  SystemEntropy entropy;
  const QueueOffice::Parts parts = queue_parts(clock, entropy);
  const std::string& url = config.queue.url;
  const auto place = parse_queue_url(url);
  if (!place) return {broken(store_check, place.error())};
  std::error_code ignored;
  const bool is_folder = place->kind == QueueUrl::Kind::directory;
  if (is_folder && !std::filesystem::exists(place->path, ignored)) {
    return {
        {.check = store_check,
         .found = url + ": not there yet; it is made by the first submit, worker, closing or limit",
         .advice = ""}};
  }
  if (place->kind == QueueUrl::Kind::broker) return {check_depth(config, parts)};
  std::vector<Finding> findings;
  {
    const auto store = QueueStore::open(url, parts);
    if (!store) return {broken(store_check, store.error())};
    const auto probed =
        probe_object_store((*store)->objects(), clock,
                           {.id = uuid_v7(clock.wall_now(), entropy.next()), .with_match = false});
    if (!probed) return {broken(store_check, probed.error())};
    findings.push_back({.check = store_check,
                        .found = (*store)->objects().name() +
                                 " answers, and keeps conditional writes: of several who write "
                                 "the same name, one does",
                        .advice = ""});
    findings.push_back(check_queue_clock((*store)->objects().time_sample()));
  }
  std::ranges::move(check_log(config, parts), std::back_inserter(findings));
  return findings;
}

}  // namespace pawl::cli
