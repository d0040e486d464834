// `pawl demo-upstream`: a small service to put pawl in front of. It answers every request with what
// it saw, and counts them; /fail answers 500.
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

// Returns when a signal ended it.
int demo_upstream(const Arguments& arguments);

inline constexpr Option demo_options[] = {
    {.name = "--listen",
     .value = {.name = "ADDRESS:PORT"},
     .help = "Where it listens; port 0 is any free one.",
     .standard = "127.0.0.1:9000"},
};
inline constexpr ExitCode demo_codes[] = {
    {0, "a signal ended it"},
    {6, "the address is taken"},
};
inline constexpr Example demo_examples[] = {
    {"pawl demo-upstream", "where the built-in defaults look for the upstream"},
    {"pawl demo-upstream --listen 127.0.0.1:9100", "elsewhere"},
};

inline constexpr Verb demo_upstream_verb = {
    .path = "demo-upstream",
    .summary = "a small service to put pawl in front of",
    .description =
        "Answers every request with what it saw, as JSON, and counts the requests. /fail "
        "answers 500. It reads no configuration.",
    .options = demo_options,
    .exit_codes = demo_codes,
    .examples = demo_examples,
    .run = demo_upstream};

}  // namespace pawl::cli
