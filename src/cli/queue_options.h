// Options, arguments and exit codes that several verbs of the queue have.
#pragma once

#include <array>
#include <string_view>

#include "cli/verb.h"

namespace pawl::cli {

// TYPED is what stands before the cursor (completions.cc).
inline constexpr std::string_view task_ids = "list --ids --limit 1000 --prefix TYPED";
inline constexpr std::string_view task_types = "stats --types";

inline constexpr std::string_view task_statuses[] = {"pending", "running",   "completed",
                                                     "failed",  "cancelled", "expired"};

inline constexpr Option json_option = {.name = "--json", .help = "Print JSON, on one line."};
inline constexpr auto json_only = std::to_array<Option>({json_option});
inline constexpr Option type_option = {.name = "--type",
                                       .letter = 't',
                                       .value = {.name = "TYPE", .asks = task_types},
                                       .help = "Tasks of this type."};
inline constexpr Option key_option = {
    .name = "--key", .value = {.name = "KEY"}, .help = "Tasks of this key."};
inline constexpr Option status_option = {.name = "--status",
                                         .value = {.name = "STATUS", .choices = task_statuses},
                                         .help = "Tasks of this status."};
inline constexpr Option queue_option = {.name = "--queue", .help = "The whole queue."};

// What a task is told at its submission, and keeps.
inline constexpr auto terms_options = std::to_array<Option>({
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .asks = task_types},
     .help = "What kind of work it is: workers claim by type. Must be given."},
    {.name = "--input",
     .letter = 'i',
     .value = {.name = "JSON", .several = true},
     .help = "What the handler is given: JSON, @FILE, or - for standard input; once for each task, "
             "where there are several. Without it: {}."},
    {.name = "--key",
     .value = {.name = "KEY"},
     .help = "What limits and closings go by, as a tenant's name."},
    {.name = "--max-retries",
     .value = {.name = "N"},
     .help = "How often it is tried again after an error; 3 times without it."},
    {.name = "--max-reschedules",
     .value = {.name = "N"},
     .help = "How often it may put itself off. Without it: any number of times."},
    {.name = "--timeout",
     .value = {.name = "DURATION"},
     .help = "How long one attempt may take; 300s without it."},
    {.name = "--priority",
     .value = {.name = "N"},
     .help = "From -100 to 100; higher is claimed first; 0 without it."},
    {.name = "--base-delay",
     .value = {.name = "DURATION"},
     .help = "Before the first retry; it doubles with each; 1s without it."},
    {.name = "--max-delay",
     .value = {.name = "DURATION"},
     .help = "Before a retry, at the most; 60s without it."},
});

inline constexpr ExitCode not_valid_code = {
    1, "the configuration is not valid, or the queue is damaged or has other settings"};
inline constexpr ExitCode not_allowed_code = {2, "something given is not allowed"};
inline constexpr ExitCode store_refuses_code = {
    3, "the store refuses: it is read-only, or its bucket or keys are wrong"};
inline constexpr ExitCode in_doubt_code = {
    4, "the store ceased to answer, and nobody knows whether it was done"};
inline constexpr ExitCode store_away_code = {6, "the store is not available"};

inline constexpr ExitCode look_codes[] = {
    {0, "printed"},
    not_valid_code,
    not_allowed_code,
    store_refuses_code,
    {5, "there is no queue yet"},
    store_away_code,
};
inline constexpr ExitCode task_codes[] = {
    {0, "printed"},
    not_valid_code,
    {2, "what was given is not the id of a task"},
    store_refuses_code,
    {5, "there is no such task, or no queue yet"},
    store_away_code,
};
inline constexpr ExitCode give_codes[] = {
    {0, "done"},
    not_valid_code,
    not_allowed_code,
    {3, "refused, and why: by the queue, or by its store (read-only; wrong bucket or keys)"},
    in_doubt_code,
    {5, "there is no such thing, no such file, or no queue yet"},
    store_away_code,
};

}  // namespace pawl::cli
