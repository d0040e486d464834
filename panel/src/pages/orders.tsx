// Orders: what was meant to happen, and what is known of it.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { query } from "../api";
import { useFilter, useSettled } from "../hooks";
import { shortened } from "../logic/format";
import { matches } from "../logic/order";
import { termsOf } from "../logic/terms";
import { href, type Route } from "../logic/route";
import type { Intent, Quota, Session } from "../logic/types";
import { useResource } from "../resource";
import { Badge, Card, Choice, Empty, Failure, Loading, Search, Time } from "../ui/basics";
import { Slots } from "../ui/bar";
import { Table, type Column } from "../ui/table";
import { PlaceDialog } from "./place_order";
import { ReconcileAll } from "./order_deeds";

type Show = "all" | "unresolved" | "confirmed" | "rejected";

const columns: Column<Intent>[] = [
  {
    id: "reference",
    title: "Reference",
    width: "minmax(8rem, 1.3fr)",
    value: (row) => row.external_reference,
    cell: (row) => (
      <span class="stack">
        <a
          class="strong"
          title={row.external_reference}
          href={href("orders", [row.external_reference])}
        >
          {shortened(row.external_reference, 28)}
        </a>
        <span class="sub">{termsOf(row)}</span>
      </span>
    ),
  },
  {
    id: "status",
    title: "State",
    width: "minmax(8rem, 0.9fr)",
    narrow: "7.9rem",
    value: (row) => row.status,
    cell: (row) => <Badge status={row.status} />,
  },
  {
    id: "terms",
    title: "Order",
    width: "minmax(17rem, 2.6fr)",
    wideOnly: true,
    cell: (row) => termsOf(row),
  },
  {
    id: "venue",
    title: "Venue",
    width: "minmax(4rem, 0.5fr)",
    wideOnly: true,
    value: (row) => row.venue,
    cell: (row) => row.venue,
  },
  {
    id: "life",
    title: "At the venue",
    width: "minmax(6.6rem, 0.8fr)",
    wideOnly: true,
    value: (row) => row.life,
    cell: (row) => row.life,
  },
  {
    id: "attempts",
    title: "Attempts",
    width: "minmax(5rem, 0.5fr)",
    right: true,
    wideOnly: true,
    value: (row) => row.attempts,
    cell: (row) => row.attempts,
  },
  {
    id: "created",
    title: "Placed",
    width: "minmax(6rem, 0.8fr)",
    narrow: "4.4rem",
    right: true,
    downFirst: true,
    value: (row) => row.created_at,
    cell: (row) => <Time at={row.created_at} as="since" />,
  },
];

const shows: readonly (readonly [Show, string])[] = [
  ["all", "All"],
  ["unresolved", "Not known"],
  ["confirmed", "Confirmed"],
  ["rejected", "Rejected"],
];

function pathOf(show: Show): string {
  if (show === "all") return `/v1/orders${query({ limit: 1000 })}`;
  if (show === "unresolved") return `/v1/orders${query({ limit: 1000, unresolved: "true" })}`;
  return `/v1/orders${query({ limit: 1000, status: show })}`;
}

export function OrdersPage({ route, session }: { route: Route; session: Session }): JSX.Element {
  const [shown, setShow] = useFilter(route, "show");
  const show = shows.find(([each]) => each === shown)?.[0] ?? "all";
  const [search, setSearch] = useFilter(route, "search");
  const [placing, setPlacing] = useState(false);
  const wanted = useSettled(search);
  const { data, error, refresh } = useResource<{ orders: Intent[] }>(
    session.orders ? pathOf(show) : null,
    3_000,
  );
  const rows = useMemo(
    () =>
      (data?.orders ?? []).filter((row) =>
        matches(wanted, [row.external_reference, row.venue, row.order_id, termsOf(row)]),
      ),
    [data, wanted],
  );
  if (!session.orders) return <NoOrders />;
  return (
    <>
      <div class="page-head">
        <h1>Orders</h1>
        <ReconcileAll done={refresh} />
        {session.trading && (
          <button type="button" class="primary" onClick={() => setPlacing(true)}>
            Place an order
          </button>
        )}
      </div>
      <Week />
      <div class="tools">
        <Search label="Search orders" value={search} change={setSearch} />
        <Choice label="Which" value={show} choose={setShow} of={shows} />
      </div>
      {error && <Failure error={error} again={refresh} />}
      {data === null ? (
        !error && <Loading rows={8} />
      ) : (
        <Table
          label="Orders"
          columns={columns}
          rows={rows}
          keyOf={(row) => row.external_reference}
          open={(row) => {
            window.location.hash = href("orders", [row.external_reference]);
          }}
          empty={
            <Empty title="No orders">
              {show === "unresolved"
                ? "The outcome of every order is known."
                : "None like that were placed."}
            </Empty>
          }
        />
      )}
      {placing && <PlaceDialog
          venues={session.venues}
          close={() => setPlacing(false)}
          placed={refresh}
        />}
    </>
  );
}

function NoOrders(): JSX.Element {
  return (
    <>
      <div class="page-head">
        <h1>Orders</h1>
      </div>
      <Empty title="No venue is configured">
        Name one in <code>orders.venues</code>, and its orders stand here.
      </Empty>
    </>
  );
}

function Week(): JSX.Element | null {
  const { data } = useResource<Quota>("/v1/orders/quota", 5_000);
  if (data === null) return null;
  if (!data.enabled) return <p class="faint">The weekly limit is off.</p>;
  const left = data.remaining ?? 0;
  return (
    <Card class="week">
      <div>
        <strong>
          {data.used} of {data.limit}
        </strong>{" "}
        orders of this week
        <div class="faint">
          {left > 0 ? `${left} left` : "None left"}; a new week begins{" "}
          <Time at={data.next_week} as="age" />
        </div>
      </div>
      <Slots used={data.used} limit={data.limit} />
    </Card>
  );
}
