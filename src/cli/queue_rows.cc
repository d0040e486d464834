#include "cli/queue_rows.h"

#include "cli/queue_options.h"
#include "cli/queue_verbs.h"

namespace pawl::cli {
namespace {

constexpr Positional maybe_key[] = {
    {.value = {.name = "KEY"}, .help = "The tasks of this key.", .required = false},
};
constexpr auto close_options = std::to_array<Option>({
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .asks = task_types},
     .help = "In place of a key: this type."},
    queue_option,
    {.name = "--until", .value = {.name = "TIME"}, .help = "An instant: 2099-03-04T12:00:00Z."},
    {.name = "--for", .value = {.name = "DURATION"}, .help = "In place of it: so long, as in 5m."},
    {.name = "--spread",
     .value = {.name = "DURATION"},
     .help = "What waited is let go evenly over so long afterwards. Without it: a tenth of the "
             "time, up to 60s."},
    json_option,
});
constexpr Example close_examples[] = {
    {"pawl close acme --until 2099-03-04T12:00:00Z", "nothing of the key is claimed before noon"},
    {"pawl close --type call_api --for 5m", "a whole type"},
    {"pawl close --queue --for 1h", "everything"},
};
constexpr auto open_options = std::to_array<Option>({
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .asks = task_types},
     .help = "In place of a key: this type."},
    queue_option,
    json_option,
});
constexpr Example open_examples[] = {
    {"pawl open acme", "before its time"},
    {"pawl open --queue", "everything again"},
};

constexpr auto limited_options = std::to_array<Option>({
    {.name = "--key", .value = {.name = "KEY"}, .help = "The tasks of one key."},
    {.name = "--each-key", .help = "The tasks of every key, each by itself."},
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .asks = task_types},
     .help = "The tasks of a type."},
    queue_option,
});
constexpr auto limit_remove_options = joined(limited_options, json_only);
constexpr auto limit_set_options = joined(
    limited_options,
    std::to_array<Option>({
        {.name = "--rate",
         .value = {.name = "RATE"},
         .help = "Claims in a time, as in 10/1s: never more within any such time. A tenth may "
                 "come at once, so that steadily it is some nine tenths."},
        {.name = "--running", .value = {.name = "N"}, .help = "At once."},
        json_option,
    }));
constexpr Example limit_set_examples[] = {
    {"pawl limit set --key acme --rate 10/1s --running 5", "one key"},
    {"pawl limit set --each-key --running 2", "every key by itself"},
};
constexpr Example limit_list_examples[] = {
    {"pawl limit list", "those in force"},
};
constexpr Example limit_remove_examples[] = {
    {"pawl limit remove --key acme", "it is as every other key again"},
};

constexpr Positional schedule_name[] = {
    {.value = {.name = "NAME", .asks = "schedule list --names"}, .help = "Of the schedule."},
};
constexpr auto schedule_create_options = joined(
    terms_options,
    std::to_array<Option>({
        {.name = "--cron",
         .value = {.name = "CRON"},
         .help = "When: minute, hour, day, month, weekday, as in '0 3 * * mon-fri'; or @hourly, "
                 "@daily, @weekly, @monthly, @yearly. Must be given."},
        {.name = "--zone",
         .value = {.name = "ZONE"},
         .help = "Whose clocks it goes by, as in Europe/Zurich.",
         .standard = "UTC"},
        {.name = "--disabled", .help = "It does not fire before it is enabled."},
        json_option,
    }));
constexpr Example schedule_create_examples[] = {
    {"pawl schedule create nightly --cron @daily --zone Europe/Zurich -t report",
     "a task each night, once, however many workers there are"},
    {"pawl schedule create ping --cron @hourly -t ping -i '{\"host\":\"a\"}'", "every hour"},
};
constexpr auto schedule_list_options = std::to_array<Option>({
    {.name = "--names", .help = "Print names alone, as they are, one a line."},
    json_option,
});
constexpr Example schedule_list_examples[] = {
    {"pawl schedule list", "all of them, and when each fires next"},
};
constexpr Example schedule_show_examples[] = {
    {"pawl schedule show nightly --json", "with the terms of its tasks"},
};
constexpr Example schedule_enable_examples[] = {
    {"pawl schedule enable nightly", "from its next time on; what it missed is gone"},
};
constexpr Example schedule_disable_examples[] = {
    {"pawl schedule disable nightly", "it stays, and does not fire"},
};
constexpr Example schedule_delete_examples[] = {
    {"pawl schedule delete nightly", "its tasks stay"},
};
constexpr Example schedule_trigger_examples[] = {
    {"pawl schedule trigger nightly", "one of its tasks now"},
};

