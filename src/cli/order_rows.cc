#include "cli/order_rows.h"

#include <array>
#include <string_view>

#include "cli/order_verbs.h"

namespace pawl::cli {
namespace {

constexpr std::string_view venues[] = {"saxo", "okx"};
constexpr std::string_view sides[] = {"buy", "sell"};
constexpr std::string_view types[] = {"market", "limit", "stop", "stop_limit", "post_only"};
constexpr std::string_view validities[] = {"day", "gtc", "ioc", "fok"};
constexpr std::string_view trade_modes[] = {"cash", "cross", "isolated"};
constexpr std::string_view position_sides[] = {"long", "short", "net"};
constexpr std::string_view resolutions[] = {"placed", "absent"};
constexpr std::string_view statuses[] = {"sending", "reconciling", "unresolved", "confirmed",
                                         "rejected"};

constexpr Option json_option = {.name = "--json", .help = "Print JSON, on one line."};
constexpr auto json_only = std::to_array<Option>({json_option});
constexpr Option venue_option = {.name = "--venue",
                                 .value = {.name = "VENUE", .choices = venues},
                                 .help = "Where; orders.venues in the configuration must have it."};

constexpr Option this_venue_alone = {.name = "--venue",
                                     .value = {.name = "VENUE", .choices = venues},
                                     .help = "Of this venue alone."};

// What an order is.
constexpr auto terms = std::to_array<Option>({
    venue_option,
    {.name = "--inst",
     .value = {.name = "INSTRUMENT"},
     .help = "What is traded on okx, as in BTC-USDT-SWAP."},
    {.name = "--uic", .value = {.name = "UIC"}, .help = "What is traded on saxo, as in 211."},
    {.name = "--asset-type", .value = {.name = "TYPE"}, .help = "Goes with --uic, as in Stock."},
    {.name = "--side", .value = {.name = "SIDE", .choices = sides}, .help = "Of the order."},
    {.name = "--type", .value = {.name = "TYPE", .choices = types}, .help = "Of the order."},
    {.name = "--size",
     .value = {.name = "SIZE"},
     .help = "How much: a decimal number, which is never rounded."},
    {.name = "--price", .value = {.name = "PRICE"}, .help = "Of limit, stop_limit and post_only."},
    {.name = "--stop-price", .value = {.name = "PRICE"}, .help = "Of stop and stop_limit."},
    {.name = "--validity",
     .value = {.name = "HOW", .choices = validities},
     .help = "How long it stands: for the day, until it is canceled (gtc), or no longer than it "
             "takes to fill what can be (ioc) or all of it (fok). Without it: as is usual for its "
             "type."},
    {.name = "--reduce-only", .help = "It may only make a position smaller."},
    {.name = "--trade-mode",
     .value = {.name = "MODE", .choices = trade_modes},
     .help = "Of okx. Without it: by the instrument."},
    {.name = "--position-side",
     .value = {.name = "SIDE", .choices = position_sides},
     .help = "Of okx, where long and short positions are held apart."},
});

constexpr auto place_options = joined(
    terms,
    std::to_array<Option>({
        {.name = "--ref",
         .value = {.name = "REF"},
         .help = "Names the intent, so that placing it again sends nothing: 1 to 50 letters, "
                 "digits, _ - . and :. Without it one is made."},
        {.name = "--wait",
         .value = {.name = "DURATION"},
         .help = "How long to wait, as in 30s. What has not been sent by then is withdrawn. What "
                 "is on the wire is waited for; if its outcome is not known even then, nobody "
                 "works on it any more, and 'pawl order reconcile' finds out. Without it: to the "
                 "end."},
        {.name = "--dry-run", .help = "Say what would happen, and do nothing."},
        json_option,
    }));
constexpr ExitCode place_codes[] = {
    {0, "confirmed: the venue has it, once"},
    {2, "called wrongly, or the venue does not take such an order; nothing was sent"},
    {3, "rejected by the venue, or denied by the weekly limit"},
    {4, "unresolved: nobody knows whether the venue has it; see 'pawl order reconcile'"},
    {5, "no such venue is configured"},
    {6,
     "nothing was sent, as venue, database or audit log cannot be reached, or its time was up; "
     "it may be placed again under its reference"},
};
constexpr Example place_examples[] = {
    {"pawl order place --venue okx --inst BTC-USDT-SWAP --side buy --type limit --size 0.1 --price "
     "50000",
     "a limit order on OKX"},
    {"pawl order place --venue saxo --uic 211 --asset-type Stock --side buy --type market --size "
     "10 --ref rebalance-7",
     "a market order on Saxo; run twice, it is still one order"},
    {"pawl order place --venue okx --inst BTC-USDT-SWAP --side sell --type market --size 0.1 "
     "--reduce-only --dry-run",
     "what would happen"},
};

constexpr auto precheck_options = joined(terms, json_only);
constexpr ExitCode precheck_codes[] = {
    {0, "the venue would take it"},
    {3, "it would not, and says why"},
    {5, "no such venue is configured"},
    {6, "the venue does not answer"},
};
constexpr Example precheck_examples[] = {
    {"pawl order precheck --venue saxo --uic 211 --asset-type Stock --side buy --type market "
     "--size 10",
     "asks Saxo for costs and margin"},
};

constexpr Positional reference[] = {
    {.value = {.name = "REF"}, .help = "The order's external reference."},
};
constexpr Positional maybe_reference[] = {
    {.value = {.name = "REF"},
     .help = "The order's external reference. Without it: all that are open.",
     .required = false},
};

constexpr auto modify_options = std::to_array<Option>({
    {.name = "--size", .value = {.name = "SIZE"}, .help = "The new size."},
    {.name = "--price", .value = {.name = "PRICE"}, .help = "The new price."},
    {.name = "--stop-price", .value = {.name = "PRICE"}, .help = "The new stop price."},
    json_option,
});
constexpr ExitCode change_codes[] = {
    {0, "the venue has done it"},
    {3, "the venue said no, or the order is not in the market"},
    {4, "nobody knows whether the venue has done it; ask 'pawl order status'"},
    {5, "there is no such order, or its venue is not configured"},
    {6, "the database or the network is not available"},
};
constexpr Example modify_examples[] = {
    {"pawl order modify rebalance-7 --price 50100", "another price"},
};
constexpr Example cancel_examples[] = {
    {"pawl order cancel rebalance-7", "passes all new orders that wait for their pace"},
};

constexpr auto status_options = std::to_array<Option>({
    {.name = "--stored", .help = "Say what is known, without asking the venue."},
    json_option,
});
constexpr ExitCode status_codes[] = {
    {0, "confirmed"},
    {3, "rejected"},
    {4, "unresolved"},
    {5, "there is no such order"},
    {6, "the database or the network is not available"},
};
constexpr Example status_examples[] = {
    {"pawl order status rebalance-7", "what became of it, and how that is known"},
    {"pawl order status --stored --json rebalance-7", "from the database alone, for programs"},
};

constexpr auto list_options = std::to_array<Option>({
    {.name = "--unresolved",
     .help = "Those whose outcome is not known, alone: sending, reconciling and unresolved. Of the "
             "first two, those that no process works on were left open."},
    {.name = "--status",
     .value = {.name = "STATUS", .choices = statuses},
     .help = "Those that are kept in that status, alone; --unresolved takes in more than "
             "'--status unresolved'."},
    this_venue_alone,
    {.name = "--limit",
     .value = {.name = "N"},
     .help = "How many, the newest first; up to 10000.",
     .standard = "100"},
    json_option,
});
constexpr ExitCode list_codes[] = {
    {0, "printed"},
    {4, "with --unresolved: there are some"},
    {6, "the database is not available"},
};
constexpr Example list_examples[] = {
    {"pawl order list", "the last hundred"},
    {"pawl order list --unresolved", "what needs somebody to look at it"},
};

constexpr ExitCode reconcile_codes[] = {
    {0, "the outcome of all of them is known"},
    {4, "of some it is not; a person can settle it with 'pawl order resolve'"},
    {5, "there is no such order"},
    {6, "the database or the network is not available"},
};
constexpr Example reconcile_examples[] = {
    {"pawl order reconcile", "finds out about all that are open"},
    {"pawl order reconcile rebalance-7", "about one"},
};

constexpr auto resolve_options = std::to_array<Option>({
    {.name = "--as",
     .value = {.name = "WHAT", .choices = resolutions},
     .help = "What became of it: the venue has it, or it does not."},
    {.name = "--order-id", .value = {.name = "ID"}, .help = "The venue's, of a placed one."},
    {.name = "--reason", .value = {.name = "TEXT"}, .help = "How you know."},
    {.name = "--by",
     .value = {.name = "NAME"},
     .help = "Who settles it. The user that runs this is written down in any case."},
    json_option,
});
constexpr ExitCode resolve_codes[] = {
    {0, "settled"},
    {3, "it is not open, or somebody works on it"},
    {5, "there is no such order"},
    {6, "the database or the audit log is not available"},
};
constexpr Example resolve_examples[] = {
    {"pawl order resolve rebalance-7 --as absent --reason support-said-so --by Ana",
     "its place in the week is free again"},
    {"pawl order resolve rebalance-7 --as placed --order-id 123 --reason seen",
     "it counts, and is in order_history"},
};

constexpr Example quota_examples[] = {
    {"pawl order quota", "as in '3/5 orders, week starting 2025-12-01; 2 left'"},
    {"pawl order quota --json", "for programs"},
};
constexpr ExitCode quota_codes[] = {
    {0, "printed"},
    {6, "the database is not available"},
};

constexpr Positional batch_file[] = {
    {.value = {.name = "FILE", .is_file = true},
     .help = "Orders as JSON, one a line; - is standard input."},
};
constexpr ExitCode batch_codes[] = {
    {0, "all are confirmed"},
    {1, "a line is not an order, and nothing was sent"},
    {3, "some were rejected or denied"},
    {4, "some are unresolved"},
    {6, "the database or the network is not available"},
};
constexpr Example batch_examples[] = {
    {"pawl order batch orders.jsonl", "a line is what POST /v1/orders takes"},
};

constexpr Positional venue_name[] = {
    {.value = {.name = "VENUE", .choices = venues}, .help = "Whose session."},
};
constexpr ExitCode reopen_codes[] = {
    {0, "done"},
    {5, "no such venue is configured"},
    {6, "the database is not available"},
};
constexpr Example reopen_examples[] = {
    {"pawl order reopen saxo", "when the venue's 'come back tomorrow' is known to be wrong"},
};

constexpr auto backfill_options = std::to_array<Option>({
    {.name = "--days",
     .value = {.name = "N"},
     .help = "How far back, 1 to 90 days.",
     .standard = "7"},
    this_venue_alone,
    json_option,
});
constexpr ExitCode backfill_codes[] = {
    {0, "done; a second time changes nothing"},
    {5, "no such venue is configured"},
    {6,
     "database, audit log or network is not available, or it was interrupted; what was added "
     "stays"},
};
constexpr Example backfill_examples[] = {
    {"pawl backfill-orders --days 7",
     "after the database was lost: the week's count is right again"},
    {"pawl backfill-orders --days 30 --venue okx", "of one venue"},
};

constexpr Verb rows[] = {
    {.path = "order place",
     .summary = "place an order, once",
     .description =
         "Places an order at the pace of the session and within the weekly limit. Intent and quota "
         "are on the disk before the first byte leaves. When the answer gets lost, it is found out "
         "what became of the order before anything is sent again; the same reference placed twice "
         "sends nothing and prints the first answer. What it does is logged on standard error. "
         "Ctrl-C withdraws what has not left, waits for what is on the wire and says what became "
         "of "
         "the order.",
     .options = place_options,
     .exit_codes = place_codes,
     .examples = place_examples,
     .run = order_place},
    {.path = "order precheck",
     .summary = "ask the venue whether it would take an order",
     .description = "Asks the venue, and places nothing.",
     .options = precheck_options,
     .exit_codes = precheck_codes,
     .examples = precheck_examples,
     .run = order_precheck},
    {.path = "order modify",
     .summary = "change an order that stands in the market",
     .description = "Changes size or price of a confirmed order. It takes a turn of the pace.",
     .positionals = reference,
     .options = modify_options,
     .exit_codes = change_codes,
     .examples = modify_examples,
     .run = order_modify},
    {.path = "order cancel",
     .summary = "cancel an order",
     .description =
         "Cancels a confirmed order, before any new one leaves. It still counts in its week: what "
         "matters is that it was placed.",
     .positionals = reference,
     .options = json_only,
     .exit_codes = change_codes,
     .examples = cancel_examples,
     .run = order_cancel},
    {.path = "order status",
     .summary = "say what became of an order, and how that is known",
     .description =
         "Prints the outcome and its evidence, and asks the venue how the order stands now; "
         "order_history is brought up to date.",
     .positionals = reference,
     .options = status_options,
     .exit_codes = status_codes,
     .examples = status_examples,
     .run = order_status},
    {.path = "order list",
     .summary = "list orders, the newest first",
     .description =
         "Prints what the database has, without asking a venue. Status is what pawl knows of the "
         "placement; life is how the order stands in the market, as it was last seen.",
     .options = list_options,
     .exit_codes = list_codes,
     .examples = list_examples,
     .run = order_list},
    {.path = "order reconcile",
     .summary = "find out what became of open orders",
     .description =
         "Takes up orders that are unresolved, and those that a process left open when it ended. "
         "Reads every source of the venue until the order was found, or its absence is proven: "
         "absent from all of them, twice, after orders.settle. Nothing is sent again.",
     .positionals = maybe_reference,
     .options = json_only,
     .exit_codes = reconcile_codes,
     .examples = reconcile_examples,
     .run = order_reconcile},
    {.path = "order resolve",
     .summary = "settle an order that nothing but a person can",
     .description =
         "Says what became of an order whose outcome could not be found out. It is written to the "
         "audit log, with the reason, before it is done.",
     .positionals = reference,
     .options = resolve_options,
     .exit_codes = resolve_codes,
     .examples = resolve_examples,
     .run = order_resolve},
    {.path = "order quota",
     .summary = "print how much of the week's orders is used",
     .description = "Counts what was placed this week (from Monday 00:00 UTC), whatever became of "
                    "it, and what is open.",
     .options = json_only,
     .exit_codes = quota_codes,
     .examples = quota_examples,
     .run = order_quota},
    {.path = "order batch",
     .summary = "place several orders, each once",
     .description =
         "Places the orders of a file. Each has an intent and a reference of its own "
         "(external_reference); where the venue takes several in one call, that is used as far as "
         "the pace allows.",
     .positionals = batch_file,
     .options = json_only,
     .exit_codes = batch_codes,
     .examples = batch_examples,
     .run = order_batch},
    {.path = "order reopen",
     .summary = "lift what a venue said about the pace of its session",
     .description = "A venue that answers 429 closes the session until the instant it names, for "
                    "all processes. This opens it again.",
     .positionals = venue_name,
     .exit_codes = reopen_codes,
     .examples = reopen_examples,
     .run = order_reopen},
    {.path = "backfill-orders",
     .summary = "fill order_history from what the venues remember",
     .description =
         "Pages through the order history of the venues and inserts what is missing, in its right "
         "week. Says what a venue no longer keeps.",
     .options = backfill_options,
     .exit_codes = backfill_codes,
     .examples = backfill_examples,
     .run = backfill_orders},
};

}  // namespace

std::span<const Verb> order_rows() {
  return rows;
}

}  // namespace pawl::cli
