#include "cli/queue_ask.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bounds_queue.h"
#include "base/json.h"
#include "cli/output.h"
#include "config/values.h"
#include "core/limit/rate.h"
#include "core/queue/command_check.h"

namespace pawl::cli {
namespace {

constexpr std::int64_t any_count = std::numeric_limits<std::uint32_t>::max();

std::unexpected<Error> usage(std::string_view verb, std::string message) {
  return std::unexpected(usage_error(verb, std::move(message)));
}

std::string text_of(const Arguments& arguments, std::string_view name) {
  return arguments.has(name) ? arguments.value(name) : "";
}

// A variable of a shell that is not set would take what it was to protect away.
Result<std::string> name_of(const Arguments& arguments, std::string_view name,
                            std::string_view verb) {
  if (arguments.has(name) && arguments.value(name).empty()) {
    return usage(verb, std::string(name) + " is empty; leave it out where there is none");
  }
  return text_of(arguments, name);
}

Result<std::optional<Instant>> instant_of(const Arguments& arguments, std::string_view name,
                                          std::string_view verb) {
  if (!arguments.has(name)) return std::optional<Instant>();
  const Result<Instant> instant = parse_instant(arguments.value(name));
  if (!instant) return usage(verb, std::string(name) + ": " + instant.error().message);
  return std::optional(*instant);
}

Result<std::int32_t> priority_of(const Arguments& arguments, std::string_view verb) {
  if (!arguments.has("--priority")) return 0;
  const std::string& typed = arguments.value("--priority");
  std::string_view digits = typed;
  const bool below = digits.starts_with('-');
  if (below) digits.remove_prefix(1);
  const auto number = config::parse_whole(digits, 0, bounds::task_priority_max);
  if (digits.empty() || !number) {
    const std::string most = std::to_string(bounds::task_priority_max);
    return usage(verb,
                 "--priority is '" + typed + "'; it is a number from -" + most + " to " + most);
  }
  return static_cast<std::int32_t>(below ? -*number : *number);
}

Result<void> read_retries(const Arguments& arguments, std::string_view verb,
                          queue::TaskTerms& terms) {
  const auto retries =
      PAWL_TRY(whole_of(arguments, "--max-retries", verb, bounds::task_retries_max));
  if (retries) terms.max_retries = static_cast<std::uint32_t>(*retries);
  const auto reschedules = PAWL_TRY(whole_of(arguments, "--max-reschedules", verb, any_count));
  if (reschedules) terms.max_reschedules = static_cast<std::uint32_t>(*reschedules);
  if (const auto base = PAWL_TRY(duration_of(arguments, "--base-delay", verb))) {
    terms.retry.base_delay = *base;
    terms.retry.max_delay = std::max(terms.retry.max_delay, *base);
  }
  if (const auto most = PAWL_TRY(duration_of(arguments, "--max-delay", verb))) {
    terms.retry.max_delay = *most;
  }
  return {};
}

// The last id before all those that begin so; none: they are the first.
Result<std::optional<queue::TaskId>> before(const std::string& prefix, std::string_view verb) {
  std::string first = prefix;
  first.resize(std::max(first.size(), 2 * queue::TaskId().bytes.size()), '0');
  queue::TaskId id = PAWL_TRY(id_of(first, verb));
  if (id == queue::TaskId()) return std::optional<queue::TaskId>();
  for (std::size_t i = id.bytes.size(); i > 0 && id.bytes[i - 1]-- == 0; --i) {
  }
  return std::optional(id);
}

}  // namespace

Result<std::optional<Duration>> duration_of(const Arguments& arguments, std::string_view name,
                                            std::string_view verb) {
  if (!arguments.has(name)) return std::optional<Duration>();
  const Result<Duration> duration = parse_duration(arguments.value(name));
  if (!duration) return usage(verb, std::string(name) + ": " + duration.error().message);
  return std::optional(*duration);
}

Result<std::optional<std::int64_t>> whole_of(const Arguments& arguments, std::string_view name,
                                             std::string_view verb, std::int64_t most) {
  if (!arguments.has(name)) return std::optional<std::int64_t>();
  const std::string& typed = arguments.value(name);
  const auto number = config::parse_whole(typed, 0, most);
  if (typed.empty() || !number) {
    return usage(verb, std::string(name) + " is '" + typed + "'; it is a number from 0 to " +
                           std::to_string(most));
  }
  return number;
}

Result<std::string> input_of(std::string_view text, std::string_view place) {
  const Result<json::Value> value = json::parse(text);
  if (!value) {
    return failure(Code::usage, std::string(place) + " is not JSON: " + value.error().message);
  }
  return json::print(*value);
}

Result<std::vector<std::string>> inputs_of(const Arguments& arguments, std::string_view verb) {
  std::vector<std::string> inputs;
  for (const std::string& given : arguments.values("--input")) {
    const bool in_file = given.starts_with('@') || given == "-";
    const std::string text =
        in_file ? PAWL_TRY(contents_of(given == "-" ? given : given.substr(1))) : given;
    Result<std::string> input = input_of(text, in_file ? given : "--input");
    if (!input) return usage(verb, input.error().message);
    inputs.push_back(*std::move(input));
  }
  if (inputs.empty()) inputs.emplace_back("{}");
  return inputs;
}

Result<queue::Submit> submit_of(const Arguments& arguments, std::string_view verb) {
  queue::Submit submit;
  if (!arguments.has("--type")) return usage(verb, "--type is missing");
  submit.terms.type = arguments.value("--type");
  submit.terms.key = PAWL_TRY(name_of(arguments, "--key", verb));
  submit.terms.priority = PAWL_TRY(priority_of(arguments, verb));
  PAWL_TRY(read_retries(arguments, verb, submit.terms));
  if (const auto timeout = PAWL_TRY(duration_of(arguments, "--timeout", verb))) {
    submit.terms.timeout = *timeout;
  }
  submit.terms.input = "{}";
  if (const auto fits = queue::check(submit.terms); !fits) return usage(verb, fits.error().message);
  return submit;
}

Result<void> read_rest(const Arguments& arguments, std::string_view verb, queue::Submit& submit) {
  submit.terms.unique = PAWL_TRY(name_of(arguments, "--unique", verb));
  const auto delay = PAWL_TRY(duration_of(arguments, "--delay", verb));
  submit.at = PAWL_TRY(instant_of(arguments, "--at", verb));
  if (delay && submit.at) return usage(verb, "give --delay or --at, not both");
  submit.delay = delay.value_or(Duration());
  const auto time_to_live = PAWL_TRY(duration_of(arguments, "--ttl", verb));
  if (time_to_live == Duration()) {
    return usage(verb, "--ttl must be more than 0; without it the task never expires");
  }
  submit.time_to_live = time_to_live.value_or(Duration());
  return {};
}

Result<queue::TaskId> id_of(std::string_view text, std::string_view verb) {
  const Result<queue::TaskId> id = queue::parse_task_id(text);
  if (!id) return usage(verb, id.error().message);
  return *id;
}

queue::TaskFilter filter_of(const Arguments& arguments) {
  queue::TaskFilter filter{.type = text_of(arguments, "--type"),
                           .key = text_of(arguments, "--key")};
  if (arguments.has("--status")) {
    filter.status = queue::status_of(arguments.value("--status")).value();  // the table's choices
  }
  return filter;
}

Result<ListAsked> list_of(const Arguments& arguments, std::string_view verb) {
  constexpr std::size_t standard = 100;
  ListAsked asked{.filter = filter_of(arguments), .prefix = text_of(arguments, "--prefix")};
  if (arguments.has("--limit")) {
    const std::string& typed = arguments.value("--limit");
    const auto limit = config::parse_whole(typed, 1, std::int64_t{bounds::tasks_listed_max});
    if (!limit) {
      return usage(verb, "--limit is '" + typed + "'; it is a number from 1 to " +
                             std::to_string(bounds::tasks_listed_max));
    }
    asked.limit = static_cast<std::size_t>(*limit);
  } else if (!arguments.has("--ids")) {
    asked.limit = standard;
  }
  if (!asked.prefix.empty()) asked.filter.after = PAWL_TRY(before(asked.prefix, verb));
  if (arguments.has("--after")) {
    asked.filter.after = std::max(asked.filter.after,
                                  std::optional(PAWL_TRY(id_of(arguments.value("--after"), verb))));
  }
  return asked;
}

Result<ScopeAsked> scope_of(const Arguments& arguments, std::string_view verb) {
  const int given = static_cast<int>(arguments.has("KEY")) +
                    static_cast<int>(arguments.has("--type")) +
                    static_cast<int>(arguments.has("--queue"));
  if (given != 1) return usage(verb, "give one of KEY, --type TYPE and --queue");
  if (arguments.has("--queue")) return ScopeAsked{.scope = queue::Scope::queue};
  if (arguments.has("--type")) {
    return ScopeAsked{.scope = queue::Scope::type, .name = arguments.value("--type")};
  }
  return ScopeAsked{.scope = queue::Scope::key, .name = arguments.value("KEY")};
}

Result<Instant> until_of(const Arguments& arguments, std::string_view verb, Instant now) {
  const auto until = PAWL_TRY(instant_of(arguments, "--until", verb));
  const auto length = PAWL_TRY(duration_of(arguments, "--for", verb));
  if (until.has_value() == length.has_value()) {
    return usage(verb, "give --until TIME or --for DURATION");
  }
  const Instant at = until ? *until : now + *length;
  if (at <= now) return usage(verb, "that is past: " + to_string(at) + "; see 'pawl open'");
  return at;
}

Result<queue::SetLimit> limit_of(const Arguments& arguments, std::string_view verb) {
  queue::SetLimit limit;
  int given = 0;
  const auto take = [&](std::string_view option, queue::Limited limited, bool named) {
    if (!arguments.has(option)) return;
    ++given;
    limit.limited = limited;
    if (named) limit.name = arguments.value(option);
  };
  take("--key", queue::Limited::key, true);
  take("--type", queue::Limited::type, true);
  take("--each-key", queue::Limited::each_key, false);
  take("--queue", queue::Limited::queue, false);
  if (given != 1) return usage(verb, "give one of --key KEY, --each-key, --type TYPE and --queue");
  return limit;
}

Result<void> read_amounts(const Arguments& arguments, std::string_view verb,
                          queue::SetLimit& limit) {
  if (arguments.has("--rate")) {
    const auto rate = limit::parse_rate(arguments.value("--rate"));
    if (!rate) return usage(verb, "--rate: " + rate.error().message);
    if (rate->count > any_count) return usage(verb, "--rate is too high");
    limit.rate = static_cast<std::uint32_t>(rate->count);
    limit.period = rate->period;
  }
  limit.running = static_cast<std::uint32_t>(
      PAWL_TRY(whole_of(arguments, "--running", verb, any_count)).value_or(0));
  if (arguments.has("--running") && limit.running == 0) {
    return usage(verb,
                 "--running is 0, and is to be 1 or more; 'pawl limit remove' takes a limit "
                 "away, 'pawl close' lets nothing run");
  }
  if (limit.rate == 0 && limit.running == 0) {
    return usage(verb, "give --rate, --running or both; 'pawl limit remove' takes a limit away");
  }
  return {};
}

}  // namespace pawl::cli
