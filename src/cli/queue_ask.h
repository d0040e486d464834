// What was typed for a verb about the queue, as commands.
//
// Contract: pure, but for the files that an input names. Errors are of usage, and name the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"
#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "pawl/time.h"

namespace pawl::cli {

// The terms of tasks; and what only a submit has: its times, and a unique name. The input is `{}`.
Result<queue::Submit> submit_of(const Arguments& arguments, std::string_view verb);
Result<void> read_rest(const Arguments& arguments, std::string_view verb, queue::Submit& submit);
// Of -i: JSON, @FILE or - (standard input), each printed as pawl does; one `{}` when none is given.
Result<std::vector<std::string>> inputs_of(const Arguments& arguments, std::string_view verb);
// Of one input; `place` is for the error.
Result<std::string> input_of(std::string_view text, std::string_view place);

Result<queue::TaskId> id_of(std::string_view text, std::string_view verb);
queue::TaskFilter filter_of(const Arguments& arguments);
// Of --limit, --after and --prefix besides.
struct ListAsked {
  queue::TaskFilter filter = {};          // begins behind --after, and not before --prefix
  std::optional<std::size_t> limit = {};  // none: all of them
  std::string prefix = {};                // of the id
};
Result<ListAsked> list_of(const Arguments& arguments, std::string_view verb);

// Of KEY, --type or --queue: which scope is meant.
struct ScopeAsked {
  queue::Scope scope = queue::Scope::key;
  std::string name = {};
};
Result<ScopeAsked> scope_of(const Arguments& arguments, std::string_view verb);
// Of --until or --for.
Result<Instant> until_of(const Arguments& arguments, std::string_view verb, Instant now);
// Of --key, --each-key, --type or --queue: what is limited; and of --rate and --running, how.
Result<queue::SetLimit> limit_of(const Arguments& arguments, std::string_view verb);
Result<void> read_amounts(const Arguments& arguments, std::string_view verb,
                          queue::SetLimit& limit);

// An option that is a length of time; nothing when it is not given.
Result<std::optional<Duration>> duration_of(const Arguments& arguments, std::string_view name,
                                            std::string_view verb);
Result<std::optional<std::int64_t>> whole_of(const Arguments& arguments, std::string_view name,
                                             std::string_view verb, std::int64_t most);

}  // namespace pawl::cli
