#include "cli/replay_verb.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapter/file/audit_log.h"
#include "adapter/system/system_zones.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/queue_verbs.h"
#include "core/audit/replay.h"
#include "core/audit/verifier.h"
#include "core/queue/task.h"

namespace pawl::cli {
namespace {

using audit::Replayed;

std::string text_of(const json::Value* member) {
  if (member == nullptr) return "";
  const std::string* text = member->if_string();
  return text == nullptr ? json::print(*member) : *text;
}

// The first record that is not what comes out.
struct Difference {
  std::size_t part;
  std::uint64_t line;
  json::Value seq;
  std::string event_type;
  std::string operation;
  Replayed replayed;
};

struct Tally {
  std::int64_t replayed = 0;
  std::int64_t without_decision = 0;
  std::map<std::string, std::int64_t> not_replayable = {};  // by reason
  std::int64_t unreadable = 0;
  bool torn = false;  // the last line: a crash leaves that
  std::int64_t differing = 0;
  std::optional<Difference> first = {};
  std::optional<audit::Flaw> flaw = {};  // of the chain
  std::string flawed_file = {};

  void take(const AuditLog::Line& line) {
    const Result<json::Value> record = json::parse(line.text);
    if (!record) {
      ++unreadable;
      return;
    }
    Replayed result = audit::replay(*record, load_zone);
    switch (result.how) {
      case Replayed::How::agrees:
        ++replayed;
        return;
      case Replayed::How::no_decision:
        ++without_decision;
        return;
      case Replayed::How::not_replayable:
        ++not_replayable[result.why];
        return;
      case Replayed::How::differs:
        if (differing++ == 0) first = difference(line, *record, std::move(result));
        return;
    }
  }

