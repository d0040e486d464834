// The line of a version (task.h).
#include "core/queue/task.h"

#include "base/text.h"

namespace pawl::queue {
namespace {

// Seconds, to the millisecond where they are not whole: "+60s", "+1.25s".
void append_wait(std::string& out, Duration delay) {
  const std::int64_t millis = delay.ns() / 1'000'000;
  out += '+';
  append_number(out, millis / 1000);
  if (const std::int64_t rest = millis % 1000; rest > 0) {
    std::string digits = std::to_string(1000 + rest).substr(1);
    while (digits.back() == '0') digits.pop_back();
    out.append(".").append(digits);
  }
  out += 's';
}

// On one line, whatever it has in it.
void append_line(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
}

void append_detail(std::string& out, std::string_view before, std::string_view detail) {
  if (detail.empty()) return;
  out += before;
  append_line(out, detail);
}

std::string again(std::string_view why, const Version& version) {
  std::string out(why);
  out += ", available_at: ";
  append_wait(out, version.delay);
  out += ", count: ";
  append_number(out, version.count);
  return out;
}

std::string explained(const Version& version) {
  std::string out;
  switch (version.reason) {
    case Reason::created:
      return "created";
    case Reason::claimed:
      out = "claimed by ";
      append_line(out, version.worker);
      return out;
    case Reason::retried:
      out = again("retried", version);
      append_detail(out, ": ", version.detail);
      return out;
    case Reason::rescheduled:
      // What is not counted was given back by a worker that ended.
      out = version.count == 0 ? "given back" : again("rescheduled", version);
      append_detail(out, ", ", version.detail);
      return out;
    case Reason::timed_out:
      return again(version.detail, version);
    case Reason::failed:
      append_detail(out, "", version.detail);
      return out;
    case Reason::cancelled:
      append_detail(out, "by ", version.detail);
      return out;
    case Reason::replayed:
      return "replayed";
    case Reason::cancel_asked:
      out = "cancel requested";
      append_detail(out, " by ", version.detail);
      return out;
    case Reason::completed:
    case Reason::expired:
      break;
  }
  return out;
}

}  // namespace

std::string to_string(const Version& version, std::size_t number) {
  std::string out = "Version ";
  append_number(out, number);
  out.append(": ").append(to_string(version.status));
  if (const std::string why = explained(version); !why.empty()) {
    out.append(" (").append(why).append(")");
  }
  return out;
}

}  // namespace pawl::queue