constexpr auto stats_options = std::to_array<Option>({
    {.name = "--watch", .help = "Look again and again, with rates; on a terminal drawn in place."},
    {.name = "--every",
     .value = {.name = "DURATION"},
     .help = "With --watch: how often, 100ms or more; 1s without it."},
    {.name = "--count", .value = {.name = "N"}, .help = "With --watch: end after so many looks."},
    {.name = "--types", .help = "Print the names of types alone, as they are, one a line."},
    json_option,
});
constexpr Example stats_examples[] = {
    {"pawl stats", "how many wait, run, and have ended, by type; what is closed"},
    {"pawl stats --watch", "live, with rates and the age of the oldest due task"},
};
constexpr Example cost_examples[] = {
    {"pawl cost", "PUT, GET, LIST and DELETE of a task and of an idle hour, and their price"},
};

constexpr Positional export_file[] = {
    {.value = {.name = "FILE", .is_file = true},
     .help = "Where to; without it, or as -, standard output.",
     .required = false},
};
constexpr auto export_options = std::to_array<Option>({
    status_option,
    type_option,
    key_option,
    {.name = "--history", .help = "With the history of each."},
});
constexpr ExitCode export_codes[] = {
    {0, "written"},
    not_valid_code,
    not_allowed_code,
    store_refuses_code,
    {5, "there is no queue yet"},
    {6, "the store is not available, or the file cannot be written"},
};
constexpr Example export_examples[] = {
    {"pawl export tasks.jsonl --history", "all of it, a line a task"},
    {"pawl export --status pending | gzip > pending.gz", "what waits"},
};
constexpr Positional import_file[] = {
    {.value = {.name = "FILE", .is_file = true},
     .help = "What 'pawl export' wrote; - is standard input."},
};
constexpr auto import_options = std::to_array<Option>({
    {.name = "--status",
     .value = {.name = "STATUS", .choices = task_statuses},
     .help = "Only tasks of this status. Without it: those that waited or ran."},
    json_option,
});
constexpr Example import_examples[] = {
    {"pawl import tasks.jsonl", "what waited waits here; what ran begins again"},
    {"pawl import tasks.jsonl --status failed", "what failed begins again, from the start"},
};

