// `pawl submit`
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/progress.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/queue_verbs.h"

namespace pawl::cli {
namespace {

struct Input {
  std::string json;
  std::string place;  // for errors; empty: there is but one
};

// The inputs of a file, a line each; empty lines are none.
Result<std::vector<Input>> lines_of(const std::string& file) {
  const std::string text = PAWL_TRY(contents_of(file));
  std::vector<Input> inputs;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_until(rest, '\n');
    if (trim_blanks(line).empty()) continue;
    std::string place = file + ":" + std::to_string(number);
    Result<std::string> json = input_of(line, place);
    if (!json) {
      return std::unexpected(
          usage_error("submit", json.error().message + "; nothing was submitted"));
    }
    inputs.push_back({.json = *std::move(json), .place = std::move(place)});
  }
  if (inputs.empty()) {
    return std::unexpected(usage_error("submit", file + " has no line with an input"));
  }
  return inputs;
}

Result<std::vector<Input>> wanted_inputs(const Arguments& arguments) {
  if (arguments.has("--many")) {
    if (arguments.has("--input")) {
      return std::unexpected(usage_error("submit", "give --input or --many, not both"));
    }
    return lines_of(arguments.value("--many"));
  }
  std::vector<std::string> given = PAWL_TRY(inputs_of(arguments, "submit"));
  std::vector<Input> inputs;
  for (std::string& json : given) {
    std::string place = given.size() == 1 ? "" : "--input " + std::to_string(inputs.size() + 1);
    inputs.push_back({.json = std::move(json), .place = std::move(place)});
  }
  return inputs;
}

struct Told {
  int code = 0;
  std::uint64_t known = 0;  // under their unique names
  json::Array all = {};
  std::string lines = {};
  json::Array unknown = {};  // ids of which nobody knows whether they are there
};

void tell(Told& told, const queue::Reply& reply, const queue::TaskId& id, const Input& input) {
  if (const auto* refusal = std::get_if<queue::Refusal>(&reply)) {
    complain("pawl: " + input.place + (input.place.empty() ? "" : ": ") + refusal->message);
    told.all.push_back(json::Object{{"error", refusal->message}});
    told.code = worst_of(told.code, static_cast<int>(typed_wrong(refusal->code)));
    return;
  }
  const auto& submitted = std::get<queue::Submitted>(reply);
  const bool fresh = submitted.id == id;  // though it may have been given twice
  told.known += fresh ? 0 : 1;
  told.lines += to_string(submitted.id) + "\n";
  told.all.push_back(json::Object{{"id", to_string(submitted.id)}, {"fresh", fresh}});
}

// What was durable before the queue failed in the middle is told all the same.
void tell_broken_off(const Arguments& arguments, const Told& told) {
  if (!arguments.has("--json")) {
    print(told.lines);
  } else if (!told.all.empty() || !told.unknown.empty()) {
    print(lined(json::Object{{"tasks", told.all}, {"unknown", told.unknown}}));
  }
}

// Whoever cannot read the ids must not take the tasks for lost, and submit them again.
int code_of(const Told& told) {
  if (told.lines.empty() || is_written()) return told.code;
  complain("pawl: submitted, though it cannot be printed:\n" +
           told.lines.substr(0, told.lines.size() - 1));
  return static_cast<int>(Code::unresolved);
}

// All that was typed, read before a queue is made for it.
struct Wanted {
  queue::Submit pattern = {};
  std::vector<Input> inputs = {};
};

Result<Wanted> wanted_of(const Arguments& arguments) {
  Wanted wanted{.pattern = PAWL_TRY(submit_of(arguments, "submit"))};
  PAWL_TRY(read_rest(arguments, "submit", wanted.pattern));
  wanted.inputs = PAWL_TRY(wanted_inputs(arguments));
  return wanted;
}

Result<int> submit(QueueSession& session, const Arguments& arguments, const Wanted& wanted) {
  const std::vector<Input>& inputs = wanted.inputs;
  Told told;
  std::optional<Progress> progress;
  if (inputs.size() > 1) progress.emplace("submitted", inputs.size(), session.clock());
  for (std::size_t first = 0; first < inputs.size(); first += bounds::tasks_submitted_max) {
    const std::size_t end = std::min(first + bounds::tasks_submitted_max, inputs.size());
    std::vector<queue::Command> commands;
    std::vector<queue::TaskId> ids;
    for (std::size_t i = first; i < end; ++i) {
      queue::Submit one = wanted.pattern;
      one.id = ids.emplace_back(session.new_id(one.terms));
      one.terms.input = inputs[i].json;
      commands.emplace_back(std::move(one));
    }
    const auto replies = session.give(std::move(commands));
    if (!replies) {
      const bool known = replies.error().outcome != Outcome::unknown;
      if (!known) {
        for (const queue::TaskId& id : ids) told.unknown.emplace_back(to_string(id));
      }
      tell_broken_off(arguments, told);
      if (known) return std::unexpected(replies.error());
      return std::unexpected(in_doubt(session.queue().view().store, told.unknown));
    }
    for (std::size_t i = first; i < end; ++i) {
      tell(told, (*replies)[i - first], ids[i - first], inputs[i]);
    }
    if (progress) progress->show(end);
  }
  if (told.known > 0) {
    complain("pawl: " + counted(told.known, "task") +
             " of that name had been submitted before, and nothing was submitted again: 'pawl get "
             "ID' tells what became of it");
  }
  if (!arguments.has("--json")) {
    print(told.lines);
  } else if (arguments.has("--many") || inputs.size() > 1) {
    print(lined(json::Object{{"tasks", std::move(told.all)}}));
  } else {
    print(lined(told.all.front()));
  }
  return code_of(told);
}

}  // namespace

int task_submit(const Arguments& arguments) {
  const Result<Wanted> wanted = wanted_of(arguments);
  if (!wanted) return fail(wanted.error());
  return run_queue_verb(arguments, Opens::give,
                        [&wanted](QueueSession& session, const Arguments& typed) {
                          return submit(session, typed, *wanted);
                        });
}

}  // namespace pawl::cli