  static Difference difference(const AuditLog::Line& line, const json::Value& record,
                               Replayed result) {
    const json::Value* seq = record.find("seq");
    return {.part = line.part,
            .line = line.number,
            .seq = seq == nullptr ? json::Value() : *seq,
            .event_type = text_of(record.find("event_type")),
            .operation = text_of(record.find("operation")),
            .replayed = std::move(result)};
  }
};

// The same lines go to both: who takes decisions again, and who checks that no record is missing
// or was changed.
Result<Tally> take_all(const AuditLog& log) {
  Tally tally;
  audit::Verifier verifier(log.last_seq() ? audit::Verifier::From::any_record
                                          : audit::Verifier::From::first_record);
  if (log.anchor()) verifier.expect(*log.anchor());
  const std::size_t last = log.parts().size() - 1;
  std::size_t part = 0;
  PAWL_TRY(log.read_lines([&](const AuditLog::Line& line) {
    for (; part < line.part; ++part) verifier.next_part();
    verifier.take(line.text);
    if (line.whole) verifier.take("\n");
    if (line.whole || line.part < last) {
      tally.take(line);
    } else {
      tally.torn = true;
    }
  }));
  const std::optional<audit::Flaw> flaw = verifier.finish();
  if (!flaw || (flaw->fault == audit::Fault::cut && flaw->part == last)) return tally;
  tally.flaw = flaw;
  tally.flawed_file = log.parts()[flaw->part].path;
  return tally;
}

std::string tally_text(const std::string& path, const Tally& tally) {
  std::int64_t not_replayable = 0;
  for (const auto& [why, count] : tally.not_replayable) not_replayable += count;
  std::string text = path + ": " + std::to_string(tally.replayed) + " replayed, " +
                     std::to_string(tally.without_decision) + " without a decision, " +
                     std::to_string(not_replayable) + " not replayable";
  if (tally.differing > 0) text += ", " + std::to_string(tally.differing) + " that differ";
  if (tally.unreadable > 0) {
    text += ", " + std::to_string(tally.unreadable) + " lines that are no records";
  }
  text += "\n";
  for (const auto& [why, count] : tally.not_replayable) {
    text += "not replayable: " + std::to_string(count) + ": " + why + "\n";
  }
  if (tally.torn) text += "the last line is torn, and was passed over: a crash leaves that\n";
  return text;
}

json::Value difference_json(const Tally& tally) {
  if (!tally.first) return {};
  return json::Object{{"line", tally.first->line},
                      {"seq", tally.first->seq},
                      {"event_type", tally.first->event_type},
                      {"operation", tally.first->operation},
                      {"recorded", tally.first->replayed.recorded},
                      {"again", tally.first->replayed.again},
                      {"why", tally.first->replayed.why}};
}

json::Value flaw_json(const Tally& tally) {
  if (!tally.flaw) return {};
  return json::Object{{"fault", to_string(tally.flaw->fault)},
                      {"file", tally.flawed_file},
                      {"line", tally.flaw->line},
                      {"message", tally.flaw->message}};
}

std::string tally_json(const std::string& path, const Tally& tally) {
  json::Object not_replayable;
  for (const auto& [why, count] : tally.not_replayable) not_replayable[why] = count;
  const json::Object result{{"file", path},
                            {"replayed", tally.replayed},
                            {"without_decision", tally.without_decision},
                            {"not_replayable", std::move(not_replayable)},
                            {"unreadable", tally.unreadable},
                            {"torn", tally.torn},
                            {"differing", tally.differing},
                            {"difference", difference_json(tally)},
                            {"flaw", flaw_json(tally)}};
  return json::print(result) + "\n";
}

std::string flaw_text(const Tally& tally) {
  return tally.flawed_file + ": " + tally.flaw->message + " (" +
         std::string(to_string(tally.flaw->fault)) + ")";
}

std::string difference_text(const std::string& file, const Difference& difference) {
  std::string text = file + ": line " + std::to_string(difference.line);
  if (!difference.seq.is_null()) text += ": record " + json::print(difference.seq);
  if (!difference.event_type.empty()) text += " (" + difference.event_type;
  if (!difference.operation.empty()) text += ", " + difference.operation;
  if (!difference.event_type.empty()) text += ")";
  text += " is not what pawl decides";
  if (!difference.replayed.why.empty()) return text + ": " + difference.replayed.why;
  return text + "\n  recorded: " + json::print(difference.replayed.recorded) +
         "\n  again:    " + json::print(difference.replayed.again);
}

// Whichever comes first in the log.
std::optional<Error> first_wrong(const AuditLog& log, const Tally& tally) {
  if (!tally.first && !tally.flaw) return {};
  std::string text;
  const bool flawed_before =
      tally.flaw && (!tally.first || std::pair(tally.flaw->part, tally.flaw->line) <
                                         std::pair(tally.first->part, tally.first->line));
  if (flawed_before) {
    text = flaw_text(tally) + "\nkeep the file as it is and compare it with a copy from before";
  } else {
    text = difference_text(log.parts()[tally.first->part].path, *tally.first) + "\n";
    const bool same_line = tally.flaw && tally.flaw->part == tally.first->part &&
                           tally.flaw->line == tally.first->line;
    text += same_line ? flaw_text(tally)
                      : "its hash fits: another version of pawl has decided it, or it was written "
                        "anew, with all that follow";
  }
  return Error(Code::refused, Outcome::not_applied, text);
}

}  // namespace

int replay(const Arguments& arguments) {
  const std::vector<std::string>& given = arguments.values("FILE");
  const std::string& path = given.front();
  if (queue::parse_task_id(path)) return task_replay(arguments);
  if (given.size() > 1) {
    return fail(usage_error(
        "replay", "give one FILE, or the IDs of tasks: '" + path + "' is none of a task"));
  }
  const Result<AuditLog> log = AuditLog::open(path);
  if (!log) return fail(log.error());
  const Result<Tally> tally = take_all(*log);
  if (!tally) return fail(tally.error());
  print(arguments.has("--json") ? tally_json(path, *tally) : tally_text(path, *tally));
  const std::optional<Error> wrong = first_wrong(*log, *tally);
  return wrong ? fail(*wrong) : 0;
}

}  // namespace pawl::cli
