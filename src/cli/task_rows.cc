#include "cli/queue_options.h"
#include "cli/queue_rows.h"
#include "cli/queue_verbs.h"

namespace pawl::cli {
namespace {

constexpr auto submit_options = joined(
    terms_options,
    std::to_array<Option>({
        {.name = "--unique",
         .value = {.name = "NAME"},
         .help = "At most one task of this name among those of its key: the same input gives the "
                 "task that there is, another input is refused."},
        {.name = "--delay", .value = {.name = "DURATION"}, .help = "Not before so long, as in 5m."},
        {.name = "--at",
         .value = {.name = "TIME"},
         .help = "Not before this instant, as in 2026-03-04T12:00:00Z."},
        {.name = "--ttl",
         .value = {.name = "DURATION"},
         .help = "It expires if it waits when so long is over: for its first try, for a retry, or "
                 "because it was put off. One that runs then may end."},
        {.name = "--many",
         .value = {.name = "FILE", .is_file = true},
         .help = "A task for each line of the file, which is its input; - is standard input."},
        json_option,
    }));
constexpr ExitCode submit_codes[] = {
    {0, "durable, and the id printed"},
    not_valid_code,
    {2, "something given is not allowed, and nothing of that was submitted"},
    {3,
     "refused: another task has the unique name, or the queue is full; or by the store, which is "
     "read-only, or whose bucket or keys are wrong"},
    {4,
     "the store ceased to answer in the middle; the ids that may or may not be there are named, "
     "besides those that were submitted before (with --json as \"unknown\"): "
     "look with 'pawl get' before submitting again, or give --unique"},
    {4, "submitted, but the ids cannot be printed: they are named on standard error"},
    {5, "there is no such file"},
    {6, "the store is not available, and nothing was submitted"},
};
constexpr Example submit_examples[] = {
    {"pawl submit -t call_api -i '{\"url\":\"https://example.org\"}'", "a task, due at once"},
    {"pawl submit -t report -i @report.json --key acme --delay 5m --max-reschedules 50",
     "later, and with a key that can be limited or closed"},
    {"pawl submit -t mail --many mails.jsonl --priority 10", "many at once"},
};

constexpr Positional task_id[] = {
    {.value = {.name = "ID", .asks = task_ids}, .help = "The task's id: 24 hexadecimal digits."},
};
constexpr Example get_examples[] = {
    {"pawl get 0102030405060708090a0b0c", "a field a line: reschedule_count: 5"},
    {"pawl get --json 0102030405060708090a0b0c", "for programs"},
};
constexpr Example history_examples[] = {
    {"pawl history 0102030405060708090a0b0c", "Version 1: pending (created), and so on"},
};
constexpr Example why_examples[] = {
    {"pawl why 0102030405060708090a0b0c", "'key acme is closed until ...'"},
};

constexpr auto list_options = std::to_array<Option>({
    status_option,
    type_option,
    key_option,
    {.name = "--limit",
     .value = {.name = "N"},
     .help = "How many, up to 1000. Without it 100, and with --ids all."},
    {.name = "--after",
     .value = {.name = "ID", .asks = task_ids},
     .help = "From behind this one, by id."},
    {.name = "--prefix", .value = {.name = "DIGITS"}, .help = "Those whose ids begin so."},
    {.name = "--ids", .help = "Print ids alone, one a line."},
    json_option,
});
constexpr Example list_examples[] = {
    {"pawl list --status failed", "what somebody has to look at"},
    {"pawl list --status failed --ids | xargs -r pawl replay", "all of it again"},
};

constexpr auto tail_options = std::to_array<Option>({
    type_option,
    key_option,
    {.name = "--status",
     .value = {.name = "STATUS", .choices = task_statuses},
     .help = "Only when a task becomes this."},
    {.name = "--since",
     .value = {.name = "DURATION"},
     .help = "Begin so far back. Without it: now."},
    {.name = "--for", .value = {.name = "DURATION"}, .help = "End after so long."},
    {.name = "--json", .help = "Print JSON, a line an event."},
});
constexpr Example tail_examples[] = {
    {"pawl tail -t call_api", "each change of such a task, as it happens"},
    {"pawl tail --status failed --since 1h --json", "failures, for programs"},
};

constexpr Positional task_ids_given[] = {
    {.value = {.name = "ID", .several = true, .asks = task_ids},
     .help = "Tasks by their ids.",
     .required = false},
};
constexpr auto cancel_options = std::to_array<Option>({
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .asks = task_types},
     .help = "In place of ids: all tasks of this type that are not over."},
    {.name = "--reason", .value = {.name = "TEXT"}, .help = "Why; it is kept with the task."},
    json_option,
});
constexpr ExitCode cancel_codes[] = {
    {0, "each is cancelled, or was asked to stop"},
    not_valid_code,
    not_allowed_code,
    {3, "one is over already; or the store refuses: read-only, wrong bucket or keys"},
    in_doubt_code,
    {5, "one is not there, or there is no queue yet"},
    store_away_code,
};
constexpr Example cancel_examples[] = {
    {"pawl cancel 0102030405060708090a0b0c --reason duplicate", "one"},
    {"pawl cancel -t call_api", "all of a type"},
};