constexpr Verb rows[] = {
    {.path = "close",
     .summary = "claim nothing of a key, a type or the queue for a while",
     .description =
         "Shuts a scope until an instant: one write, however many tasks wait. What runs goes on. "
         "Afterwards they are let go evenly, so that they do not all meet again at once.",
     .positionals = maybe_key,
     .options = close_options,
     .exit_codes = give_codes,
     .examples = close_examples,
     .run = scope_close},
    {.path = "open",
     .summary = "open what was closed, at once",
     .description = "Opens a scope before its time. 'pawl stats' shows what is closed.",
     .positionals = maybe_key,
     .options = open_options,
     .exit_codes = give_codes,
     .examples = open_examples,
     .run = scope_open},
    {.path = "limit set",
     .summary = "limit how many tasks are claimed, or run at once",
     .description =
         "Limits the queue, a type, a key or every key, for all workers together. A limited key "
         "never holds up others. With several shards, each has its share of what is limited for a "
         "type or the queue.",
     .options = limit_set_options,
     .exit_codes = give_codes,
     .examples = limit_set_examples,
     .run = limit_set},
    {.path = "limit list",
     .summary = "print the limits of the queue",
     .description = "Prints what is limited, and how.",
     .options = json_only,
     .exit_codes = look_codes,
     .examples = limit_list_examples,
     .run = limit_list},
    {.path = "limit remove",
     .summary = "take a limit away",
     .description = "Takes a limit away. One that the configuration has is set again by the next "
                    "worker that starts.",
     .options = limit_remove_options,
     .exit_codes = give_codes,
     .examples = limit_remove_examples,
     .run = limit_remove},
    {.path = "schedule create",
     .summary = "have a task submitted at certain times",
     .description =
         "Makes a schedule, or changes the one of that name. Each firing submits one task, however "
         "many workers run; what was missed while none ran fires once. A time that the clocks of "
         "the zone skip fires at the jump, one that comes twice fires once.",
     .positionals = schedule_name,
     .options = schedule_create_options,
     .exit_codes = give_codes,
     .examples = schedule_create_examples,
     .run = schedule_create},
    {.path = "schedule list",
     .summary = "list schedules",
     .description = "Prints every schedule, and when it fires next.",
     .options = schedule_list_options,
     .exit_codes = look_codes,
     .examples = schedule_list_examples,
     .run = schedule_list},
    {.path = "schedule show",
     .summary = "print a schedule",
     .description = "Prints one schedule.",
     .positionals = schedule_name,
     .options = json_only,
     .exit_codes = give_codes,
     .examples = schedule_show_examples,
     .run = schedule_show},
    {.path = "schedule enable",
     .summary = "let a schedule fire again",
     .description = "Lets it fire from its next time on.",
     .positionals = schedule_name,
     .options = json_only,
     .exit_codes = give_codes,
     .examples = schedule_enable_examples,
     .run = schedule_enable},
    {.path = "schedule disable",
     .summary = "keep a schedule from firing",
     .description = "Keeps it from firing, until it is enabled.",
     .positionals = schedule_name,
     .options = json_only,
     .exit_codes = give_codes,
     .examples = schedule_disable_examples,
     .run = schedule_disable},
    {.path = "schedule delete",
     .summary = "delete a schedule",
     .description = "Deletes a schedule. Tasks that it has submitted stay.",
     .positionals = schedule_name,
     .options = json_only,
     .exit_codes = give_codes,
     .examples = schedule_delete_examples,
     .run = schedule_delete},
    {.path = "schedule trigger",
     .summary = "submit a schedule's task now",
     .description = "Submits a task with the terms of the schedule, which fires as before.",
     .positionals = schedule_name,
     .options = json_only,
     .exit_codes = give_codes,
     .examples = schedule_trigger_examples,
     .run = schedule_trigger},
    {.path = "stats",
     .summary = "print how many tasks wait, run and have ended",
     .description = "Prints counts by type, the age of the oldest due task, and what is closed.",
     .options = stats_options,
     .exit_codes = look_codes,
     .examples = stats_examples,
     .run = queue_stats},
    {.path = "cost",
     .summary = "print what the queue costs in requests, and in money",
     .description =
         "Prints requests to the store by kind: of a task, by what the queue's log shows; of an "
         "hour in which a worker finds nothing; and of this command. Prices are queue.prices.",
     .options = json_only,
     .exit_codes = look_codes,
     .examples = cost_examples,
     .run = queue_cost},
    {.path = "export",
     .summary = "write tasks as JSON, a line each",
     .description =
         "Writes every task that the queue has, or those that fit, in the order in which they are "
         "due. Schedules, limits and what is closed are no tasks: they are not written.",
     .positionals = export_file,
     .options = export_options,
     .exit_codes = export_codes,
     .examples = export_examples,
     .run = queue_export},
    {.path = "import",
     .summary = "submit tasks that were exported",
     .description =
         "Submits each task of an export under its id, so that importing twice changes nothing. A "
         "task that waited goes on waiting, one that ran is due at once, and both keep what they "
         "have counted; their last error, their history and how long they have waited stay behind. "
         "Tasks that are over are left "
         "out, unless their status is named: then they begin again, from the start.",
     .positionals = import_file,
     .options = import_options,
     .exit_codes = give_codes,
     .examples = import_examples,
     .run = queue_import},
};

}  // namespace

std::span<const Verb> queue_rows() {
  return rows;
}

}  // namespace pawl::cli
