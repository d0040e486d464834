#include "cli/verbs.h"

#include <string>

#include "cli/audit_verbs.h"
#include "cli/completions.h"
#include "cli/config_verbs.h"
#include "cli/configuration.h"
#include "cli/demo_upstream.h"
#include "cli/doctor.h"
#include "cli/emulate.h"
#include "cli/idempotency_verbs.h"
#include "cli/man.h"
#include "cli/output.h"
#include "cli/replay_verb.h"
#include "cli/retry_verbs.h"
#include "cli/serve.h"
#include "cli/sim_verb.h"
#include "config/retry.h"

namespace pawl::cli {
namespace {

int run_serve(const Arguments& arguments) {
  const std::string file = config_file(arguments);
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<void> served = serve(*config, [file] { return reload_config(file); });
  return served ? 0 : fail(served.error());
}

int run_completions(const Arguments& arguments) {
  const std::string& shell = arguments.value("SHELL");
  print(shell == "bash"  ? bash_completions(all_verbs())
        : shell == "zsh" ? zsh_completions(all_verbs())
                         : fish_completions(all_verbs()));
  return 0;
}

int run_man(const Arguments&) {
  print(man_page(all_verbs()));
  return 0;
}

constexpr Option json_option = {.name = "--json", .help = "Print JSON, on one line."};
constexpr Option json_only[] = {json_option};

constexpr ExitCode serve_codes[] = {
    {0, "a signal ended it"},
    {1, "the configuration is not valid"},
    {6, "an address is taken, or the audit log cannot be used"},
};
constexpr Example serve_examples[] = {
    {"pawl serve", "with pawl.yaml, or with the built-in defaults"},
    {"pawl serve --config shop.yaml", "with a file of your choice"},
};

constexpr Positional check_file[] = {
    {.value = {.name = "FILE", .is_file = true},
     .help = "The file to check. Without it: the configuration that would be in force.",
     .required = false},
};
constexpr ExitCode check_codes[] = {
    {0, "the configuration is valid"},
    {1, "it is not; every problem is named"},
};
constexpr Example check_examples[] = {
    {"pawl config check pawl.yaml", "prints 'pawl.yaml: ok', or every problem, one a line"},
    {"pawl config check --json pawl.yaml", "the same for programs"},
};

constexpr ExitCode show_codes[] = {
    {0, "printed"},
    {1, "the configuration is not valid"},
};
constexpr Example show_examples[] = {
    {"pawl config show > next.yaml", "a file to begin with, every setting written out"},
    {"pawl config show --config shop.yaml --json", "what shop.yaml amounts to, for programs"},
};

constexpr Example reference_examples[] = {
    {"pawl config reference > configuration.md", "the page about every setting"},
};

constexpr ExitCode doctor_codes[] = {
    {0, "nothing failed; there may be something to look at"},
    {1, "the configuration is not valid"},
    {6, "something else failed"},
};
constexpr Example doctor_examples[] = {
    {"pawl doctor", "before the first start, or when something is odd"},
    {"pawl doctor --config shop.yaml --json", "for a monitoring job"},
};

constexpr Positional audit_file[] = {
    {.value = {.name = "FILE", .is_file = true},
     .help = "The audit log. Without it: the one that the configuration names.",
     .required = false},
};
constexpr Option verify_options[] = {
    {.name = "--anchor",
     .value = {.name = "FILE", .is_file = true},
     .help = "A copy of the log's anchor that was kept elsewhere, to be believed in place of the "
             "one beside the log."},
    json_option,
};
constexpr ExitCode verify_codes[] = {
    {0, "every record is as it was written"},
    {1, "no FILE was given, and the configuration is not valid"},
    {3, "a record was changed, removed, moved or cut off; the first is named"},
    {5, "there is no such file"},
    {6, "a file cannot be read"},
};
constexpr Example verify_examples[] = {
    {"pawl audit verify", "the log that the configuration names"},
    {"pawl audit verify data/audit.jsonl --json", "a file, for programs"},
    {"pawl audit verify data/audit.jsonl --anchor /mnt/safe/audit.jsonl.anchor",
     "against an anchor that nobody who can write the log can write"},
};

constexpr Option tail_options[] = {
    {.name = "--lines",
     .value = {.name = "COUNT"},
     .help = "How many records, up to 10000.",
     .standard = "10"},
    {.name = "--follow", .help = "Go on with what comes, until a signal ends it."},
    {.name = "--json", .help = "Print the records as they stand in the log, one a line."},
};
constexpr ExitCode tail_codes[] = {
    {0, "printed"},
    {1, "no FILE was given, and the configuration is not valid"},
    {5, "there is no such file"},
    {6, "a file cannot be read"},
};
constexpr Example tail_examples[] = {
    {"pawl audit tail", "the last ten decisions, a line each"},
    {"pawl audit tail data/audit.jsonl --follow --json | jq .why", "what is decided, as it is"},
};

constexpr ExitCode stats_codes[] = {
    {0, "printed, alert or not"},
    {1, "the configuration is not valid"},
    {5, "there is no such file"},
    {6, "a file cannot be read"},
};
constexpr Example stats_examples[] = {
    {"pawl audit stats", "the log that the configuration names, as a table"},
    {"pawl audit stats --json | jq .retry_rate.alert", "for a monitoring job"},
};

constexpr Positional replay_file[] = {
    {.value = {.name = "FILE",
               .is_file = true,
               .several = true,
               .asks = "list --status failed --ids --limit 1000 --prefix TYPED"},
     .help = "The audit log; or the ids of tasks."},
};
constexpr ExitCode replay_codes[] = {
    {0, "every decision that can be taken again comes out as it was recorded"},
    {1, "of a task: the configuration is not valid, or the queue is damaged or has other settings"},
    {2, "something given is not allowed"},
    {3,
     "one does not, or a record is missing, out of place or changed; the first is named; of a "
     "task: it has not failed, nor was it cancelled or expired, or the store refuses"},
    {4, "of a task: the store ceased to answer, and nobody knows whether it was done"},
    {5, "there is no such file, or task"},
    {6, "a file cannot be read, or the queue's store is not available"},
};
constexpr Example replay_examples[] = {
    {"pawl replay data/audit.jsonl", "all its files, oldest first"},
    {"pawl replay data/audit.jsonl --json | jq .difference", "the first that differs, or null"},
    {"pawl replay 0102030405060708090a0b0c", "a task that failed, from the start"},
    {"pawl replay 0102030405060708090a0b0c 0d0e0f101112131415161718", "several"},
};

constexpr Example retry_examples[] = {
    {"pawl retry policies", "every category, a line each; * marks what is not the default"},
    {"pawl retry policies --config shop.yaml --json", "what shop.yaml amounts to, for programs"},
};

constexpr std::string_view transports[] = {"answered", "not_sent", "broke_off", "timed_out",
                                           "raised"};
constexpr Option classify_options[] = {
    {.name = "--table",
     .value = {.name = "NAME"},
     .help = "The classification table, one of retry.classify.",
     .standard = config::http_table_name},
    {.name = "--status",
     .value = {.name = "STATUS"},
     .help = "The status of the answer, as in 503; none when there was no answer."},
    {.name = "--code",
     .value = {.name = "CODE"},
     .help = "The error code in the answer's body, or the type of the exception."},
    {.name = "--transport",
     .value = {.name = "HOW_FAR", .choices = transports},
     .help = "How far the attempt came; not_sent: no byte of it left; broke_off and timed_out: "
             "something had left; raised: an exception.",
     .standard = "answered"},
    {.name = "--names-effect", .help = "The answer names what it made, as an order's id."},
    json_option,
};
constexpr ExitCode classify_codes[] = {
    {0, "printed"},
    {1, "the configuration is not valid"},
    {5, "there is no such table"},
};
constexpr Example classify_examples[] = {
    {"pawl retry classify --status 503", "what a 503 means"},
    {"pawl retry classify --table shop --status 409 --code OutOfStock --json",
     "by a table of your own, for programs"},
    {"pawl retry classify --transport timed_out", "what it means when no answer came in time"},
};

constexpr Positional record_key[] = {
    {.value = {.name = "TENANT"}, .help = "Whose key it is; '' when it is nobody's."},
    {.value = {.name = "KEY"}, .help = "As list prints it, or as the gateway's client gave it."},
};
constexpr Option list_options[] = {
    {.name = "--tenant", .value = {.name = "TENANT"}, .help = "The keys of this tenant alone."},
    {.name = "--limit",
     .value = {.name = "COUNT"},
     .help = "How many records, up to 1000.",
     .standard = "20"},
    json_option,
};
constexpr Option clear_options[] = {
    {.name = "--force",
     .help = "Clear it although it is in flight: whoever acts on it may still be at it."},
};
constexpr std::string_view outcomes[] = {"applied", "not_applied"};
constexpr Option settle_options[] = {
    {.name = "--as",
     .value = {.name = "OUTCOME", .choices = outcomes},
     .help = "How it ended. Must be given."},
    {.name = "--reason",
     .value = {.name = "TEXT"},
     .help = "How you know, for the audit log. Must be given."},
    {.name = "--result",
     .value = {.name = "TEXT"},
     .help = "What later callers with the key are answered, of one that was applied; nothing "
             "without it."},
};
constexpr ExitCode records_codes[] = {
    {0, "printed"},
    {1, "the configuration is not valid, or asks for more durability than the store gives"},
    {3, "the store is memory, which nobody else can see"},
    {5, "the store is a file, and there is none"},
    {6, "the store cannot be asked"},
};
constexpr ExitCode record_codes[] = {
    {0, "printed"},
    {1, "the configuration is not valid, or asks for more durability than the store gives"},
    {3, "the store is memory, which nobody else can see"},
    {5, "there is no such record"},
    {6, "the store cannot be asked"},
};
constexpr ExitCode clear_codes[] = {
    {0, "cleared"},
    {1, "the configuration is not valid, or asks for more durability than the store gives"},
    {3, "it is in flight, and --force was not given"},
    {5, "there is no such record"},
    {6, "the store cannot be asked, or the audit log cannot be written"},
};
constexpr ExitCode settle_codes[] = {
    {0, "settled"},
    {1, "the configuration is not valid, or asks for more durability than the store gives"},
    {3, "its outcome is not unknown: it is in flight, or it has ended"},
    {5, "there is no such record"},
    {6, "the store cannot be asked, or the audit log cannot be written"},
};
constexpr Example list_examples[] = {
    {"pawl idempotency list --tenant acme", "the newest keys of a tenant, a line each"},
    {"pawl idempotency list --json | jq '.records[] | select(.status == \"unknown\")'",
     "what somebody has to look at"},
};
constexpr Example record_examples[] = {
    {"pawl idempotency show acme order-17", "all that is known of the key, and its result"},
    {"pawl idempotency show '' order-17 --json", "a key of no tenant, for programs"},
};
constexpr Example clear_examples[] = {
    {"pawl idempotency clear acme order-17", "the next caller with the key acts again"},
    {"pawl idempotency clear acme order-17 --force", "although somebody seems to be at it"},
};
constexpr Example settle_examples[] = {
    {"pawl idempotency settle acme order-17 --as not_applied --reason absent",
     "it may be sent again"},
    {"pawl idempotency settle acme order-17 --as applied --reason seen --result 4711",
     "later callers are answered 4711"},
};

constexpr std::string_view shells[] = {"bash", "zsh", "fish"};
constexpr Positional shell[] = {
    {.value = {.name = "SHELL", .choices = shells}, .help = "Which shell it is for."},
};
constexpr Example completions_examples[] = {
    {"pawl completions bash > /etc/bash_completion.d/pawl", "for bash, for every user"},
    {"pawl completions zsh > ~/.zfunc/_pawl", "for zsh, in a folder of its fpath"},
    {"pawl completions fish > ~/.config/fish/completions/pawl.fish", "for fish"},
};

constexpr Example man_examples[] = {
    {"pawl man > pawl.1", "to be read with 'man ./pawl.1'"},
};

constexpr Verb table[] = {
    {.path = "serve",
     .summary = "stand in front of a service and pace what reaches it",
     .description =
         "Listens on server.listen, passes what the limits allow to server.upstream, and answers "
         "429 to the rest, with the time to wait. Every decision is written to the audit log. "
         "server.admin.listen serves the panel (/panel/), the admin API (/v1/, /openapi.json), "
         "/healthz, /readyz and /metrics. SIGTERM and SIGINT end it once what is under way is "
         "finished. SIGHUP reads the configuration again, all of it or nothing.",
     .exit_codes = serve_codes,
     .examples = serve_examples,
     .run = run_serve},
    demo_upstream_verb,
    emulate_verb,
    sim_verb,
    {.path = "config check",
     .summary = "check a configuration file",
     .description =
         "Reads the file as 'pawl serve' would. Each problem is told with file, line and "
         "path, what was found and what is allowed, all of them at once.",
     .positionals = check_file,
     .options = json_only,
     .exit_codes = check_codes,
     .examples = check_examples,
     .run = config_check},
    {.path = "config show",
     .summary = "print the configuration in force",
     .description = "Prints YAML with every setting, defaults included. Secrets are shown as ***, "
                    "which is refused as a value; once they are filled in again, it can be read "
                    "as a configuration file.",
     .options = json_only,
     .exit_codes = show_codes,
     .examples = show_examples,
     .run = config_show},
    {.path = "config reference",
     .summary = "print the page about every setting",
     .description = "Prints Markdown: path, type, what is allowed, default and meaning of every "
                    "setting. It reads no configuration.",
     .examples = reference_examples,
     .run = config_reference},
    {.path = "doctor",
     .summary = "say what works and what to do about what does not",
     .description =
         "Looks at the configuration, the addresses, the upstream, the stores, the audit "
         "log and its disk, file descriptors and clocks. It changes nothing, but that a bucket or "
         "stream that a NATS does not have yet is made, and that some small objects are put below "
         "probe/ of the queue's store and removed. Colour is used on a terminal, unless "
         "NO_COLOR is set.",
     .options = json_only,
     .exit_codes = doctor_codes,
     .examples = doctor_examples,
     .run = doctor},
    {.path = "audit verify",
     .summary = "check the hash chain of an audit log",
     .description =
         "Reads the log from its beginning, over all its files, and checks that every record is as "
         "it was written and follows the one before it, and that it does not end before the record "
         "its anchor names. Prints how many were verified, and the last one's number and hash. A "
         "file that was set aside can be checked alone. Others may write meanwhile.",
     .positionals = audit_file,
     .options = verify_options,
     .exit_codes = verify_codes,
     .examples = verify_examples,
     .run = audit_verify},
    {.path = "audit tail",
     .summary = "print the last decisions, or each as it is taken",
     .description = "Prints the last records of the log, one a line: time, kind, operation, and "
                    "the rest as name=value. Goes on from file to file when the log does.",
     .positionals = audit_file,
     .options = tail_options,
     .exit_codes = tail_codes,
     .examples = tail_examples,
     .run = audit_tail},
    {.path = "audit stats",
     .summary = "count attempts, successes and retries by category",
     .description =
         "Reads the whole log and prints for each category how many operations ended, attempts, "
         "retries, replayed results, the share that succeeded, and attempts an operation; then the "
         "retries of the last minute, and whether they pass audit.retry_alert.",
     .positionals = audit_file,
     .options = json_only,
     .exit_codes = stats_codes,
     .examples = stats_examples,
     .run = audit_stats},
    {.path = "replay",
     .summary = "take decisions of an audit log again, or a failed task",
     .description =
         "Reads the log from its beginning, over all its files, takes every decision on retries "
         "and limits again from what its record says it was decided on, and compares. Prints how "
         "many came out alike, how many records hold no decision, and how many cannot be taken "
         "again and why. The records must be those that were written, and none may be missing or "
         "out of place, as 'pawl audit verify' checks it. Given ids of tasks, it lets those that "
         "failed, were cancelled or have expired begin again, their counters at 0.",
     .positionals = replay_file,
     .options = json_only,
     .exit_codes = replay_codes,
     .examples = replay_examples,
     .run = replay},
    {.path = "retry policies",
     .summary = "print how often and how late each category is retried",
     .description =
         "Prints the policies in force: attempts, first and longest delay, what multiplies it, "
         "jitter, deadline for all attempts and timeout for one; then the budget and the breaker. "
         "What is not the default is marked.",
     .options = json_only,
     .exit_codes = show_codes,
     .examples = retry_examples,
     .run = retry_policies},
    {.path = "retry classify",
     .summary = "say what an answer, or its absence, means",
     .description =
         "Looks at the classification table as a call would and prints the kind of failure, what "
         "became of the side effect, whether another attempt could end better, what follows of it, "
         "and which row decided. A policy may list failures that are retried, or not, whatever the "
         "table says; what does no harm twice is sent again without finding out first.",
     .options = classify_options,
     .exit_codes = classify_codes,
     .examples = classify_examples,
     .run = retry_classify},
    {.path = "idempotency list",
     .summary = "print the records of idempotency keys",
     .description =
         "Prints the records of idempotency.store, the newest first: key, tenant, status "
         "(in_flight, done, failed, unknown), when it was begun and when it expires, and how often "
         "its result was returned.",
     .options = list_options,
     .exit_codes = records_codes,
     .examples = list_examples,
     .run = idempotency_list},
    {.path = "idempotency show",
     .summary = "print one record, with its result",
     .description = "Prints all that idempotency.store knows of one key. It changes nothing.",
     .positionals = record_key,
     .options = json_only,
     .exit_codes = record_codes,
     .examples = record_examples,
     .run = idempotency_show},
    {.path = "idempotency clear",
     .summary = "forget one key, as if it had never been used",
     .description =
         "Removes the record of a key, so that the next caller with it acts again: make sure that "
         "this is wanted. It is written to the audit log before it is done.",
     .positionals = record_key,
     .options = clear_options,
     .exit_codes = clear_codes,
     .examples = clear_examples,
     .run = idempotency_clear},
    {.path = "idempotency settle",
     .summary = "say how an intent of unknown outcome ended",
     .description =
         "A key whose owner died, or heard no answer, stays unknown until somebody finds out what "
         "became of it. Applied: later callers get the result. Not applied: the next caller acts. "
         "It is written to the audit log before it is done.",
     .positionals = record_key,
     .options = settle_options,
     .exit_codes = settle_codes,
     .examples = settle_examples,
     .run = idempotency_settle},
    {.path = "completions",
     .summary = "print completions for a shell",
     .description =
         "Prints a script with which the shell completes verbs, options, choices and files. It "
         "reads no configuration.",
     .positionals = shell,
     .examples = completions_examples,
     .run = run_completions},
    {.path = "man",
     .summary = "print the manual page",
     .description = "Prints mdoc, for man(1) and mandoc(1). It reads no configuration.",
     .examples = man_examples,
     .run = run_man},
};

}  // namespace

std::span<const Verb> basic_rows() {
  return table;
}

}  // namespace pawl::cli