constexpr Verb rows[] = {
    {.path = "submit",
     .summary = "give the queue a task",
     .description =
         "Writes a task, or several, to the queue that queue.url names, and prints the id of each. "
         "What is printed is durable. The queue is made where it is not there yet, once its store "
         "has shown that it keeps conditional writes.",
     .options = submit_options,
     .exit_codes = submit_codes,
     .examples = submit_examples,
     .run = task_submit},
    {.path = "get",
     .summary = "print a task",
     .description = "Prints all of a task, a field a line.",
     .positionals = task_id,
     .options = json_only,
     .exit_codes = task_codes,
     .examples = get_examples,
     .run = task_get},
    {.path = "history",
     .summary = "print what became of a task, the oldest first",
     .description = "Prints the versions of a task: what it became, when and why. Of more than "
                    "10,000 some from the middle are left out, and their number is told.",
     .positionals = task_id,
     .options = json_only,
     .exit_codes = task_codes,
     .examples = history_examples,
     .run = task_history},
    {.path = "why",
     .summary = "say why a task does not run",
     .description =
         "Says in words what holds a task up: it is not due, its key, type or the queue is closed "
         "or limited, it runs already and who has it, or no worker takes its type; and what to do "
         "about it.",
     .positionals = task_id,
     .options = json_only,
     .exit_codes = task_codes,
     .examples = why_examples,
     .run = task_why},
    {.path = "list",
     .summary = "list tasks",
     .description = "Prints tasks by their ids, a line each. Where there are more than were asked "
                    "for, it says so (with --json as \"more\"); --after goes on.",
     .options = list_options,
     .exit_codes = look_codes,
     .examples = list_examples,
     .run = task_list},
    {.path = "tail",
     .summary = "print what happens to tasks, as it happens",
     .description = "Prints a line for each version of a task from now on: created, claimed, "
                    "rescheduled, completed. It ends with SIGINT.",
     .options = tail_options,
     .exit_codes = look_codes,
     .examples = tail_examples,
     .run = task_tail},
    {.path = "cancel",
     .summary = "cancel tasks",
     .description =
         "A task that waits is cancelled. One that runs is asked to stop: its handler hears of it "
         "with the next sign of life. It is cancelled unless the handler completes it first: what "
         "is done is done. Neither a retry nor a reschedule brings it back.",
     .positionals = task_ids_given,
     .options = cancel_options,
     .exit_codes = cancel_codes,
     .examples = cancel_examples,
     .run = task_cancel},
};

}  // namespace

std::span<const Verb> task_rows() {
  return rows;
}

}  // namespace pawl::cli
