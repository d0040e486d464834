// `pawl emulate`: a server that is not the real one, for testing programs that trade, or that keep
// objects. See docs/emulators.md.
#pragma once

#include "cli/verb.h"
#include "emulator/venue_names.h"

namespace pawl::cli {

// Returns when a signal ended it.
int emulate(const Arguments& arguments);

inline constexpr Positional emulate_positionals[] = {
    {.value = {.name = "VENUE", .choices = emulator::venue_names}, .help = "Which one."},
};
inline constexpr Option emulate_options[] = {
    {.name = "--listen",
     .value = {.name = "ADDRESS:PORT"},
     .help = "Where it listens; port 0 is any free one.",
     .standard = "127.0.0.1:0"},
    {.name = "--control",
     .value = {.name = "ADDRESS:PORT"},
     .help = "Where tests look at orders and calls, move the clock and change the faults."},
    {.name = "--faults",
     .value = {.name = "FILE", .is_file = true},
     .help = "What goes wrong, and how the venue behaves, as JSON."},
    {.name = "--log",
     .value = {.name = "FILE", .is_file = true},
     .help = "A line of JSON for every call."},
    {.name = "--book",
     .value = {.name = "FILE", .is_file = true},
     .help = "Where orders or objects are kept, so that they outlive the emulator. Without it they "
             "do not."},
};
inline constexpr ExitCode emulate_codes[] = {
    {0, "a signal ended it"},
    {1, "the fault script or the book is not valid"},
    {5, "there is no such fault script"},
    {6, "an address is taken, or a file cannot be used"},
};
inline constexpr Example emulate_examples[] = {
    {"pawl emulate saxo --listen 127.0.0.1:9200 --control 127.0.0.1:9201", "a Saxo without faults"},
    {"pawl emulate okx --faults faults.json --log calls.jsonl --book orders.jsonl",
     "an OKX with them; every call is logged, orders are kept"},
    {"pawl emulate s3 --listen 127.0.0.1:9300", "an S3 with the bucket pawl"},
};
inline constexpr Verb emulate_verb = {
    .path = "emulate",
    .summary = "stand in for a venue or for S3, with faults on purpose",
    .description =
        "Serves the trading API of the venue from an order book of its own: limits, duplicate "
        "windows, retention, and every fault that is asked for by a script or a seed; or an S3 "
        "with signatures, conditional writes and requests counted by kind. Prints where it "
        "listens. Any program can be tested against it. It reads no configuration.",
    .positionals = emulate_positionals,
    .options = emulate_options,
    .exit_codes = emulate_codes,
    .examples = emulate_examples,
    .run = emulate};

}  // namespace pawl::cli
