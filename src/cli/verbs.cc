#include "cli/verbs.h"

#include <string>

#include "base/address.h"
#include "cli/audit_verbs.h"
#include "cli/completions.h"
#include "cli/config_verbs.h"
#include "cli/configuration.h"
#include "cli/demo_upstream.h"
#include "cli/doctor.h"
#include "cli/man.h"
#include "cli/output.h"
#include "cli/serve.h"

namespace pawl::cli {
namespace {

int run_serve(const Arguments& arguments) {
  const std::string file = config_file(arguments);
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<void> served = serve(*config, [file] { return reload_config(file); });
  return served ? 0 : fail(served.error());
}

int run_demo_upstream(const Arguments& arguments) {
  const Result<Endpoint> listen = parse_endpoint(arguments.value("--listen"));
  if (!listen) return fail(usage_error("demo-upstream", "--listen: " + listen.error().message));
  const Result<void> served = demo_upstream(*listen);
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

constexpr Option demo_options[] = {
    {.name = "--listen",
     .value = {.name = "ADDRESS:PORT"},
     .help = "Where it listens; port 0 is any free one.",
     .standard = "127.0.0.1:9000"},
};
constexpr ExitCode demo_codes[] = {
    {0, "a signal ended it"},
    {6, "the address is taken"},
};
constexpr Example demo_examples[] = {
    {"pawl demo-upstream", "where the built-in defaults look for the upstream"},
    {"pawl demo-upstream --listen 127.0.0.1:9100", "elsewhere"},
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
constexpr ExitCode verify_codes[] = {
    {0, "every record is as it was written"},
    {1, "no FILE was given, and the configuration is not valid"},
    {3, "a record was changed, removed, moved or cut; the first is named"},
    {5, "there is no such file"},
    {6, "the file cannot be read"},
};
constexpr Example verify_examples[] = {
    {"pawl audit verify", "the log that the configuration names"},
    {"pawl audit verify data/audit.jsonl --json", "a file, for programs"},
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
         "429 "
         "to the rest, with the time to wait. Every decision is written to the audit log. "
         "server.admin.listen serves /healthz, /readyz and /metrics. SIGTERM and SIGINT end it "
         "once "
         "what is under way is finished. SIGHUP reads the configuration again, all of it or "
         "nothing.",
     .exit_codes = serve_codes,
     .examples = serve_examples,
     .run = run_serve},
    {.path = "demo-upstream",
     .summary = "a small service to put pawl in front of",
     .description =
         "Answers every request with what it saw, as JSON, and counts the requests. /fail "
         "answers 500. It reads no configuration.",
     .options = demo_options,
     .exit_codes = demo_codes,
     .examples = demo_examples,
     .run = run_demo_upstream},
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
         "log and its disk, file descriptors and clocks. It changes nothing. Colour is used "
         "on a terminal, unless NO_COLOR is set.",
     .options = json_only,
     .exit_codes = doctor_codes,
     .examples = doctor_examples,
     .run = doctor},
    {.path = "audit verify",
     .summary = "check the hash chain of an audit log",
     .description =
         "Reads the log from its beginning and checks that every record is as it was "
         "written and follows the one before it. Prints how many were verified, and the "
         "last one's number and hash. A log whose last records were removed is a shorter "
         "log without a flaw: compare its end with one noted earlier.",
     .positionals = audit_file,
     .options = json_only,
     .exit_codes = verify_codes,
     .examples = verify_examples,
     .run = audit_verify},
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

std::span<const Verb> all_verbs() {
  return table;
}

}  // namespace pawl::cli
