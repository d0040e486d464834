#include "config/queue.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/bounds.h"
#include "base/bounds_queue.h"
#include "base/queue_url.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/values.h"

namespace pawl::config {
namespace {

using queue::Limited;

Type<std::string> queue_url() {
  return scalar<std::string>(
      {"URL",
       "dir:PATH, s3://BUCKET/PREFIX?endpoint=http://HOST:PORT&region=REGION (a bucket has 3 to 63 "
       "lower-case letters, digits, - and .), or "
       "http://HOST:PORT[,HOST:PORT…][?store=URL] (a broker)"},
      [](const std::string& text) -> std::optional<std::string> {
        const auto url = parse_queue_url(text);
        if (!url || url->kind == QueueUrl::Kind::memory) return std::nullopt;
        return text;
      },
      [](const std::string& value) { return value; });
}

// Of a type or a key, which may be any text.
Type<std::string> scope_name() {
  return scalar<std::string>(
      {"name", "1 to " + std::to_string(bounds::task_name_bytes_max) +
                   " bytes of text that can be printed"},
      [](const std::string& text) -> std::optional<std::string> {
        const bool good =
            !text.empty() && text.size() <= bounds::task_name_bytes_max && is_printable(text);
        return good ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<Decimal> price() {
  return scalar<Decimal>(
      {.name = "number", .allowed = "a decimal number, 0 or more", .form = Form::number},
      [](const std::string& text) -> std::optional<Decimal> {
        const auto number = parse_decimal(text);
        return number && *number >= Decimal() ? std::optional(*number) : std::nullopt;
      },
      [](const Decimal& value) { return to_string(value); });
}

Type<std::string> currency() {
  constexpr std::size_t most = 8;
  return scalar<std::string>(
      {"name", "1 to 8 visible ASCII characters, as in USD"},
      [](const std::string& text) -> std::optional<std::string> {
        const bool good = !text.empty() && text.size() <= most && is_visible(text);
        return good ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<Limited> limited() {
  return one_of<Limited>({{"queue", Limited::queue},
                          {"type", Limited::type},
                          {"key", Limited::key},
                          {"each_key", Limited::each_key}});
}

Fields<Config> price_fields() {
  const auto of = [](const char* kind, const char* standard, const char* path) {
    return Row{.path = path,
               .help = std::string("What 1,000 ") + kind + " cost.",
               .standard = Node::of(standard)};
  };
  return {
      bind<Config>({"queue.prices.currency", "What the prices are in.", Node::of("USD")},
                   currency(), PAWL_MEMBER(queue.prices.currency)),
      bind<Config>(of("PUT requests", "0.005", "queue.prices.put_per_1000"), price(),
                   PAWL_MEMBER(queue.prices.put_per_1000)),
      bind<Config>(of("GET requests", "0.0004", "queue.prices.get_per_1000"), price(),
                   PAWL_MEMBER(queue.prices.get_per_1000)),
      bind<Config>(of("LIST requests", "0.005", "queue.prices.list_per_1000"), price(),
                   PAWL_MEMBER(queue.prices.list_per_1000)),
      bind<Config>(of("DELETE requests", "0", "queue.prices.delete_per_1000"), price(),
                   PAWL_MEMBER(queue.prices.delete_per_1000)),
  };
}

Fields<Config> place_fields() {
  return {
      bind<Config>({"queue.url",
                    "Where the queue is: a folder, a bucket of S3 (or of a store that speaks as S3 "
                    "does), or a pawl that has one (a broker).",
                    Node::of("dir:data/queue"), needs_restart},
                   queue_url(), PAWL_MEMBER(queue.url)),
      bind<Config>(
          {"queue.shards",
           "Into how many logs a new queue is divided: each takes commits of its own. A "
           "queue that is there stays as it was made, and is not opened with another number.",
           Node::of("1"), needs_restart},
          whole_number<std::uint32_t>(1, bounds::queue_shards_max), PAWL_MEMBER(queue.shards)),
      bind<Config>({"queue.kept",
                    "How long a task that is over can be seen. A queue that is there stays as it "
                    "was made, and is not opened with another time.",
                    Node::of("7d"), needs_restart},
                   duration(bounds::task_kept_min, bounds::task_kept_max), PAWL_MEMBER(queue.kept)),
      bind<Config>({"queue.lease",
                    "How long a claimed task is a worker's own without a sign of life. After that "
                    "it is given to another one.",
                    Node::of("30s"), needs_restart},
                   duration(Duration::seconds(1), bounds::task_lease_max),
                   PAWL_MEMBER(queue.lease)),
      bind<Config>(
          {"queue.limits",
           "What may be claimed of the queue, a type or a key. They are set in the queue "
           "when a worker or `pawl serve` opens it, and hold for all.",
           Node::texts({}), needs_restart},
          list_of(map_of(queue_limit_fields()), {0, bounds::config_list_max, true},
                  "a list of up to " + std::to_string(bounds::config_list_max) +
                      " limits, as in [{scope: key, name: acme, rate: 10/1s, running: 5}]"),
          PAWL_MEMBER(queue.limits)),
  };
}

void check_limit(const QueueLimit& limit, const std::string& path, Reader& reader) {
  const bool named = limit.scope == Limited::key || limit.scope == Limited::type;
  if (named && !limit.name) {
    reader.problem(reader.line_of(path), path, "name is missing: which key or type?");
  }
  if (!named && limit.name) {
    reader.problem(
        reader.line_of(path), path,
        "found the name \"" + *limit.name + "\" for a scope that has none; leave it out");
  }
  if (!limit.rate && !limit.running) {
    reader.problem(reader.line_of(path), path, "it limits nothing; give rate, running or both");
  }
}

}  // namespace

const Fields<QueueLimit>& queue_limit_fields() {
  static const Fields<QueueLimit> fields = {
      bind<QueueLimit>(row("scope", "What is limited; each_key is every key by itself.", {}),
                       limited(), PAWL_MEMBER(scope)),
      bind<QueueLimit>(part("name", "Of the key or type."), maybe(scope_name()), PAWL_MEMBER(name)),
      bind<QueueLimit>(part("rate",
                            "How many are claimed in how long, at the most; steadily some nine "
                            "tenths of it, as a tenth may come at once."),
                       maybe(rate()), PAWL_MEMBER(rate)),
      bind<QueueLimit>(part("running", "How many run at once."),
                       maybe(whole_number<std::int64_t>(1, bounds::limit_count_max)),
                       PAWL_MEMBER(running)),
  };
  return fields;
}

Fields<Config> queue_fields() {
  return joined({place_fields(), price_fields()});
}

void check_queue(const Queue& queue, Reader& reader) {
  std::set<std::pair<Limited, std::string>> seen;
  for (std::size_t i = 0; i < queue.limits.size(); ++i) {
    const QueueLimit& limit = queue.limits[i];
    const std::string path = "queue.limits[" + std::to_string(i) + "]";
    if (!reader.sound_below(path)) continue;
    check_limit(limit, path, reader);
    if (seen.emplace(limit.scope, limit.name.value_or("")).second) continue;
    reader.problem(reader.line_of(path), path, "the same is limited for the second time; keep one");
  }
}

}  // namespace pawl::config
