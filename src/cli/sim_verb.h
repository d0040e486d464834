// `pawl sim`: runs of pawl's own core and runtime in a simulated world, by seed.
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int simulate(const Arguments& arguments);

inline constexpr std::string_view sim_workloads[] = {"limiter_storm"};
inline constexpr Option sim_options[] = {
    {.name = "--seed", .value = {.name = "N"}, .help = "One run, and all that it was made of."},
    {.name = "--seeds", .value = {.name = "A..B"}, .help = "Those from A to B; 0..999 without it."},
    {.name = "--workload",
     .value = {.name = "NAME", .choices = sim_workloads},
     .help = "What is simulated.",
     .standard = "limiter_storm"},
    {.name = "--bug",
     .value = {.name = "N"},
     .help = "Puts a bug in, to see that it is found. 1: the store forgets what it charged."},
    {.name = "--json", .help = "Prints JSON."},
};
inline constexpr ExitCode sim_codes[] = {
    {0, "no rule was broken"},
    {2, "an option is not valid"},
    {3, "a rule was broken; the seed is named"},
};
inline constexpr Example sim_examples[] = {
    {"pawl sim", "a thousand storms of tenants"},
    {"pawl sim --seed 17", "one of them again, with what it was made of"},
    {"pawl sim --seeds 0..99 --bug 1", "what a store that forgets looks like"},
};
inline constexpr Verb sim_verb = {
    .path = "sim",
    .summary = "simulate pawl itself, and check that it keeps its rules",
    .description =
        "Runs the real machines and the engine over a simulated clock, a store that is late and "
        "loses answers, and an upstream that fails, as each seed has it; checkers watch from "
        "outside. The same seed gives the same run. limiter_storm: tenants storm a set of limits; "
        "none is passed, every request ends and is on record, what was refused was never sent. It "
        "reads no configuration.",
    .options = sim_options,
    .exit_codes = sim_codes,
    .examples = sim_examples,
    .run = simulate};

}  // namespace pawl::cli
