#include "core/queue/command_check.h"

#include <string>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"
#include "core/queue/command_fields.h"
#include "core/queue/cron.h"

namespace pawl::queue {
namespace {

// Keeps the first mistake.
class Checking {
 public:
  void id(std::string_view, const TaskId&) {}
  void fence(std::string_view, std::uint64_t) {}
  void needed_name(std::string_view field, const std::string& name_) {
    if (name_.empty()) wrong(field, "is empty: it needs a name");
    name(field, name_);
  }
  void name(std::string_view field, const std::string& name) {
    sized(field, name, bounds::task_name_bytes_max);
    if (!is_printable(name)) wrong(field, "has characters that cannot be printed, or no UTF-8");
  }
  void names(std::string_view field, const std::vector<std::string>& names, std::size_t most) {
    listed(field, names.size(), most);
    for (const std::string& one : names) needed_name(field, one);
  }
  void text(std::string_view field, const std::string& text) {
    sized(field, text, bounds::task_error_bytes_max);
  }
  void json(std::string_view field, const std::string& json, std::size_t most) {
    sized(field, json, most);
    if (!error_.empty()) return;
    if (const auto parsed = json::parse(json); !parsed) {
      wrong(field, "is not JSON: " + parsed.error().message);
    }
  }
  void optional_json(std::string_view field, const std::string& text, std::size_t most) {
    if (!text.empty()) json(field, text, most);
  }
  void amount(std::string_view field, std::int64_t amount, std::int64_t least, std::int64_t most) {
    if (amount >= least && amount <= most) return;
    wrong(field, "is " + std::to_string(amount) + ": " + std::to_string(least) + " … " +
                     std::to_string(most) + " is allowed");
  }
  void count(std::string_view field, std::uint32_t count, std::uint32_t least, std::uint32_t most) {
    amount(field, count, least, most);
  }
  void optional_count(std::string_view, const std::optional<std::uint32_t>&) {}
  void length(std::string_view field, Duration length, Duration most) {
    if (length < Duration()) return wrong(field, "is less than nothing");
    if (length <= most) return;
    wrong(field, "is " + to_string(length) + ": at most " + to_string(most) + " is allowed");
  }
  void lengths(std::string_view field, const std::vector<Duration>& lengths, std::size_t most) {
    listed(field, lengths.size(), most);
    for (const Duration one : lengths) length(field, one, bounds::retry_delay_max);
  }
  void moment(std::string_view, Instant) {}
  void optional_moment(std::string_view, const std::optional<Instant>&) {}
  void truth(std::string_view, bool) {}
  template <class Enum>
  void one_of(std::string_view field, Enum value, Enum last) {
    if (value < Enum{1} || value > last) wrong(field, "is none that there is");
  }

  void wrong(std::string_view field, const std::string& what) {
    if (error_.empty()) error_.append(field).append(" ").append(what);
  }
  Result<void> result() const {
    if (error_.empty()) return {};
    return failure(Code::invalid, error_);
  }

 private:
  void sized(std::string_view field, std::string_view text, std::size_t most) {
    if (text.size() <= most) return;
    wrong(field, "has " + std::to_string(text.size()) + " bytes: " + std::to_string(most) +
                     " are the most");
  }
  void listed(std::string_view field, std::size_t count, std::size_t most) {
    if (count <= most) return;
    wrong(field,
          "has " + std::to_string(count) + " entries: " + std::to_string(most) + " are the most");
  }

  std::string error_;
};

// What the fields say only together.
template <class Kind>
void together(Checking&, const Kind&) {}

void together(Checking& checking, const TaskTerms& terms) {
  if (terms.timeout <= Duration()) checking.wrong("timeout", "is nothing: an attempt needs time");
  if (terms.retry.base_delay > terms.retry.max_delay) {
    checking.wrong("base_delay",
                   "is " + to_string(terms.retry.base_delay) +
                       ", and max_delay is less: " + to_string(terms.retry.max_delay));
  }
}

void together(Checking& checking, const Submit& submit) {
  together(checking, submit.terms);
}

void leased(Checking& checking, Duration lease) {
  if (lease <= Duration()) checking.wrong("lease", "is nothing: whoever claims a task needs time");
}

void together(Checking& checking, const Claim& claim) {
  leased(checking, claim.lease);
}

void together(Checking& checking, const Renew& renew) {
  leased(checking, renew.lease);
}

void together(Checking& checking, const Close& close) {
  if (close.scope == Scope::task) checking.wrong("scope", "is task: close a key, type or queue");
  if (close.scope != Scope::queue && close.name.empty()) {
    checking.wrong("name", "is empty: which " + std::string(to_string(close.scope)) + "?");
  }
}

void together(Checking& checking, const SetLimit& limit) {
  const bool one = limit.limited == Limited::type || limit.limited == Limited::key;
  if (one && limit.name.empty()) checking.wrong("name", "is empty: which type or key?");
  if (limit.rate > 0 && limit.period <= Duration()) {
    checking.wrong("period", "is nothing: a rate is so many in a time, as in 100/1m");
  }
}

void together(Checking& checking, const SetSchedule& schedule) {
  together(checking, schedule.terms);
  if (const auto cron = parse_cron(schedule.cron); !cron) {
    checking.wrong("cron", "is wrong: " + cron.error().message);
  }
}

template <class Kind>
Result<void> check_all(const Kind& one) {
  Checking checking;
  fields(checking, one);
  together(checking, one);
  return checking.result();
}

}  // namespace

Result<void> check(const Command& command) {
  if (const auto* schedule = std::get_if<SetSchedule>(&command);
      schedule != nullptr && schedule->cron.empty()) {
    // It goes, whatever else is said of it.
    Checking checking;
    checking.needed_name("name", schedule->name);
    return checking.result();
  }
  return std::visit([](const auto& one) { return check_all(one); }, command);
}

Result<void> check(const TaskTerms& terms) {
  return check_all(terms);
}

}  // namespace pawl::queue
